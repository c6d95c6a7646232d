//! Must-have facts, evaluations of answers against them, and labels of reviewers.

pub mod evaluations;
pub mod gold;
pub mod labels;
pub mod reports;
