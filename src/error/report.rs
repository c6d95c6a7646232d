//! Reports for the client: an SQLSTATE, a message and an optional hint.

use std::cell::RefCell;
use std::collections::HashSet;

use pgrx::PgLogLevel;
use pgrx::PgSqlErrorCode as Code;
use pgrx::pg_sys::panic::ErrorReport;

/// A report. An empty hint is not shown.
pub fn report(code: Code, message: impl Into<String>, hint: impl Into<String>) -> ErrorReport {
    let report = ErrorReport::new(code, message.into(), "");
    match hint.into() {
        hint if hint.is_empty() => report,
        hint => report.set_hint(hint),
    }
}

/// A report of an invalid value, 22023.
pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> ErrorReport {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message, hint)
}

/// A report of a missing privilege, 42501.
pub fn denied(message: impl Into<String>, hint: impl Into<String>) -> ErrorReport {
    report(Code::ERRCODE_INSUFFICIENT_PRIVILEGE, message, hint)
}

/// A report of an object in the wrong state, 55000.
pub fn wrong_state(message: impl Into<String>, hint: impl Into<String>) -> ErrorReport {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        message,
        hint,
    )
}

/// A report of an error in reground itself, XX000.
pub fn internal(message: impl Into<String>) -> ErrorReport {
    let hint = "Please report this as a bug.";
    report(Code::ERRCODE_INTERNAL_ERROR, message, hint)
}

/// Sends a warning to the client: the message names the degradation, the hint the remedy.
pub fn warn(message: impl Into<String>, hint: &str) {
    report(Code::ERRCODE_WARNING, message, hint).report(PgLogLevel::WARNING);
}

/// Largest number of remembered warnings. All are forgotten at the limit.
const REMEMBERED: usize = 1000;

thread_local! {
    static SENT: RefCell<HashSet<(&'static str, i64)>> = RefCell::default();
}

/// Whether this is the first call of the session for an event and an object. For warnings that would otherwise be repeated by each
/// call.
pub fn is_first(event: &'static str, id: i64) -> bool {
    SENT.with_borrow_mut(|sent| {
        if sent.len() >= REMEMBERED {
            sent.clear();
        }
        sent.insert((event, id))
    })
}

/// Sends a notice to the client: the message names the possible improvement, the hint the command for it.
pub fn notice(message: impl Into<String>, hint: &str) {
    report(Code::ERRCODE_SUCCESSFUL_COMPLETION, message, hint).report(PgLogLevel::NOTICE);
}
