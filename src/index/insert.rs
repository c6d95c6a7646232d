//! Inserts of rows.

use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::write::maintain;

use crate::error::Result;
use crate::index::content::{IndexedRow, Tokenizer, indexed_row};
use crate::index::raise::or_raise;
use crate::index::storage::IndexPages;

/// Inserts a row into the index. Returns false, because the index is never unique.
#[pg_guard]
#[expect(clippy::too_many_arguments, reason = "PostgreSQL's signature")]
pub unsafe extern "C-unwind" fn insert(
    index: pg_sys::Relation,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
    tid: pg_sys::ItemPointer,
    _heap: pg_sys::Relation,
    _unique: pg_sys::IndexUniqueCheck::Type,
    _unchanged: bool,
    _info: *mut pg_sys::IndexInfo,
) -> bool {
    // SAFETY: PostgreSQL passes open relations, the address of a row and a value for each column. They live until the return.
    let (pages, entry) = unsafe {
        let pages = IndexPages::new(index);
        (pages, indexed_row(index, tid, values, is_null))
    };
    if let Some(row) = or_raise(entry) {
        or_raise(add(&pages, &row));
    }
    false
}

fn add(pages: &IndexPages, row: &IndexedRow<'_>) -> Result<()> {
    // Tokenize before any page is locked, because dictionaries read catalogs.
    let document = Tokenizer::of(&Meta::read(pages)?)?.document(row);
    maintain::insert(pages, &document)?;
    Ok(())
}
