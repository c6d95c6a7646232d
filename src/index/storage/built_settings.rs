//! The settings that an index was built with.

use pgrx::pg_sys;
use reground_bm25::index::pages::meta::{IndexSettings, Meta};

use super::IndexPages;
use crate::error::Result;
use crate::index::index_lookup;
use crate::index::relation::OpenRelation;

/// Returns the settings that an index, or every leaf of a partitioned index, was built with; `None` if the text search configurations or
/// the weights of two leaves differ.
///
/// # Errors
/// A damaged index.
pub fn built_settings(index: pg_sys::Oid) -> Result<Option<IndexSettings>> {
    let mut built: Option<IndexSettings> = None;
    let Ok(leaves) = index_lookup::indexes(index) else {
        return Ok(None);
    };
    for leaf in leaves {
        let Some(open) = OpenRelation::open(leaf) else {
            return Ok(None);
        };
        // SAFETY: the index is open until `open` is dropped.
        let pages = unsafe { IndexPages::new(open.as_ptr()) };
        let settings = Meta::read(&pages)?.settings;
        let first = built.get_or_insert_with(|| settings.clone());
        if !settings.uses_text_config(&first.text_config) || settings.weights != first.weights {
            return Ok(None);
        }
    }
    Ok(built)
}
