//! Fusion of the branches (C6), over identities instead of rows (C5).
//!
//! A [`Ranking`] is what the branches returned. [`rows`] makes one order of it, by the scores or by the ranks, for keys
//! or for classes of twins; [`fuse`] makes candidates of that.

mod candidates;
mod list_ranks;
mod ranking;
mod rows;
mod rrf;
mod scores;

pub use candidates::{Fused, fuse};
pub use ranking::{BranchScores, FusedRow, Ranking};
pub use rows::rows;

#[cfg(test)]
mod tests;
