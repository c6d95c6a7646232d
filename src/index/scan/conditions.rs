//! The conditions and the order of a scan, from its keys, and what the index is asked for.

use std::rc::Rc;

use pgrx::{FromDatum, pg_sys};
use reground_bm25::index::Result as IndexResult;
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::search::requirement::Requirement;
use reground_bm25::index::search::snapshot::Snapshot;
use reground_bm25::index::terms::{QueryTerm, filter_term, term_hash};

use crate::error::{Error, Result};
use crate::index::content::{FilterValue, compared_value};
use crate::index::query::{Bm25Query, WeightedQuery};
use crate::index::storage::IndexPages;

/// The conditions and the order of a scan.
pub struct Conditions {
    /// The queries of `@@@`, each once.
    pub queries: Vec<Bm25Query>,
    /// The queries that order the rows.
    pub orders: Vec<Bm25Query>,
    /// The values of filter columns.
    pub filters: Vec<FilterValue>,
}

impl Conditions {
    /// Reads the keys of a scan; `None` if an operand is NULL, which matches nothing.
    ///
    /// # Safety
    /// The scan belongs to this access method, with its keys set.
    pub unsafe fn of(scan: pg_sys::IndexScanDesc) -> Result<Option<Self>> {
        // SAFETY: as the caller promises; the arrays have the declared number of keys.
        let (keys, orders, index) = unsafe {
            let keys = keys_of((*scan).keyData, (*scan).numberOfKeys);
            let orders = keys_of((*scan).orderByData, (*scan).numberOfOrderBys);
            (keys, orders, (*scan).indexRelation)
        };
        let is_null = |key: &pg_sys::ScanKeyData| key.sk_flags & pg_sys::SK_ISNULL as i32 != 0;
        if keys.iter().chain(orders).any(is_null) {
            return Ok(None);
        }
        if orders.len() > 1 {
            return Err(Error::SeveralOrders);
        }
        let mut conditions = Self {
            queries: Vec::new(),
            orders: orders.iter().filter_map(query).collect(),
            filters: Vec::new(),
        };
        for key in keys {
            if key.sk_attno == 1 {
                let query = query(key).filter(|query| !conditions.queries.contains(query));
                conditions.queries.extend(query);
            } else {
                // SAFETY: the index of the scan is open, and the key is not NULL and for a filter column.
                let value = unsafe { compared_value(index, key) };
                conditions.filters.push(value);
            }
        }
        Ok(Some(conditions))
    }

    /// The query that orders the rows, or else the first condition.
    pub fn ordering(&self) -> Option<&Bm25Query> {
        self.orders.iter().chain(&self.queries).next()
    }
}

/// Returns what the rows must have: a word of each of `queries`, what the syntax of these and of the ranking query requires, and each
/// value.
pub fn requirements(
    pages: &IndexPages,
    meta: &Meta,
    queries: &[Rc<WeightedQuery>],
    ranking: Option<&WeightedQuery>,
    filters: &[FilterValue],
) -> IndexResult<Vec<Requirement>> {
    let mut required = Vec::new();
    for query in queries {
        let snapshot = Snapshot::take(pages, meta.clone(), &query.terms(meta.key))?;
        required.push(Requirement::word(&snapshot, &query.statistics)?);
    }
    // One snapshot of all other terms.
    let (mut terms, mut parts) = (Vec::new(), Vec::new());
    let queries = queries.iter().map(Rc::as_ref);
    let groups = ranking
        .into_iter()
        .chain(queries)
        .flat_map(|query| query.conditions.word_groups());
    for group in groups {
        let first = terms.len();
        let words = group.words.iter();
        terms.extend(words.map(|word| QueryTerm::unweighted(term_hash(meta.key, word))));
        parts.push((group.excluded, first..terms.len()));
    }
    for FilterValue { column, hash } in filters {
        let first = terms.len();
        terms.push(QueryTerm::unweighted(filter_term(meta.key, *column, *hash)));
        parts.push((false, first..terms.len()));
    }
    if parts.is_empty() {
        return Ok(required);
    }
    let snapshot = Snapshot::take(pages, meta.clone(), &terms)?;
    let of_part = |(excluded, terms)| match excluded {
        true => Requirement::no_term(&snapshot, terms),
        false => Requirement::term(&snapshot, terms),
    };
    required.extend(parts.into_iter().map(of_part));
    Ok(required)
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

/// Returns the query of a key.
fn query(key: &pg_sys::ScanKeyData) -> Option<Bm25Query> {
    let is_null = key.sk_flags & pg_sys::SK_ISNULL as i32 != 0;
    // SAFETY: the right operand of `@@@` and `<@>` is a bm25query.
    unsafe { Bm25Query::from_datum(key.sk_argument, is_null) }
}
