//! Fusion of the branches' lists, with twins counted as one passage.
//!
//! [`SearchResults`] contain the lists and scores of the branches. [`rows`] combines them into one order, by scores or
//! by ranks, and [`fuse`] returns candidates.

mod candidates;
mod list_ranks;
mod missing_vector;
mod ranking;
mod recency;
mod rows;
mod rrf;
mod scores;

pub use candidates::{Fused, fuse};
pub use ranking::{BranchScores, FusedRow, SearchResults};
pub use rows::rows;

#[cfg(test)]
mod missing_vector_tests;
#[cfg(test)]
mod tests;
