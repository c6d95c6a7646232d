//! Runs work whose errors must not end the transaction.

use std::panic::AssertUnwindSafe;

use pgrx::PgSqlErrorCode as Code;
use pgrx::pg_sys;
use pgrx::pg_sys::PgTryBuilder;
use pgrx::pg_sys::panic::{CaughtError, ErrorReport, ErrorReportWithLevel, ErrorReportable};

use crate::error::Result;
use crate::session::sees_everything;

/// An error that was caught. The changes of the work are rolled back.
#[derive(Debug)]
pub struct Caught(Box<CaughtError>);

impl Caught {
    fn report(&self) -> &ErrorReportWithLevel {
        match &*self.0 {
            CaughtError::PostgresError(report)
            | CaughtError::ErrorReport(report)
            | CaughtError::RustPanic {
                ereport: report, ..
            } => report,
        }
    }

    /// The message.
    pub fn message(&self) -> &str {
        self.report().message()
    }

    /// The five characters of the error code, of which each takes six bits.
    pub fn sqlstate(&self) -> String {
        let packed = self.report().sql_error_code() as i32;
        let characters = (0..5).map(|place| ((packed >> (6 * place)) & 0x3f) as u8 + b'0');
        characters.map(char::from).collect()
    }

    /// Message and code, as stored with a task.
    pub fn described(&self) -> String {
        format!("{} ({})", self.message(), self.sqlstate())
    }

    /// Whether a lock was not free in time.
    pub fn is_lock_timeout(&self) -> bool {
        self.comes_from(Code::ERRCODE_LOCK_NOT_AVAILABLE, "ProcessInterrupts")
    }

    /// Whether the transaction can succeed when it is repeated. Serialization errors occur only above READ COMMITTED.
    pub fn needs_repeat(&self) -> bool {
        let is_conflict = !sees_everything()
            && self.report().sql_error_code() == Code::ERRCODE_T_R_SERIALIZATION_FAILURE;
        is_conflict || self.comes_from(Code::ERRCODE_T_R_DEADLOCK_DETECTED, "DeadLockReport")
    }

    /// Whether the same work can succeed a moment later, according to its SQLSTATE.
    pub fn is_passing(&self) -> bool {
        matches!(
            self.report().sql_error_code(),
            Code::ERRCODE_LOCK_NOT_AVAILABLE
                | Code::ERRCODE_T_R_DEADLOCK_DETECTED
                | Code::ERRCODE_T_R_SERIALIZATION_FAILURE
        )
    }

    /// Whether this function of PostgreSQL raised the error. Code of a table can raise the same SQLSTATE, and must not end the caller with it.
    fn comes_from(&self, code: Code, function: &str) -> bool {
        self.report().sql_error_code() == code && self.report().function_name() == Some(function)
    }

    /// Raises the error again.
    pub fn rethrow(self) -> ! {
        self.0.rethrow()
    }

    /// Whether the session was cancelled.
    fn is_cancel(&self) -> bool {
        self.comes_from(Code::ERRCODE_QUERY_CANCELED, "ProcessInterrupts")
    }
}

/// Runs `work` in a subtransaction. If it fails, its changes, locks, settings and change of user are rolled back, and the error is
/// returned. A cancel is not caught: it ends the caller too.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> std::result::Result<T, Caught> {
    match guarded_from_cancel(work) {
        Err(caught) if caught.is_cancel() => caught.0.rethrow(),
        outcome => outcome,
    }
}

/// As [`guarded`], and catches a cancel too, for work in a process of its own.
pub fn guarded_from_cancel<T>(work: impl FnOnce() -> Result<T>) -> std::result::Result<T, Caught> {
    // SAFETY: plain reads of backend variables. BeginInternalSubTransaction is allowed within a function and in a background worker's
    // transaction. It changes the memory context, so the caller's is set again.
    let (context, owner) = unsafe {
        let before = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(before.0);
        before
    };
    // An error of ours is raised, so that it has the same form as one of PostgreSQL.
    let outcome = PgTryBuilder::new(AssertUnwindSafe(|| {
        Ok(work().map_err(ErrorReport::from).unwrap_or_report())
    }))
    .catch_others(|error| Err(Caught(Box::new(error))))
    .execute();
    // SAFETY: ends the subtransaction that was begun above: inner ones have ended, because `work` has returned or was unwound. The abort
    // restores the user, the settings and the SPI state of its beginning. Memory context and resource owner are then set as PL/pgSQL does.
    unsafe {
        match &outcome {
            Ok(_) => pg_sys::ReleaseCurrentSubTransaction(),
            Err(_) => pg_sys::RollbackAndReleaseCurrentSubTransaction(),
        }
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
    }
    outcome
}
