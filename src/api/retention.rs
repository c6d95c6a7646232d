//! What is removed when it is old.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::api::{given, writable};
use crate::guc;
use crate::rows;
use crate::store::retention::{self, Periods};

#[pg_extern(sql = false)]
fn run_retention(
    now: Option<TimestampWithTimeZone>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("run_retention")?;
    let done = retention::run(Periods {
        now: given(now, "now")?,
        trace_days: guc::trace_retention_days(),
        archive_days: guc::archive_retention_days(),
    })?;
    rows::emit(fcinfo, &done)?;
    Ok(())
}
