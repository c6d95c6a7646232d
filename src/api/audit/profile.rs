//! `profile`: time of the last turn function by stage.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use serde::Serialize;

use crate::profile::last;
use crate::rows;

/// A row of `profile`.
#[derive(Serialize)]
struct StageRow {
    function: &'static str,
    stage: &'static str,
    calls: u32,
    self_us: u64,
}

#[pg_extern(sql = false)]
fn profile(fcinfo: pg_sys::FunctionCallInfo) -> std::result::Result<(), ErrorReport> {
    let rows: Vec<StageRow> = last()
        .into_iter()
        .flat_map(|profile| {
            profile.stages.into_iter().map(move |stage| StageRow {
                function: profile.function,
                stage: stage.name,
                calls: stage.calls,
                self_us: u64::try_from(stage.time.as_micros()).unwrap_or(u64::MAX),
            })
        })
        .collect();
    rows::emit(fcinfo, &rows)?;
    Ok(())
}
