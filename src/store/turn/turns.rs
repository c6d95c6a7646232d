//! The table `turns`.

use std::collections::BTreeSet;

use pgrx::datum::DatumWithOid;
use reground_grounding::begin::rerank::Reranked;
use reground_grounding::history::context_share::ContextShare;
use reground_grounding::memory::{ContextSource, RememberedSource};
use reground_grounding::passage::similarity::SourceSimilarities;
use reground_grounding::query::intent::Intent;
use reground_grounding::settings::Settings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::sql::{self, Record};
use crate::store::keys::{self, Of};

/// A turn, as later calls read it.
#[derive(Clone, Debug, Deserialize)]
pub struct Turn {
    pub turn_id: i64,
    pub conversation_id: i64,
    pub turn_no: i32,
    pub state: String,
    /// Hash of its arguments, if it has a request id.
    pub request_hash: Option<String>,
    pub query: String,
    pub query_tokens: i64,
    pub corpus: String,
    /// Names of its corpora, if it searches several.
    corpora: Option<Vec<String>>,
    pub settings: Value,
    /// The settings that the call itself gave.
    pub call_settings: Value,
    /// The role that calls the functions named in `call_settings`.
    pub call_role: Option<String>,
    pub pending_candidates: Option<Value>,
    /// Scores of a model for these candidates.
    pub rerank_results: Option<Value>,
    pub context: Vec<ContextSource>,
    /// The remembered sources when it first ended; `None` if they were those after its parent.
    pub sources_before: Option<Vec<RememberedSource>>,
    /// Id of the turn that it follows.
    pub parent_turn_id: Option<i64>,
    /// Whether the conversation went back to a point before this turn.
    pub superseded: bool,
    /// `live`, or `imported`.
    pub origin: String,
    /// Number of the turn whose search found the sources of the context.
    context_turn_no: Option<i32>,
    /// Time whose versions it searches, as text.
    pub as_of: Option<String>,
    pub answerability: Option<f64>,
    pub warnings: Vec<String>,
    /// Whether this transaction began the turn more than a second ago. Its lock was then held while the model wrote.
    pub held_open: bool,
}

impl Turn {
    /// Its state; `imported` for a turn that another system answered.
    pub fn shown_state(&self) -> &str {
        match self.is_imported() {
            true => "imported",
            false => &self.state,
        }
    }

    /// Whether another system answered the turn.
    pub fn is_imported(&self) -> bool {
        self.origin == "imported"
    }

    /// Whether a search of this turn found its sources, at its start or later.
    pub fn searched(&self) -> bool {
        self.context_turn_no == Some(self.turn_no)
    }

    /// The context at the start of the turn, without the sources of additional retrievals.
    pub fn begun_with(&self) -> &[ContextSource] {
        let later = self
            .context
            .iter()
            .position(|source| source.retrieval_no > 0);
        self.context.split_at(later.unwrap_or(self.context.len())).0
    }

    /// The corpora that the turn searches, the leading one first.
    pub fn searched_corpora(&self) -> Vec<String> {
        searched_corpora(&self.corpus, self.corpora.as_deref())
    }

    /// The corpora whose documents an answer may cite: those of its sources, and the leading one.
    pub fn citable_corpora(&self) -> BTreeSet<&str> {
        let sources = self.context.iter();
        sources
            .map(|source| source.candidate.passage.corpus.as_str())
            .chain([self.corpus.as_str()])
            .collect()
    }
}

/// A turn to be stored by begin_turn.
#[derive(Debug, Serialize)]
pub struct NewTurn<'a> {
    pub tenant: &'a str,
    pub conversation_id: i64,
    pub turn_no: i32,
    pub state: &'static str,
    pub request_id: Option<&'a str>,
    pub request_hash: Option<&'a str>,
    pub query: &'a str,
    pub corpus: &'a str,
    /// Names of its corpora, if it searches several.
    pub corpora: Option<&'a Vec<String>>,
    pub filter: Option<&'a Value>,
    /// Time whose versions it searches.
    pub as_of: Option<&'a str>,
    pub intent: &'a str,
    pub intent_confidence: f64,
    pub intent_signals: &'a [String],
    /// Terms, entities and rewrite that were searched besides the query.
    pub query_expansion: Value,
    pub settings: Value,
    /// The settings that the call itself gave.
    pub call_settings: &'a Value,
    /// The role that calls the functions named in `call_settings`; `None` without such functions.
    pub call_role: Option<&'a str>,
    /// Bound as an argument of its own, because only its texts and those of the context are sealed.
    #[serde(skip)]
    pub pending_candidates: Option<Value>,
    #[serde(skip)]
    pub context: &'a [ContextSource],
    pub context_tokens: usize,
    pub query_tokens: usize,
    #[serde(flatten)]
    pub measures: TurnMeasures,
    /// Microseconds of its search; `None` if it reused sources.
    pub search_us: Option<i32>,
    /// Whether the corpus seems to have an answer, 0 to 1.
    pub answerability: Option<f64>,
    pub warnings: Vec<String>,
    pub tags: Value,
    /// The application's id of the user who asks.
    pub user_ref: Option<&'a str>,
}

