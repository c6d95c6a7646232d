//! `answer_metrics`: judges a stored answer again and computes its quality measures.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::end::answer_metrics::AnswerMetric;

use crate::api::answer::hidden_citations::load_shown;
use crate::api::answer::judging::judge;
use crate::api::answer::judging::judge_context::TurnEvidence;
use crate::api::given;
use crate::error::{Result, warn};
use crate::rows;
use crate::store::turns;
use crate::tenant;

#[pg_extern(sql = false)]
fn answer_metrics(
    message_id: Option<i64>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let tenant = tenant::required()?;
    rows::emit(
        fcinfo,
        &measured(&tenant, given(message_id, "message_id")?)?,
    )?;
    Ok(())
}

fn measured(tenant: &str, message_id: i64) -> Result<Vec<AnswerMetric>> {
    let message = load_shown(tenant, message_id)?;
    let Some(answer) = message.answer else {
        warn(
            "the answer was not stored",
            "The setting store_answers of its turn was hash.",
        );
        return Ok(Vec::new());
    };
    let turn = turns::load(tenant, message.turn_id)?;
    let evidence = TurnEvidence::load(tenant, &turn)?;
    let citations = message.citations.as_ref();
    let read = judge::read(&answer, &evidence.grammar, citations)?;
    judge::measure(&read, &evidence.context(&[], &[]))
}
