//! The access method `reground_bm25`: PostgreSQL's side of the index that `reground_bm25::index` decides about.
//!
//! A file for each phase of an index' life: `options` and `build`, `insert`, `scan`, `vacuum`, and `cost` for the planner;
//! `handler` lists them. `pages` are those of an index, in `buffers` and in the write-ahead log; `words` and `words_cache` make
//! lexemes of a text, `document` an entry. `query`, `resolve`, `frozen` and `operators` are the SQL side: what is asked, which
//! indexes answer (each a `relation`), what the scores of one statement rest on. `inspect` is for whoever looks after an index.

mod buffers;
mod build;
mod cost;
mod document;
mod expansion;
mod frozen;
mod handler;
mod in_language;
mod insert;
mod inspect;
mod operators;
mod options;
mod pages;
mod query;
mod relation;
mod resolve;
mod scan;
mod vacuum;

use pgrx::PgLogLevel;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use reground_bm25::index::meta::Meta;

pub use expansion::Expansion;
pub use query::Bm25Query;

use crate::error::{Error, Result};

/// Registers what PostgreSQL must know before an index is touched. Called once, when the library is loaded.
pub fn define() {
    options::define();
    resolve::define();
}

/// Whether the words of an index, or of all leaves of a partitioned one, were made with a text search configuration.
///
/// # Errors
/// Damage.
pub fn is_made_with(index: pg_sys::Oid, text_config: &str) -> Result<bool> {
    let Ok(leaves) = resolve::indexes(index) else {
        return Ok(false);
    };
    for leaf in leaves {
        let Some(open) = relation::Open::relation(leaf) else {
            return Ok(false);
        };
        // SAFETY: the index is open until `open` is dropped.
        let pages = unsafe { pages::IndexPages::new(open.get(), std::ptr::null_mut()) };
        if !Meta::read(&pages)?.design.is_of(text_config) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The columns of an index on `in_language(text, configuration)`: that of the text, and that of what it is read by; `None` for
/// an index on anything else.
pub fn columns_in_language(index: pg_sys::Oid) -> Option<(String, String)> {
    in_language::columns(&relation::Open::relation(index)?)
}

/// The value, or PostgreSQL's ERROR: callbacks of an access method have no other way to say what went wrong.
fn or_raise<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => raise(error),
    }
}

/// Raises PostgreSQL's ERROR.
fn raise(error: Error) -> ! {
    ErrorReport::from(error).report(PgLogLevel::ERROR);
    unreachable!("an ERROR does not return")
}
