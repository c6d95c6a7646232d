//! Turns.

use std::collections::BTreeSet;

use pgrx::datum::DatumWithOid;
use reground_grounding::history::context_share::ContextShare;
use reground_grounding::memory::{ContextSource, RememberedSource};
use reground_grounding::passage::similarity::SourceSimilarities;
use reground_grounding::query::intent::{Intent, PastTurn};
use reground_grounding::settings::Settings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::sql;

/// A turn, as later calls need it.
#[derive(Clone, Debug, Deserialize)]
pub struct Turn {
    pub turn_id: i64,
    pub conversation_id: i64,
    pub turn_no: i32,
    pub state: String,
    pub request_hash: String,
    pub query: String,
    pub query_tokens: i64,
    pub corpus: String,
    /// Where it asked several.
    corpora: Option<Vec<String>>,
    pub settings: Value,
    /// Of these, what the call said.
    pub call_settings: Value,
    /// The role that functions named there are called as.
    pub call_role: Option<String>,
    pub pending_candidates: Option<Value>,
    pub context: Vec<ContextSource>,
    pub context_tokens: usize,
    pub sources_before: Option<Vec<RememberedSource>>,
    /// The turn that it follows.
    pub parent_turn_id: Option<i64>,
    /// Whether the conversation has gone back behind it.
    pub superseded: bool,
    /// `live`, or `imported`.
    pub origin: String,
    /// Number of the turn whose search found its sources.
    context_turn_no: Option<i32>,
    pub warnings: Vec<String>,
    /// Whether this very transaction began it more than a second ago, and so kept its lock while the model wrote.
    pub held_open: bool,
}

impl Turn {
    /// Its state, or that another system answered it.
    pub fn standing(&self) -> &str {
        match self.origin.as_str() {
            "live" => &self.state,
            imported => imported,
        }
    }

    /// Whether another system answered it.
    pub fn is_imported(&self) -> bool {
        self.origin == "imported"
    }

    /// Whether a search of its own found its sources, at its beginning or since.
    pub fn searched(&self) -> bool {
        self.context_turn_no == Some(self.turn_no)
    }

    /// The context that the turn began with.
    pub fn begun_with(&self) -> &[ContextSource] {
        let later = self
            .context
            .iter()
            .position(|source| source.retrieval_no > 0);
        self.context.split_at(later.unwrap_or(self.context.len())).0
    }

    /// The corpora that it asked, the leading one first.
    pub fn asked_corpora(&self) -> Vec<String> {
        asked_corpora(&self.corpus, self.corpora.as_deref())
    }

    /// The corpora whose documents its answers may name: those of its sources, and the leading one.
    pub fn citable_corpora(&self) -> BTreeSet<&str> {
        let sources = self.context.iter();
        sources
            .map(|source| source.candidate.passage.corpus.as_str())
            .chain([self.corpus.as_str()])
            .collect()
    }
}

/// What begin_turn stores.
#[derive(Debug, Serialize)]
pub struct NewTurn<'a> {
    pub tenant: &'a str,
    pub conversation_id: i64,
    pub turn_no: i32,
    pub state: &'static str,
    pub request_id: Option<&'a str>,
    pub request_hash: &'a str,
    pub query: &'a str,
    pub corpus: &'a str,
    /// Where there are several.
    pub corpora: Option<&'a Vec<String>>,
    pub filter: Option<&'a Value>,
    pub intent: &'a str,
    pub intent_confidence: f64,
    pub intent_signals: &'a [String],
    /// What was searched for beside the query.
    pub query_expansion: Value,
    pub settings: Value,
    /// Of these, what the call said.
    pub call_settings: &'a Value,
    /// The role that functions named there are called as later; `None` where none is.
    pub call_role: Option<&'a str>,
    pub pending_candidates: Option<Value>,
    /// Given apart: the largest part by far.
    #[serde(skip)]
    pub context: &'a [ContextSource],
    pub context_tokens: usize,
    pub query_tokens: usize,
    #[serde(flatten)]
    pub standing: Standing,
    /// Microseconds that its search took; `None` where it kept sources.
    pub search_us: Option<i32>,
    pub warnings: Vec<String>,
    pub tags: Value,
}

