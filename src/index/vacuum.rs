//! The callbacks for VACUUM.

use std::ffi::c_void;

use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::score::row_count;
use reground_bm25::index::write::maintain;
use reground_bm25::index::write::vacuum::{self, Removal};

use crate::index::content::item_pointer;
use crate::index::raise::or_raise;
use crate::index::storage::IndexPages;

/// Removes the rows that the callback reports as dead. The callback gets every row; CREATE INDEX CONCURRENTLY uses this to
/// collect the row addresses.
#[pg_guard]
pub unsafe extern "C-unwind" fn remove(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
    callback: pg_sys::IndexBulkDeleteCallback,
    state: *mut c_void,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: PostgreSQL passes a valid info with an open index.
    let pages = unsafe { IndexPages::new((*info).index) };
    let is_gone = |row| match callback {
        Some(callback) => {
            let mut pointer = item_pointer(row);
            // SAFETY: the callback takes a row address and its own state.
            unsafe { callback(&mut pointer, state) }
        }
        None => false,
    };
    let removed = or_raise(vacuum::remove(&pages, is_gone).map_err(Into::into));
    add_to_stats(stats, &pages, removed)
}

/// Completes a vacuum: rewrites segments with many removed documents and merges small ones.
#[pg_guard]
pub unsafe extern "C-unwind" fn cleanup(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: PostgreSQL passes an info that is valid during the call.
    let (analyze_only, index) = unsafe { ((*info).analyze_only, (*info).index) };
    if analyze_only {
        return stats;
    }
    // SAFETY: the index of the info is open.
    let pages = unsafe { IndexPages::new(index) };
    let cleaned = or_raise(maintain::cleanup(&pages).map_err(Into::into));
    let removal = Removal {
        removed: 0,
        remaining: cleaned.documents,
    };
    let stats = add_to_stats(stats, &pages, removal);
    // SAFETY: the pointer is not null.
    unsafe {
        (*stats).pages_deleted = cleaned.free_pages;
        (*stats).pages_free = cleaned.free_pages;
    }
    stats
}

/// Adds the result of a removal to the statistics.
fn add_to_stats(
    stats: *mut pg_sys::IndexBulkDeleteResult,
    pages: &IndexPages,
    removed: Removal,
) -> *mut pg_sys::IndexBulkDeleteResult {
    let stats = if stats.is_null() {
        // SAFETY: PgBox allocates a zeroed IndexBulkDeleteResult in the caller's memory context.
        unsafe { PgBox::<pg_sys::IndexBulkDeleteResult>::alloc0() }.into_pg()
    } else {
        stats
    };
    // SAFETY: the pointer is not null; it comes from the allocation above or from an earlier call of these callbacks.
    unsafe {
        (*stats).num_pages = pages.blocks();
        (*stats).estimated_count = false;
        (*stats).num_index_tuples = row_count(removed.remaining);
        (*stats).tuples_removed += row_count(removed.removed);
    }
    stats
}
