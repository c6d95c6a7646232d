//! CREATE INDEX and REINDEX: the table is read once, by one process or several, and its terms are sorted within
//! maintenance_work_mem.

mod files;
mod gather;
mod parallel;

use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::build::{Gatherer, finish};
use reground_bm25::index::maintain;
use reground_bm25::index::meta::Meta;
use reground_bm25::index::score;
use reground_bm25::index::terms::{Key, Weights};

use self::files::File;
use self::gather::Gathering;
use self::parallel::{Others, Workers};
use super::document::{Words, has_fields};
use super::options;
use super::or_raise;
use super::pages::IndexPages;
use crate::error::{Error, Result};

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
    let (design, has_fields) = unsafe { (options::read(index)?, has_fields(index)) };
    if !has_fields && design.weights != Weights::default() {
        return Err(Error::WeightsWithoutFields);
    }
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
    // SAFETY: the relations are those of the build.
    let workers = unsafe { Workers::start(heap, index, info, words, memory) };
    let (memory, scan) = match &workers {
        Some(workers) => (workers.memory(), workers.scan()),
        None => (memory, std::ptr::null_mut()),
    };
    let gatherer = Gatherer::new(File::new(), File::new(), memory);
    let mut gathering = Gathering::new(words, gatherer);
    // SAFETY: as above, and the scan is one of the table.
    let mut rows = unsafe { gathering.read(heap, index, info, scan, true) };
    let others = match &workers {
        // SAFETY: the info is that of the build.
        Some(workers) => unsafe { workers.wait(info) },
        None => Others::default(),
    };
    rows += others.rows;
    let theirs = others.parts.iter().map(|(part, ..)| part.documents);
    let indexed = u64::from(gathering.gatherer.documents()) + theirs.map(u64::from).sum::<u64>();
    report(WRITING);
    finish(pages, gathering.gatherer, others.parts)?;
    if let Some(workers) = workers {
        workers.end();
    }
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
