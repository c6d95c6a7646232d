//! The relations of a corpus: their creation, their mapping to meanings, and checks.

pub mod catalog;
pub mod check;
pub mod coordinates;
pub mod document_parts;
pub mod managed;
pub mod mapping;
pub mod past;