/// Measures of a turn within its conversation.
#[derive(Clone, Debug, Serialize)]
pub struct TurnMeasures {
    /// Whether the turn searched.
    pub retrieved: bool,
    /// Number of the turn whose search found the sources of the context.
    pub context_turn_no: Option<i32>,
    /// Share of the context in the prompt; `None` while the turn waits for apply_rerank.
    #[serde(flatten)]
    pub context_share: Option<ContextShare>,
    /// Microseconds of compressing the history; `None` without compression or history.
    pub compress_us: Option<i32>,
    /// Similarities of the sources to the query and to each other; empty if the settings do not ask for them.
    #[serde(flatten)]
    pub similarities: SourceSimilarities,
}

/// Columns of [`ContextShare`].
const CONTEXT_SHARE: &str = "history_tokens bigint, full_history_tokens bigint, attribution_share double precision, predicted_accuracy double precision, accuracy_floor double precision";

/// Columns of [`SourceSimilarities`].
const SIMILARITIES: &str = "query_similarities real[], source_similarities real[]";

/// The other columns of [`TurnMeasures`], without `retrieved`.
const OTHER_MEASURES: &str = "context_turn_no integer, compress_us integer";

/// Columns of [`TurnMeasures`], without `retrieved`.
const MEASURES: Record = Record(&[OTHER_MEASURES, CONTEXT_SHARE, SIMILARITIES]);

/// Columns of [`TurnMeasures`] that an additional retrieval replaces.
const REPLACED: Record = Record(&[CONTEXT_SHARE, SIMILARITIES]);

/// Columns of [`NewTurn`].
const NEW_TURN: Record = Record(&[
    "tenant text, conversation_id bigint, turn_no integer, state text, request_id text, request_hash text, query text",
    "corpus text, corpora text[], filter jsonb, as_of timestamptz, intent text, intent_confidence real, intent_signals text[]",
    "query_expansion jsonb, settings jsonb, call_settings jsonb, call_role text",
    "context_tokens integer, query_tokens integer, search_us integer, answerability double precision, warnings text[], tags jsonb, user_ref text, retrieved boolean",
    OTHER_MEASURES,
    CONTEXT_SHARE,
    SIMILARITIES,
]);

/// The request of a turn.
#[derive(Debug, Deserialize)]
pub struct TurnRequest {
    pub turn_id: i64,
    pub turn_no: i32,
    pub state: String,
    pub query: String,
    pub embedding: Option<Vec<f32>>,
    pub context_embedding: Option<Vec<f32>>,
    /// Rewrite of the query by the application.
    pub rewrite: Option<String>,
    /// The intent, if the caller gave it.
    pub intent: Option<Intent>,
    pub corpus: String,
    /// Names of its corpora, if it searches several.
    corpora: Option<Vec<String>>,
    pub filter: Option<Value>,
    /// Time whose versions it searches, as text.
    pub as_of: Option<String>,
    /// When it began, as text.
    pub begun_at: String,
    pub settings: Settings,
    /// The settings that the call itself gave.
    pub call_settings: Value,
    /// The role that calls the functions named in `call_settings`.
    pub call_role: Option<String>,
    /// Whether a later turn has ended. The remembered sources are then no longer those of this turn.
    pub overtaken: bool,
}

impl TurnRequest {
    /// The corpora that the turn searches, the leading one first.
    pub fn corpora(&self) -> Vec<String> {
        searched_corpora(&self.corpus, self.corpora.as_deref())
    }
}

fn searched_corpora(leading: &str, several: Option<&[String]>) -> Vec<String> {
    several.map_or_else(|| vec![leading.to_owned()], <[String]>::to_vec)
}

