//! Reading the table's rows: all of them, or the share that a parallel scan gives to this process.

use std::ffi::c_void;

use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::write::bulk_load::BulkLoader;

use super::temp_file::TempFile;
use crate::index::content::{Tokenizer, row_content};
use crate::index::raise::{or_raise, raise};

/// What is handed from row to row.
pub struct TableReader {
    /// What was gathered.
    pub loader: BulkLoader<TempFile>,
    tokenizer: Tokenizer,
    /// The text and what is made of it are freed row by row.
    memory: pg_sys::MemoryContext,
}

impl TableReader {
    /// Nothing yet. It lives in the memory that is current now.
    pub fn new(tokenizer: Tokenizer, loader: BulkLoader<TempFile>) -> Self {
        // SAFETY: a child of the memory that the statement works in; deleted when all is read, and by an abort.
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

    /// Reads the rows of a scan, or all where it is null; how many there were.
    ///
    /// # Safety
    /// Both relations are open under the locks of a build, and the scan is one of the table, which is ended here.
    pub unsafe fn read(
        &mut self,
        heap: pg_sys::Relation,
        index: pg_sys::Relation,
        info: *mut pg_sys::IndexInfo,
        scan: pg_sys::TableScanDesc,
        progress: bool,
    ) -> f64 {
        // SAFETY: as the caller promises; the callback is given what it expects, and only during the scan. Nothing in the
        // memory of the rows is in use afterwards.
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

/// Takes a row in.
#[pg_guard]
unsafe extern "C-unwind" fn add(
    index: pg_sys::Relation,
    tid: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
    _alive: bool,
    state: *mut c_void,
) {
    // SAFETY: the state is what `read` handed over.
    let reader = unsafe { &mut *state.cast::<TableReader>() };
    // SAFETY: the context lives for the scan; it is emptied when nothing of the row is in use any more.
    let before = unsafe { pg_sys::MemoryContextSwitchTo(reader.memory) };
    // SAFETY: the values are the one column's of a row.
    if let Some((row, content)) = or_raise(unsafe { row_content(index, tid, values, is_null) }) {
        let document = reader.tokenizer.document(row, &content);
        if let Err(error) = reader.loader.add(&document) {
            raise(error.into());
        }
    }
    // SAFETY: as above.
    unsafe {
        pg_sys::MemoryContextSwitchTo(before);
        pg_sys::MemoryContextReset(reader.memory);
    }
}
