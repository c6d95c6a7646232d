//! Why a model could not be loaded or run.

use std::path::PathBuf;

use thiserror::Error;

/// A directory without a usable model, or a text that the model could not encode.
#[derive(Debug, Error)]
pub enum EncoderError {
    /// No directory at or below this one holds all files of a model.
    #[error("no directory with config.json, tokenizer.json and model.safetensors in {}", .0.display())]
    NotFound(PathBuf),
    /// A file or directory could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system said.
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
    /// The hidden size cannot be divided among the attention heads.
    #[error("a hidden size of {hidden} cannot be divided among {heads} attention heads")]
    Heads {
        /// Width of a hidden state.
        hidden: usize,
        /// Number of attention heads.
        heads: usize,
    },
    /// `tokenizer.json` could not be read, or a text not be tokenised.
    #[error("tokenizer: {0}")]
    Tokenizer(#[from] tokenizers::Error),
    /// The weights do not fit the configuration, or the forward pass failed.
    #[error("model: {0}")]
    Model(#[from] candle_core::Error),
}
