#![forbid(unsafe_code)]
//! Documents before retrieval: identity, normalised text, pages, and chunks with exact coordinates.
//!
//! - [`canonical_uri`]: the canonical spelling of an address.
//! - [`document_type`]: the file extension of a document.
//! - [`normalise`], [`content_hash`]: normalised text and its hash.
//! - [`PageRange`], [`PageMap`]: closed page intervals, and the pages of a range of text.
//! - [`NumberedText`]: the characters of a claimed page, paragraph or line.
//! - [`sentence_spans`]: sentences in any language.
//! - [`chunk`]: chunks whose text is the document's text at their offsets.
//! - [`CallerPassage`]: passages that applications pass.

mod caller_passages;
mod chunk;
mod document_type;
mod error;
mod headings;
mod pages;
pub mod prepare;
mod sentences;
mod text;
mod text_place;
mod uri;

pub use caller_passages::{CallerPassage, MAX_KEY_BYTES, key_text};
pub use chunk::{Chunk, ChunkSettings, ChunkUnit, chunk, overlap_cost};
pub use document_type::document_type;
pub use error::DocumentError;
pub use pages::{PageMap, PageRange};
pub use sentences::sentence_spans;
pub use text::{content_hash, content_hash_hex, exact_hash_hex, normalise};
pub use text_place::{NumberedPlace, NumberedText, TextPlace};
pub use uri::{TRACKING_PARAMETERS, canonical_uri, is_uri};
