//! Index scans. They return rows by descending score, as many as are fetched.

mod active_scan;
mod conditions;

use pgrx::PgMemoryContexts;
use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::score::distance;

use self::active_scan::{ActiveScan, Fetched};
use self::conditions::Conditions;
use crate::error::{Error, Result};
use crate::index::content::item_pointer;
use crate::index::index_lookup::indexes;
use crate::index::query::{Bm25Query, ClientStatement};
use crate::index::raise::{or_raise, raise};
use crate::index::relation::OpenRelation;
use crate::index::storage::IndexPages;

/// Strategies of an operator class: 1 matches (`@@@`), 2 orders by score (`<@>`), 3 is `=` for a filter column.
pub const STRATEGIES: u16 = 3;
/// Rows that are added to a bitmap at a time.
const BITMAP_BATCH: usize = 1000;

/// State of an open scan. It pins no page between two rows.
#[derive(Default)]
struct State {
    running: Option<ActiveScan>,
    statement: ClientStatement,
    /// Order value of the current row.
    values: Vec<pg_sys::Datum>,
    nulls: Vec<bool>,
}

#[pg_guard]
pub unsafe extern "C-unwind" fn begin(
    index: pg_sys::Relation,
    keys: std::ffi::c_int,
    orders: std::ffi::c_int,
) -> pg_sys::IndexScanDesc {
    let count = usize::try_from(orders).unwrap_or_default();
    let state = State {
        running: None,
        // A scan is restarted often in a join, and the text of the statement can be long.
        statement: ClientStatement::running(),
        values: vec![pg_sys::Datum::from(0_usize); count],
        nulls: vec![true; count],
    };
    // SAFETY: the index is open. The state is dropped with the memory context of the scan, which an abort also frees.
    unsafe {
        let scan = pg_sys::RelationGetIndexScan(index, keys, orders);
        let state = PgMemoryContexts::CurrentMemoryContext.leak_and_drop_on_delete(state);
        (*scan).opaque = state.cast();
        if count > 0 {
            (*scan).xs_orderbyvals = (*state).values.as_mut_ptr();
            (*scan).xs_orderbynulls = (*state).nulls.as_mut_ptr();
        }
        scan
    }
}

#[pg_guard]
pub unsafe extern "C-unwind" fn restart(
    scan: pg_sys::IndexScanDesc,
    keys: pg_sys::ScanKey,
    key_count: std::ffi::c_int,
    orders: pg_sys::ScanKey,
    order_count: std::ffi::c_int,
) {
    // SAFETY: the scan belongs to this access method, with space for the declared number of keys. `keys` may be the array of
    // the scan itself, which `copy` permits.
    unsafe {
        finish(scan);
        let count = |count| usize::try_from(count).unwrap_or_default();
        if !keys.is_null() {
            std::ptr::copy(keys, (*scan).keyData, count(key_count));
        }
        if !orders.is_null() {
            std::ptr::copy(orders, (*scan).orderByData, count(order_count));
        }
    }
}

#[pg_guard]
pub unsafe extern "C-unwind" fn next(
    scan: pg_sys::IndexScanDesc,
    _direction: pg_sys::ScanDirection::Type,
) -> bool {
    // SAFETY: the scan belongs to this access method, and its relations are open.
    unsafe {
        let state = state(scan);
        if state.running.is_none() {
            state.running = or_raise(start(scan, Fetched::ByStatement(state.statement)));
        }
        let Some(running) = &mut state.running else {
            return false;
        };
        let Some(found) = or_raise(running.next()) else {
            return false;
        };
        (*scan).xs_heaptid = item_pointer(found.row);
        (*scan).xs_recheck = running.recheck;
        (*scan).xs_recheckorderby = running.recheck_order;
        if let (Some(value), Some(null)) = (state.values.first_mut(), state.nulls.first_mut()) {
            *value = pg_sys::Float8GetDatum(distance(found.score));
            *null = false;
        }
        true
    }
}

#[pg_guard]
pub unsafe extern "C-unwind" fn bitmap(
    scan: pg_sys::IndexScanDesc,
    bitmap: *mut pg_sys::TIDBitmap,
) -> i64 {
    // SAFETY: the scan belongs to this access method, its index is open, and the bitmap is valid.
    unsafe {
        let mut running = match start(scan, Fetched::All) {
            Ok(Some(running)) => running,
            Ok(None) => return 0,
            // The planner may prefer this plan to a disabled one. Then PostgreSQL rechecks every row.
            Err(Error::OtherIndex | Error::OtherSettings | Error::NoCondition) => {
                return add_every_page((*(*scan).indexRelation).rd_index, bitmap);
            }
            Err(error) => raise(error),
        };
        let mut total = 0;
        let mut rows = Vec::with_capacity(BITMAP_BATCH);
        loop {
            let found = or_raise(running.next());
            rows.extend(found.map(|found| item_pointer(found.row)));
            if rows.len() == BITMAP_BATCH || found.is_none() {
                let count = rows.len() as std::ffi::c_int;
                pg_sys::tbm_add_tuples(bitmap, rows.as_mut_ptr(), count, running.recheck);
                total += i64::from(count);
                rows.clear();
                pgrx::check_for_interrupts!();
            }
            if found.is_none() {
                return total;
            }
        }
    }
}

