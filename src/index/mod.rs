//! The access method `reground_bm25`: the PostgreSQL side of the index in `reground_bm25::index`.
//!
//! `handler` lists the callbacks: `options`, `build`, `insert`, `scan`, `vacuum`, and `cost` for the planner. `storage` reads
//! and writes the pages, `content` makes documents of rows, and `query` holds the SQL types and operators. `index_lookup`
//! finds the indexes of a table, and `inspect` holds the administrative functions.

mod build;
mod content;
mod cost;
mod handler;
mod index_lookup;
mod insert;
mod inspect;
mod options;
mod query;
mod raise;
mod relation;
mod root_rows;
mod scan;
mod storage;
mod vacuum;

use pgrx::pg_sys;

pub use content::IndexedColumns;
pub use query::{Bm25Query, Expansion, RowAddress, hides_rows, row_scores, with_statistics};
pub use storage::built_settings;

/// Registers the options. Called once, when the library is loaded.
pub fn define() {
    options::define();
}

/// Returns the columns that an index is on; `None` for an index on anything else than columns, an array of columns, or `in_language` of
/// one of these.
pub fn indexed_columns(index: pg_sys::Oid) -> Option<IndexedColumns> {
    content::indexed_columns(&relation::OpenRelation::open(index)?)
}
