//! Support of cited sentences as the TREC RAG track assesses it (Thakur et al., "Support Evaluation for the TREC 2024 RAG
//! Track", SIGIR 2025).
//!
//! An answer is a list of sentences. A sentence is the list of its citations' support levels, in the order of the citations.

use serde::{Deserialize, Serialize};

use crate::Ratio;

/// Degree to which a cited passage supports a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// No support.
    None,
    /// Partial support.
    Partial,
    /// Full support.
    Full,
}

/// Credit for partial support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weighting {
    /// Full 1, partial 0.5, none 0.
    Weighted,
    /// Full 1, partial 0, none 0.
    Hard,
}

impl Weighting {
    fn credit(self, support: Support) -> f64 {
        match (support, self) {
            (Support::Full, _) => 1.0,
            (Support::Partial, Self::Weighted) => 0.5,
            (Support::Partial, Self::Hard) | (Support::None, _) => 0.0,
        }
    }
}

/// Precision: the credit of each sentence's first citation, over the sentences with citations.
pub fn precision<S: AsRef<[Support]>>(sentences: &[S], weighting: Weighting) -> Ratio {
    let first = sentences.iter().filter_map(|s| s.as_ref().first());
    Ratio::earned(first.map(|support| weighting.credit(*support)))
}

/// Recall: the credit of each sentence's first citation, over all sentences. A sentence without citations counts as 0.
pub fn recall<S: AsRef<[Support]>>(sentences: &[S], weighting: Weighting) -> Ratio {
    Ratio::earned(sentences.iter().map(|sentence| {
        let first = sentence.as_ref().first();
        first.map_or(0.0, |support| weighting.credit(*support))
    }))
}

/// A variant of precision that the track does not use: the credit of every citation, over all citations.
pub fn all_citations_precision<S: AsRef<[Support]>>(
    sentences: &[S],
    weighting: Weighting,
) -> Ratio {
    let all = sentences.iter().flat_map(|sentence| sentence.as_ref());
    Ratio::earned(all.map(|support| weighting.credit(*support)))
}

/// A variant of recall that the track does not use: the credit of each sentence's best citation, over all sentences.
pub fn all_citations_recall<S: AsRef<[Support]>>(sentences: &[S], weighting: Weighting) -> Ratio {
    Ratio::earned(sentences.iter().map(|sentence| {
        let best = sentence.as_ref().iter().max();
        best.map_or(0.0, |support| weighting.credit(*support))
    }))
}
