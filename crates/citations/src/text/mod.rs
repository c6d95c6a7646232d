//! Content words and names of documents, in the spelling that they are compared in.

mod document_names;
mod lexemes;
mod word_set;

pub(crate) use document_names::{address, shortens, stem};
pub use lexemes::Lexemes;
pub(crate) use lexemes::{canonical, spellings};
pub(crate) use word_set::WordSet;
