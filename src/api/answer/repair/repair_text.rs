//! `repair_text`: corrects an answer by passages of the caller, without a conversation. It writes nothing.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::end::parse_answer;

use super::repaired::{RepairRow, Repaired};
use crate::api::answer::caller_answer::CallerAnswer;
use crate::api::answer::judging::judge;
use crate::api::given;
use crate::datum::Json;
use crate::profile;
use crate::rows;

#[pg_extern(sql = false)]
fn repair_text(
    answer: Option<&str>,
    passages: Option<Json>,
    mode: Option<&str>,
    settings: Option<Json>,
    text_config: Option<pg_sys::Oid>,
    corpus: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let caller = CallerAnswer::read(answer, passages, settings, text_config, corpus)?;
    let mode = super::mode(given(mode, "mode")?)?;
    profile::call("repair_text", || {
        caller.with_context(|context| {
            let read = parse_answer::parse_statements(caller.text, context.grammar, false);
            let verdict = judge::judge(&read, context)?;
            let repaired = Repaired::of(&read, &verdict, context, mode)?;
            let rows = match &repaired {
                Some(repaired) => RepairRow::of(None, &repaired.text, &repaired.changes),
                None => RepairRow::of(None, caller.text, &[]),
            };
            rows::emit(fcinfo, &rows)
        })
    })?;
    Ok(())
}
