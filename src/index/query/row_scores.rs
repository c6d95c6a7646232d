//! The scores of rows that a statement has returned. They come from the postings, so no text is read.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::pg_sys;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::search::present::read_present;
use reground_bm25::index::search::row_scores;
use reground_bm25::index::search::snapshot::Snapshot;

use super::bm25_query::Bm25Query;
use super::weighted_query::{WeightedQuery, weighted_query_for_scan};
use crate::error::Result;
use crate::index::content::row_number;
use crate::index::index_lookup::indexes;
use crate::index::relation::OpenRelation;
use crate::index::root_rows::root_rows;
use crate::index::storage::IndexPages;

/// The address of a row version that a statement of the caller has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowAddress {
    /// The table: of a partitioned table, the partition.
    table: u32,
    row: u64,
}

impl RowAddress {
    /// The address of the row with these values of `tableoid` and `ctid`.
    pub fn new(table: pg_sys::Oid, mut ctid: pg_sys::ItemPointerData) -> Self {
        Self {
            table: table.to_u32(),
            // SAFETY: the pointer is to an item pointer.
            row: unsafe { row_number(&raw mut ctid) },
        }
    }
}

/// Returns the scores of rows for a query without a syntax; they equal those of an index scan. Rows without a word of the query are left out. `None` if the query carries its statistics, or an index
/// cannot be asked for rows: PostgreSQL would not use it under this snapshot either, or its table is no heap.
///
/// Statements of this call must have returned the rows. The rows stay in the table meanwhile, because the snapshot of the caller's
/// statement is older than theirs.
///
/// # Errors
/// As for [`weighted_query_for_scan`].
pub fn row_scores(
    query: &Bm25Query,
    addresses: &BTreeSet<RowAddress>,
) -> Result<Option<BTreeMap<RowAddress, f64>>> {
    // SAFETY: a plain call.
    if query.statistics.is_some() || !unsafe { pg_sys::ActiveSnapshotSet() } {
        return Ok(None);
    }
    let indexes = indexes(query.relation)?;
    let (weighted, mut snapshot) = weighted_query_for_scan(query, indexes.first().copied())?;
    let mut tables: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for address in addresses {
        tables.entry(address.table).or_default().insert(address.row);
    }
    let mut scores = BTreeMap::new();
    for index in indexes {
        // Only the first index has one.
        let snapshot = snapshot.take();
        let Some(index) = OpenRelation::open(index) else {
            return Ok(None);
        };
        let table = index.table();
        let Some(rows) = tables.remove(&table.to_u32()) else {
            continue;
        };
        let heap = OpenRelation::open(table).filter(|table| table.is_heap());
        let Some(heap) = heap.filter(|_| index.has_all_versions()) else {
            return Ok(None);
        };
        let found = scores_in(&weighted, snapshot, &index, &heap, &rows)?;
        scores.extend(found.into_iter().map(|(row, score)| {
            let table = table.to_u32();
            (RowAddress { table, row }, score)
        }));
    }
    Ok(tables.is_empty().then_some(scores))
}

/// Returns the scores of rows of one table. `snapshot` is one of its index, if the query was weighted just now.
fn scores_in(
    weighted: &WeightedQuery,
    mut snapshot: Option<Snapshot>,
    index: &OpenRelation,
    heap: &OpenRelation,
    rows: &BTreeSet<u64>,
) -> Result<Vec<(u64, f64)>> {
    // SAFETY: the relations are open, the table is a heap, and the rows were returned as `row_scores` says.
    let (pages, roots) = unsafe {
        let pages = IndexPages::new(index.as_ptr());
        (pages, root_rows(heap.as_ptr(), rows))
    };
    let known: BTreeSet<u64> = roots.values().copied().collect();
    let scores = read_present(|| {
        let snapshot = match snapshot.take() {
            Some(snapshot) => snapshot,
            None => {
                let meta = Meta::read(&pages)?;
                let terms = weighted.terms(meta.key);
                Snapshot::take(&pages, meta, &terms)?
            }
        };
        row_scores::row_scores(&pages, &snapshot, &weighted.statistics, &known)
    })?;
    let scored = |(row, root)| Some((row, *scores.get(&root)?));
    Ok(roots.into_iter().filter_map(scored).collect())
}
