//! Index scans. They return rows by descending score, as many as are fetched.

use std::rc::Rc;

use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::{FromDatum, PgMemoryContexts};
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::score::distance;
use reground_bm25::index::search::conjunction;
use reground_bm25::index::search::ranked_search::{Search, SearchHit};
use reground_bm25::index::search::snapshot::Snapshot;

use crate::error::{Error, Result};
use crate::index::content::{Tokenizer, item_pointer};
use crate::index::index_lookup::indexes;
use crate::index::query::Bm25Query;
use crate::index::query::{WeightedQuery, weighted_query, weighted_query_for_scan};
use crate::index::raise::{or_raise, raise};
use crate::index::relation::OpenRelation;
use crate::index::storage::IndexPages;

/// Strategies of an operator class: 1 matches (`@@@`), 2 orders by score (`<@>`).
pub const STRATEGIES: u16 = 2;
/// Rows in the first batch of a scan, which does not know the LIMIT.
const FIRST_BATCH: usize = 64;
/// Rows that are added to a bitmap at a time.
const BITMAP_BATCH: usize = 1000;

/// State of an open scan. It pins no page between two rows.
#[derive(Default)]
struct State {
    running: Option<ActiveScan>,
    /// Order value of the current row.
    values: Vec<pg_sys::Datum>,
    nulls: Vec<bool>,
}

/// A scan in progress.
struct ActiveScan {
    rows: FoundRows,
    /// The query that orders the rows.
    weighted: Rc<WeightedQuery>,
}

/// The rows that a scan returns, by descending score.
enum FoundRows {
    /// Those that match the ordering query, found as far as they are fetched.
    Ranked(Box<Search>),
    /// Those that match other queries too. Rows without a word of the ordering query come last, with score 0.
    Listed(std::vec::IntoIter<SearchHit>),
}

