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
mod scan;
mod storage;
mod vacuum;

use pgrx::pg_sys;
use reground_bm25::index::pages::meta::Meta;

pub use query::{Bm25Query, Expansion};

use crate::error::Result;

/// Registers the options and the invalidation callback. Called once, when the library is loaded.
pub fn define() {
    options::define();
    index_lookup::define();
}

/// Returns whether an index, or every leaf of a partitioned index, was built with a text search configuration.
///
/// # Errors
/// A damaged index.
pub fn uses_text_config(index: pg_sys::Oid, text_config: &str) -> Result<bool> {
    let Ok(leaves) = index_lookup::indexes(index) else {
        return Ok(false);
    };
    for leaf in leaves {
        let Some(open) = relation::OpenRelation::open(leaf) else {
            return Ok(false);
        };
        // SAFETY: the index is open until `open` is dropped.
        let pages = unsafe { storage::IndexPages::new(open.as_ptr(), std::ptr::null_mut()) };
        if !Meta::read(&pages)?.settings.uses_text_config(text_config) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the text column and the configuration column of an index on `in_language(text, configuration)`; `None` for an index
/// on anything else.
pub fn columns_in_language(index: pg_sys::Oid) -> Option<(String, String)> {
    content::columns_in_language(&relation::OpenRelation::open(index)?)
}