/// The request of a turn of this tenant.
///
/// # Errors
/// P0002 if the tenant has no such turn.
pub fn request(tenant: &str, turn_id: i64) -> Result<TurnRequest> {
    as_owner(|| {
        sql::write_json(
            "SELECT row_to_json(r)::text FROM (SELECT t.turn_id, t.turn_no, t.state, t.query, t.embedding, t.context_embedding, t.query_expansion ->> 'rewrite' AS rewrite, \
                 CASE WHEN 'caller' = ANY (t.intent_signals) THEN t.intent END AS intent, t.corpus, t.corpora, t.filter, t.as_of, t.begun_at, t.settings, t.call_settings, t.call_role, \
                 t.superseded OR EXISTS (SELECT FROM reground.conversations AS v JOIN reground.turns AS l ON l.turn_id = v.last_ended_turn_id \
                         WHERE v.conversation_id = t.conversation_id AND l.turn_no > t.turn_no) AS overtaken \
             FROM reground.turns AS t WHERE t.turn_id = $1 AND t.tenant = $2) AS r",
            &[turn_id.into(), tenant.into()],
        )
    })?
    .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))
}

/// The latest turn, as the history of the conversation reads it.
#[derive(Debug, Deserialize)]
pub struct Latest {
    pub settings: Value,
    pub context: Vec<ContextSource>,
    pub context_tokens: u64,
}

/// The latest turn on the path of a conversation.
pub fn latest(conversation_id: i64) -> Result<Option<Latest>> {
    keys::read_json(
        Of::Caller,
        "SELECT row_to_json(r)::text FROM (SELECT settings, context, context_tokens FROM reground.turns \
         WHERE conversation_id = $1 AND NOT superseded ORDER BY turn_no DESC LIMIT 1) AS r",
        &[conversation_id.into()],
    )
}

/// Beginning of a query for a [`Turn`].
const COLUMNS: &str = "SELECT row_to_json(r)::text FROM (SELECT turn_id, conversation_id, turn_no, state, request_hash, query, query_tokens, corpus, corpora, \
     settings, call_settings, call_role, pending_candidates, rerank_results, context, sources_before, parent_turn_id, superseded, origin, context_turn_no, as_of, \
     answerability, warnings, coalesce(xmin::text = pg_current_xact_id_if_assigned()::xid::text \
         AND clock_timestamp() - begun_at > interval '1 second', false) AS held_open \
     FROM reground.turns WHERE";

/// A turn of this tenant.
///
/// # Errors
/// P0002 if the tenant has no such turn.
pub fn load(tenant: &str, turn_id: i64) -> Result<Turn> {
    keys::read_json(
        Of::Tenant(tenant),
        &format!("{COLUMNS} turn_id = $1 AND tenant = $2) AS r"),
        &[turn_id.into(), tenant.into()],
    )?
    .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))
}

/// The tenant of a turn, for an auditor.
pub fn tenant_of(turn_id: i64) -> Result<Option<String>> {
    as_owner(|| {
        sql::write_one(
            "SELECT tenant FROM reground.turns WHERE turn_id = $1",
            &[turn_id.into()],
        )
    })
}

/// The turn that was begun with a request id, if any.
pub fn of_request(conversation_id: i64, request_id: &str) -> Result<Option<Turn>> {
    keys::read_json(
        Of::Caller,
        &format!("{COLUMNS} conversation_id = $1 AND request_id = $2) AS r"),
        &[conversation_id.into(), request_id.into()],
    )
}

/// The parent of a new turn of the conversation `x`: the latest turn on its path that was not abandoned.
const PARENT: &str = "(SELECT p.turn_id FROM reground.turns AS p WHERE p.conversation_id = x.conversation_id AND NOT p.superseded AND p.state <> 'abandoned' \
     ORDER BY p.turn_no DESC LIMIT 1)";

/// Stores a turn and returns its id.
pub fn insert(
    new: &NewTurn<'_>,
    embedding: Option<&[f32]>,
    context_embedding: Option<&[f32]>,
) -> Result<i64> {
    let (row, context) = (sql::json(new)?, sql::json(new.context)?);
    let candidates = new.pending_candidates.as_ref().map(sql::json).transpose()?;
    let sealer = keys::sealer(new.tenant)?;
    let candidates = candidates
        .as_deref()
        .map(|candidates| sealer.json(candidates));
    let args: [DatumWithOid<'_>; 5] = [
        row.into(),
        embedding.map(<[f32]>::to_vec).into(),
        sealer.json(&context).as_ref().into(),
        context_embedding.map(<[f32]>::to_vec).into(),
        candidates.as_deref().into(),
    ];
    as_owner(|| {
        sql::write_one(
            &format!(
                "INSERT INTO reground.turns ({}, parent_turn_id, embedding, context, context_embedding, pending_candidates) \
                 SELECT {}, {PARENT}, $2, $3::jsonb, $4, $5::jsonb FROM json_to_record($1::json) AS x({NEW_TURN}) RETURNING turn_id",
                NEW_TURN.columns(""),
                NEW_TURN.columns("x.")
            ),
            &args,
        )
    })?
    .ok_or_else(|| Error::Stored("an inserted turn has no id".into()))
}

