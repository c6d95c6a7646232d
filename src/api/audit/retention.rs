//! `run_retention`: archives and removes old conversations, traces and links.

use pgrx::datum::{TimestampWithTimeZone, transaction_timestamp};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::api::{given, writable};
use crate::error::{Error, Result};
use crate::guc;
use crate::rows;
use crate::session::is_alone;
use crate::store::retention::{self, Periods};

#[pg_extern(sql = false)]
fn run_retention(
    as_of: Option<TimestampWithTimeZone>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("run_retention")?;
    let as_of = given(as_of, "as_of")?;
    if is_ahead(as_of) && !is_superuser() {
        return Err(Error::TooEarly("run_retention").into());
    }
    let done = retention::run(periods(as_of), is_alone())?;
    rows::emit(fcinfo, &done)?;
    Ok(())
}

/// Runs retention as a task of maintenance, and returns the number of rows archived or removed. `is_alone`: whether the transaction ends
/// with the statement.
pub(super) fn run_now(is_alone: bool) -> Result<i64> {
    let done = retention::run(periods(transaction_timestamp()), is_alone)?;
    let done = done.iter().filter(|done| !done.action.starts_with("kept"));
    Ok(done.map(|done| done.rows).sum())
}

fn periods(as_of: TimestampWithTimeZone) -> Periods {
    Periods {
        as_of,
        conversation_days: guc::conversation_retention_days(),
        trace_days: guc::trace_retention_days(),
        archive_days: guc::archive_retention_days(),
    }
}

/// Whether a time is in the future. It would remove more than the settings of the superuser allow.
fn is_ahead(moment: TimestampWithTimeZone) -> bool {
    // SAFETY: a plain read of the clock.
    moment.into_inner() > unsafe { pg_sys::GetCurrentTimestamp() }
}

fn is_superuser() -> bool {
    // SAFETY: a plain call into the backend.
    unsafe { pg_sys::superuser() }
}
