//! The sentence of a source that comes nearest to a claim.

use reground_documents::sentence_spans;
use reground_interrupt::{CHECK_INTERVAL, check_interrupt, checked};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::ops::Range;

use crate::offsets::Ruler;
use crate::support::{Bits, ClaimUnits, SourceUnits};

/// A sentence of a passage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The sentence, verbatim.
    pub text: String,
    /// Where it stands in the passage's text, in characters.
    pub chars: Range<usize>,
}

/// The sentences of a passage, in order.
pub(crate) struct Sentences(Vec<Sentence>);

struct Sentence {
    bytes: Range<usize>,
    chars: Range<usize>,
}

impl Sentences {
    pub(crate) fn of(text: &str) -> Self {
        let mut ruler = Ruler::new(text);
        let sentences = checked(sentence_spans(text)).filter_map(|span| {
            let raw = &text[span.clone()];
            check_interrupt(raw.len().min(CHECK_INTERVAL));
            let start = span.start + raw.len() - raw.trim_start().len();
            let bytes = start..start + raw.trim().len();
            (!bytes.is_empty()).then(|| Sentence {
                chars: ruler.span(bytes.clone()).chars,
                bytes,
            })
        });
        Self(sentences.collect())
    }
}

impl Quote {
    /// The sentence that holds most of the claim; of equals the shortest, then the first. `None` when none holds any of it.
    pub(crate) fn best(source: &SourceUnits<'_>, claim: &ClaimUnits<'_>) -> Option<Self> {
        let sentences = &source.sentences().0;
        let hits = source.hits_of(claim);
        let mut best: Option<(Reverse<usize>, usize, &Sentence)> = None;
        let mut from = 0;
        while let Some((_, first)) = hits.get(from) {
            // The first sentence that ends after the hit begins.
            let at = sentences.partition_point(|sentence| sentence.bytes.end <= first.bytes.0);
            let Some(sentence) = sentences.get(at) else {
                break;
            };
            let mut held = Bits::default();
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
