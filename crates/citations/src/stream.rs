//! An answer that is still being written: what may be shown of it, and which of its citations are certain.
//!
//! Nothing is kept between calls; each is given the whole answer so far. That works because what is not settled is always
//! a tail: everything before the earliest construct that is still open reads the same whatever comes next (`settled`).

mod code;
mod settled;

use serde::{Deserialize, Serialize};

use crate::{Extraction, Grammar, extract};
use settled::settled;

/// What is known of an answer before it is complete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fed {
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
/// As the answer grows, `shown` never shrinks and no citation that was reported changes. What is held back at the end
/// is a word, a bracket or link that is open on its line (a bracket for 1 kB, an address for 2 kB at most), and code
/// that a backtick has opened, until its paragraph ends. Linear in the text.
pub fn feed(answer_so_far: &str, grammar: &Grammar, complete: bool) -> Fed {
    let mut extraction = extract(answer_so_far, grammar);
    if complete {
        return Fed {
            shown: answer_so_far.len(),
            placed: extraction.citations.len(),
            extraction,
        };
    }
    let mut shown = settled(answer_so_far);
    let citations = &mut extraction.citations;
    citations.truncate(citations.partition_point(|c| c.span.bytes.start < shown));
    // A bracket may stay open in what is part of a citation already, such as the address of a link.
    while let Some(cut) = citations.pop_if(|c| c.span.bytes.end > shown) {
        shown = shown.min(cut.span.bytes.start);
    }
    let paragraphs = finished_paragraphs(&answer_so_far[..shown]);
    let placed = citations.partition_point(|c| c.span.bytes.end <= paragraphs);
    for citation in &mut citations[placed..] {
        citation.sentence = None;
        citation.claim = None;
    }
    let sentences = &mut extraction.sentences;
    sentences.truncate(sentences.partition_point(|s| s.bytes.end <= paragraphs));
    // A later citation may still make a claim of the last of these sentences.
    let claimed = citations.iter().filter_map(|c| c.claim).max();
    extraction
        .claims
        .truncate(claimed.map_or(0, |last| last + 1));
    // What is beyond the limit is counted at the end.
    extraction.omitted = 0;
    Fed {
        shown,
        extraction,
        placed,
    }
}

/// One past the last blank line: no sentence goes on across it, and nothing after it tells anything about one before.
fn finished_paragraphs(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut blank_from = None;
    for (at, byte) in bytes.iter().enumerate().rev() {
        match (byte, blank_from) {
            (b'\n', Some(end)) => return end,
            (b'\n', None) => blank_from = Some(at + 1),
            (b' ' | b'\t' | b'\r', _) => {}
            _ => blank_from = None,
        }
    }
    0
}
