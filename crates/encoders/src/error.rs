//! Errors of loading and running a model.

use std::path::PathBuf;

use thiserror::Error;

/// A model could not be loaded, or a text could not be encoded.
#[derive(Debug, Error)]
pub enum EncoderError {
    /// No searched directory contains all files of a model.
    #[error("no directory with config.json, tokenizer.json and model.safetensors in {}", .0.display())]
    NotFound(PathBuf),
    /// A file or directory could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// `config.json` does not describe a BERT model.
    #[error("no BERT configuration in {}", path.display())]
    Configuration {
        /// The file.
        path: PathBuf,
        /// What is missing or wrong.
        source: serde_json::Error,
    },
    /// The hidden size is not divisible by the number of attention heads.
    #[error("a hidden size of {hidden} cannot be divided among {heads} attention heads")]
    Heads {
        /// Width of a hidden state.
        hidden: usize,
        /// Number of attention heads.
        heads: usize,
    },
    /// `tokenizer.json` could not be read, or a text could not be tokenised.
    #[error("tokenizer: {0}")]
    Tokenizer(#[from] tokenizers::Error),
    /// The weights do not fit the configuration, or the forward pass failed.
    #[error("model: {0}")]
    Model(#[from] candle_core::Error),
}