/// Adds all pages of the table to a bitmap. Returns the number of pages, as the number of rows is unknown.
///
/// # Safety
/// `index` is the pg_index row of an open index, and the bitmap is valid.
unsafe fn add_every_page(index: pg_sys::Form_pg_index, bitmap: *mut pg_sys::TIDBitmap) -> i64 {
    // SAFETY: as the caller promises; during a scan of the index, its table is open.
    unsafe {
        let Some(table) = OpenRelation::open((*index).indrelid) else {
            return 0;
        };
        let fork = pg_sys::ForkNumber::MAIN_FORKNUM;
        let pages = pg_sys::RelationGetNumberOfBlocksInFork(table.as_ptr(), fork);
        for page in 0..pages {
            pg_sys::tbm_add_page(bitmap, page);
        }
        i64::from(pages)
    }
}

#[pg_guard]
pub unsafe extern "C-unwind" fn end(scan: pg_sys::IndexScanDesc) {
    // SAFETY: the scan belongs to this access method, and PostgreSQL closes its index later.
    unsafe { finish(scan) };
}

/// Ends the search of a scan. A later scan of the statement expects as many rows.
///
/// # Safety
/// The scan belongs to this access method, and its index is open.
unsafe fn finish(scan: pg_sys::IndexScanDesc) {
    // SAFETY: as the caller promises.
    let (state, index) = unsafe { (state(scan), (*(*scan).indexRelation).rd_id) };
    if let Some(rows) = state.running.take().and_then(|running| running.fetched()) {
        state.statement.note_fetched(index, rows);
    }
}

/// Returns the state of a scan.
///
/// # Safety
/// The scan belongs to this access method, and there is no other reference to its state.
unsafe fn state<'a>(scan: pg_sys::IndexScanDesc) -> &'a mut State {
    // SAFETY: as the caller promises; `begin` has stored a State there.
    unsafe { &mut *(*scan).opaque.cast::<State>() }
}

/// Begins the search of a scan; `None` if a condition is NULL, which matches nothing.
///
/// # Safety
/// The scan belongs to this access method, with its keys set.
unsafe fn start(scan: pg_sys::IndexScanDesc, fetched: Fetched) -> Result<Option<ActiveScan>> {
    // SAFETY: as the caller promises; the index of the scan is open until its end.
    let (pages, conditions, snapshot, index) = unsafe {
        count_scan(scan);
        let pages = IndexPages::new((*scan).indexRelation);
        let index = (*(*scan).indexRelation).rd_id;
        let snapshot = (*scan).xs_snapshot.as_ref();
        (pages, Conditions::of(scan)?, snapshot, index)
    };
    if let Some(snapshot) = snapshot
        && snapshot.snapshot_type != pg_sys::SnapshotType::SNAPSHOT_MVCC
    {
        return Err(Error::NoSnapshot);
    }
    let Some(conditions) = conditions else {
        return Ok(None);
    };
    for query in conditions.orders.iter().chain(&conditions.queries) {
        if !answers(index, &pages, query)? {
            return Err(match query.statistics {
                Some(_) => Error::OtherSettings,
                None => Error::OtherIndex,
            });
        }
    }
    ActiveScan::begin(index, pages, conditions, fetched).map(Some)
}

/// Whether an index answers a query: one of its table, or one with the settings of the statistics that the query carries.
fn answers(index: pg_sys::Oid, pages: &IndexPages, query: &Bm25Query) -> Result<bool> {
    match &query.statistics {
        Some(statistics) => Ok(statistics.fit(&Meta::read(pages)?.settings)),
        None => Ok(indexes(query.relation)?.contains(&index)),
    }
}

/// Counts a scan for pg_stat_all_indexes and, since 18, for EXPLAIN ANALYZE. PostgreSQL leaves this to the access method.
///
/// # Safety
/// The scan belongs to this access method, and its index is open.
unsafe fn count_scan(scan: pg_sys::IndexScanDesc) {
    // SAFETY: as the caller promises. This is the macro `pgstat_count_index_scan`; the counters belong to this session, and
    // are null if statistics are off.
    unsafe {
        let index = (*scan).indexRelation;
        if (*index).pgstat_info.is_null() && (*index).pgstat_enabled {
            pg_sys::pgstat_assoc_relation(index);
        }
        if let Some(status) = (*index).pgstat_info.as_mut() {
            #[cfg(feature = "pg15")]
            let scans = &mut status.t_counts.t_numscans;
            #[cfg(not(feature = "pg15"))]
            let scans = &mut status.counts.numscans;
            *scans += 1;
        }
        #[cfg(feature = "pg18")]
        if let Some(instrument) = (*scan).instrument.as_mut() {
            instrument.nsearches += 1;
        }
    }
}
