//! Index scans. They return rows by descending score, as many as are fetched.

mod conditions;

use std::rc::Rc;

use pgrx::PgMemoryContexts;
use pgrx::pg_sys;
use pgrx::prelude::*;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::score::distance;
use reground_bm25::index::search::conjunction;
use reground_bm25::index::search::ranked_search::{Search, SearchHit, first_batch};
use reground_bm25::index::search::snapshot::Snapshot;

use self::conditions::{Conditions, requirements};
use crate::error::{Error, Result};
use crate::index::content::{Tokenizer, item_pointer};

use crate::index::index_lookup::indexes;
use crate::index::query::{
    Bm25Query, WeightedQuery, expected_rows, weighted_query, weighted_query_for_scan,
};
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
    /// Order value of the current row.
    values: Vec<pg_sys::Datum>,
    nulls: Vec<bool>,
}

/// A scan in progress.
struct ActiveScan {
    pages: IndexPages,
    rows: FoundRows,
    /// The query that orders the rows; `None` if there are only conditions on filter columns.
    weighted: Option<Rc<WeightedQuery>>,
    /// Whether the rows meet the conditions of that query for certain.
    fulfils: bool,
    /// Whether PostgreSQL must compare the rows with the conditions again.
    recheck: bool,
    /// Whether it must compute the scores again. Those of the index are not lower.
    recheck_order: bool,
}

impl ActiveScan {
    /// Returns the next row, and keeps its score for the operators.
    fn next(&mut self) -> Result<Option<SearchHit>> {
        let found = match &mut self.rows {
            FoundRows::Ranked(search) => search.next(&self.pages)?,
            FoundRows::Listed(hits) => hits.next(),
        };
        if let (Some(found), Some(weighted)) = (&found, &self.weighted) {
            weighted.cache_score(found.fingerprint, found.score, self.fulfils);
        }
        Ok(found)
    }
}

/// How many rows of a scan are fetched.
#[derive(Clone, Copy)]
enum Fetched {
    /// As many as the statement needs, one after the other.
    ByLimit,
    /// All at once.
    All,
}

/// The rows that a scan returns, by descending score.
enum FoundRows {
    /// Those that match the ordering query, found as far as they are fetched.
    Ranked(Box<Search>),
    /// Those that match other queries. Rows without a word of the ordering query come last, with score 0.
    Listed(std::vec::IntoIter<SearchHit>),
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
        let state = state(scan);
        if state.running.is_none() {
            state.running = or_raise(start(scan, Fetched::ByLimit));
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
            Err(Error::OtherIndex | Error::NoCondition) => {
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

/// Begins the search of a scan; `None` if a condition is NULL, which matches nothing.
///
/// # Safety
/// The scan belongs to this access method, with its keys set.
unsafe fn start(scan: pg_sys::IndexScanDesc, fetched: Fetched) -> Result<Option<ActiveScan>> {
    // SAFETY: as the caller promises; the index of the scan is open until its end.
    let (pages, conditions, snapshot, index) = unsafe {
        count_scan(scan);
        let pages = IndexPages::new((*scan).indexRelation, (*scan).heapRelation);
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
    let mut queries = conditions
        .orders
        .iter()
        .chain(&conditions.queries)
        .peekable();
    let ordering = queries.peek().copied();
    for query in queries {
        if !indexes(query.relation)?.contains(&index) {
            return Err(Error::OtherIndex);
        }
    }
    let Some(ordering) = ordering else {
        if conditions.filters.is_empty() {
            return Err(Error::NoCondition);
        }
        return Ok(Some(filtered(pages, &conditions)?));
    };
    // The rows come from the words of the ordering query, unless only other queries are conditions.
    let is_ranked = conditions.queries.is_empty() || conditions.queries.contains(ordering);
    let active = match is_ranked {
        true => search(index, pages, ordering, &conditions, fetched)?,
        false => intersect(pages, ordering, &conditions)?,
    };
    Ok(Some(active))
}

/// Begins the search of a query in an index.
fn search(
    index: pg_sys::Oid,
    pages: IndexPages,
    query: &Bm25Query,
    conditions: &Conditions,
    fetched: Fetched,
) -> Result<ActiveScan> {
    let (weighted, snapshot) = weighted_query_for_scan(query, Some(index))?;
    let snapshot = match snapshot {
        Some(snapshot) => snapshot,
        // The query was weighted earlier in this statement. This scan may read the current content of the index.
        None => {
            let meta = Meta::read(&pages)?;
            let terms = weighted.terms(&Tokenizer::of(&meta)?);
            Snapshot::take(&pages, meta, &terms)?
        }
    };
    let others = conditions.queries.iter().filter(|other| *other != query);
    let of_query = Some(&weighted);
    let required = requirements(
        &pages,
        snapshot.meta(),
        others,
        of_query,
        &conditions.filters,
    )?;
    let first = match fetched {
        Fetched::ByLimit => first_batch(expected_rows::of_scan(index, query)),
        Fetched::All => usize::MAX,
    };
    let search = Search::begin(snapshot, &weighted.statistics, first)?.requiring(required);
    let fulfils = weighted.conditions.are_decided_by_words();
    Ok(ActiveScan {
        pages,
        rows: FoundRows::Ranked(Box::new(search)),
        fulfils,
        weighted: Some(weighted),
        recheck: conditions.need_recheck()?,
        recheck_order: !fulfils && !conditions.queries.contains(query),
    })
}

/// Finds the rows of an index that fulfil all conditions, of which the ordering query is none.
fn intersect(
    pages: IndexPages,
    ordering: &Bm25Query,
    conditions: &Conditions,
) -> Result<ActiveScan> {
    let weighted = weighted_query(ordering)?;
    let meta = Meta::read(&pages)?;
    let terms = weighted.terms(&Tokenizer::of(&meta)?);
    let snapshot = Snapshot::take(&pages, meta.clone(), &terms)?;
    let queries = conditions.queries.iter();
    let required = requirements(&pages, &meta, queries, None, &conditions.filters)?;
    let ranking = Some((&snapshot, &weighted.statistics));
    let hits = conjunction::matches(&pages, &meta, ranking, &required)?;
    let fulfils = weighted.conditions.is_empty();
    Ok(ActiveScan {
        pages,
        rows: FoundRows::Listed(hits.into_iter()),
        weighted: Some(weighted),
        fulfils,
        recheck: conditions.need_recheck()?,
        recheck_order: !fulfils,
    })
}

/// Finds the rows of an index that fulfil conditions on filter columns.
fn filtered(pages: IndexPages, conditions: &Conditions) -> Result<ActiveScan> {
    let meta = Meta::read(&pages)?;
    let no_queries = std::iter::empty();
    let required = requirements(&pages, &meta, no_queries, None, &conditions.filters)?;
    let hits = conjunction::matches(&pages, &meta, None, &required)?;
    Ok(ActiveScan {
        pages,
        rows: FoundRows::Listed(hits.into_iter()),
        weighted: None,
        fulfils: false,
        recheck: conditions.need_recheck()?,
        recheck_order: false,
    })
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
