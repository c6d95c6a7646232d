//! `begin_turn`: read → intent → plan → lists → fuse → collapse → cut → carry → rerank → select → markers → facts → write.
//!
//! [`gather`] runs the stages up to carry, [`compose`] those up to facts, and [`write`] stores the turn.

use std::collections::BTreeSet;

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_documents::exact_hash_hex;
use reground_grounding::begin::warnings::Warning;
use reground_grounding::begin::{self, Composed, Gathered};
use reground_grounding::query::intent::Intent;
use reground_grounding::settings::hook::Reranker;
use reground_models::kind::Kind;
use serde_json::{Value, json};

use crate::api::conversation::branches;
use crate::api::conversation::conversation_state::TurnContext;
use crate::api::turn::hooks;
use crate::api::turn::question::Question;
use crate::api::turn::retrieval::{PreparedTurn, ResolvedQuestion, gather};
use crate::api::turn::source_rows::{emit, emit_candidates, emit_stored};
use crate::api::{names, not_empty, writable};
use crate::datum::{Json, Vector};
use crate::error::{Error, Result};
use crate::profile::{self, stage};
use crate::retrieve::past;
use crate::store::conversations::{self, Conversation};
use crate::store::models::{registry, tasks};
use crate::store::roles::Roles;
use crate::store::turns::{self, NewTurn, TurnMeasures};
use crate::store::{keys, turn_writes};
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
    embedding_model: Option<&str>,
    as_of: Option<TimestampWithTimeZone>,
    context_embedding: Option<Vector>,
    user_ref: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("begin_turn")?;
    let tenant = tenant::required()?;
    let conversation_ref = not_empty(conversation_ref, "conversation_ref")?;
    let query = not_empty(query, "query")?;
    let corpora = names(corpora, "corpora")?;
    let embedding = embedding.map(|vector| vector.0);
    let context_embedding = context_embedding.map(|vector| vector.0);
    let filter = Json::optional(filter, "filter")?;
    let as_of = as_of.map(past::time).transpose()?;
    let intent = intent.map(str::parse::<Intent>).transpose();
    let intent = intent.map_err(Error::from)?;
    // Some drivers pass the JSON value null for an omitted argument.
    let settings = Json::optional(settings, "settings")?
        .filter(|settings| !settings.is_null())
        .unwrap_or_else(|| json!({}));
    let question = Question {
        query,
        corpus,
        corpora: corpora.as_deref(),
        embedding: embedding.as_deref(),
        context_embedding: context_embedding.as_deref(),
        embedding_model,
        filter: filter.as_ref(),
        as_of: as_of.as_deref(),
        rewrite,
        intent,
        settings: &settings,
        call_roles: Roles::default(),
        begun_at: None,
        repeated_turn_no: None,
    };
    let tags = Json::object(tags, "tags")?;
    let user_ref = user_ref
        .map(|name| not_empty(Some(name), "user_ref"))
        .transpose()?;
    let request_hash = request_id
        .map(|_| request_hash(&question, &tags, parent_turn_id, user_ref))
        .transpose()?;
    let request = Request {
        conversation_ref,
        request_id,
        request_hash,
        user_ref,
        tags,
        parent_turn_id,
    };
    profile::call("begin_turn", || begin(&tenant, &question, &request, fcinfo))?;
    Ok(())
}

/// Begins the turn. A repeated request returns the turn of the first one.
fn begin(
    tenant: &str,
    question: &Question<'_>,
    request: &Request<'_>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Result<()> {
    let conversation = stage("conversation", || {
        let conversation = conversations::open(tenant, request.conversation_ref)?;
        keys::hold(tenant)?;
        Ok::<_, Error>(conversation)
    })?;
    if let Some(request_id) = request.request_id
        && let Some(turn) = turns::of_request(conversation.conversation_id, request_id)?
    {
        if turn.request_hash != request.request_hash {
            return Err(Error::Conflict("request_id", request_id.to_owned()));
        }
        if turn.state == "abandoned" {
            return Err(Error::WrongState {
                turn: turn.turn_id,
                state: turn.state,
                wanted: "begun again",
                hint: "Pass another request_id for a new turn.",
            });
        }
        return emit_stored(fcinfo, tenant, &turn, turn.begun_with());
    }
    let conversation = match request.parent_turn_id {
        Some(parent_turn_id) => stage("branch", || {
            branches::go_back(tenant, conversation, parent_turn_id)
        })?,
        None => conversation,
    };
    let (prepared, gathered) = gather(tenant, &conversation, question)?;
    let begun = compose(&prepared, gathered)?;
    let turn_id = write(tenant, &conversation, request, &prepared, &begun)?;
    stage("rows", || match &begun {
        BegunTurn::Composed(turn) => emit(fcinfo, turn_id, &turn.context, turn.answerability),
        BegunTurn::Deferred(gathered) => {
            emit_candidates(fcinfo, turn_id, gathered, &BTreeSet::new())
        }
    })
}

/// What a call of `begin_turn` has besides its question.
struct Request<'a> {
    conversation_ref: &'a str,
    /// The application's id of the request; not part of its hash.
    request_id: Option<&'a str>,
    /// `None` without a request id.
    request_hash: Option<String>,
    /// The application's id of the user who asks.
    user_ref: Option<&'a str>,
    tags: Value,
    /// The turn to follow; `None`: the latest, 0: none.
    parent_turn_id: Option<i64>,
}

