//! `apply_rerank`: goes on with a turn whose candidates the application has reranked.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::begin::rerank::{Reranked, match_reranked};
use reground_grounding::begin::{self, Composed, Gathered};
use reground_grounding::memory::SourceKey;
use reground_grounding::settings::Settings;
use reground_grounding::settings::hook::{Hook, Reranker};
use reground_models::kind::Kind;

use crate::api::conversation::conversation_state::{ConversationState, TurnContext};
use crate::api::turn::source_rows::emit;
use crate::api::{given, writable};
use crate::datum::Json;
use crate::error::{Error, Result};
use crate::retrieve::visibility::{self, Reader};
use crate::store::conversations::{self, Conversation};
use crate::store::models::tasks;
use crate::store::turns::{self, Turn};
use crate::store::{register, traces, turn_writes};
use crate::tenant;

#[pg_extern(sql = false)]
fn apply_rerank(
    turn_id: Option<i64>,
    results: Option<Json>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("apply_rerank")?;
    let tenant = tenant::required()?;
    let turn_id = given(turn_id, "turn_id")?;
    let conversation = conversations::of_turn(&tenant, turn_id)?
        .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))?;
    let turn = turns::load(&tenant, turn_id)?;
    let mut gathered = pending_candidates(&turn)?;
    withdraw_hidden(&tenant, &mut gathered)?;
    let settings: Settings = serde_json::from_value(turn.settings.clone()).map_err(Error::from)?;
    let results = match results {
        Some(results) => parse_results(results)?,
        None => results_of_model(&turn, &settings)?,
    };

    let matched = match_reranked(&results, &gathered.candidates, &gathered.withdrawn);
    let register = register::load(&conversation, gathered.documents(), settings.marker_style)?;
    let mut composed = begin::compose(
        gathered,
        Some(&matched.scores),
        &register,
        &turn.query,
        &settings,
    )
    .map_err(Error::from)?;
    composed.warnings.extend(matched.warnings);
    traces::write_drift(&tenant, turn_id, &matched.drift)?;
    write(&tenant, &conversation, &turn, &composed, &settings)?;
    emit(fcinfo, turn_id, &composed.context, composed.answerability)?;
    Ok(())
}

/// Returns the candidates of a turn that waits for a rerank. Errors: 55000 if it does not.
fn pending_candidates(turn: &Turn) -> Result<Gathered> {
    match &turn.pending_candidates {
        Some(candidates) if turn.state == "deferred" => {
            Ok(serde_json::from_value(candidates.clone())?)
        }
        _ => Err(Error::WrongState {
            turn: turn.turn_id,
            state: turn.state.clone(),
            wanted: "reranked",
            hint: "Only a turn begun with reranker = deferred can be reranked, and only once.",
        }),
    }
}

/// Removes candidates that the caller may no longer read.
fn withdraw_hidden(tenant: &str, gathered: &mut Gathered) -> Result<()> {
    let remembered = gathered.remembered.iter().map(|source| &source.candidate);
    let found = gathered.candidates.iter().chain(&gathered.pins);
    let all = found.chain(&gathered.carried).chain(remembered);
    let hidden = visibility::hidden(tenant, all.flat_map(SourceKey::members))?;
    gathered.withdraw_all(|candidate| visibility::is_hidden(candidate, &hidden));
    Ok(())
}

fn parse_results(results: Json) -> Result<Vec<Reranked>> {
    serde_json::from_value(results.value("results")?).map_err(|error| {
        Error::Hook(
            Hook::Reranker,
            format!("results do not have the shape of a rerank: {error}"),
        )
    })
}

/// The scores that a worker has stored; none if no model reranks, so that the fused order stays. Errors: 55000 if they are not there yet.
fn results_of_model(turn: &Turn, settings: &Settings) -> Result<Vec<Reranked>> {
    if let Some(results) = &turn.rerank_results {
        return Ok(serde_json::from_value(results.clone())?);
    }
    let reranker = settings.reranker.as_deref().and_then(Reranker::of);
    let Some(Reranker::Model(model)) = reranker else {
        return Ok(Vec::new());
    };
    let problem = match tasks::of_turn(turn.turn_id, Kind::Rerank)? {
        Some((state, Some(error))) => format!("its task is {state}, last error: {error}"),
        Some((state, None)) => format!("its task is {state}"),
        None => format!("no task of model {model} is queued"),
    };
    Err(Error::NotReranked {
        turn: turn.turn_id,
        problem,
    })
}

/// Writes the context of a reranked turn, which is then open.
fn write(
    tenant: &str,
    conversation: &Conversation,
    turn: &Turn,
    composed: &Composed,
    settings: &Settings,
) -> Result<()> {
    let mut warnings = turn.warnings.clone();
    warnings.extend(
        composed
            .warnings
            .iter()
            .map(|warning| warning.name().to_owned()),
    );
    warnings.sort();
    warnings.dedup();
    let state = ConversationState::of(conversation, Some(turn.turn_no), Reader::of(tenant))?;
    let measures = state.measures(&TurnContext {
        turn_no: turn.turn_no,
        searched: true,
        context: &composed.context,
        tokens: composed.tokens,
        embedding: state.before.own_embedding.as_deref(),
        as_of: turn.as_of.as_deref(),
        settings,
    })?;
    turns::compose(
        tenant,
        turn.turn_id,
        &composed.context,
        composed.tokens,
        &measures,
        warnings,
    )?;
    tasks::end_of_turn(turn.turn_id, Kind::Rerank)?;
    conversations::touch(conversation)?;
    turn_writes::write(
        tenant,
        conversation.conversation_id,
        turn.turn_id,
        turn.turn_no,
        composed,
        settings,
    )
}
