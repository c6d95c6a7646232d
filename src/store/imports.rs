//! Finished turns of other systems, many in a statement.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::imported::Known;
use reground_grounding::memory::ContextSource;
use reground_grounding::settings::Settings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::owner::as_owner;
use crate::profile::stage;
use crate::sql;
use crate::store::chain::{self, About};
use crate::store::messages::{NewCitation, citation_columns, citation_record};

/// The conversations of an import, by the application's id, their rows locked.
pub struct Conversations(BTreeMap<String, Place>);

/// Where the next turn of a conversation goes.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Place {
    pub conversation_id: i64,
    external_id: String,
    /// Number of its latest turn.
    pub number: i32,
    /// The latest turn on its path, which the next follows.
    pub parent: Option<i64>,
    /// The last turn that this import adds to it.
    #[serde(default)]
    last_added: Option<i64>,
    /// Tokens that this import adds to its history.
    #[serde(default)]
    more_tokens: usize,
}

impl Conversations {
    /// Puts a turn at the end of its conversation; where that is.
    pub fn follow(&mut self, name: &str, turn_id: i64, tokens: usize) -> Result<Place> {
        let place = self
            .0
            .get_mut(name)
            .ok_or_else(|| Error::Stored("a conversation of the import is missing".into()))?;
        place.number += 1;
        place.more_tokens += tokens;
        let taken = place.clone();
        place.parent = Some(turn_id);
        place.last_added = Some(turn_id);
        Ok(taken)
    }

    fn ids(&self) -> Vec<i64> {
        self.0.values().map(|place| place.conversation_id).collect()
    }
}

/// The conversations of these names, made if need be, locked in the order of their names: so imports that meet wait for one
/// another, and no more.
pub fn open(tenant: &str, names: &BTreeSet<&str>) -> Result<Conversations> {
    let names: Vec<&str> = names.iter().copied().collect();
    let found: Vec<Place> = as_owner(|| {
        sql::run(
            "INSERT INTO reground.conversations (tenant, external_id) SELECT $1, n.name FROM pg_catalog.unnest($2::text[]) WITH ORDINALITY AS n(name, place) ORDER BY n.place \
             ON CONFLICT (tenant, external_id) DO NOTHING",
            &[tenant.into(), names.clone().into()],
        )?;
        sql::run(
            "SELECT FROM reground.conversations WHERE tenant = $1 AND external_id = ANY ($2) ORDER BY external_id COLLATE \"C\" FOR NO KEY UPDATE",
            &[tenant.into(), names.clone().into()],
        )?;
        sql::write_json(
            "SELECT coalesce(pg_catalog.json_agg(r), '[]')::text FROM (SELECT v.conversation_id, v.external_id, v.turn_count AS number, \
                 (SELECT t.turn_id FROM reground.turns AS t WHERE t.conversation_id = v.conversation_id AND NOT t.superseded AND t.state <> 'abandoned' ORDER BY t.number DESC LIMIT 1) AS parent \
             FROM reground.conversations AS v WHERE v.tenant = $1 AND v.external_id = ANY ($2)) AS r",
            &[tenant.into(), names.clone().into()],
        )
    })?
    .unwrap_or_default();
    let found: BTreeMap<String, Place> = found
        .into_iter()
        .map(|place| (place.external_id.clone(), place))
        .collect();
    match names.iter().find(|name| !found.contains_key(**name)) {
        None => Ok(Conversations(found)),
        // Under REPEATABLE READ one that another transaction has just made is in the way, but not visible.
        Some(name) => Err(Error::Retry("conversation", (*name).to_owned())),
    }
}

