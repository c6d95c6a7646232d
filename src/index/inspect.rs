//! Administrative functions: segments of an index, check of an index, merge of all segments.

use std::collections::HashMap;
use std::ffi::c_void;

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_bm25::index::IndexError;
use reground_bm25::index::check::{Finding, check, check_settings};
use reground_bm25::index::pages::meta::{META, Meta};
use reground_bm25::index::pages::store::Store;
use reground_bm25::index::search::present::read_present;
use reground_bm25::index::write::maintain;
use serde::Serialize;

use crate::api::{given, writable};
use crate::error::{Error, Result};
use crate::index::content::indexed_row;
use crate::index::options;
use crate::index::raise::or_raise;
use crate::index::relation::OpenRelation;
use crate::index::storage::IndexPages;
use crate::rows;
use crate::run_as::as_role;

/// An index and its table, open under a lock until this is dropped.
struct LockedIndex {
    // Fields are dropped in this order: the index before its table.
    index: OpenRelation,
    table: OpenRelation,
}

impl LockedIndex {
    fn new(index: Option<pg_sys::Oid>, lock: u32) -> Result<Self> {
        let index = given(index, "index")?;
        let unknown = || Error::Unknown("reground_bm25 index", index.to_u32().to_string());
        let any = OpenRelation::open(index).ok_or_else(unknown)?;
        if !any.is_ours() {
            return Err(Error::NotBm25Index(any.name()));
        }
        let table = any.table();
        drop(any);
        // Before the lock, because writers wait behind a lock that waits. The owner may change until then.
        OpenRelation::open(table)
            .ok_or_else(unknown)?
            .check_owner()?;
        // Lock the table first, as PostgreSQL does.
        let table = OpenRelation::open_with_lock(table, lock).ok_or_else(unknown)?;
        let index = OpenRelation::open_with_lock(index, lock)
            .filter(OpenRelation::is_ours)
            .ok_or_else(unknown)?;
        table.check_owner()?;
        Ok(Self { index, table })
    }

    fn pages(&self) -> IndexPages {
        // SAFETY: the index is open until this is dropped.
        unsafe { IndexPages::new(self.index.as_ptr()) }
    }
}

/// A row of `bm25_check`.
#[derive(Serialize)]
struct FindingRow {
    item: String,
    problem: String,
}

impl FindingRow {
    fn of_row(row: u64, problem: &str) -> Self {
        // Format of PostgreSQL's tid.
        Self {
            item: format!("row ({},{})", row >> 16, row & 0xffff),
            problem: problem.to_owned(),
        }
    }
}

#[pg_extern(sql = false)]
fn bm25_check(
    index: Option<pg_sys::Oid>,
    heapallindexed: Option<bool>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let whole = given(heapallindexed, "heapallindexed")?;
    // A comparison with the table must see the same rows throughout.
    let lock = if whole {
        pg_sys::ShareLock
    } else {
        pg_sys::AccessShareLock
    };
    let locked = LockedIndex::new(index, lock)?;
    let pages = locked.pages();
    let mut indexed = HashMap::new();
    let mut twice = Vec::new();
    let findings = read_present(|| {
        indexed.clear();
        twice.clear();
        let meta = Meta::read(&pages)?;
        let findings = pages.maintain(|| {
            check(&pages, pages.blocks(), |row, fingerprint| {
                if indexed.insert(row, fingerprint).is_some() {
                    twice.push(row);
                }
            })
        })?;
        // Replay on a standby does not wait for the maintenance lock.
        // SAFETY: reads the state of the server.
        if unsafe { pg_sys::RecoveryInProgress() } && Meta::read(&pages)? != meta {
            return Err(IndexError::Reused { block: META });
        }
        Ok(findings)
    });
    let findings = findings.map_err(Error::from)?.faults;
    // SAFETY: the index is open and of this access method.
    let declared = unsafe { options::read(locked.index.as_ptr()) }?;
    let made = Meta::read(&pages).map_err(Error::from)?.settings;
    let mut problems: Vec<FindingRow> = findings
        .into_iter()
        .chain(check_settings(&made, &declared))
        .map(|Finding { item, fault }| FindingRow {
            item,
            problem: fault,
        })
        .collect();
    problems.extend(
        twice
            .iter()
            .map(|&row| FindingRow::of_row(row, "it is in the index twice")),
    );
    if whole {
        // The index may contain functions of the table's owner. They must not run with the rights of a superuser who calls this.
        let differences = as_role(locked.table.owner(), || {
            Ok(compare_with_table(&locked, indexed))
        });
        problems.extend(differences?);
    }
    rows::emit(fcinfo, &problems)?;
    Ok(())
}

