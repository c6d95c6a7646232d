//! Errors of loading and running a model.

use std::path::PathBuf;

use thiserror::Error;

/// A model could not be loaded, or a text could not be processed.
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
    /// A configuration file lacks a value, or has one of the wrong type.
    #[error("wrong configuration in {}: {source}", path.display())]
    Configuration {
        /// The file.
        path: PathBuf,
        /// What is missing or wrong.
        source: serde_json::Error,
    },
    /// `config.json` names an architecture that this crate does not run.
    #[error("unknown architecture {0}")]
    Architecture(String),
    /// The architecture is for another task.
    #[error("{architecture} is not {expected}")]
    Task {
        /// The architecture in `config.json`.
        architecture: String,
        /// The task that was asked for.
        expected: &'static str,
    },
    /// The model needs a computation that this crate does not have.
    #[error("{} asks for {what}, which is not supported", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The computation.
        what: String,
    },
    /// The labels in `config.json` do not fit the task.
    #[error("the labels {labels:?} do not include {expected}")]
    Labels {
        /// All labels, in the order of their numbers.
        labels: Vec<String>,
        /// The label that is needed.
        expected: &'static str,
    },
    /// The hidden size is not divisible by the number of attention heads.
    #[error("a hidden size of {hidden} cannot be divided among {heads} attention heads")]
    Heads {
        /// Width of a hidden state.
        hidden: usize,
        /// Number of attention heads.
        heads: usize,
    },
    /// The part of the input that must not be cut off is too long.
    #[error("{tokens} tokens are too many for a model that reads {max_tokens}")]
    TooLong {
        /// Tokens of the input.
        tokens: usize,
        /// Tokens that the model reads.
        max_tokens: usize,
    },
    /// The tokenizer adds no special tokens, and a text is empty.
    #[error("a text has no tokens")]
    Empty,
    /// The vocabulary of `tokenizer.json` is larger than the table of the model.
    #[error("token {token} is not among the {vocabulary} tokens of the model")]
    Vocabulary {
        /// Number of the token.
        token: u32,
        /// Rows of the embedding table.
        vocabulary: usize,
    },
    /// `tokenizer.json` could not be read, or a text could not be tokenised.
    #[error("tokenizer: {0}")]
    Tokenizer(#[from] tokenizers::Error),
    /// The weights do not fit the configuration, or the forward pass failed.
    #[error("model: {}", .0.to_string().trim_end())]
    Model(#[from] candle_core::Error),
}
