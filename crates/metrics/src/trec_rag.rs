//! Support of cited sentences as the TREC RAG track assesses it (Thakur et al., "Support Evaluation for the TREC 2024 RAG
//! Track", SIGIR 2025).
//!
//! An answer is the list of its sentences, a sentence the list of how far each of its citations supports it, in the order of
//! the citations.

use serde::{Deserialize, Serialize};

use crate::Ratio;

/// How far a cited passage supports a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// It supports nothing of it.
    None,
    /// It supports some of it.
    Partial,
    /// It supports all of it.
    Full,
}

/// What partial support is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weighting {
    /// Full 1, partial 0.5, none 0.
    Weighted,
    /// Full 1, partial 0, none 0.
    Hard,
}

impl Weighting {
    fn worth(self, support: Support) -> f64 {
        match (support, self) {
            (Support::Full, _) => 1.0,
            (Support::Partial, Self::Weighted) => 0.5,
            (Support::Partial, Self::Hard) | (Support::None, _) => 0.0,
        }
    }
}

/// Precision: what the first citations of the sentences earn, over the sentences that have one.
pub fn precision<S: AsRef<[Support]>>(sentences: &[S], weighting: Weighting) -> Ratio {
    let first = sentences.iter().filter_map(|s| s.as_ref().first());
    Ratio::earned(first.map(|support| weighting.worth(*support)))
}

/// Recall: what the first citations of the sentences earn, over all sentences. One without a citation earns 0.
pub fn recall<S: AsRef<[Support]>>(sentences: &[S], weighting: Weighting) -> Ratio {
    Ratio::earned(sentences.iter().map(|sentence| {
        let first = sentence.as_ref().first();
        first.map_or(0.0, |support| weighting.worth(*support))
    }))
}

/// Not the track's precision: what every citation earns, over all citations.
pub fn all_citations_precision<S: AsRef<[Support]>>(
    sentences: &[S],
    weighting: Weighting,
) -> Ratio {
    let all = sentences.iter().flat_map(|sentence| sentence.as_ref());
    Ratio::earned(all.map(|support| weighting.worth(*support)))
}

/// Not the track's recall: what the best citation of each sentence earns, over all sentences.
pub fn all_citations_recall<S: AsRef<[Support]>>(sentences: &[S], weighting: Weighting) -> Ratio {
    Ratio::earned(sentences.iter().map(|sentence| {
        let best = sentence.as_ref().iter().max();
        best.map_or(0.0, |support| weighting.worth(*support))
    }))
}
