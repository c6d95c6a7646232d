//! A turn begins: read everything, compute, write everything.

use std::collections::BTreeSet;

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_documents::exact_hash_hex;
use reground_grounding::begin::warnings::Warning;
use reground_grounding::begin::{self, Composed, Gathered};
use reground_grounding::query::intent::Intent;
use reground_grounding::settings::hook::DEFERRED;
use serde_json::{Value, json};

use crate::api::conversation_state;
use crate::api::rerank;
use crate::api::retrieval::{Known, Question, gather};
use crate::api::source_rows::{emit, emit_candidates};
use crate::api::{branches, hooks, names, not_empty, writable};
use crate::datum::{Json, Vector};
use crate::error::{Error, Result};
use crate::profile::{self, stage};
use crate::store::conversations::{self, Conversation};
use crate::store::roles::Roles;
use crate::store::turn_writes;
use crate::store::turns::{self, NewTurn, Standing};
use crate::tenant;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn begin_turn(
    conversation_ref: Option<&str>,
    query: Option<&str>,
    corpus: Option<&str>,
    embedding: Option<Vector>,
    filter: Option<Json>,
    request_id: Option<&str>,
    rewrite: Option<&str>,
    intent: Option<&str>,
    settings: Option<Json>,
    tags: Option<Json>,
    corpora: Option<Vec<Option<String>>>,
    parent_turn_id: Option<i64>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("begin_turn")?;
    let tenant = tenant::required()?;
    let request = Request {
        conversation_ref: not_empty(conversation_ref, "conversation_ref")?,
        query: not_empty(query, "query")?,
        corpus,
        corpora: names(corpora, "corpora")?,
        embedding: embedding.map(|vector| vector.0),
        filter: Json::optional(filter, "filter")?,
        rewrite,
        parent_turn_id,
        intent: intent
            .map(str::parse::<Intent>)
            .transpose()
            .map_err(Error::from)?,
        // A null says nothing: so some drivers write what is left out.
        settings: Json::optional(settings, "settings")?
            .filter(|settings| !settings.is_null())
            .unwrap_or_else(|| json!({})),
        tags: Json::object(tags, "tags")?,
        request_id,
    };
    profile::call("begin_turn", || begin(&tenant, &request, fcinfo))?;
    Ok(())
}

/// Begins the turn, or gives the one that this request began before.
fn begin(tenant: &str, request: &Request<'_>, fcinfo: pg_sys::FunctionCallInfo) -> Result<()> {
    let conversation = stage("conversation", || {
        conversations::open(tenant, request.conversation_ref)
    })?;
    let request_hash = request.hash()?;
    if let Some(request_id) = request.request_id
        && let Some(turn) = turns::of_request(conversation.conversation_id, request_id)?
    {
        if turn.request_hash != request_hash {
            return Err(Error::Conflict("request", request_id.to_owned()));
        }
        return match turn.pending_candidates {
            Some(pool) => {
                let gathered: Gathered = serde_json::from_value(pool)?;
                emit_candidates(fcinfo, turn.turn_id, &gathered)
            }
            None => emit(fcinfo, turn.turn_id, turn.begun_with()),
        };
    }
    let conversation = match request.parent_turn_id {
        Some(parent_turn_id) => stage("branch", || {
            branches::go_back(tenant, conversation, parent_turn_id)
        })?,
        None => conversation,
    };
    let (known, gathered) = gather(tenant, &conversation, &request.question())?;
    let outcome = outcome(&known, gathered, request.query)?;
    let turn_id = write(
        tenant,
        &conversation,
        request,
        &request_hash,
        &known,
        &outcome,
    )?;
    stage("rows", || match &outcome {
        Outcome::Composed(turn) => emit(fcinfo, turn_id, &turn.context),
        Outcome::Deferred(pool) => emit_candidates(fcinfo, turn_id, pool),
    })
}

/// The arguments of a call.
struct Request<'a> {
    conversation_ref: &'a str,
    query: &'a str,
    corpus: Option<&'a str>,
    corpora: Option<Vec<String>>,
    embedding: Option<Vec<f32>>,
    filter: Option<Value>,
    rewrite: Option<&'a str>,
    intent: Option<Intent>,
    settings: Value,
    tags: Value,
    /// The turn that it follows where that is not the latest; 0: none.
    parent_turn_id: Option<i64>,
    /// The application's id of it; not part of what tells it from another.
    request_id: Option<&'a str>,
}