/// Where a turn stands in its conversation, as its row says.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// Whether it retrieved.
    pub retrieved: bool,
    /// Number of the turn whose retrieval gave its context.
    pub context_turn_no: Option<i32>,
    /// What history takes from its sources; `None` while it waits for a rerank.
    #[serde(flatten)]
    pub dilution: Option<ContextShare>,
    /// Microseconds that compressing the history took; `None` where it is not compressed, or there is none yet.
    pub compress_us: Option<i32>,
    /// How alike its sources are; nothing where that was not asked for.
    #[serde(flatten)]
    pub likeness: SourceSimilarities,
}

/// A turn as it was asked.
#[derive(Debug, Deserialize)]
pub struct Asked {
    pub turn_id: i64,
    pub turn_no: i32,
    pub state: String,
    pub query: String,
    pub embedding: Option<Vec<f32>>,
    /// The application's rewrite of the query.
    pub rewrite: Option<String>,
    /// What the caller said that it is after.
    pub intent: Option<Intent>,
    pub corpus: String,
    /// Where it asked several.
    corpora: Option<Vec<String>>,
    pub filter: Option<Value>,
    pub settings: Settings,
    /// Of these, what the call said.
    pub call_settings: Value,
    /// The role that functions named there are called as.
    pub call_role: Option<String>,
    /// Whether a later turn has ended, and so moved what the conversation remembers.
    pub overtaken: bool,
}

impl Asked {
    /// The corpora that it asked, the leading one first.
    pub fn corpora(&self) -> Vec<String> {
        asked_corpora(&self.corpus, self.corpora.as_deref())
    }
}

fn asked_corpora(leading: &str, several: Option<&[String]>) -> Vec<String> {
    several.map_or_else(|| vec![leading.to_owned()], <[String]>::to_vec)
}

/// A turn of this tenant as it was asked, or P0002.
pub fn asked(tenant: &str, turn_id: i64) -> Result<Asked> {
    as_owner(|| {
        sql::write_json(
            "SELECT pg_catalog.row_to_json(r)::text FROM (SELECT t.turn_id, t.turn_no, t.state, t.query, t.embedding, t.query_expansion ->> 'rewrite' AS rewrite, \
                 CASE WHEN 'caller' = ANY (t.intent_signals) THEN t.intent END AS intent, t.corpus, t.corpora, t.filter, t.settings, t.call_settings, t.call_role, \
                 t.superseded OR EXISTS (SELECT FROM reground.conversations AS v JOIN reground.turns AS l ON l.turn_id = v.last_ended_turn_id \
                         WHERE v.conversation_id = t.conversation_id AND l.turn_no > t.turn_no) AS overtaken \
             FROM reground.turns AS t WHERE t.turn_id = $1 AND t.tenant = $2) AS r",
            &[turn_id.into(), tenant.into()],
        )
    })?
    .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))
}

/// The latest turn, as the history of the conversation needs it.
#[derive(Debug, Deserialize)]
pub struct Latest {
    pub settings: Value,
    pub context: Vec<ContextSource>,
    pub context_tokens: u64,
}

/// The latest turn of a conversation.
pub fn latest(conversation_id: i64) -> Result<Option<Latest>> {
    as_owner(|| {
        sql::write_json(
            "SELECT pg_catalog.row_to_json(r)::text FROM (SELECT settings, context, context_tokens FROM reground.turns \
             WHERE conversation_id = $1 AND NOT superseded ORDER BY turn_no DESC LIMIT 1) AS r",
            &[conversation_id.into()],
        )
    })
}

const COLUMNS: &str = "SELECT pg_catalog.row_to_json(r)::text FROM (SELECT turn_id, conversation_id, turn_no, state, request_hash, query, query_tokens, corpus, corpora, settings, call_settings, call_role, pending_candidates, context, context_tokens, \
     sources_before, parent_turn_id, superseded, origin, context_turn_no, warnings, coalesce(xmin::text = pg_catalog.pg_current_xact_id_if_assigned()::xid::text \
         AND pg_catalog.clock_timestamp() - begun_at > interval '1 second', false) AS held_open \
     FROM reground.turns WHERE";

