#![forbid(unsafe_code)]
//! What a document is before retrieval: its identity, its normal text, its pages, and its chunks with exact
//! coordinates (requirements C11, I1, I2).
//!
//! - [`canonical_uri`]: one spelling for one address.
//! - [`document_type`]: what its name ends in.
//! - [`normalise`], [`content_hash`]: one form for one text.
//! - [`PageRange`], [`PageMap`]: closed page intervals, and the pages of a stretch of text.
//! - [`sentence_spans`]: sentences in any language.
//! - [`chunk`]: windows that give back the document's text at their offsets, always.

mod chunk;
mod document_type;
mod error;
mod given;
mod pages;
pub mod prepare;
mod sentences;
mod text;
mod uri;

pub use chunk::{Chunk, ChunkSettings, ChunkUnit, chunk, overlap_cost};
pub use document_type::document_type;
pub use error::DocumentError;
pub use given::{GivenPassage, LONGEST_KEY, key_text};
pub use pages::{PageMap, PageRange};
pub use sentences::sentence_spans;
pub use text::{content_hash, content_hash_hex, exact_hash_hex, normalise};
pub use uri::{TRACKING_PARAMETERS, canonical_uri, is_uri};