/// The answers that are stored under ids of an import, by conversation and id.
pub fn known(
    conversations: &Conversations,
    named: &[(&str, Option<&str>, &str)],
) -> Result<BTreeMap<(String, String), Known>> {
    #[derive(Deserialize)]
    struct Row {
        conversation_id: i64,
        external_id: String,
        answer_hash: String,
        message_id: i64,
    }
    let messages: Vec<&str> = named
        .iter()
        .filter_map(|(_, message, _)| *message)
        .collect();
    if messages.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows: Vec<Row> = as_owner(|| {
        sql::write_json(
            "SELECT coalesce(pg_catalog.json_agg(m), '[]')::text FROM (SELECT conversation_id, external_id, answer_hash, message_id FROM reground.messages \
             WHERE conversation_id = ANY ($1) AND external_id = ANY ($2)) AS m",
            &[conversations.ids().into(), messages.into()],
        )
    })?
    .unwrap_or_default();
    let names: BTreeMap<i64, &String> = conversations
        .0
        .iter()
        .map(|(name, place)| (place.conversation_id, name))
        .collect();
    let rows = rows.into_iter().filter_map(|row| {
        let name = names.get(&row.conversation_id)?;
        let known = Known {
            answer_hash: row.answer_hash,
            message_id: row.message_id,
        };
        Some((((*name).clone(), row.external_id), known))
    });
    Ok(rows.collect())
}

/// Ids of a turn and its answer.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Ids {
    pub turn_id: i64,
    pub message_id: i64,
}

/// Takes as many ids as there are turns to come, ascending.
pub fn reserve(count: usize) -> Result<Vec<Ids>> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(pg_catalog.json_agg(i), '[]')::text FROM (SELECT pg_catalog.nextval('reground.turns_turn_id_seq') AS turn_id, \
                 pg_catalog.nextval('reground.messages_message_id_seq') AS message_id FROM pg_catalog.generate_series(1, $1)) AS i",
            &[count.into()],
        )
    })?
    .unwrap_or_default())
}

/// A finished turn with its answer, to be stored.
#[derive(Serialize)]
pub struct NewImport<'a> {
    #[serde(flatten)]
    pub ids: Ids,
    pub conversation_id: i64,
    pub number: i32,
    pub parent: Option<i64>,
    pub query: &'a str,
    pub request_hash: &'a str,
    pub corpus: String,
    pub context: Vec<ContextSource>,
    pub context_tokens: u64,
    pub query_tokens: usize,
    pub tags: Value,
    pub at: Option<&'a str>,
    pub external_id: Option<&'a str>,
    pub answer: Option<&'a str>,
    pub answer_hash: &'a str,
    pub answer_tokens: usize,
    pub model: Option<&'a str>,
    pub citations_given: Option<&'a Value>,
    pub citation_count: usize,
    pub malformed_count: usize,
    pub cfs: Option<f64>,
    pub stage_cfs: Option<f64>,
    pub grounded_cfs: Option<f64>,
    pub diagnostic: Option<&'a str>,
    pub decision: &'a str,
    pub reasons: Vec<&'a str>,
    /// Written apart.
    #[serde(skip)]
    pub citations: Vec<NewCitation>,
}

/// A citation of an import.
#[derive(Serialize)]
struct Cited<'a> {
    message_id: i64,
    turn_id: i64,
    conversation_id: i64,
    at: Option<&'a str>,
    #[serde(flatten)]
    citation: &'a NewCitation,
}