/// A turn of this tenant, or P0002.
pub fn load(tenant: &str, turn_id: i64) -> Result<Turn> {
    as_owner(|| {
        sql::write_json(
            &format!("{COLUMNS} turn_id = $1 AND tenant = $2) AS r"),
            &[turn_id.into(), tenant.into()],
        )
    })?
    .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))
}

/// Whose a turn is, for an auditor.
pub fn tenant_of(turn_id: i64) -> Result<Option<String>> {
    as_owner(|| {
        sql::write_one(
            "SELECT tenant FROM reground.turns WHERE turn_id = $1",
            &[turn_id.into()],
        )
    })
}

/// The turn of a request, if it was made before.
pub fn of_request(conversation_id: i64, request_id: &str) -> Result<Option<Turn>> {
    as_owner(|| {
        sql::write_json(
            &format!("{COLUMNS} conversation_id = $1 AND request_id = $2) AS r"),
            &[conversation_id.into(), request_id.into()],
        )
    })
}

/// An earlier turn, as the judgement of intent and the query need it.
#[derive(Clone, Debug, Deserialize)]
pub struct Earlier {
    /// What was asked and shown.
    #[serde(flatten)]
    pub past: PastTurn,
    /// Embedding of the user's words.
    pub embedding: Option<Vec<f32>>,
    /// Where its citations stand in its answer, in bytes.
    pub citations: Vec<(usize, usize)>,
    /// Passages of the corpus that the answer cites and that say it.
    pub passages: Vec<String>,
    /// Passages of the corpus that its context had.
    pub shown: Vec<String>,
}

/// The latest turns of a conversation, or those before the turn of that number, newest last, with what they cited of a corpus.
pub fn earlier(
    conversation_id: i64,
    corpus: &str,
    count: usize,
    turn_no: Option<i32>,
) -> Result<Vec<Earlier>> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('query', t.query, 'embedding', t.embedding, 'answer', coalesce(m.answer, ''), \
                 'sources', pg_catalog.jsonb_path_query_array(t.context, '$[*].passage.title ? (@ != null)'), \
                 'shown', pg_catalog.jsonb_path_query_array(t.context, '$[*].passage ? (@.corpus == $corpus).chunk_id', pg_catalog.jsonb_build_object('corpus', $3::text)), \
                 'citations', coalesce(c.citations, '[]'), 'cited', coalesce(c.titles, '{}'), 'passages', coalesce(c.passages, '{}')) ORDER BY t.turn_no), '[]')::text \
             FROM (SELECT turn_id, turn_no, query, embedding, context FROM reground.turns WHERE conversation_id = $1 AND state <> 'abandoned' AND NOT superseded \
                       AND turn_no < coalesce($4, 2147483647) ORDER BY turn_no DESC LIMIT $2) AS t \
                 LEFT JOIN LATERAL (SELECT m.message_id, m.answer FROM reground.messages AS m \
                     WHERE m.turn_id = t.turn_id AND NOT m.superseded ORDER BY m.message_id DESC LIMIT 1) AS m ON true \
                 LEFT JOIN LATERAL (SELECT pg_catalog.array_agg(DISTINCT c.title) FILTER (WHERE c.holds AND c.title IS NOT NULL) AS titles, \
                         pg_catalog.array_agg(DISTINCT c.chunk_id) FILTER (WHERE c.holds AND c.chunk_id IS NOT NULL AND c.corpus = $3) AS passages, \
                         pg_catalog.json_agg(pg_catalog.json_build_array(c.byte_start, c.byte_end)) FILTER (WHERE c.byte_end > c.byte_start AND m.answer IS NOT NULL) AS citations \
                     FROM reground.message_citations AS c WHERE c.message_id = m.message_id) AS c ON true",
            &[conversation_id.into(), count.into(), corpus.into(), turn_no.into()],
        )
    })?
    .unwrap_or_default())
}

