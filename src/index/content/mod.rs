//! The indexed content of a row, and the documents made of it.

mod document;
mod filter_column;
mod in_language;

pub use document::{
    Content, IndexedRow, Tokenizer, has_fields, indexed_row, item_pointer, row_number,
};
pub use filter_column::{FilterValue, HASH_FUNCTION, check_columns, compared_value, filter_count};
pub use in_language::{InLanguage, IndexedColumns, indexed_columns};