/// A turn that waits for a rerank by a model.
#[derive(Debug, Deserialize)]
pub struct Pending {
    pub turn_id: i64,
    pub query: String,
    pub candidates: Value,
}

/// The turn, of any tenant, if it waits for a rerank.
pub fn pending(turn_id: i64) -> Result<Option<Pending>> {
    let Some(tenant) = tenant_of(turn_id)? else {
        return Ok(None);
    };
    keys::read_json(
        Of::Tenant(&tenant),
        "SELECT row_to_json(r)::text FROM (SELECT turn_id, query, pending_candidates AS candidates FROM reground.turns \
         WHERE turn_id = $1 AND state = 'deferred' AND pending_candidates IS NOT NULL) AS r",
        &[turn_id.into()],
    )
}

/// Stores the scores of a model for a turn that waits for them.
pub fn store_rerank(turn_id: i64, results: &[Reranked]) -> Result<()> {
    let results = sql::json(results)?;
    as_owner(|| {
        sql::run(
            "UPDATE reground.turns SET rerank_results = $2::jsonb WHERE turn_id = $1 AND state = 'deferred'",
            &[turn_id.into(), results.into()],
        )
    })?;
    Ok(())
}

/// Opens a deferred turn with its reranked context.
pub fn compose(
    tenant: &str,
    turn_id: i64,
    context: &[ContextSource],
    tokens: usize,
    measures: &TurnMeasures,
    warnings: Vec<String>,
) -> Result<()> {
    let (context, measures) = (sql::json(context)?, sql::json(measures)?);
    let context = keys::sealer(tenant)?.json(&context).into_owned();
    as_owner(|| {
        sql::run(
            &format!(
                "UPDATE reground.turns AS t SET state = 'open', pending_candidates = NULL, rerank_results = NULL, context = $2::jsonb, context_tokens = $3::bigint, \
                     warnings = $4, {} \
                 FROM json_to_record($5::json) AS x({MEASURES}) WHERE t.turn_id = $1",
                MEASURES.assignments("x.")
            ),
            &[
                turn_id.into(),
                context.into(),
                i64::try_from(tokens).unwrap_or(i64::MAX).into(),
                warnings.into(),
                measures.into(),
            ],
        )
    })?;
    Ok(())
}

/// Marks a turn as ended, with the remembered sources before and after it, each sorted by key. A later call changes only those after
/// it. Those before it are stored if they differ from those that its parent left.
pub fn end(turn: &Turn, before: &[RememberedSource], after: &[RememberedSource]) -> Result<()> {
    let (before, after) = (sql::json(before)?, sql::json(after)?);
    as_owner(|| {
        if turn.state == "ended" {
            // A regeneration changes what this turn has left to the turns that follow it.
            sql::run(
                "UPDATE reground.turns AS t SET sources_before = p.sources_after FROM reground.turns AS p \
                 WHERE p.turn_id = $1 AND t.conversation_id = p.conversation_id AND t.turn_no > p.turn_no \
                     AND t.parent_turn_id = p.turn_id AND t.state = 'ended' AND t.sources_before IS NULL",
                &[turn.turn_id.into()],
            )?;
        }
        sql::run(
            "UPDATE reground.turns AS t SET state = 'ended', ended_at = coalesce(t.ended_at, clock_timestamp()), sources_after = $3::jsonb, \
                 sources_before = CASE WHEN t.state = 'ended' THEN t.sources_before \
                     WHEN $2::jsonb IS DISTINCT FROM (SELECT p.sources_after FROM reground.turns AS p WHERE p.turn_id = t.parent_turn_id) THEN $2::jsonb END \
             WHERE t.turn_id = $1",
            &[turn.turn_id.into(), before.into(), after.into()],
        )
    })?;
    Ok(())
}