/// The turn that a new one of the conversation `x` follows: the latest on its path that was not given up.
const PARENT: &str = "(SELECT p.turn_id FROM reground.turns AS p WHERE p.conversation_id = x.conversation_id AND NOT p.superseded AND p.state <> 'abandoned' \
     ORDER BY p.turn_no DESC LIMIT 1)";

/// Stores a turn and returns its id.
pub fn insert(new: &NewTurn<'_>, embedding: Option<Vec<f32>>) -> Result<i64> {
    let (row, context) = (sql::json(new)?, sql::json(new.context)?);
    let args: [DatumWithOid<'_>; 3] = [row.into(), embedding.into(), context.into()];
    as_owner(|| {
        sql::write_one(
            &format!(
            "INSERT INTO reground.turns (tenant, conversation_id, parent_turn_id, turn_no, state, request_id, request_hash, query, embedding, corpus, corpora, filter, intent, \
                 intent_confidence, intent_signals, query_expansion, settings, call_settings, call_role, pending_candidates, context, context_tokens, query_tokens, \
                 retrieved, context_turn_no, history_tokens, attribution_share, predicted_accuracy, accuracy_floor, topic_drift, search_us, compress_us, warnings, tags, query_similarities, source_similarities) \
             SELECT x.tenant, x.conversation_id, {PARENT}, x.turn_no, x.state, x.request_id, x.request_hash, x.query, $2, x.corpus, x.corpora, x.filter, x.intent, \
                 x.intent_confidence, x.intent_signals, x.query_expansion, x.settings, x.call_settings, x.call_role, x.pending_candidates, $3::jsonb, x.context_tokens, x.query_tokens, \
                 x.retrieved, x.context_turn_no, x.history_tokens, x.attribution_share, x.predicted_accuracy, x.accuracy_floor, x.topic_drift, x.search_us, x.compress_us, x.warnings, x.tags, x.query_similarities, x.source_similarities \
             FROM pg_catalog.json_to_record($1::json) AS x(tenant text, conversation_id bigint, turn_no integer, state text, request_id text, \
                 request_hash text, query text, corpus text, corpora text[], filter jsonb, intent text, intent_confidence real, intent_signals text[], query_expansion jsonb, settings jsonb, call_settings jsonb, call_role text, \
                 pending_candidates jsonb, context_tokens integer, query_tokens integer, retrieved boolean, context_turn_no integer, history_tokens bigint, attribution_share double precision, \
                 predicted_accuracy double precision, accuracy_floor double precision, topic_drift double precision, search_us integer, compress_us integer, \
                 warnings text[], tags jsonb, query_similarities real[], source_similarities real[]) \
             RETURNING turn_id"
            ),
            &args,
        )
    })?
    .ok_or_else(|| Error::Stored("an inserted turn has no id".into()))
}

/// Opens a deferred turn with the context that its rerank gave.
pub fn compose(
    turn_id: i64,
    context: &[ContextSource],
    tokens: usize,
    standing: &Standing,
    warnings: Vec<String>,
) -> Result<()> {
    let (context, standing) = (sql::json(context)?, sql::json(standing)?);
    as_owner(|| {
        sql::run(
            "UPDATE reground.turns AS t SET state = 'open', pending_candidates = NULL, context = $2::jsonb, context_tokens = $3::bigint, warnings = $4, \
                 context_turn_no = x.context_turn_no, history_tokens = x.history_tokens, attribution_share = x.attribution_share, \
                 predicted_accuracy = x.predicted_accuracy, accuracy_floor = x.accuracy_floor, topic_drift = x.topic_drift, compress_us = x.compress_us, \
                 query_similarities = x.query_similarities, source_similarities = x.source_similarities \
             FROM pg_catalog.json_to_record($5::json) AS x(context_turn_no integer, history_tokens bigint, attribution_share double precision, \
                 predicted_accuracy double precision, accuracy_floor double precision, topic_drift double precision, compress_us integer, \
                 query_similarities real[], source_similarities real[]) \
             WHERE t.turn_id = $1",
            &[
                turn_id.into(),
                context.into(),
                i64::try_from(tokens).unwrap_or(i64::MAX).into(),
                warnings.into(),
                standing.into(),
            ],
        )
    })?;
    Ok(())
}

/// Marks a turn as ended, with the sources as it found and left them; the first time only the latter may change.
pub fn end(turn_id: i64, before: &[RememberedSource], after: &[RememberedSource]) -> Result<()> {
    let (before, after) = (sql::json(before)?, sql::json(after)?);
    as_owner(|| {
        sql::run(
            "UPDATE reground.turns SET state = 'ended', ended_at = coalesce(ended_at, pg_catalog.clock_timestamp()), \
                 sources_before = coalesce(sources_before, $2::jsonb), sources_after = $3::jsonb WHERE turn_id = $1",
            &[turn_id.into(), before.into(), after.into()],
        )
    })?;
    Ok(())
}

/// Lets a conversation stand where it stood after a turn of it (0: before the first). Its path is that turn with those that it
/// follows; others are off it, and those that were come back.
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
                 (SELECT coalesce(pg_catalog.sum(t.query_tokens + m.answer_tokens), 0) AS tokens FROM path AS p JOIN reground.turns AS t ON t.turn_id = p.turn_id AND t.state = 'ended' \
                      JOIN reground.messages AS m ON m.turn_id = t.turn_id AND NOT m.superseded) AS s \
             WHERE v.conversation_id = $1",
            &[conversation_id.into(), turn_id.into()],
        )
    })?;
    Ok(())
}

