//! The relations of a corpus: their creation, their mapping to meanings, and checks.

pub mod check;
pub mod coordinates;
pub mod managed;
pub mod mapping;
pub mod past;
