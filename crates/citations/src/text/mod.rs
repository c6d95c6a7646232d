//! Normal forms of content words and of document names.

mod document_names;
mod lexemes;
mod word_set;

pub(crate) use document_names::{address, shortens, stem};
pub use lexemes::Lexemes;
pub(crate) use lexemes::{canonical, spellings};
pub(crate) use word_set::WordSet;
