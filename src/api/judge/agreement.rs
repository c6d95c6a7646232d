//! Majorities of votes, and their agreement with labels.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_models::judge::agreement::agreements;
use reground_models::judge::verdict::Verdict;
use reground_models::judge::votes::decide;

use crate::api::given;
use crate::rows;
use crate::store::judge::votes;

#[pg_extern(sql = false)]
fn judge_majority(
    verdicts: Option<Vec<Option<String>>>,
    is_deterministic: Option<bool>,
) -> std::result::Result<Option<String>, ErrorReport> {
    let votes: Vec<Verdict> = given(verdicts, "verdicts")?
        .into_iter()
        .filter_map(|name| Verdict::named(&name?))
        .collect();
    let is_deterministic = given(is_deterministic, "is_deterministic")?;
    Ok(decide(&votes, is_deterministic).map(|verdict| verdict.name().to_owned()))
}

#[pg_extern(sql = false)]
fn judge_agreement(
    model: Option<&str>,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    rows::emit(fcinfo, &agreements(&votes::confusion(model, since, until)?))?;
    Ok(())
}
