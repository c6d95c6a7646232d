//! Citation recall and precision of ALCE (Gao et al., "Enabling Large Language Models to Generate Text with Citations",
//! EMNLP 2023, section 4), over verdicts of entailment from elsewhere.

use serde::{Deserialize, Serialize};

use crate::Ratio;

/// A sentence and what its citations entail.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// Whether all its cited passages, joined, entail it. Not looked at where there are none.
    pub joint: bool,
    /// Its citations.
    pub citations: Vec<Citation>,
}

/// One citation of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// Whether it names a passage that was handed over.
    pub in_range: bool,
    /// Whether its passage alone entails the sentence.
    pub alone: bool,
    /// Whether the other cited passages, joined, entail the sentence. Nothing entails anything where there are no others.
    pub others: bool,
}

/// Citation recall: of all sentences, those that their cited passages entail together. A sentence without citations, or
/// with one that is out of range, earns 0.
pub fn recall<'a>(sentences: impl IntoIterator<Item = &'a Sentence>) -> Ratio {
    Ratio::of(
        sentences.into_iter().map(|sentence| {
            sentence.joint && !sentence.citations.is_empty() && sentence.is_in_range()
        }),
    )
}

/// Citation precision: of all citations, those that their sentence needs. One of several counts if it entails alone, or if
/// all together entail and the others without it do not; an only one counts if it entails.
///
/// The published evaluation gives several citations nothing unless they entail together. That differs only for a judge to whom
/// one passage says less once others stand beside it.
///
/// As there, citations of a sentence with one out of range are not counted at all: recall punishes
/// it, and [validity](crate::references::validity) names it.
pub fn precision<'a>(sentences: impl IntoIterator<Item = &'a Sentence>) -> Ratio {
    let readable = sentences.into_iter().filter(|s| s.is_in_range());
    Ratio::of(readable.flat_map(|sentence| {
        let is_only = sentence.citations.len() == 1;
        sentence
            .citations
            .iter()
            .map(move |citation| citation.alone || (!is_only && sentence.joint && !citation.others))
    }))
}

impl Sentence {
    fn is_in_range(&self) -> bool {
        self.citations.iter().all(|citation| citation.in_range)
    }
}
