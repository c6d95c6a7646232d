//! Reads the present content of an index, whose pages maintenance may reuse meanwhile.

use pgrx::pg_sys;
use reground_bm25::index::IndexError;

use super::IndexPages;
use crate::error::{Error, Result};

/// Number of attempts before a reader keeps maintenance away.
const ATTEMPTS: u32 = 5;
/// Number of attempts on a standby, where a reader cannot do that.
const STANDBY_ATTEMPTS: u32 = 100;

/// Reads an index, and again from the beginning if pages were reused meanwhile.
///
/// # Errors
/// Errors of `read`. On a standby 40001 if pages are reused again and again.
pub fn read_present<T>(pages: &IndexPages, mut read: impl FnMut() -> Result<T>) -> Result<T> {
    // SAFETY: reads the state of the server.
    let standby = unsafe { pg_sys::RecoveryInProgress() };
    for _ in 1..if standby { STANDBY_ATTEMPTS } else { ATTEMPTS } {
        match read() {
            Err(Error::Index(IndexError::Reused { .. })) => {
                pgrx::check_for_interrupts!();
            }
            other => return other,
        }
    }
    if standby {
        return read();
    }
    pages
        .without_maintenance(read)
        .map_err(|error| match error {
            Error::Index(IndexError::Reused { block }) => Error::Index(IndexError::Corrupt {
                block,
                problem: "it has another owner",
            }),
            other => other,
        })
}
