//! Turns errors into PostgreSQL's ERROR, the only way in which a callback of an access method can fail.

use pgrx::PgLogLevel;
use pgrx::pg_sys::panic::ErrorReport;

use crate::error::{Error, Result};

/// Returns the value, or raises the error.
pub fn or_raise<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => raise(error),
    }
}

/// Raises PostgreSQL's ERROR.
pub fn raise(error: Error) -> ! {
    ErrorReport::from(error).report(PgLogLevel::ERROR);
    unreachable!("an ERROR does not return")
}
