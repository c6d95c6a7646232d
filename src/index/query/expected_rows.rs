//! The numbers of rows that the statements of this session fetch from scans.

use std::cell::RefCell;
use std::ffi::CStr;

use pgrx::pg_sys;
use reground_bm25::index::terms::fingerprint;
use reground_bm25::query::expected_rows::ExpectedRows;

use super::bm25_query::Bm25Query;

thread_local! {
    static KNOWN: RefCell<ExpectedRows> = RefCell::default();
}

/// Keeps the LIMIT of a planned query; `None` if it has none or an unknown one.
pub fn note_limit(index: pg_sys::Oid, query: &Bm25Query, limit: Option<f64>) {
    KNOWN.with_borrow_mut(|known| known.note_limit(index.to_u32(), of(query), limit));
}

fn of(query: &Bm25Query) -> u64 {
    fingerprint(&query.to_bytes())
}

/// The running statement of the client.
#[derive(Clone, Copy, Default)]
pub struct ClientStatement {
    /// Fingerprint of its text; `None` if no portal is active, as in a parallel worker.
    text: Option<u64>,
}

impl ClientStatement {
    /// The statement that is running now.
    pub fn running() -> Self {
        // SAFETY: reads the state of this session. The text of a portal lives as long as the portal.
        let text = unsafe {
            let portal = pg_sys::ActivePortal.as_ref();
            let text = portal.map(|portal| portal.sourceText);
            text.filter(|text| !text.is_null())
                .map(|text| fingerprint(CStr::from_ptr(text).to_bytes()))
        };
        Self { text }
    }
}

/// A scan whose rows are counted.
pub struct CountedScan {
    index: pg_sys::Oid,
    statement: ClientStatement,
    rows: usize,
}

impl CountedScan {
    /// Begins to count the rows of a scan of an index.
    pub fn new(index: pg_sys::Oid, statement: ClientStatement) -> Self {
        Self {
            index,
            statement,
            rows: 0,
        }
    }

    /// Returns the number of rows that the scan is expected to return.
    pub fn expected(&self, query: &Bm25Query) -> usize {
        let (index, statement) = (self.index.to_u32(), self.statement.text);
        KNOWN.with_borrow(|known| known.of_scan(index, of(query), statement))
    }

    /// Counts a row.
    pub fn count(&mut self) {
        self.rows += 1;
    }

    /// Keeps the number for the next scan of the statement.
    pub fn finish(self) {
        if let Some(statement) = self.statement.text {
            let index = self.index.to_u32();
            KNOWN.with_borrow_mut(|known| known.note_fetched(index, statement, self.rows));
        }
    }
}
