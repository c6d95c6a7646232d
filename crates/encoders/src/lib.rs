#![forbid(unsafe_code)]
//! A sentence encoder read from a local directory: no network, no Python, no C library.
//!
//! [`Encoder`] runs BERT models that pool by the mean, such as all-MiniLM-L6-v2, on the processor. It is
//! for the demo and the benchmarks; the extension itself never runs a model.

mod directory;
mod encoder;
mod error;

pub use directory::find;
pub use encoder::{Encoder, MAX_TOKENS};
pub use error::EncoderError;
