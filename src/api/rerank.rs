//! Rerankers: a SQL function of the application, or a service that the application calls between two of ours.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::begin::{self, Gathered};
use reground_grounding::rerank::{Reranked, match_reranked};
use reground_grounding::settings::Settings;
use serde_json::Value;

use crate::api::footing::{self, Footing};
use crate::api::source_rows::emit;
use crate::api::{given, writable};
use crate::datum::Json;
use crate::error::{Error, Result};
use crate::owner::as_foreign_role;
use crate::sql;
use crate::store::turns::Standing;
use crate::store::{composed, conversations, markers, traces, turns};
use crate::tenant;

/// The setting's value for a rerank that the application makes itself.
pub const DEFERRED: &str = "deferred";

/// The reranker of the settings to be stored, with its name made plain, and the role that it is called as: whoever sets
/// it. A reranker that stays keeps its role.
pub fn registered(
    mut settings: Value,
    changes: &Value,
    role: Option<u32>,
) -> Result<(Value, Option<pg_sys::Oid>)> {
    match changes.get("reranker") {
        None => Ok((settings, role.map(pg_sys::Oid::from_u32))),
        Some(Value::String(name)) if name != DEFERRED && name != "off" => {
            settings["reranker"] = Value::String(function(name)?);
            // SAFETY: the current user id is always valid.
            Ok((settings, Some(unsafe { pg_sys::GetUserId() })))
        }
        Some(_) => Ok((settings, None)),
    }
}

/// Qualified name of a reranker that this role may call.
fn function(name: &str) -> Result<String> {
    let bare = name.split('(').next().unwrap_or_default().trim();
    sql::read_one(
        "SELECT pg_catalog.format('%I.%I', n.nspname, p.proname) FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace \
         WHERE p.oid = pg_catalog.to_regprocedure($1 || '(text, text[])') AND p.prorettype = 'pg_catalog.float4[]'::pg_catalog.regtype AND NOT p.proretset \
             AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')",
        &[bare.into()],
    )?
    .ok_or_else(|| Error::Reranker(format!("no reranker \"{name}\" that this role may call")))
}

/// Calls a reranker function for the gathered candidates: as the role that registered it, or as the caller.
pub fn call(
    name: &str,
    role: Option<u32>,
    query: &str,
    gathered: &Gathered,
) -> Result<Vec<Option<f64>>> {
    let texts: Vec<String> = gathered
        .candidates
        .iter()
        .map(|candidate| candidate.passage.text.clone())
        .collect();
    let count = texts.len();
    let score = || -> Result<Vec<Option<f64>>> {
        let args: [DatumWithOid<'_>; 2] = [query.into(), texts.into()];
        let scores: Option<Vec<Option<f32>>> =
            sql::write_one(&format!("SELECT {}($1, $2)", function(name)?), &args)?;
        Ok(match scores {
            Some(scores) => scores
                .into_iter()
                .map(|score| score.map(f64::from))
                .collect(),
            // NULL as a whole: it scored none of them.
            None => vec![None; count],
        })
    };
    match role {
        Some(role) => {
            let known = sql::read_one::<bool>(
                "SELECT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.oid OPERATOR(pg_catalog.=) $1)",
                &[pg_sys::Oid::from_u32(role).into()],
            )?;
            if known != Some(true) {
                return Err(Error::Reranker(format!(
                    "the role that set the reranker \"{name}\" no longer exists"
                )));
            }
            as_foreign_role(pg_sys::Oid::from_u32(role), score)
        }
        None => score(),
    }
}

#[pg_extern(sql = false)]
fn apply_rerank(
    turn: Option<i64>,
    results: Option<Json>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("apply_rerank")?;
    let tenant = tenant::required()?;
    let turn_id = given(turn, "turn")?;
    let conversation = conversations::of_turn(&tenant, turn_id)?
        .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))?;
    let turn = turns::load(&tenant, turn_id)?;
    let Some(pool) = turn.pool.clone().filter(|_| turn.state == "deferred") else {
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
            Error::Reranker(format!("results are not what a reranker returns: {error}"))
        })?,
    };
    let matched = match_reranked(&items, &gathered.candidates);
    let registry = markers::of_documents(conversation.conversation_id, gathered.documents())?;
    let known: Vec<_> = registry.iter().map(markers::Row::bound).collect();
    let mut composed = begin::compose(
        gathered,
        Some(&matched.scores),
        &known,
        &turn.query,
        &settings,
    )
    .map_err(Error::from)?;
    let mut warnings = turn.warnings.clone();
    composed.warnings.extend(matched.warnings);
    traces::write_drift(&tenant, turn_id, &turn.corpus, &matched.drift)?;
    warnings.extend(
        composed
            .warnings
            .iter()
            .map(|warning| warning.name().to_owned()),
    );
    warnings.sort();
    warnings.dedup();
    let footing = Footing::of(&conversation, Some(turn.number))?;
    let standing = Standing {
        retrieved: true,
        context_from: footing.context_from(turn.number, true, &composed.context),
        dilution: Some(footing.measure(&footing::Composed {
            number: turn.number,
            fresh: true,
            context: &composed.context,
            tokens: composed.tokens,
            embedding: footing.before.own_embedding.as_deref(),
            settings: &settings,
        })?),
    };
    turns::compose(
        turn_id,
        &composed.context,
        composed.tokens,
        &standing,
        warnings,
    )?;
    conversations::touch(&conversation)?;
    composed::write(
        &tenant,
        conversation.conversation_id,
        turn_id,
        turn.number,
        &composed,
        &settings,
    )?;
    emit(fcinfo, turn_id, &composed.context)?;
    Ok(())
}
