//! The number of rows that a statement fetches from a scan. The planner knows the LIMIT and the scan does not, so the number is kept from the plan to
//! the scan. It only decides how many rows the scan finds at a time: a number of another statement costs time, and changes no result.

use std::cell::RefCell;
use std::collections::VecDeque;

use pgrx::pg_sys;
use reground_bm25::index::terms::fingerprint;

use super::bm25_query::Bm25Query;

/// Maximum number of scans whose numbers are kept.
const MAX_SCANS: usize = 64;

/// A planned scan of an index, with the number of rows.
struct PlannedScan {
    index: pg_sys::Oid,
    /// Fingerprint of the query, which can be long.
    query: u64,
    rows: f64,
}

thread_local! {
    /// The last planned one is first.
    static PLANNED: RefCell<VecDeque<PlannedScan>> = RefCell::default();
}

/// Notes the number of rows of a planned scan; `None` if it is not known.
pub fn note(index: pg_sys::Oid, query: &Bm25Query, rows: Option<f64>) {
    let query = fingerprint(&query.to_bytes());
    PLANNED.with_borrow_mut(|planned| {
        planned.retain(|scan| scan.index != index || scan.query != query);
        if let Some(rows) = rows {
            planned.truncate(MAX_SCANS - 1);
            planned.push_front(PlannedScan { index, query, rows });
        }
    });
}

/// Returns the number of rows of a scan; `None` if it is not known, or its plan was made without its query.
pub fn of_scan(index: pg_sys::Oid, query: &Bm25Query) -> Option<f64> {
    let query = fingerprint(&query.to_bytes());
    PLANNED.with_borrow(|planned| {
        let mut planned = planned.iter();
        let found = planned.find(|scan| scan.index == index && scan.query == query);
        found.map(|scan| scan.rows)
    })
}
