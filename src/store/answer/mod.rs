//! Answers, their citations, and the judgements of reviewers.

pub mod cues;
pub mod imports;
pub mod messages;
pub mod repairs;
pub mod reviews;
