//! Reads the table's rows: all of them, or the part that a parallel scan assigns to this process.

use std::ffi::c_void;

use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::write::bulk_load::BulkLoader;

use super::temp_file::TempFile;
use crate::index::content::{Tokenizer, indexed_row};
use crate::index::raise::{or_raise, raise};

/// State of the callback for rows.
pub struct TableReader {
    /// Receives the documents.
    pub loader: BulkLoader<TempFile>,
    tokenizer: Tokenizer,
    /// Memory of one row; it is reset after each row.
    memory: pg_sys::MemoryContext,
}

impl TableReader {
    /// Creates a reader in the current memory context.
    pub fn new(tokenizer: Tokenizer, loader: BulkLoader<TempFile>) -> Self {
        // SAFETY: creates a child of the statement's memory context. It is deleted after the read, or by an abort.
        let memory = unsafe {
            pg_sys::AllocSetContextCreateInternal(
                pg_sys::CurrentMemoryContext,
                c"reground_bm25 build".as_ptr(),
                pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
            )
        };
        Self {
            loader,
            tokenizer,
            memory,
        }
    }

    /// Reads the rows of a scan, or the whole table if `scan` is null. Returns the number of rows.
    ///
    /// # Safety
    /// Both relations are open under the locks of a build. The scan is a scan of the table; this function ends it.
    pub unsafe fn read(
        &mut self,
        heap: pg_sys::Relation,
        index: pg_sys::Relation,
        info: *mut pg_sys::IndexInfo,
        scan: pg_sys::TableScanDesc,
        progress: bool,
    ) -> f64 {
        // SAFETY: as the caller promises. The callback gets its own state, and runs only during the scan. Nothing uses the
        // memory of the rows afterwards.
        unsafe {
            let rows = pg_sys::table_index_build_scan(
                heap,
                index,
                info,
                true,
                progress,
                Some(add),
                std::ptr::from_mut(self).cast(),
                scan,
            );
            pg_sys::MemoryContextDelete(self.memory);
            rows
        }
    }
}

/// Adds a row.
#[pg_guard]
unsafe extern "C-unwind" fn add(
    index: pg_sys::Relation,
    tid: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
    _alive: bool,
    state: *mut c_void,
) {
    // SAFETY: `read` passes its TableReader as the state, and uses it only through this callback during the scan.
    let reader = unsafe { &mut *state.cast::<TableReader>() };
    // SAFETY: the context lives as long as the scan; it is reset when nothing of the row is in use any more.
    let before = unsafe { pg_sys::MemoryContextSwitchTo(reader.memory) };
    // SAFETY: the index is open, and PostgreSQL passes the address of a row and a value for each column. They live until the return.
    if let Some(row) = or_raise(unsafe { indexed_row(index, tid, values, is_null) }) {
        let document = reader.tokenizer.document(&row);
        if let Err(error) = reader.loader.add(document) {
            raise(error.into());
        }
    }
    // SAFETY: `before` was the current context, and nothing uses the memory of the row any more.
    unsafe {
        pg_sys::MemoryContextSwitchTo(before);
        pg_sys::MemoryContextReset(reader.memory);
    }
}