/// Stores them. Nothing is queued for the rollups: what another system answered is not what this one is held to.
pub fn insert(
    tenant: &str,
    settings: &Settings,
    imports: &[NewImport<'_>],
    conversations: &Conversations,
) -> Result<()> {
    if imports.is_empty() {
        return Ok(());
    }
    let (rows, settings_row) = (sql::json(imports)?, sql::json(settings)?);
    let citations: Vec<Cited<'_>> = imports
        .iter()
        .flat_map(|import| {
            import.citations.iter().map(|citation| Cited {
                message_id: import.ids.message_id,
                turn_id: import.ids.turn_id,
                conversation_id: import.conversation_id,
                at: import.at,
                citation,
            })
        })
        .collect();
    let citations = sql::json(&citations)?;
    let grown = conversations.0.values();
    let grown: Vec<&Place> = grown.filter(|place| place.last_added.is_some()).collect();
    let places = sql::json(&grown)?;
    as_owner(|| {
        stage("write turns", || {
            sql::run(
                "INSERT INTO reground.turns (turn_id, tenant, conversation_id, number, parent, state, origin, request_hash, query, corpus, intent, intent_confidence, intent_signals, \
                     retrieval, settings, context, context_tokens, query_tokens, retrieved, tags, begun_at, ended_at) \
                 OVERRIDING SYSTEM VALUE \
                 SELECT x.turn_id, $2, x.conversation_id, x.number, x.parent, 'ended', 'imported', x.request_hash, x.query, x.corpus, 'new_topic', 0, '{imported}', \
                     '{}', $3::jsonb, x.context, x.context_tokens, x.query_tokens, false, x.tags, coalesce(x.at, pg_catalog.now()), coalesce(x.at, pg_catalog.now()) \
                 FROM pg_catalog.json_to_recordset($1::json) AS x(turn_id bigint, conversation_id bigint, number integer, parent bigint, request_hash text, query text, corpus text, \
                     context jsonb, context_tokens integer, query_tokens integer, tags jsonb, at timestamptz)",
                &[rows.as_str().into(), tenant.into(), settings_row.into()],
            )
        })?;
        stage("write messages", || {
            sql::run(
                "INSERT INTO reground.messages (message_id, tenant, conversation_id, turn_id, external_id, origin, answer, answer_hash, answer_tokens, model, citations, citation_count, \
                     malformed_count, cfs, stage_cfs, grounded_cfs, diagnostic, decision, reasons, created_at) \
                 OVERRIDING SYSTEM VALUE \
                 SELECT x.message_id, $2, x.conversation_id, x.turn_id, x.external_id, 'imported', x.answer, x.answer_hash, x.answer_tokens, x.model, x.citations_given, x.citation_count, \
                     x.malformed_count, x.cfs, x.stage_cfs, x.grounded_cfs, x.diagnostic, x.decision, x.reasons, coalesce(x.at, pg_catalog.now()) \
                 FROM pg_catalog.json_to_recordset($1::json) AS x(message_id bigint, conversation_id bigint, turn_id bigint, external_id text, answer text, answer_hash text, \
                     answer_tokens integer, model text, citations_given jsonb, citation_count integer, malformed_count integer, cfs double precision, stage_cfs double precision, \
                     grounded_cfs double precision, diagnostic text, decision text, reasons text[], at timestamptz)",
                &[rows.as_str().into(), tenant.into()],
            )
        })?;
        stage("write citations", || {
            sql::run(
                &format!(
                    "INSERT INTO reground.message_citations (tenant, conversation_id, turn_id, message_id, created_at, {}) \
                     SELECT $2, x.conversation_id, x.turn_id, x.message_id, coalesce(x.at, pg_catalog.now()), {} \
                     FROM pg_catalog.json_to_recordset($1::json) AS x(conversation_id bigint, turn_id bigint, message_id bigint, at timestamptz, {}) ORDER BY x.message_id, x.citation_no",
                    citation_columns(""),
                    citation_columns("x."),
                    citation_record()
                ),
                &[citations.into(), tenant.into()],
            )
        })?;
        // A marker that history shows must not come to mean something else: the conversation's own go on behind the old ones. What an
        // old one is bound to is what it first meant, since other systems begin anew in every answer.
        stage("write markers", || {
            sql::run(
                "INSERT INTO reground.conversation_markers (conversation_id, marker, tenant, corpus, doc_id, passage, page_start, page_end, char_start, char_end, hash, title, uri, first_turn, binding_no) \
                 SELECT n.conversation_id, n.marker, $2, n.passage ->> 'corpus', n.passage ->> 'doc_id', n.passage ->> 'key', (n.passage #>> '{pages,start}')::integer, \
                     (n.passage #>> '{pages,end}')::integer, (n.passage #>> '{chars,start}')::integer, (n.passage #>> '{chars,end}')::integer, n.passage ->> 'hash', n.passage ->> 'title', \
                     n.passage ->> 'uri', n.number, \
                     (SELECT coalesce(pg_catalog.max(m.binding_no), 0) FROM reground.conversation_markers AS m WHERE m.conversation_id = n.conversation_id) \
                         + pg_catalog.row_number() OVER (PARTITION BY n.conversation_id ORDER BY n.number, n.place) \
                 FROM (SELECT DISTINCT ON (x.conversation_id, e.source ->> 'marker') x.conversation_id, x.number, e.place, e.source ->> 'marker' AS marker, e.source -> 'passage' AS passage \
                       FROM pg_catalog.json_to_recordset($1::json) AS x(conversation_id bigint, number integer, context jsonb), \
                           pg_catalog.jsonb_array_elements(x.context) WITH ORDINALITY AS e(source, place) \
                       WHERE e.source ->> 'marker' ~ '^([A-Z]{1,3}[1-9][0-9]{0,8}|[1-9][0-9]{0,8})$' \
                       ORDER BY x.conversation_id, e.source ->> 'marker', x.number, e.place) AS n \
                 WHERE NOT EXISTS (SELECT FROM reground.conversation_markers AS m WHERE m.conversation_id = n.conversation_id AND m.marker = n.marker)",
                &[rows.as_str().into(), tenant.into()],
            )
        })?;
        stage("write conversations", || {
            sql::run(
                "UPDATE reground.conversations AS v SET turn_count = x.number, last_ended_turn = x.last_added, history_tokens = v.history_tokens + x.more_tokens \
                 FROM pg_catalog.json_to_recordset($1::json) AS x(conversation_id bigint, number integer, last_added bigint, more_tokens bigint) \
                 WHERE v.conversation_id = x.conversation_id",
                &[places.into()],
            )
        })?;
        if settings.chains() {
            for import in imports {
                let Ids {
                    turn_id,
                    message_id,
                } = import.ids;
                chain::append(tenant, import.conversation_id, About::Turn(turn_id))?;
                let answer = About::Answer(turn_id, message_id);
                chain::append(tenant, import.conversation_id, answer)?;
            }
        }
        Ok(())
    })
}

/// Tells of answers that were recorded before, by their place in the import: their turn, citations, how many of these hold, and
/// score.
pub fn describe(
    before: &BTreeMap<usize, i64>,
    mut tell: impl FnMut(usize, i64, usize, usize, Option<f64>),
) -> Result<()> {
    #[derive(Deserialize)]
    struct Row {
        message_id: i64,
        turn_id: i64,
        citations: usize,
        held: usize,
        cfs: Option<f64>,
    }
    if before.is_empty() {
        return Ok(());
    }
    let messages: Vec<i64> = before.values().copied().collect();
    let rows: Vec<Row> = as_owner(|| {
        sql::write_json(
            "SELECT coalesce(pg_catalog.json_agg(r), '[]')::text FROM (SELECT m.message_id, m.turn_id, m.cfs, pg_catalog.count(c.citation_id) AS citations, \
                 pg_catalog.count(*) FILTER (WHERE c.holds) AS held \
             FROM reground.messages AS m LEFT JOIN reground.message_citations AS c USING (message_id) WHERE m.message_id = ANY ($1) GROUP BY m.message_id) AS r",
            &[messages.into()],
        )
    })?
    .unwrap_or_default();
    let by_message: BTreeMap<i64, Row> =
        rows.into_iter().map(|row| (row.message_id, row)).collect();
    for (place, message_id) in before {
        if let Some(row) = by_message.get(message_id) {
            tell(*place, row.turn_id, row.citations, row.held, row.cfs);
        }
    }
    Ok(())
}
