//! `turn_sources`: returns the stored sources of a turn.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::api::given;
use crate::api::turn::source_rows::emit_stored;
use crate::store::turns;
use crate::tenant;

#[pg_extern(sql = false)]
fn turn_sources(
    turn_id: Option<i64>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let tenant = tenant::required()?;
    let turn = turns::load(&tenant, given(turn_id, "turn_id")?)?;
    emit_stored(fcinfo, &tenant, &turn, &turn.context)?;
    Ok(())
}
