//! Citation recall and precision of ALCE (Gao et al., "Enabling Large Language Models to Generate Text with Citations",
//! EMNLP 2023, section 4). The entailment verdicts are an input.

use serde::{Deserialize, Serialize};

use crate::Ratio;

/// A sentence and the entailment verdicts of its citations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// Whether the concatenation of all cited passages entails the sentence. Ignored when the sentence has no citations.
    pub joint: bool,
    /// Citations of the sentence.
    pub citations: Vec<Citation>,
}

/// One citation of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// Whether the citation names a passage of the context.
    pub in_range: bool,
    /// Whether the passage alone entails the sentence.
    pub alone: bool,
    /// Whether the concatenation of the other cited passages entails the sentence. `false` when there are no others.
    pub others: bool,
}

/// Citation recall: the share of sentences that the concatenation of their cited passages entails. A sentence without
/// citations, or with a citation out of range, counts as 0.
pub fn recall<'a>(sentences: impl IntoIterator<Item = &'a Sentence>) -> Ratio {
    Ratio::of(
        sentences.into_iter().map(|sentence| {
            sentence.joint && !sentence.citations.is_empty() && sentence.is_in_range()
        }),
    )
}

/// Citation precision: the share of citations that their sentence needs. One of several citations counts if it entails the
/// sentence alone, or if all together entail it and the others do not. A single citation counts if it entails the sentence.
///
/// The published evaluation gives several citations 0 unless they entail the sentence together. The results differ only for a
/// judge that accepts a passage alone and rejects it together with others.
///
/// As in the published evaluation, citations of a sentence with a citation out of range are not counted. They lower recall and
/// [validity](crate::references::validity).
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
