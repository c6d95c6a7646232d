//! The number of rows that a statement fetches from a scan, which PostgreSQL does not tell an access method. It only decides how many rows
//! the scan finds at a time: a wrong number costs time, and changes no result.
//!
//! The planner knows the LIMIT, so the number is kept from the plan to the scan of the same query. A generic plan is made without the
//! query. Then the number is that of the rows that the statement has fetched before.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::CStr;

use pgrx::pg_sys;
use reground_bm25::index::score::row_count;
use reground_bm25::index::terms::fingerprint;

use super::bm25_query::Bm25Query;

/// Maximum number of scans whose numbers are kept.
const MAX_SCANS: usize = 128;

/// Identifies a scan. Queries and statements can be long, so they are kept as fingerprints.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Scan {
    index: pg_sys::Oid,
    of: ScanOf,
}

/// What a scan belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanOf {
    Query(u64),
    Statement(u64),
}

thread_local! {
    /// The scans with their numbers of rows. The last one is first.
    static KNOWN: RefCell<VecDeque<(Scan, f64)>> = RefCell::default();
}

/// A scan whose rows are counted.
pub struct CountedScan {
    index: pg_sys::Oid,
    /// Fingerprint of the statement; `None` if no client has sent it, as in a background worker.
    statement: Option<u64>,
    rows: u64,
}

impl CountedScan {
    /// Begins to count the rows of a scan of an index by the running statement.
    pub fn begin(index: pg_sys::Oid) -> Self {
        // SAFETY: reads the state of this session. The text of a portal lives as long as the portal.
        let statement = unsafe {
            let portal = pg_sys::ActivePortal.as_ref();
            let text = portal.map(|portal| portal.sourceText);
            text.filter(|text| !text.is_null())
                .map(|text| fingerprint(CStr::from_ptr(text).to_bytes()))
        };
        Self {
            index,
            statement,
            rows: 0,
        }
    }

    /// Returns the number of rows that the scan is expected to return; `None` if it is not known.
    pub fn expected(&self, query: &Bm25Query) -> Option<f64> {
        find(of_query(self.index, query)).or_else(|| find(self.of_statement()?))
    }

    /// Counts a row.
    pub fn count(&mut self) {
        self.rows = self.rows.saturating_add(1);
    }

    /// Keeps the number for the next scan of the statement.
    pub fn finish(self) {
        if let Some(scan) = self.of_statement() {
            keep(scan, Some(row_count(self.rows)));
        }
    }

    fn of_statement(&self) -> Option<Scan> {
        self.statement.map(|statement| Scan {
            index: self.index,
            of: ScanOf::Statement(statement),
        })
    }
}

/// Keeps the number of rows of a planned scan, from the LIMIT; `None` if it is not known.
pub fn note_limit(index: pg_sys::Oid, query: &Bm25Query, rows: Option<f64>) {
    keep(of_query(index, query), rows);
}

fn of_query(index: pg_sys::Oid, query: &Bm25Query) -> Scan {
    Scan {
        index,
        of: ScanOf::Query(fingerprint(&query.to_bytes())),
    }
}

fn keep(scan: Scan, rows: Option<f64>) {
    KNOWN.with_borrow_mut(|known| {
        known.retain(|(other, _)| *other != scan);
        if let Some(rows) = rows {
            known.truncate(MAX_SCANS - 1);
            known.push_front((scan, rows));
        }
    });
}

fn find(scan: Scan) -> Option<f64> {
    KNOWN.with_borrow(|known| {
        let mut known = known.iter();
        let found = known.find(|(other, _)| *other == scan);
        found.map(|&(_, rows)| rows)
    })
}
