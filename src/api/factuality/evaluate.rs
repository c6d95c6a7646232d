//! `evaluate_factuality`: queues the evaluation of an answer.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_models::kind::Kind;
use reground_models::{decompose, entail};

use crate::api::{given, not_empty, writable};
use crate::error::{Error, Result};
use crate::store::factuality::evaluations::{self, EvaluatedAnswer, NewEvaluation};
use crate::store::factuality::gold;
use crate::store::models::{registry, tasks};
use crate::tenant;

#[pg_extern(sql = false)]
fn evaluate_factuality(
    turn_id: Option<i64>,
    question_ref: Option<&str>,
    decompose_model: Option<&str>,
    entail_model: Option<&str>,
    message_ref: Option<&str>,
) -> std::result::Result<i64, ErrorReport> {
    writable("evaluate_factuality")?;
    let tenant = tenant::required()?;
    let turn_id = given(turn_id, "turn_id")?;
    let question_ref = given(question_ref, "question_ref")?;
    let decompose_model = not_empty(decompose_model, "decompose_model")?;
    let entail_model = not_empty(entail_model, "entail_model")?;
    registry::with_task(decompose_model, Kind::Decompose)?;
    registry::with_task(entail_model, Kind::Entail)?;
    let message_id = answer(&tenant, turn_id, message_ref)?;
    let question = gold::find(&tenant, question_ref)?
        .ok_or_else(|| Error::Unknown("question", format!("\"{question_ref}\"")))?;
    let evaluation = NewEvaluation {
        tenant: &tenant,
        turn_id,
        message_id,
        question_ref,
        reference: question.premise(),
        decompose_model,
        entail_model,
        decompose_prompt: decompose::PROMPT,
        entail_prompt: entail::PROMPT,
    };
    let evaluation_id = evaluations::insert(&evaluation, &question.facts)?;
    // Without facts there is nothing to measure.
    if !question.facts.is_empty() {
        let subjects = vec![evaluation_id.to_string()];
        tasks::queue_each_for_turn(&tenant, Kind::Decompose, decompose_model, turn_id, subjects)?;
    }
    Ok(evaluation_id)
}

/// The id of an answer whose text is stored.
fn answer(tenant: &str, turn_id: i64, message_ref: Option<&str>) -> Result<i64> {
    match evaluations::answer(tenant, turn_id, message_ref)? {
        Some(EvaluatedAnswer {
            message_id,
            has_text: true,
        }) => Ok(message_id),
        Some(EvaluatedAnswer { message_id, .. }) => Err(Error::AnswerNotStored(message_id)),
        None => Err(match message_ref {
            Some(name) => Error::Unknown("message", format!("\"{name}\" of turn {turn_id}")),
            None => Error::Unknown("an answer of turn", turn_id.to_string()),
        }),
    }
}
