//! Measures over claims, as RAGAS defines them (Es et al., "RAGAs: Automated Evaluation of Retrieval Augmented Generation",
//! EACL 2024, and its documentation).

use crate::Ratio;

/// Faithfulness: the share of the answer's claims that the context supports.
pub fn faithfulness(supported: impl IntoIterator<Item = bool>) -> Ratio {
    Ratio::of(supported)
}

/// Context recall: the share of a reference answer's claims that the context supports.
pub fn context_recall(supported: impl IntoIterator<Item = bool>) -> Ratio {
    Ratio::of(supported)
}