/// Hash of the arguments, to compare requests with the same id. Without the context embedding: when a request is repeated, its own
/// turn is the latest of the conversation, so context_text returns another text.
fn request_hash(
    question: &Question<'_>,
    tags: &Value,
    parent_turn_id: Option<i64>,
    user_ref: Option<&str>,
) -> Result<String> {
    let arguments = json!([
        question.query,
        question.corpus,
        question.corpora,
        question.embedding,
        question.filter,
        question.rewrite,
        question.intent,
        question.settings,
        tags,
        parent_turn_id,
        question.as_of,
        user_ref
    ]);
    Ok(exact_hash_hex(&serde_json::to_string(&arguments)?))
}

/// The second half of a turn: calls the reranker and composes the context, unless the rerank is deferred.
pub(in crate::api) fn compose(
    prepared: &PreparedTurn<'_>,
    gathered: Gathered,
) -> Result<BegunTurn> {
    let ResolvedQuestion {
        question,
        settings,
        roles,
        ..
    } = &prepared.resolved;
    let reranker = settings.reranker.as_deref().and_then(Reranker::of);
    let scores = match reranker.filter(|_| prepared.searched()) {
        None => None,
        Some(Reranker::Deferred) => return Ok(BegunTurn::Deferred(gathered)),
        Some(Reranker::Model(model)) => {
            registry::with_task(model, Kind::Rerank)?;
            return Ok(BegunTurn::Deferred(gathered));
        }
        Some(Reranker::Function(name)) => Some(stage("rerank", || {
            hooks::rerank(name, roles, question.query, &gathered.candidates)
        })?),
    };
    let composed = stage("compose", || {
        begin::compose(
            gathered,
            scores.as_deref(),
            &prepared.register,
            question.query,
            settings,
        )
    })?;
    Ok(BegunTurn::Composed(composed))
}

/// Writes the turn and returns its id.
fn write(
    tenant: &str,
    conversation: &Conversation,
    request: &Request<'_>,
    prepared: &PreparedTurn<'_>,
    begun: &BegunTurn,
) -> Result<i64> {
    let ResolvedQuestion {
        question,
        corpora,
        settings,
        ..
    } = &prepared.resolved;
    let (state, pending_candidates, context, tokens, warnings) = match begun {
        BegunTurn::Composed(turn) => ("open", None, &turn.context[..], turn.tokens, &turn.warnings),
        BegunTurn::Deferred(gathered) => (
            "deferred",
            Some(serde_json::to_value(gathered)?),
            &[][..],
            0,
            &gathered.warnings,
        ),
    };
    let (turn_no, turn_id) = stage("write turn", || {
        let (call_settings, call_role) = hooks::kept_with_turn(question.settings)?;
        let names = corpora.names();
        let turn_no = conversations::count_turn(conversation, &names)?;
        let new = NewTurn {
            tenant,
            conversation_id: conversation.conversation_id,
            turn_no,
            state,
            request_id: request.request_id,
            request_hash: request.request_hash.as_deref(),
            query: question.query,
            corpus: &corpora.first.corpus.name,
            corpora: (names.len() > 1).then_some(&names),
            filter: question.filter,
            as_of: question.as_of,
            intent: prepared.judged.intent.name(),
            intent_confidence: prepared.judged.confidence,
            intent_signals: &prepared.judged.signals,
            query_expansion: prepared.query_expansion.clone(),
            settings: serde_json::to_value(settings)?,
            call_settings: &call_settings,
            call_role: call_role.as_deref(),
            pending_candidates,
            context,
            context_tokens: tokens,
            query_tokens: reground_tokens::count(question.query),
            measures: measures(prepared, turn_no, begun)?,
            search_us: prepared.search_us,
            answerability: begun.answerability(),
            warnings: warning_names(warnings),
            tags: request.tags.clone(),
            user_ref: request.user_ref,
        };
        Ok::<_, Error>((
            turn_no,
            turns::insert(&new, question.embedding, question.context_embedding)?,
        ))
    })?;
    match begun {
        BegunTurn::Composed(turn) => {
            let conversation_id = conversation.conversation_id;
            turn_writes::write(tenant, conversation_id, turn_id, turn_no, turn, settings)?;
        }
        BegunTurn::Deferred(_) => {
            let reranker = settings.reranker.as_deref().and_then(Reranker::of);
            if let Some(Reranker::Model(model)) = reranker {
                tasks::queue_for_turn(tenant, Kind::Rerank, model, turn_id, "candidates")?;
            }
        }
    }
    Ok(turn_id)
}

/// The columns that depend on the state of the conversation.
fn measures(prepared: &PreparedTurn<'_>, turn_no: i32, begun: &BegunTurn) -> Result<TurnMeasures> {
    match begun {
        BegunTurn::Deferred(_) => Ok(prepared
            .conversation_state
            .measures_before_rerank(prepared.searched())),
        BegunTurn::Composed(turn) => prepared.conversation_state.measures(&TurnContext {
            turn_no,
            searched: prepared.searched(),
            context: &turn.context,
            tokens: turn.tokens,
            embedding: prepared.resolved.question.embedding,
            as_of: prepared.resolved.question.as_of,
            settings: &prepared.resolved.settings,
        }),
    }
}

/// A turn after `begin_turn`.
pub(in crate::api) enum BegunTurn {
    /// The turn has its context.
    Composed(Composed),
    /// The turn waits for `apply_rerank`.
    Deferred(Gathered),
}

impl BegunTurn {
    /// Whether the corpus seems to have an answer, 0 to 1.
    fn answerability(&self) -> Option<f64> {
        match self {
            Self::Composed(turn) => turn.answerability,
            Self::Deferred(gathered) => gathered.answerability,
        }
    }
}

/// The names of warnings, sorted, each once.
pub(in crate::api) fn warning_names(warnings: &[Warning]) -> Vec<String> {
    warnings
        .iter()
        .map(|warning| warning.name().to_owned())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}