impl Request<'_> {
    /// What it asks of the relations.
    fn question(&self) -> Question<'_> {
        Question {
            query: self.query,
            corpus: self.corpus,
            corpora: self.corpora.as_deref(),
            embedding: self.embedding.as_deref(),
            filter: self.filter.as_ref(),
            rewrite: self.rewrite,
            intent: self.intent,
            settings: &self.settings,
            call_roles: Roles::default(),
            instead_of: None,
        }
    }

    /// Tells a repeated request from another one under the same id.
    fn hash(&self) -> Result<String> {
        let arguments = json!([
            self.query,
            self.corpus,
            self.corpora,
            self.embedding,
            self.filter,
            self.rewrite,
            self.intent,
            self.settings,
            self.tags,
            self.parent_turn_id
        ]);
        Ok(exact_hash_hex(&serde_json::to_string(&arguments)?))
    }
}

/// Reranks and composes, unless the rerank is deferred.
pub(super) fn outcome(known: &Known, gathered: Gathered, query: &str) -> Result<Outcome> {
    let scores = match known.settings.reranker.as_deref() {
        _ if !known.fresh() => None,
        None => None,
        Some(DEFERRED) => return Ok(Outcome::Deferred(gathered)),
        Some(name) => Some(stage("rerank", || {
            rerank::call(name, &known.roles, query, &gathered)
        })?),
    };
    let composed = stage("compose", || {
        begin::compose(
            gathered,
            scores.as_deref(),
            &known.register,
            query,
            &known.settings,
        )
    })?;
    Ok(Outcome::Composed(composed))
}

/// Writes the turn as far as it came; its id.
fn write(
    tenant: &str,
    conversation: &Conversation,
    request: &Request<'_>,
    request_hash: &str,
    known: &Known,
    outcome: &Outcome,
) -> Result<i64> {
    let (state, pending_candidates, context, tokens, warnings) = match outcome {
        Outcome::Composed(turn) => ("open", None, &turn.context[..], turn.tokens, &turn.warnings),
        Outcome::Deferred(pool) => (
            "deferred",
            Some(serde_json::to_value(pool)?),
            &[][..],
            0,
            &pool.warnings,
        ),
    };
    let (turn_no, turn_id) = stage("write turn", || {
        let (call_settings, call_role) = hooks::kept_with_turn(&request.settings)?;
        let corpora = known.corpora.names();
        let turn_no = conversations::count_turn(conversation, &corpora)?;
        let new = NewTurn {
            tenant,
            conversation_id: conversation.conversation_id,
            turn_no,
            state,
            request_id: request.request_id,
            request_hash,
            query: request.query,
            corpus: &known.corpora.first.corpus.name,
            corpora: (corpora.len() > 1).then_some(&corpora),
            filter: request.filter.as_ref(),
            intent: known.judged.intent.name(),
            intent_confidence: known.judged.confidence,
            intent_signals: &known.judged.signals,
            query_expansion: known.query_expansion.clone(),
            settings: serde_json::to_value(&known.settings)?,
            call_settings: &call_settings,
            call_role: call_role.as_deref(),
            pending_candidates,
            context,
            context_tokens: tokens,
            query_tokens: reground_tokens::count(request.query),
            standing: standing(tenant, known, request, turn_no, outcome)?,
            search_us: known.search_us,
            warnings: warning_names(warnings),
            tags: request.tags.clone(),
        };
        Ok::<_, Error>((turn_no, turns::insert(&new, request.embedding.clone())?))
    })?;
    if let Outcome::Composed(turn) = outcome {
        let conversation_id = conversation.conversation_id;
        turn_writes::write(
            tenant,
            conversation_id,
            turn_id,
            turn_no,
            turn,
            &known.settings,
        )?;
    }
    Ok(turn_id)
}

/// Where the turn stands in its conversation.
fn standing(
    tenant: &str,
    known: &Known,
    request: &Request<'_>,
    turn_no: i32,
    outcome: &Outcome,
) -> Result<Standing> {
    match outcome {
        Outcome::Deferred(_) => Ok(known.footing.waiting(known.fresh())),
        Outcome::Composed(turn) => known.footing.standing(
            tenant,
            &conversation_state::Composed {
                turn_no,
                fresh: known.fresh(),
                context: &turn.context,
                tokens: turn.tokens,
                embedding: request.embedding.as_deref(),
                settings: &known.settings,
            },
        ),
    }
}

/// How far a turn came.
pub(super) enum Outcome {
    /// It has its context.
    Composed(Composed),
    /// It waits for `apply_rerank`.
    Deferred(Gathered),
}

/// Stable names of warnings, each once.
pub(super) fn warning_names(warnings: &[Warning]) -> Vec<String> {
    warnings
        .iter()
        .map(|warning| warning.name().to_owned())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}
