#![forbid(unsafe_code)]
//! A sentence encoder that loads a model from a local directory, without network, Python or C libraries.
//!
//! [`Encoder`] runs BERT models with mean pooling, such as all-MiniLM-L6-v2, on the CPU. Only the demo and the benchmarks use it;
//! the extension itself never runs a model.

mod directory;
mod encoder;
mod error;

pub use directory::find;
pub use encoder::{Encoder, MAX_TOKENS};
pub use error::EncoderError;
