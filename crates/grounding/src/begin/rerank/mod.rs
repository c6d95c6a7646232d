//! What a reranker says about the candidates (I7), whatever it gives back: scores, ids, indexes, or only texts.
//!
//! The context always gets the text from before the rerank; a text that comes back changed is a drift event.

mod apply;
mod matching;

pub use apply::{Scored, apply_scores};
pub use matching::{DriftEvent, Matched, Reranked, Severity, match_reranked};

#[cfg(test)]
mod tests;
