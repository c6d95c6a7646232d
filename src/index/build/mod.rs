//! CREATE INDEX and REINDEX. One or several processes read the table once and sort its terms within maintenance_work_mem.

mod parallel;
mod table_reader;
mod temp_file;

use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::score;
use reground_bm25::index::terms::{Key, Weights};
use reground_bm25::index::write::bulk_load::BulkLoader;
use reground_bm25::index::write::load_merge::finish;
use reground_bm25::index::write::maintain;

use self::parallel::{WorkerParts, Workers};
use self::table_reader::TableReader;
use self::temp_file::TempFile;
use crate::error::{Error, Result};
use crate::index::content::{Tokenizer, check_columns, has_fields};
use crate::index::options;
use crate::index::raise::or_raise;
use crate::index::storage::IndexPages;

/// Builds the index of a table.
#[pg_guard]
pub unsafe extern "C-unwind" fn build(
    heap: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> *mut pg_sys::IndexBuildResult {
    // SAFETY: PostgreSQL passes open relations, and the index is locked exclusively.
    let pages = unsafe { IndexPages::during_build(index) };
    let (heap_tuples, index_tuples) = or_raise(load_table(&pages, heap, index, info));
    pages.log_all();
    // SAFETY: PgBox allocates a zeroed IndexBuildResult in the caller's memory context.
    unsafe {
        let result = PgBox::<pg_sys::IndexBuildResult>::alloc0();
        let result = result.into_pg();
        (*result).heap_tuples = heap_tuples;
        (*result).index_tuples = index_tuples;
        result
    }
}

/// Creates the init fork of an unlogged table's index: an empty index.
#[pg_guard]
pub unsafe extern "C-unwind" fn build_empty(index: pg_sys::Relation) {
    // SAFETY: PostgreSQL passes an open relation, locked exclusively.
    let pages = unsafe { IndexPages::of_init_fork(index) };
    or_raise(create(&pages, index));
}

/// Creates an empty index with its declared settings, which are permanent from now on.
fn create(pages: &IndexPages, index: pg_sys::Relation) -> Result<()> {
    // SAFETY: the index is open and of this access method.
    let (settings, has_fields) = unsafe {
        check_columns(index)?;
        (options::read(index)?, has_fields(index))
    };
    if !has_fields && settings.weights != Weights::default() {
        return Err(Error::WeightsWithoutFields);
    }
    Ok(maintain::create(pages, random_key()?, settings)?)
}

/// Creates a random key for the term hashes.
fn random_key() -> Result<Key> {
    let mut key = [0_u64; 2];
    // SAFETY: the function fills as many bytes as the array has.
    let strong = unsafe { pg_sys::pg_strong_random(key.as_mut_ptr().cast(), size_of::<Key>()) };
    if !strong {
        return Err(Error::NoRandomness);
    }
    Ok(key)
}

/// Creates an empty index and loads the table's rows. Returns the number of rows, and of rows with a text.
fn load_table(
    pages: &IndexPages,
    heap: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
) -> Result<(f64, f64)> {
    create(pages, index)?;
    let tokenizer = Tokenizer::of(&Meta::read(pages)?)?;
    // SAFETY: reads a setting (in kB) that only changes between statements.
    let memory = usize::try_from(unsafe { pg_sys::maintenance_work_mem }).unwrap_or(1 << 16) << 10;
    // SAFETY: both relations are open under the locks of this build, and `info` belongs to it.
    let workers = unsafe { Workers::start(heap, index, info, tokenizer, memory) };
    let (memory, scan) = match &workers {
        Some(workers) => (workers.memory(), workers.scan()),
        None => (memory, std::ptr::null_mut()),
    };
    let loader = BulkLoader::new(TempFile::new(), TempFile::new(), memory);
    let mut reader = TableReader::new(tokenizer, loader);
    // SAFETY: both relations are open under the locks of this build, and the scan is a scan of the table.
    let mut rows = unsafe { reader.read(heap, index, info, scan, true) };
    let others = match &workers {
        // SAFETY: `info` belongs to this build.
        Some(workers) => unsafe { workers.wait(info) },
        None => WorkerParts::default(),
    };
    rows += others.rows;
    let theirs = others.parts.iter().map(|(part, ..)| part.documents);
    let indexed = u64::from(reader.loader.documents()) + theirs.map(u64::from).sum::<u64>();
    report(WRITING);
    finish(pages, reader.loader, others.parts)?;
    if let Some(workers) = workers {
        workers.end();
    }
    Ok((rows, score::row_count(indexed)))
}

/// Phase in which the table is read; phase numbers below are PostgreSQL's own.
const READING: i64 = 1;
/// Phase in which sorted runs are merged and the segment is written.
const WRITING: i64 = 2;

/// Returns the name of a phase for pg_stat_progress_create_index.
#[pg_guard]
pub unsafe extern "C-unwind" fn phase(number: i64) -> *mut std::ffi::c_char {
    let name = match number {
        READING => c"reading the table",
        WRITING => c"writing the segment",
        _ => return std::ptr::null_mut(),
    };
    name.as_ptr().cast_mut()
}

/// Reports the current phase.
fn report(phase: i64) {
    // SAFETY: sets a number in this session's progress report.
    unsafe {
        pg_sys::pgstat_progress_update_param(pg_sys::PROGRESS_CREATEIDX_SUBPHASE as i32, phase);
    }
}
