#![forbid(unsafe_code)]
//! Local models that are read from a folder and run on the CPU, without network, Python or C libraries.
//!
//! A folder has `config.json`, `tokenizer.json` and `model.safetensors` in the layout of Hugging Face. [`Model::open`] loads any kind:
//!
//! | kind | task | architectures |
//! |---|---|---|
//! | [`SentenceEncoder`] | embeddings | BERT, RoBERTa, XLM-RoBERTa, DistilBERT, ModernBERT, DeBERTa-v2 |
//! | [`CrossEncoder`] | reranking | the same, for sequence classification |
//! | [`EntailmentClassifier`] | entailment | the same, for sequence classification |
//! | [`SpanClassifier`] | unsupported parts of an answer | the same, for token classification |
//!
//! The extension itself never runs a model.

mod architecture;
mod backbone;
mod batch;
mod cross;
mod directory;
mod entailment;
mod error;
mod head;
mod kernels;
mod loaded;
mod model;
mod pooling;
mod sentence;
mod spans;

pub use cross::{CrossEncoder, Relevance};
pub use directory::find;
pub use entailment::EntailmentClassifier;
pub use error::EncoderError;
pub use model::Model;
pub use sentence::SentenceEncoder;
pub use spans::{Span, SpanClassifier};
