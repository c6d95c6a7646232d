//! Reranking: the reranker's items are matched to candidates, by key, index, hash or similar text, and their scores are
//! applied.
//!
//! The context always contains the text from before the rerank. A changed text is recorded as a drift event.

mod apply;
mod matching;
mod severity;

pub use apply::{LostPassage, RerankLosses, Scored, apply_scores};
pub use matching::{DriftEvent, Matched, Reranked, match_reranked};
pub use severity::Severity;

#[cfg(test)]
mod tests;
