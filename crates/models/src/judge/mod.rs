//! The judge of citations: whether a cited passage supports the claim that cites it.

pub mod agreement;
mod classifier;
pub mod judgement;
pub mod prompt;
pub mod reading;
pub mod rules;
pub mod verdict;
pub mod votes;
