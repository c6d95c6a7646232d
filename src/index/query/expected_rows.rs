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
    let query = query_fingerprint(query);
    KNOWN.with_borrow_mut(|known| known.note_limit(index.to_u32(), query, limit));
}

fn query_fingerprint(query: &Bm25Query) -> u64 {
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

    /// Returns the number of rows that it is expected to fetch from a scan of an index.
    pub fn expected_rows(self, index: pg_sys::Oid, query: &Bm25Query) -> usize {
        let query = query_fingerprint(query);
        KNOWN.with_borrow(|known| known.of_scan(index.to_u32(), query, self.text))
    }

    /// Keeps the number of rows that it has fetched from a scan of an index.
    pub fn note_fetched(self, index: pg_sys::Oid, rows: usize) {
        if let Some(text) = self.text {
            KNOWN.with_borrow_mut(|known| known.note_fetched(index.to_u32(), text, rows));
        }
    }
}