/// The sources as a turn of a conversation left them, or as the nearest of those that it follows did, where it was brought in finished
/// and so left none; nothing where no turn did.
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

/// What a further retrieval adds to an open turn.
pub struct More<'a> {
    /// Sources, at the end of its context.
    pub added: &'a [ContextSource],
    /// Tokens of the whole context.
    pub tokens: usize,
    /// Where the turn stands with it.
    pub standing: &'a Standing,
    /// Whether its search found the sources, so that a turn which keeps sources keeps these.
    pub searched: bool,
    pub warnings: Vec<String>,
}

/// Adds it.
pub fn add(turn_id: i64, more: More<'_>) -> Result<()> {
    let (added, standing) = (sql::json(more.added)?, sql::json(more.standing)?);
    as_owner(|| {
        sql::run(
            "UPDATE reground.turns AS t SET context = t.context || $2::jsonb, context_tokens = $3::bigint, \
                 warnings = ARRAY(SELECT DISTINCT w.name FROM pg_catalog.unnest(t.warnings || $4::text[]) AS w(name) ORDER BY 1), \
                 context_turn_no = CASE WHEN $6 THEN t.turn_no ELSE t.context_turn_no END, history_tokens = x.history_tokens, attribution_share = x.attribution_share, \
                 predicted_accuracy = x.predicted_accuracy, accuracy_floor = x.accuracy_floor, compress_us = coalesce(x.compress_us, t.compress_us), \
                 query_similarities = x.query_similarities, source_similarities = x.source_similarities \
             FROM pg_catalog.json_to_record($5::json) AS x(history_tokens bigint, attribution_share double precision, \
                 predicted_accuracy double precision, accuracy_floor double precision, compress_us integer, query_similarities real[], source_similarities real[]) \
             WHERE t.turn_id = $1",
            &[
                turn_id.into(),
                added.into(),
                i64::try_from(more.tokens).unwrap_or(i64::MAX).into(),
                more.warnings.into(),
                standing.into(),
                more.searched.into(),
            ],
        )
    })?;
    Ok(())
}

/// Gives a turn up.
pub fn abandon(turn_id: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.turns SET state = 'abandoned', pending_candidates = NULL, ended_at = pg_catalog.clock_timestamp() WHERE turn_id = $1",
            &[turn_id.into()],
        )
    })?;
    Ok(())
}
