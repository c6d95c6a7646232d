//! Similarity of a text and a reference by their words.

mod lcs;
pub mod rouge;
pub mod squad;
