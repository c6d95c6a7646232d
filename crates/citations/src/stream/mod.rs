//! An answer that is still being written: what may be shown of it, and which of its citations are certain.
//!
//! Nothing is kept between calls; each is given the whole answer so far. That works because what is not settled is always
//! a tail: everything before the earliest construct that is still open reads the same whatever comes next (`settled`).

mod open_code;
mod open_words;
mod settled;

use reground_interrupt::checked;
use serde::{Deserialize, Serialize};

use crate::{Extracted, Extraction, Form, Grammar, Malformed, Reference, extract};
use settled::{Settled, settled};

/// Longest name that a tag encloses, with its end tag, in bytes.
const MAX_ENCLOSED: usize = 512;

/// What is known of an answer before it is complete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialExtraction {
    /// How many bytes may be shown: no citation of the whole answer reaches across this place, however the answer goes on.
    pub shown: usize,
    /// The citations before it. Each is one of the whole answer: same text, place and reference, in the same order.
    ///
    /// Sentences are those of finished paragraphs, claims those that its citations stand on; both have the numbers that they
    /// have in the whole.
    pub extraction: Extraction,
    /// How many citations, from the first, are in finished paragraphs. They have the sentence and the claim that they have in
    /// the whole answer; the others have none yet.
    pub placed: usize,
}

/// Reads an answer of which more may follow, or, once it is `complete`, the whole: then the result is that of [`extract`].
///
/// As the answer grows, `shown` never shrinks and no citation that was reported changes. Held back at the end is a word, a
/// bracket, link or tag that is open on its line (a bracket or tag for 1 kB, an address for 2 kB at most), and code that a
/// backtick has opened, until its paragraph ends. So is the whole line (its last 2 kB) where patterns, locators or titles may
/// begin with any word. What is shown and yet reported only at the end are footnotes, which their notes explain, and a
/// `<cite>` without a name. Linear in the text.
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
    let grows = |c: &&Extracted| is_unnamed(c) && known - c.span.bytes.end <= MAX_ENCLOSED;
    if let Some(waiting) = extraction.citations.iter().find(grows) {
        shown = shown.min(waiting.span.bytes.start);
    }
    // An end tag in a bracket that is open belongs to the bracket, should that close.
    if answer_so_far[settled..known].contains("</cite") {
        let without = extract(&answer_so_far[..settled], grammar);
        if let Some(waiting) = without.citations.iter().find(grows) {
            shown = shown.min(waiting.span.bytes.start);
        }
    }
    let citations = &mut extraction.citations;
    citations.truncate(citations.partition_point(|c| c.span.bytes.start < shown));
    // A bracket may stay open in what is part of a citation already, such as the address of a link.
    while let Some(cut) = citations.pop_if(|c| c.span.bytes.end > shown) {
        shown = shown.min(cut.span.bytes.start);
    }
    // What encloses its claim may do so across paragraphs, and a note may make another source of a footnote's claim.
    let waits = |c: &&Extracted| is_markup(&c.form) || says_more_at_the_end(c);
    let placeable = citations
        .iter()
        .find(waits)
        .map_or(shown, |c| c.span.bytes.start);
    let paragraphs = finished_paragraphs(&answer_so_far[..placeable]);
    citations.retain(|c| !says_more_at_the_end(c));
    let placed = citations.partition_point(|c| c.span.bytes.end <= paragraphs);
    for citation in &mut citations[placed..] {
        citation.sentence = None;
        citation.claim = None;
        citation.claim_at = None;
    }
    let sentences = &mut extraction.sentences;
    sentences.truncate(sentences.partition_point(|sentence| sentence.end <= paragraphs));
    // A later citation may still make a claim of the last of these sentences.
    let claimed = citations.iter().filter_map(|c| c.claim).max();
    extraction
        .claims
        .truncate(claimed.map_or(0, |last| last + 1));
    // What is beyond the limit is counted at the end.
    extraction.omitted = 0;
    PartialExtraction {
        shown,
        extraction,
        placed,
    }
}

/// Markup around a fact.
fn is_markup(form: &Form) -> bool {
    matches!(
        form,
        Form::CohereSpan | Form::SourceTag | Form::CiteTag | Form::GeminiSpan
    )
}

/// What cites only by what follows far below: a footnote by its note, a `<cite>` by what it encloses.
fn says_more_at_the_end(citation: &Extracted) -> bool {
    citation.form == Form::Footnote || is_unnamed(citation)
}

/// `<cite>`, which may still take in what it encloses: `<cite>1</cite>`.
fn is_unnamed(citation: &Extracted) -> bool {
    citation.form == Form::CiteTag
        && citation.reference == Reference::Malformed(Malformed::EmptyName)
}

/// One past the last blank line: no sentence goes on across it, and nothing after it tells anything about one before.
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
