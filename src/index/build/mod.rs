//! CREATE INDEX and REINDEX: the table is read once, its terms are sorted within maintenance_work_mem.

use std::ffi::c_void;

use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::build::{Builder, Runs};
use reground_bm25::index::maintain;
use reground_bm25::index::meta::Meta;
use reground_bm25::index::score;
use reground_bm25::index::terms::Key;
use reground_bm25::index::{Fault, Result as IndexResult};

use super::document::{Words, entry};
use super::options;
use super::pages::IndexPages;
use super::{or_raise, raise};
use crate::error::{Error, Result};

/// What is handed from row to row.
struct Progress<'s> {
    builder: Builder<'s, IndexPages, Files>,
    words: Words,
    indexed: u64,
    /// The text and what is made of it are freed row by row.
    memory: pg_sys::MemoryContext,
}

/// Builds the index of a table.
#[pg_guard]
pub unsafe extern "C-unwind" fn build(
    heap: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> *mut pg_sys::IndexBuildResult {
    // SAFETY: PostgreSQL hands us open relations, the index locked for us alone.
    let pages = unsafe { IndexPages::during_build(index, heap) };
    let (heap_tuples, index_tuples) = or_raise(fill(&pages, heap, index, info));
    pages.log_all();
    // SAFETY: a fresh allocation of that type in the caller's memory.
    unsafe {
        let result = PgBox::<pg_sys::IndexBuildResult>::alloc0();
        let result = result.into_pg();
        (*result).heap_tuples = heap_tuples;
        (*result).index_tuples = index_tuples;
        result
    }
}

/// Makes the init fork of an unlogged table's index: an empty index.
#[pg_guard]
pub unsafe extern "C-unwind" fn build_empty(index: pg_sys::Relation) {
    // SAFETY: PostgreSQL hands us an open relation, locked for us alone.
    let pages = unsafe { IndexPages::of_init_fork(index) };
    or_raise(create(&pages, index));
}

/// Makes an empty index of what it is declared as; from now on it stays so.
fn create(pages: &IndexPages, index: pg_sys::Relation) -> Result<()> {
    // SAFETY: the index is open and of this access method.
    let design = unsafe { options::read(index) };
    Ok(maintain::create(pages, secret()?, design)?)
}

/// A key for the hashes that nobody knows.
fn secret() -> Result<Key> {
    let mut key = [0_u64; 2];
    // SAFETY: fills as many bytes as the array has.
    let strong = unsafe { pg_sys::pg_strong_random(key.as_mut_ptr().cast(), size_of::<Key>()) };
    if !strong {
        return Err(Error::Stored("no random numbers for a new index".into()));
    }
    Ok(key)
}

/// Makes an empty index, and puts the table's rows into it; how many rows there are, and how many of them have a text.
fn fill(
    pages: &IndexPages,
    heap: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> Result<(f64, f64)> {
    create(pages, index)?;
    let words = Words::of(&Meta::read(pages)?)?;
    // SAFETY: a setting in kB that the session may change between statements only.
    let memory = usize::try_from(unsafe { pg_sys::maintenance_work_mem }).unwrap_or(1 << 16) << 10;
    // SAFETY: a child of the memory that the statement works in; deleted below, and by an abort.
    let context = unsafe {
        pg_sys::AllocSetContextCreateInternal(
            pg_sys::CurrentMemoryContext,
            c"reground_bm25 build".as_ptr(),
            pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
            pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
            pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
        )
    };
    let mut progress = Progress {
        builder: Builder::new(pages, Files::new(), memory)?,
        words,
        indexed: 0,
        memory: context,
    };
    // SAFETY: the callback is given what it expects, and only during the scan.
    let rows = unsafe {
        pg_sys::table_index_build_scan(
            heap,
            index,
            info,
            true,
            true,
            Some(add),
            (&raw mut progress).cast(),
            std::ptr::null_mut(),
        )
    };
    let indexed = progress.indexed;
    report(WRITING);
    progress.builder.finish()?;
    // SAFETY: made above, and nothing in it is in use.
    unsafe { pg_sys::MemoryContextDelete(context) };
    Ok((rows, score::rows(indexed)))
}

/// The phase in which the table is read: PostgreSQL's own first.
const READING: i64 = 1;
/// The phase in which sorted runs are merged and the segment is written.
const WRITING: i64 = 2;

/// Names a phase for pg_stat_progress_create_index.
#[pg_guard]
pub unsafe extern "C-unwind" fn phase(number: i64) -> *mut std::ffi::c_char {
    let name = match number {
        READING => c"reading the table",
        WRITING => c"writing the segment",
        _ => return std::ptr::null_mut(),
    };
    name.as_ptr().cast_mut()
}

/// Says which phase has begun.
fn report(phase: i64) {
    // SAFETY: sets a number of this session's progress report.
    unsafe {
        pg_sys::pgstat_progress_update_param(pg_sys::PROGRESS_CREATEIDX_SUBPHASE as i32, phase);
    }
}

/// Takes a row in.
#[pg_guard]
unsafe extern "C-unwind" fn add(
    _index: pg_sys::Relation,
    tid: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
    _alive: bool,
    state: *mut c_void,
) {
    // SAFETY: the state is what `fill` handed over.
    let progress = unsafe { &mut *state.cast::<Progress<'_>>() };
    // SAFETY: the context lives for the build; it is emptied when nothing of the row is in use any more.
    let before = unsafe { pg_sys::MemoryContextSwitchTo(progress.memory) };
    // SAFETY: the values are the one column's of a row, and the operator class is of text.
    if let Some((row, text)) = or_raise(unsafe { entry(tid, values, is_null) }) {
        let document = progress.words.document(row, &text);
        if let Err(fault) = progress.builder.add(&document) {
            raise(fault.into());
        }
        progress.indexed += 1;
    }
    // SAFETY: as above.
    unsafe {
        pg_sys::MemoryContextSwitchTo(before);
        pg_sys::MemoryContextReset(progress.memory);
    }
}

/// Sorted runs in a temporary file, which PostgreSQL counts against temp_file_limit and removes whatever happens.
struct Files {
    /// What the file is kept in: it outlives the memory of a row.
    memory: pg_sys::MemoryContext,
    file: Option<*mut pg_sys::BufFile>,
    /// Where writing goes on.
    end: u64,
}

/// Bytes of a segment of PostgreSQL's temporary files: positions are given as segment and offset.
const SEGMENT: u64 = 1 << 30;

impl Files {
    /// None yet; the file lives in the memory that is current now.
    fn new() -> Self {
        Self {
            // SAFETY: reads a variable of the session.
            memory: unsafe { pg_sys::CurrentMemoryContext },
            file: None,
            end: 0,
        }
    }

    /// The file, made when it is first needed.
    fn file(&mut self) -> *mut pg_sys::BufFile {
        *self.file.get_or_insert_with(|| {
            // SAFETY: the memory outlives this; a temporary file of this transaction, and an error is PostgreSQL's own.
            unsafe {
                let before = pg_sys::MemoryContextSwitchTo(self.memory);
                let file = pg_sys::BufFileCreateTemp(false);
                pg_sys::MemoryContextSwitchTo(before);
                file
            }
        })
    }

    fn seek(file: *mut pg_sys::BufFile, at: u64) -> IndexResult<()> {
        let whole = i32::try_from(at / SEGMENT).unwrap_or(i32::MAX);
        let rest = (at % SEGMENT) as pg_sys::off_t;
        // SAFETY: the file is open; 0 is SEEK_SET.
        match unsafe { pg_sys::BufFileSeek(file, whole, rest, 0) } {
            0 => Ok(()),
            _ => Err(Fault::Full {
                what: "a temporary file cannot be read where it was written",
            }),
        }
    }
}

impl Runs for Files {
    fn write(&mut self, bytes: &[u8]) -> IndexResult<()> {
        let file = self.file();
        // SAFETY: the bytes are as many as are said. Runs are written one after the other before any is read.
        unsafe { pg_sys::BufFileWrite(file, bytes.as_ptr().cast(), bytes.len()) };
        self.end += bytes.len() as u64;
        Ok(())
    }

    fn read(&mut self, from: u64, into: &mut [u8]) -> IndexResult<usize> {
        let Some(file) = self.file else {
            return Ok(0);
        };
        Self::seek(file, from)?;
        // SAFETY: the buffer is as long as is said.
        Ok(unsafe { pg_sys::BufFileRead(file, into.as_mut_ptr().cast(), into.len()) })
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if let Some(file) = self.file.take()
            && !std::thread::panicking()
        {
            // SAFETY: open, and not used again. After an error the abort has it closed.
            unsafe { pg_sys::BufFileClose(file) };
        }
    }
}