/// Returns the rows of the table that are missing in the index, or have another text there.
fn compare_with_table(locked: &LockedIndex, indexed: HashMap<u64, u64>) -> Vec<FindingRow> {
    struct Comparison {
        indexed: HashMap<u64, u64>,
        problems: Vec<FindingRow>,
    }
    #[pg_guard]
    unsafe extern "C-unwind" fn look(
        index: pg_sys::Relation,
        tid: pg_sys::ItemPointer,
        values: *mut pg_sys::Datum,
        is_null: *mut bool,
        alive: bool,
        state: *mut c_void,
    ) {
        // SAFETY: the state is the Comparison passed below; the other arguments are the row's address and a value for each
        // column, which live until the return.
        let (comparison, entry) = unsafe {
            let comparison = &mut *state.cast::<Comparison>();
            (comparison, indexed_row(index, tid, values, is_null))
        };
        let Some(entry) = or_raise(entry).filter(|_| alive) else {
            return;
        };
        let row = entry.row;
        let problem = match comparison.indexed.get(&row) {
            None => "it is not in the index",
            Some(&known) if known != entry.fingerprint() => "it is in the index with another text",
            Some(_) => return,
        };
        comparison.problems.push(FindingRow::of_row(row, problem));
    }
    let mut comparison = Comparison {
        indexed,
        problems: Vec::new(),
    };
    // SAFETY: both relations are open under locks that prevent changes of rows. The callback gets its own state.
    unsafe {
        let info = pg_sys::BuildIndexInfo(locked.index.as_ptr());
        (*info).ii_Concurrent = false;
        pg_sys::table_index_build_scan(
            locked.table.as_ptr(),
            locked.index.as_ptr(),
            info,
            true,
            false,
            Some(look),
            (&raw mut comparison).cast(),
            std::ptr::null_mut(),
        );
    }
    comparison.problems
}

#[pg_extern(sql = false)]
fn bm25_merge(index: Option<pg_sys::Oid>) -> std::result::Result<(), ErrorReport> {
    writable("bm25_merge")?;
    let locked = LockedIndex::new(index, pg_sys::RowExclusiveLock)?;
    maintain::merge_all(&locked.pages()).map_err(Error::from)?;
    Ok(())
}

/// A row of `bm25_segments`.
#[derive(Serialize)]
struct SegmentRow {
    segment: u32,
    documents: u32,
    removed: u32,
    terms: u32,
    average_length: f64,
    pages: u32,
}

#[pg_extern(sql = false)]
fn bm25_segments(
    index: Option<pg_sys::Oid>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let locked = LockedIndex::new(index, pg_sys::AccessShareLock)?;
    let meta = Meta::read(&locked.pages()).map_err(Error::from)?;
    let segments: Vec<SegmentRow> = meta
        .segments
        .iter()
        .map(|segment| SegmentRow {
            segment: segment.id,
            documents: segment.documents,
            removed: segment.dead,
            terms: segment.terms,
            average_length: segment.average_length(),
            pages: segment.pages,
        })
        .collect();
    rows::emit(fcinfo, &segments)?;
    Ok(())
}
