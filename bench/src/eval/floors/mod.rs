//! Lower bounds of the figures: those of a file, and those in code.

pub mod figures;
pub mod file;
pub mod relations;
