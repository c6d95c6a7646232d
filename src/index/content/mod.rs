//! The indexed content of a row, and the documents made of it.

mod document;
mod in_language;

pub use document::{Content, Tokenizer, has_fields, item_pointer, row_content, row_number};
pub use in_language::{InLanguage, IndexedColumns, indexed_columns};
