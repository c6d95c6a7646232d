//! Reads an unfinished answer: the part that can be shown, and the citations that are final.
//!
//! Calls share no state; each gets the whole answer so far. This works because only the end of the text is undecided:
//! everything before the earliest open construct does not depend on what follows (`settled`).

mod open_code;
mod open_words;
mod settled;

use reground_interrupt::checked;
use serde::{Deserialize, Serialize};

use crate::{ExtractedCitation, Extraction, Form, Grammar, Malformed, Reference, extract};
use settled::{Settled, settled};

/// Longest name that a tag encloses, with the end tag, in bytes.
const MAX_ENCLOSED: usize = 512;

/// The settled part of an unfinished answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialExtraction {
    /// Number of bytes that can be shown. No citation of the whole answer crosses this position, however the answer
    /// continues.
    pub shown: usize,
    /// The citations before this position. Each of them is in the whole answer, with the same text, position and
    /// reference, in the same order.
    ///
    /// Sentences are those of finished paragraphs, claims are those of the citations. Both have the same indices as
    /// in the whole answer.
    pub extraction: Extraction,
    /// Number of citations, from the first, that are in finished paragraphs. Their sentences and claims are final.
    /// The other citations have none yet.
    pub placed: usize,
}

/// Reads an answer that may continue. If it is `complete`, the result is that of [`extract`].
///
/// While the answer grows, `shown` never decreases and no reported citation changes. These parts at the end are held
/// back: a word; a bracket, link or tag that is open on its line (a bracket or tag for at most 1 kB, an address for
/// at most 2 kB); code after an open backtick, until its paragraph ends; and the whole line (its last 2 kB) if
/// patterns, locators or titles may begin with any word. Footnotes and a `<cite>` without a name are shown, but only
/// reported at the end, because later text decides what they cite. The time is linear in the text.
pub fn feed(answer_so_far: &str, grammar: &Grammar, complete: bool) -> PartialExtraction {
    if complete {
        let extraction = extract(answer_so_far, grammar);
        return PartialExtraction {
            shown: answer_so_far.len(),
            placed: extraction.citations.len(),
            extraction,
        };
    }
    let Settled { known, settled } = settled(answer_so_far, grammar);
    let mut shown = settled;
    let mut extraction = extract(&answer_so_far[..known], grammar);
    let grows = |c: &&ExtractedCitation| is_unnamed(c) && known - c.span.bytes.end <= MAX_ENCLOSED;
    if let Some(waiting) = extraction.citations.iter().find(grows) {
        shown = shown.min(waiting.span.bytes.start);
    }
    // An end tag within an open bracket becomes part of the bracket if it closes.
    if answer_so_far[settled..known].contains("</cite") {
        let without = extract(&answer_so_far[..settled], grammar);
        if let Some(waiting) = without.citations.iter().find(grows) {
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
    let waits = |c: &&ExtractedCitation| is_markup(&c.form) || decided_later(c);
    let placeable = citations
        .iter()
        .find(waits)
        .map_or(shown, |c| c.span.bytes.start);
    let paragraphs = finished_paragraphs(&answer_so_far[..placeable]);
    citations.retain(|c| !decided_later(c));
    let placed = citations.partition_point(|c| c.span.bytes.end <= paragraphs);
    for citation in &mut citations[placed..] {
        citation.sentence = None;
        citation.claim = None;
        citation.claim_at = None;
    }
    let sentences = &mut extraction.sentences;
    sentences.truncate(sentences.partition_point(|sentence| sentence.end <= paragraphs));
    // A later citation may still support the last of these sentences.
    let claimed = citations.iter().filter_map(|c| c.claim).max();
    extraction
        .claims
        .truncate(claimed.map_or(0, |last| last + 1));
    // Omitted citations are counted when the answer is complete.
    extraction.omitted = 0;
    PartialExtraction {
        shown,
        extraction,
        placed,
    }
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

/// Returns the end of the last blank line. No sentence crosses it, and later text does not change the sentences
/// before it.
fn finished_paragraphs(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut blank_from = None;
    for (at, byte) in checked(bytes.iter().enumerate().rev()) {
        match (byte, blank_from) {
            (b'\n', Some(end)) => return end,
            (b'\n', None) => blank_from = Some(at + 1),
            (b' ' | b'\t' | b'\r', _) => {}
            _ => blank_from = None,
        }
    }
    0
}