impl FoundRows {
    /// Returns the next row.
    fn next(&mut self, pages: &IndexPages) -> Result<Option<SearchHit>> {
        match self {
            Self::Ranked(search) => Ok(search.next(pages)?),
            Self::Listed(hits) => Ok(hits.next()),
        }
    }
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
        state(scan).running = None;
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
        let pages = IndexPages::new((*scan).indexRelation, (*scan).heapRelation);
        let state = state(scan);
        if state.running.is_none() {
            state.running = or_raise(start(scan, &pages, FIRST_BATCH));
        }
        let Some(running) = &mut state.running else {
            return false;
        };
        let Some(found) = or_raise(running.rows.next(&pages)) else {
            return false;
        };
        running.weighted.cache_score(found.fingerprint, found.score);
        (*scan).xs_heaptid = item_pointer(found.row);
        (*scan).xs_recheck = false;
        (*scan).xs_recheckorderby = false;
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
        let pages = IndexPages::new((*scan).indexRelation, (*scan).heapRelation);
        let mut running = match start(scan, &pages, usize::MAX) {
            Ok(Some(running)) => running,
            Ok(None) => return 0,
            // The planner may prefer this plan to a disabled one. Then PostgreSQL rechecks every row.
            Err(Error::OtherIndex | Error::NoQuery) => {
                return add_every_page((*(*scan).indexRelation).rd_index, bitmap);
            }
            Err(error) => raise(error),
        };
        let mut total = 0;
        let mut rows = Vec::with_capacity(BITMAP_BATCH);
        loop {
            let found = or_raise(running.rows.next(&pages));
            rows.extend(found.map(|found| item_pointer(found.row)));
            if rows.len() == BITMAP_BATCH || found.is_none() {
                let count = rows.len() as std::ffi::c_int;
                pg_sys::tbm_add_tuples(bitmap, rows.as_mut_ptr(), count, false);
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
    // SAFETY: the scan belongs to this access method.
    unsafe { state(scan).running = None };
}

/// Returns the state of a scan.
///
/// # Safety
/// The scan belongs to this access method, and there is no other reference to its state.
unsafe fn state<'a>(scan: pg_sys::IndexScanDesc) -> &'a mut State {
    // SAFETY: as the caller promises; `begin` has stored a State there.
    unsafe { &mut *(*scan).opaque.cast::<State>() }
}

/// Begins the search of a scan; `None` if a query is NULL, which matches nothing.
///
/// # Safety
/// The scan belongs to this access method, with its keys set.
unsafe fn start(
    scan: pg_sys::IndexScanDesc,
    pages: &IndexPages,
    first: usize,
) -> Result<Option<ActiveScan>> {
    // SAFETY: as the caller promises; the arrays have the declared number of keys.
    let (keys, orders, snapshot) = unsafe {
        let keys = keys_of((*scan).keyData, (*scan).numberOfKeys);
        let orders = keys_of((*scan).orderByData, (*scan).numberOfOrderBys);
        count_scan(scan);
        (keys, orders, (*scan).xs_snapshot.as_ref())
    };
    if let Some(snapshot) = snapshot
        && snapshot.snapshot_type != pg_sys::SnapshotType::SNAPSHOT_MVCC
    {
        return Err(Error::NoSnapshot);
    }
    let queries: Option<Vec<Bm25Query>> = orders.iter().chain(keys).map(query).collect();
    let Some(queries) = queries else {
        return Ok(None);
    };
    let Some(ordering) = queries.first() else {
        return Err(Error::NoQuery);
    };
    // SAFETY: the index of the scan is open.
    let index = unsafe { (*(*scan).indexRelation).rd_id };
    for query in &queries {
        if !indexes(query.relation)?.contains(&index) {
            return Err(Error::OtherIndex);
        }
    }
    if orders.len() > 1 {
        return Err(Error::SeveralOrders);
    }
    let mut required: Vec<&Bm25Query> = Vec::new();
    for query in queries.iter().skip(orders.len()) {
        if !required.contains(&query) {
            required.push(query);
        }
    }
    let matches_more = required.iter().any(|query| *query != ordering);
    Ok(Some(match matches_more {
        true => intersect(pages, ordering, &required)?,
        false => search(index, pages, ordering, first)?,
    }))
}

/// Begins the search of a query in an index.
fn search(
    index: pg_sys::Oid,
    pages: &IndexPages,
    query: &Bm25Query,
    first: usize,
) -> Result<ActiveScan> {
    let (weighted, snapshot) = weighted_query_for_scan(query, Some(index))?;
    let snapshot = match snapshot {
        Some(snapshot) => snapshot,
        // The query was weighted earlier in this statement. This scan may read the current content of the index.
        None => {
            let meta = Meta::read(pages)?;
            let terms = weighted.terms(&Tokenizer::of(&meta)?);
            Snapshot::take(pages, meta, &terms)?
        }
    };
    let search = Search::begin(snapshot, &weighted.statistics, first)?;
    Ok(ActiveScan {
        rows: FoundRows::Ranked(Box::new(search)),
        weighted,
    })
}

/// Finds the rows of an index that match each of the `required` queries.
fn intersect(
    pages: &IndexPages,
    ordering: &Bm25Query,
    required: &[&Bm25Query],
) -> Result<ActiveScan> {
    let queries = std::iter::once(&ordering).chain(required);
    let weighted: Vec<Rc<WeightedQuery>> = queries
        .map(|query| weighted_query(query))
        .collect::<Result<_>>()?;
    let meta = Meta::read(pages)?;
    let tokenizer = Tokenizer::of(&meta)?;
    let mut taken = Vec::with_capacity(weighted.len());
    for query in &weighted {
        let terms = query.terms(&tokenizer);
        taken.push((
            Snapshot::take(pages, meta.clone(), &terms)?,
            &query.statistics,
        ));
    }
    let each: Vec<_> = taken
        .iter()
        .map(|(snapshot, statistics)| (snapshot, *statistics))
        .collect();
    let hits = match each.split_first() {
        Some((ordering, required)) => conjunction::matches(pages, *ordering, required)?,
        None => Vec::new(),
    };
    let weighted = weighted.into_iter().next().ok_or(Error::NoQuery)?;
    Ok(ActiveScan {
        rows: FoundRows::Listed(hits.into_iter()),
        weighted,
    })
}

/// Returns an array of keys as a slice.
///
/// # Safety
/// The array has `count` keys.
unsafe fn keys_of<'a>(keys: pg_sys::ScanKey, count: std::ffi::c_int) -> &'a [pg_sys::ScanKeyData] {
    match usize::try_from(count) {
        // SAFETY: the caller promises the length of the array.
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts(keys, count) },
        _ => &[],
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

/// Returns the query of a key; `None` if it is NULL.
fn query(key: &pg_sys::ScanKeyData) -> Option<Bm25Query> {
    debug_assert!(key.sk_strategy <= STRATEGIES);
    let is_null = key.sk_flags & pg_sys::SK_ISNULL as i32 != 0;
    // SAFETY: the right operand of both operators is a bm25query.
    unsafe { Bm25Query::from_datum(key.sk_argument, is_null) }
}
