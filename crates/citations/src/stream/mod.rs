//! Reads an unfinished answer: the part that can be shown, and the citations that are final.
//!
//! Only the end of the text is undecided: everything before the earliest open construct does not depend on what follows
//! (`settled`). And a paragraph that begins with words does not depend on the text before it (`finished`), so that the
//! next call can begin there (`resume`). The caller passes this position. Calls share no state.

mod finished;
mod open_code;
mod open_words;
mod resume;
mod settled;

use std::collections::{BTreeMap, BTreeSet};

use reground_interrupt::checked;
use serde::{Deserialize, Serialize};

use crate::reading::extract::{CitationString, ExtractedPart, extract_part};
use crate::{
    CitationScope, ExtractedCitation, Extraction, Form, Grammar, MAX_CITATIONS, Malformed,
    Reference, Span,
};
use finished::{Finished, finished_paragraphs};
pub use resume::{InvalidResume, Resume};
use settled::{Settled, settled};

/// Longest name that a tag encloses, with the end tag, in bytes.
const MAX_ENCLOSED: usize = 512;

/// The settled part of an unfinished answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialExtraction {
    /// Number of bytes that can be shown. No citation of the whole answer crosses this position, however the answer
    /// continues.
    pub shown: usize,
    /// The citations before this position, without the first `settled`, which an earlier call reported as final. If one of them is
    /// judged by the answer, they are all. Each of them is in the
    /// whole answer, with the same text, position and reference, in the same order.
    ///
    /// Sentences are those of finished paragraphs, claims are those of the citations. They have the same indices as in an
    /// extraction that begins at the same position. Statements are there for citations of the answer.
    pub extraction: Extraction,
    /// Number of citations, from the first of `extraction`, whose scopes, sentences, claims and companions are final. The other
    /// citations have no scope, sentence and claim yet.
    pub placed: usize,
    /// Number of citations before the first of `extraction`, all reported as final by an earlier call.
    pub settled: usize,
    /// Where the next call can begin.
    pub resume: Resume,
}

/// Reads an answer that may continue. If it is `complete`, the result is that of [`extract`](crate::extract).
///
/// While the answer grows, `shown` never decreases and no reported citation changes. These parts at the end are held
/// back: a word; a bracket, link or tag that is open on its line (a bracket or tag for at most 1 kB, an address for
/// at most 2 kB); code after an open backtick, until its paragraph ends; and the whole line (its last 2 kB) if
/// patterns, locators or titles may begin with any word. Footnotes and a `<cite>` without a name are shown, but only
/// reported at the end, because later text decides what they cite. The time is linear in the text.
pub fn feed(answer_so_far: &str, grammar: &Grammar, complete: bool) -> PartialExtraction {
    read(answer_so_far, grammar, complete, false).0
}

/// As [`feed`], but reads only the text from the position of an earlier call on, and omits the citations that were final
/// then, unless the rest cites for the answer. The time is linear in the rest, or in the answer if the rest cites for the answer.
///
/// # Errors
/// [`InvalidResume`] if the answer has no such position, or another number of characters before it.
pub fn feed_from(
    answer_so_far: &str,
    grammar: &Grammar,
    complete: bool,
    from: &Resume,
) -> Result<PartialExtraction, InvalidResume> {
    let (fed, cites_answer) = rest_from(answer_so_far, grammar, complete, from)?;
    if from.bytes == 0 || !cites_answer {
        return Ok(fed);
    }
    // Citations of the answer are judged by all statements and citations before them.
    let (fed, _) = rest_from(answer_so_far, grammar, complete, &Resume::default())?;
    Ok(fed)
}

/// Reads the text from a position on. The second result tells whether it cites for the answer.
fn rest_from(
    answer_so_far: &str,
    grammar: &Grammar,
    complete: bool,
    from: &Resume,
) -> Result<(PartialExtraction, bool), InvalidResume> {
    let (before, rest) = answer_so_far
        .split_at_checked(from.bytes)
        .ok_or(InvalidResume)?;
    // Counting costs less than the transfer of the answer. A character of four bytes has two UTF-16 code units.
    let chars = before.chars().count();
    let utf16 = chars + before.bytes().filter(|byte| *byte >= 0xF0).count();
    if (chars, utf16) != (from.chars, from.utf16) {
        return Err(InvalidResume);
    }
    let (mut fed, cites_answer) = read(rest, grammar, complete, from.in_list);
    let room = MAX_CITATIONS.saturating_sub(from.citations);
    let citations = &mut fed.extraction.citations;
    fed.extraction.omitted += citations.len().saturating_sub(room);
    citations.truncate(room);
    fed.placed = fed.placed.min(room);
    let mut fed = fed.moved(from);
    fed.omit(from.settled.saturating_sub(from.citations));
    fed.settled = from.settled;
    Ok((fed, cites_answer))
}

impl PartialExtraction {
    /// The result of reading the rest from a position on, with positions in the whole answer.
    fn moved(mut self, from: &Resume) -> Self {
        let next = &mut self.resume;
        next.settled = from.settled.max(from.citations + self.placed);
        next.bytes += from.bytes;
        next.chars += from.chars;
        next.utf16 += from.utf16;
        next.citations += from.citations;
        self.shown += from.bytes;
        for Span {
            bytes,
            chars,
            utf16,
        } in self.extraction.citations.iter_mut().map(|c| &mut c.span)
        {
            for (range, by) in [
                (bytes, from.bytes),
                (chars, from.chars),
                (utf16, from.utf16),
            ] {
                range.start += by;
                range.end += by;
            }
        }
        for sentence in &mut self.extraction.sentences {
            sentence.start += from.bytes;
            sentence.end += from.bytes;
        }
        self
    }

