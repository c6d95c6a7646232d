//! The sentence of a source that is nearest to a claim.

use reground_interrupt::check_interrupt;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::ops::Range;

use super::bit_set::BitSet;
use super::sentences::Sentence;
use super::source::SourceUnits;
use super::units::ClaimUnits;

/// A sentence of a passage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The sentence, verbatim.
    pub text: String,
    /// Position in the passage, in characters.
    pub chars: Range<usize>,
}

impl Quote {
    /// Returns the sentence that contains most units of the claim; the shortest, then the first in case of a tie.
    /// `None` if no sentence contains any.
    pub(crate) fn best(source: &SourceUnits<'_>, claim: &ClaimUnits<'_>) -> Option<Self> {
        let sentences = &source.sentences().0;
        let hits = source.hits_of(claim);
        let mut best: Option<(Reverse<usize>, usize, &Sentence)> = None;
        let mut from = 0;
        while let Some((_, first)) = hits.get(from) {
            // The first sentence that ends after the start of the hit.
            let at = sentences.partition_point(|sentence| sentence.bytes.end <= first.bytes.0);
            let Some(sentence) = sentences.get(at) else {
                break;
            };
            let mut held = BitSet::default();
            let within = hits[from..].iter();
            let within = within.take_while(|(_, hit)| hit.bytes.0 < sentence.bytes.end);
            let count = within.map(|(number, _)| held.add(*number)).count();
            check_interrupt(1 + count);
            let next = (Reverse(held.len()), sentence.chars.len(), sentence);
            if best
                .as_ref()
                .is_none_or(|best| (next.0, next.1) < (best.0, best.1))
            {
                best = Some(next);
            }
            from += count.max(1);
        }
        best.map(|(.., sentence)| Self {
            text: source.text[sentence.bytes.clone()].to_owned(),
            chars: sentence.chars.clone(),
        })
    }
}
