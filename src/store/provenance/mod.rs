//! Hash chains, retention and erasure.

mod archive;
pub mod chain;
mod contents;
pub mod erasure;
pub mod retention;
