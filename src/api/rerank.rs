//! Rerankers: a SQL function of the application, or a service that the application calls between two of ours.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::begin::rerank::{Reranked, match_reranked};
use reground_grounding::begin::{self, Gathered};
use reground_grounding::settings::Settings;
use reground_grounding::settings::hook::Hook;

use crate::api::conversation_state::{self, ConversationState};
use crate::api::source_rows::emit;
use crate::api::{given, hooks, writable};
use crate::datum::Json;
use crate::error::{Error, Result};
use crate::store::roles::Roles;
use crate::store::{conversations, register, traces, turn_writes, turns};
use crate::tenant;

/// Scores of the gathered candidates by a reranker function.
pub(super) fn call(
    name: &str,
    roles: &Roles,
    query: &str,
    gathered: &Gathered,
) -> Result<Vec<Option<f64>>> {
    let candidates = gathered.candidates.iter();
    let texts = candidates.map(|candidate| candidate.passage.content.clone());
    hooks::rerank(name, roles, query, texts.collect())
}

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
    let Some(pool) = turn
        .pending_candidates
        .clone()
        .filter(|_| turn.state == "deferred")
    else {
        return Err(Error::WrongState {
            turn: turn_id,
            state: turn.state,
            wanted: "reranked",
            hint: "Only a turn begun with reranker = deferred waits for a rerank, and for one only.",
        }
        .into());
    };
    let gathered: Gathered = serde_json::from_value(pool).map_err(Error::from)?;
    let settings: Settings = serde_json::from_value(turn.settings.clone()).map_err(Error::from)?;
    let items: Vec<Reranked> = match results {
        None => Vec::new(),
        Some(results) => serde_json::from_value(results.value("results")?).map_err(|error| {
            Error::Hook(
                Hook::Reranker,
                format!("results are not what a reranker returns: {error}"),
            )
        })?,
    };
    let matched = match_reranked(&items, &gathered.candidates, &gathered.withdrawn);
    let register = register::load(&conversation, gathered.documents(), settings.marker_style)?;
    let mut composed = begin::compose(
        gathered,
        Some(&matched.scores),
        &register,
        &turn.query,
        &settings,
    )
    .map_err(Error::from)?;
    let mut warnings = turn.warnings.clone();
    composed.warnings.extend(matched.warnings);
    traces::write_drift(&tenant, turn_id, &matched.drift)?;
    warnings.extend(
        composed
            .warnings
            .iter()
            .map(|warning| warning.name().to_owned()),
    );
    warnings.sort();
    warnings.dedup();
    let footing = ConversationState::of(&conversation, Some(turn.turn_no))?;
    let standing = footing.standing(
        &tenant,
        &conversation_state::Composed {
            turn_no: turn.turn_no,
            fresh: true,
            context: &composed.context,
            tokens: composed.tokens,
            embedding: footing.before.own_embedding.as_deref(),
            settings: &settings,
        },
    )?;
    turns::compose(
        turn_id,
        &composed.context,
        composed.tokens,
        &standing,
        warnings,
    )?;
    conversations::touch(&conversation)?;
    turn_writes::write(
        &tenant,
        conversation.conversation_id,
        turn_id,
        turn.turn_no,
        &composed,
        &settings,
    )?;
    emit(fcinfo, turn_id, &composed.context)?;
    Ok(())
}
