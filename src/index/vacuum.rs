//! VACUUM.

use std::ffi::c_void;

use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::score::row_count;
use reground_bm25::index::write::maintain;
use reground_bm25::index::write::vacuum::{self, Removed};

use crate::index::content::item_pointer;
use crate::index::raise::or_raise;
use crate::index::storage::IndexPages;

/// Removes the rows that the callback says are gone. It is asked of each, also by CREATE INDEX CONCURRENTLY, which only
/// listens.
#[pg_guard]
pub unsafe extern "C-unwind" fn remove(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
    callback: pg_sys::IndexBulkDeleteCallback,
    state: *mut c_void,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: PostgreSQL hands us open relations.
    let pages = unsafe { IndexPages::new((*info).index, table(info)) };
    let is_gone = |row| match callback {
        Some(callback) => {
            let mut pointer = item_pointer(row);
            // SAFETY: the callback takes an address and its own state.
            unsafe { callback(&mut pointer, state) }
        }
        None => false,
    };
    let removed = or_raise(vacuum::remove(&pages, is_gone).map_err(Into::into));
    counted(stats, &pages, removed)
}

/// Ends a vacuum: merges what has become small or empty.
#[pg_guard]
pub unsafe extern "C-unwind" fn tidy(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: PostgreSQL hands us an info that lives for the call.
    let (analyze_only, index, heap) = unsafe { ((*info).analyze_only, (*info).index, table(info)) };
    if analyze_only {
        return stats;
    }
    // SAFETY: the relations are open.
    let pages = unsafe { IndexPages::new(index, heap) };
    let stay = or_raise(maintain::cleanup(&pages).map_err(Into::into));
    counted(stats, &pages, Removed { removed: 0, stay })
}

/// The table, or null: 15 does not hand it over.
///
/// # Safety
/// The info is PostgreSQL's.
unsafe fn table(info: *mut pg_sys::IndexVacuumInfo) -> pg_sys::Relation {
    #[cfg(feature = "pg15")]
    {
        let _ = info;
        std::ptr::null_mut()
    }
    #[cfg(not(feature = "pg15"))]
    // SAFETY: as the caller promises.
    unsafe {
        (*info).heaprel
    }
}

/// The statistics, with what was removed now added.
fn counted(
    stats: *mut pg_sys::IndexBulkDeleteResult,
    pages: &IndexPages,
    removed: Removed,
) -> *mut pg_sys::IndexBulkDeleteResult {
    let stats = if stats.is_null() {
        // SAFETY: a fresh allocation of that type in the caller's memory.
        unsafe { PgBox::<pg_sys::IndexBulkDeleteResult>::alloc0() }.into_pg()
    } else {
        stats
    };
    // SAFETY: not null, and of that type: from above or from an earlier call.
    unsafe {
        (*stats).num_pages = pages.blocks();
        (*stats).estimated_count = false;
        (*stats).num_index_tuples = row_count(removed.stay);
        (*stats).tuples_removed += row_count(removed.removed);
    }
    stats
}
