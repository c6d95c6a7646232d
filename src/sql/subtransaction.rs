//! Runs work whose errors must not end the transaction.

use std::panic::AssertUnwindSafe;

use pgrx::PgLogLevel;
use pgrx::PgSqlErrorCode as Code;
use pgrx::pg_sys;
use pgrx::pg_sys::PgTryBuilder;
use pgrx::pg_sys::panic::{CaughtError, ErrorReport};

use crate::error::Result;

/// An error that was caught. The changes of the work are rolled back.
#[derive(Debug)]
pub struct Caught {
    pub sqlstate: String,
    pub message: String,
}

/// Runs `work` in a subtransaction. If it fails, its changes, locks, settings and change of user are rolled back, and the error is
/// returned. A cancel is not caught: it ends the caller too.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> std::result::Result<T, Caught> {
    // SAFETY: plain reads of backend variables. BeginInternalSubTransaction is allowed within a function and in a background worker's
    // transaction. It changes the memory context, so the caller's is set again.
    let (context, owner) = unsafe {
        let before = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(before.0);
        before
    };
    let outcome = PgTryBuilder::new(AssertUnwindSafe(|| match work() {
        Ok(value) => Some(Ok(value)),
        Err(error) => {
            // Raised here, so that it has the same form as an error of PostgreSQL.
            ErrorReport::from(error).report(PgLogLevel::ERROR);
            None
        }
    }))
    .catch_others(|error| Some(Err(error)))
    .execute();
    // SAFETY: ends the subtransaction that was begun above: inner ones have ended, because `work` has returned or was unwound. The abort
    // restores the user, the settings and the SPI state of its beginning. Memory context and resource owner are then set as PL/pgSQL does.
    unsafe {
        match &outcome {
            Some(Ok(_)) => pg_sys::ReleaseCurrentSubTransaction(),
            _ => pg_sys::RollbackAndReleaseCurrentSubTransaction(),
        }
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
    }
    match outcome {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(caught(error)),
        None => Err(Caught {
            sqlstate: sqlstate(Code::ERRCODE_INTERNAL_ERROR),
            message: "an error was lost".into(),
        }),
    }
}

/// What is kept of an error. A cancel is raised again.
fn caught(error: CaughtError) -> Caught {
    let report = match &error {
        CaughtError::PostgresError(report)
        | CaughtError::ErrorReport(report)
        | CaughtError::RustPanic {
            ereport: report, ..
        } => report,
    };
    let code = report.sql_error_code();
    let kept = Caught {
        sqlstate: sqlstate(code),
        message: report.message().to_owned(),
    };
    if code == Code::ERRCODE_QUERY_CANCELED {
        error.rethrow();
    }
    kept
}

/// The five characters of an error code, of which each takes six bits.
fn sqlstate(code: Code) -> String {
    let packed = code as i32;
    let characters = (0..5).map(|place| ((packed >> (6 * place)) & 0x3f) as u8 + b'0');
    characters.map(char::from).collect()
}
