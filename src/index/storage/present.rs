//! Reads the present content of an index, whose pages maintenance may reuse meanwhile.

use reground_bm25::index::IndexError;

use crate::error::{Error, Result};

/// Number of attempts. One is lost only if a page is reused between the list of segments and the last page that is read.
const ATTEMPTS: u32 = 100;

/// Reads an index, and again from the beginning if pages were reused meanwhile. It takes no lock that keeps maintenance away: `read` locks
/// relations, and PostgreSQL before 17 does not find deadlocks with locks of pages.
///
/// # Errors
/// Errors of `read`. 40001 if pages are reused again and again.
pub fn read_present<T>(mut read: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..ATTEMPTS {
        match read() {
            Err(Error::Index(IndexError::Reused { .. })) => {
                pgrx::check_for_interrupts!();
            }
            other => return other,
        }
    }
    read()
}