/// Moves a conversation back to the point after one of its turns (0: before the first). The path then consists of this turn and its
/// ancestors; all other turns are superseded.
pub fn stand_after(conversation_id: i64, turn_id: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "WITH RECURSIVE path AS (SELECT t.turn_id, t.parent_turn_id FROM reground.turns AS t WHERE t.conversation_id = $1 AND t.turn_id = $2 \
                 UNION SELECT t.turn_id, t.parent_turn_id FROM path AS p JOIN reground.turns AS t ON t.turn_id = p.parent_turn_id AND t.conversation_id = $1), \
             moved AS (UPDATE reground.turns AS t SET superseded = NOT t.superseded \
                 WHERE t.conversation_id = $1 AND t.superseded = EXISTS (SELECT FROM path AS p WHERE p.turn_id = t.turn_id)) \
             UPDATE reground.conversations AS v SET last_ended_turn_id = nullif($2, 0), corpus = coalesce(nullif(l.corpus, ''), v.corpus), \
                 corpora = CASE WHEN coalesce(l.corpus, '') = '' THEN v.corpora ELSE l.corpora END, history_tokens = s.tokens \
             FROM (SELECT 1) AS one LEFT JOIN reground.turns AS l ON l.turn_id = $2, \
                 (SELECT coalesce(sum(t.query_tokens + m.answer_tokens), 0) AS tokens FROM path AS p JOIN reground.turns AS t ON t.turn_id = p.turn_id AND t.state = 'ended' \
                      JOIN reground.messages AS m ON m.turn_id = t.turn_id AND NOT m.superseded) AS s \
             WHERE v.conversation_id = $1",
            &[conversation_id.into(), turn_id.into()],
        )
    })?;
    Ok(())
}

/// The remembered sources after a turn of a conversation. An imported turn has none, so its nearest ancestor with sources counts;
/// empty without one.
pub fn sources_left(conversation_id: i64, turn_id: i64) -> Result<Vec<RememberedSource>> {
    Ok(as_owner(|| {
        sql::write_json(
            "WITH RECURSIVE path AS (SELECT t.parent_turn_id, t.sources_after, 1 AS distance FROM reground.turns AS t WHERE t.conversation_id = $1 AND t.turn_id = $2 \
                 UNION ALL SELECT t.parent_turn_id, t.sources_after, p.distance + 1 FROM path AS p JOIN reground.turns AS t ON t.turn_id = p.parent_turn_id AND t.conversation_id = $1 \
                 WHERE p.sources_after IS NULL) \
             SELECT p.sources_after::text FROM path AS p WHERE p.sources_after IS NOT NULL ORDER BY p.distance LIMIT 1",
            &[conversation_id.into(), turn_id.into()],
        )
    })?
    .unwrap_or_default())
}

/// Changes of an open turn by an additional retrieval.
pub struct TurnChanges<'a> {
    /// Sources to append to its context.
    pub added: &'a [ContextSource],
    /// Tokens (o200k_base) of the whole context.
    pub tokens: usize,
    /// Measures of the turn with the added sources.
    pub measures: &'a TurnMeasures,
    /// Whether a search found the sources. Later turns that reuse sources then reuse these.
    pub searched: bool,
    pub warnings: Vec<String>,
}

/// Stores the changes of an additional retrieval.
pub fn add(tenant: &str, turn_id: i64, more: TurnChanges<'_>) -> Result<()> {
    let (added, measures) = (sql::json(more.added)?, sql::json(more.measures)?);
    let added = keys::sealer(tenant)?.json(&added).into_owned();
    as_owner(|| {
        sql::run(
            &format!(
                "UPDATE reground.turns AS t SET context = t.context || $2::jsonb, context_tokens = $3::bigint, \
                     warnings = ARRAY(SELECT DISTINCT w.name FROM unnest(t.warnings || $4::text[]) AS w(name) ORDER BY 1), \
                     context_turn_no = CASE WHEN $6 THEN t.turn_no ELSE t.context_turn_no END, \
                     compress_us = coalesce(x.compress_us, t.compress_us), {} \
                 FROM json_to_record($5::json) AS x(compress_us integer, {REPLACED}) WHERE t.turn_id = $1",
                REPLACED.assignments("x.")
            ),
            &[
                turn_id.into(),
                added.into(),
                i64::try_from(more.tokens).unwrap_or(i64::MAX).into(),
                more.warnings.into(),
                measures.into(),
                more.searched.into(),
            ],
        )
    })?;
    Ok(())
}

/// Marks a turn as abandoned.
pub fn abandon(turn_id: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.turns SET state = 'abandoned', pending_candidates = NULL, rerank_results = NULL, ended_at = clock_timestamp() WHERE turn_id = $1",
            &[turn_id.into()],
        )
    })?;
    Ok(())
}