    /// Removes citations from the first on, and the claims that only these support.
    fn omit(&mut self, count: usize) {
        let Extraction {
            citations, claims, ..
        } = &mut self.extraction;
        let count = count.min(citations.len());
        citations.drain(..count);
        self.placed = self.placed.saturating_sub(count);
        let kept: BTreeSet<usize> = citations.iter().filter_map(|c| c.claim).collect();
        let numbers: BTreeMap<usize, usize> = kept.into_iter().zip(0..).collect();
        let mut number = 0..;
        claims.retain(|_| {
            number
                .next()
                .is_some_and(|number| numbers.contains_key(&number))
        });
        for citation in citations {
            citation.claim = citation
                .claim
                .and_then(|claim| numbers.get(&claim).copied());
        }
    }
}

/// Reads an answer, or the rest of one. The second result tells whether it has a citation of the answer, also one that waits.
fn read(text: &str, grammar: &Grammar, complete: bool, in_list: bool) -> (PartialExtraction, bool) {
    if complete {
        let extraction = extract_part(text, grammar, in_list).extraction;
        let cites_answer = cites_answer(&extraction);
        let fed = PartialExtraction {
            shown: text.len(),
            placed: extraction.citations.len(),
            extraction,
            settled: 0,
            resume: Resume::default(),
        };
        return (fed, cites_answer);
    }
    let Settled {
        known,
        settled,
        hidden,
    } = settled(text, grammar);
    let mut shown = settled;
    let ExtractedPart {
        mut extraction,
        strings,
        takes_next,
    } = extract_part(&text[..known], grammar, in_list);
    let grows = |c: &&ExtractedCitation| is_unnamed(c) && known - c.span.bytes.end <= MAX_ENCLOSED;
    if let Some(waiting) = extraction.citations.iter().find(grows) {
        shown = shown.min(waiting.span.bytes.start);
    }
    // An end tag within an open bracket becomes part of the bracket if it closes.
    if text[settled..known].contains("</cite") {
        let without = extract_part(&text[..settled], grammar, in_list);
        // If `settled` is within code, the code before it was read as prose.
        let is_code = |at: usize| hidden.iter().any(|range| range.contains(&at));
        let mut waiting = without.extraction.citations.iter().filter(grows);
        if let Some(waiting) = waiting.find(|c| !is_code(c.span.bytes.start)) {
            shown = shown.min(waiting.span.bytes.start);
        }
    }
    let citations = &mut extraction.citations;
    citations.truncate(citations.partition_point(|c| c.span.bytes.start < shown));
    // A bracket may be open within a citation, such as in the address of a link.
    while let Some(cut) = citations.pop_if(|c| c.span.bytes.end > shown) {
        shown = shown.min(cut.span.bytes.start);
    }
    // Markup may enclose a claim across paragraphs, and a note may change the source of a footnote.
    let waits = |s: &&CitationString| is_markup(&s.form) || s.form == Form::Footnote;
    let placeable = checked(&strings)
        .find(waits)
        .map_or(shown, |waiting| shown.min(waiting.bytes.start));
    let finished = Finished {
        text: &text[..placeable],
        end: finished_paragraphs(&text[..placeable]),
        strings: &strings,
        takes_next: &takes_next,
    };
    citations.retain(|c| !decided_later(c));
    let placed = finished.placed(&extraction);
    let resume = finished.resume(&extraction, placed, &hidden, in_list);
    let cites_answer = cites_answer(&extraction);
    keep_placed(&mut extraction, placed, finished.end);
    let fed = PartialExtraction {
        shown,
        extraction,
        placed,
        settled: 0,
        resume,
    };
    (fed, cites_answer)
}

fn cites_answer(extraction: &Extraction) -> bool {
    checked(&extraction.citations).any(|c| c.scope == CitationScope::Answer)
}

/// Removes what later text can change: the places of citations that are not placed, the statements and claims that only these use, and the
/// sentences after `end`.
fn keep_placed(extraction: &mut Extraction, placed: usize, end: usize) {
    let judged_by = extraction.citations[..placed]
        .iter()
        .map(|citation| extraction.statements_of(citation).end)
        .max();
    extraction
        .statements
        .truncate(judged_by.unwrap_or_default());
    for citation in &mut extraction.citations[placed..] {
        citation.scope = CitationScope::default();
        citation.sentence = None;
        citation.claim = None;
        citation.claim_at = None;
    }
    let sentences = &mut extraction.sentences;
    sentences.truncate(sentences.partition_point(|sentence| sentence.end <= end));
    // A later citation may still support the last of these sentences.
    let claimed = extraction.citations.iter().filter_map(|c| c.claim).max();
    extraction
        .claims
        .truncate(claimed.map_or(0, |last| last + 1));
    // Omitted citations are counted when the answer is complete.
    extraction.omitted = 0;
}

/// Returns whether a form is markup around a fact.
fn is_markup(form: &Form) -> bool {
    matches!(
        form,
        Form::CohereSpan | Form::SourceTag | Form::CiteTag | Form::GeminiSpan
    )
}

/// Returns whether later text decides what a citation names: a footnote (by its note) or a `<cite>` (by its content).
fn decided_later(citation: &ExtractedCitation) -> bool {
    citation.form == Form::Footnote || is_unnamed(citation)
}

/// Returns whether a citation is a `<cite>` that may still be named by its content, as in `<cite>1</cite>`.
fn is_unnamed(citation: &ExtractedCitation) -> bool {
    citation.form == Form::CiteTag
        && citation.reference == Reference::Malformed(Malformed::EmptyName)
}
