//! Hash chains, retention and erasure.

pub mod chain;
mod contents;
pub mod erasure;
pub mod retention;
