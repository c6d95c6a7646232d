//! Turns that other systems answered, stored in batches by record_turn and record_turns.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::begin::assign_markers;
use reground_grounding::caller::fingerprint::Fingerprint;
use reground_grounding::caller::imported_turns::StoredAnswer;
use reground_grounding::memory::ContextSource;
use reground_grounding::settings::Settings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::profile::stage;
use crate::run_as::as_owner;
use crate::sql::{self, Record};
use crate::store::chain::{self, About};
use crate::store::keys;
use crate::store::markers;
use crate::store::messages::{self, NewMessage};

/// The conversations of an import by reference. Their rows are locked.
pub struct Conversations(BTreeMap<String, ConversationEnd>);

/// The end of a conversation, where the next turn is appended.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ConversationEnd {
    pub conversation_id: i64,
    conversation_ref: String,
    /// Settings of the conversation; `None` without any.
    #[serde(skip_serializing)]
    settings: Option<Value>,
    /// Number of its latest turn.
    pub turn_no: i32,
    /// The latest turn on its path, which the next turn follows.
    pub parent_turn_id: Option<i64>,
    /// The last turn that this import adds to it.
    #[serde(default)]
    last_added: Option<i64>,
    /// Tokens (o200k_base) that this import adds to its history.
    #[serde(default)]
    more_tokens: usize,
}

impl Conversations {
    /// Appends a turn to a conversation and returns its place.
    pub fn follow(&mut self, name: &str, turn_id: i64, tokens: usize) -> Result<ConversationEnd> {
        let end = self
            .0
            .get_mut(name)
            .ok_or_else(|| Error::Stored("a conversation of the import is missing".into()))?;
        end.turn_no += 1;
        end.more_tokens += tokens;
        let taken = end.clone();
        end.parent_turn_id = Some(turn_id);
        end.last_added = Some(turn_id);
        Ok(taken)
    }

    /// References and settings of the conversations that have settings.
    pub fn with_settings(&self) -> impl Iterator<Item = (&str, &Value)> {
        let all = self.0.iter();
        all.filter_map(|(name, end)| Some((name.as_str(), end.settings.as_ref()?)))
    }

    fn ids(&self) -> Vec<i64> {
        self.0.values().map(|end| end.conversation_id).collect()
    }

    /// Updates the rows of the conversations that got turns.
    fn close(&self) -> Result<()> {
        let ends = self.0.values();
        let grown: Vec<&ConversationEnd> = ends.filter(|end| end.last_added.is_some()).collect();
        let grown = sql::json(&grown)?;
        as_owner(|| {
            sql::run(
                "UPDATE reground.conversations AS v SET turn_count = x.turn_no, last_ended_turn_id = x.last_added, history_tokens = v.history_tokens + x.more_tokens \
                 FROM json_to_recordset($1::json) AS x(conversation_id bigint, turn_no integer, last_added bigint, more_tokens bigint) \
                 WHERE v.conversation_id = x.conversation_id AND v.conversation_id = ANY ($2)",
                &[grown.into(), self.ids().into()],
            )
        })?;
        Ok(())
    }
}

/// Attempts to open conversations that other sessions erase meanwhile.
const TRIES: usize = 3;

/// The conversations with these references. Missing ones are created in the order of the references, then all are locked in the order
/// of their ids, as erasure locks them, so that sessions cannot deadlock.
///
/// # Errors
/// 40001 if a concurrent transaction has created one and this transaction cannot see it.
pub fn open(tenant: &str, names: &BTreeSet<&str>) -> Result<Conversations> {
    let names: Vec<&str> = names.iter().copied().collect();
    for _ in 1..TRIES {
        if let Ok(found) = opened(tenant, &names)? {
            return Ok(found);
        }
    }
    // Under REPEATABLE READ a row that another transaction has just inserted conflicts, but is not visible.
    opened(tenant, &names)?.map_err(|missing| Error::Retry("conversation", missing))
}

/// The conversations, or the reference of a missing one. OFFSET 0 keeps the subqueries, so that each conversation is looked up by tenant
/// and reference: the statistics of a new table make a scan over a tenant look cheap.
fn opened(tenant: &str, names: &[&str]) -> Result<std::result::Result<Conversations, String>> {
    let found: Vec<ConversationEnd> = as_owner(|| {
        sql::run(
            "INSERT INTO reground.conversations (tenant, conversation_ref) SELECT $1, n.name FROM unnest($2::text[]) WITH ORDINALITY AS n(name, place) ORDER BY n.place \
             ON CONFLICT (tenant, conversation_ref) DO NOTHING",
            &[tenant.into(), names.to_vec().into()],
        )?;
        sql::run(
            "SELECT FROM reground.conversations AS v WHERE v.conversation_id = ANY (ARRAY(SELECT o.conversation_id FROM unnest($2::text[]) AS n(name), \
                 LATERAL (SELECT conversation_id FROM reground.conversations WHERE tenant = $1 AND conversation_ref = n.name OFFSET 0) AS o)) \
             ORDER BY v.conversation_id FOR NO KEY UPDATE",
            &[tenant.into(), names.to_vec().into()],
        )?;
        sql::write_json(
            "SELECT coalesce(json_agg(r), '[]')::text FROM (SELECT v.conversation_id, v.conversation_ref, nullif(v.settings, '{}') AS settings, v.turn_count AS turn_no, \
                 (SELECT t.turn_id FROM reground.turns AS t WHERE t.conversation_id = v.conversation_id AND NOT t.superseded AND t.state <> 'abandoned' ORDER BY t.turn_no DESC LIMIT 1) AS parent_turn_id \
             FROM unnest($2::text[]) AS n(name), \
                 LATERAL (SELECT * FROM reground.conversations AS o WHERE o.tenant = $1 AND o.conversation_ref = n.name OFFSET 0) AS v) AS r",
            &[tenant.into(), names.to_vec().into()],
        )
    })?
    .unwrap_or_default();
    let found: BTreeMap<String, ConversationEnd> = found
        .into_iter()
        .map(|end| (end.conversation_ref.clone(), end))
        .collect();
    Ok(
        match names.iter().find(|name| !found.contains_key(**name)) {
            None => Ok(Conversations(found)),
            Some(name) => Err((*name).to_owned()),
        },
    )
}

/// The result for a recorded turn.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RecordedAnswer {
    #[serde(flatten)]
    pub ids: Ids,
    /// Number of citations.
    pub citation_count: usize,
    /// Number of citations that hold.
    pub holding_count: usize,
    pub cfs: Option<f64>,
}

/// The stored answers with the references of an import, by conversation and answer.
pub fn known(
    conversations: &Conversations,
    messages: Vec<&str>,
) -> Result<BTreeMap<(String, String), StoredAnswer<RecordedAnswer>>> {
    #[derive(Deserialize)]
    struct Row {
        conversation_ref: String,
        message_ref: String,
        #[serde(flatten)]
        fingerprint: Fingerprint,
        #[serde(flatten)]
        answer: RecordedAnswer,
    }
    if messages.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows: Vec<Row> = as_owner(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(r), '[]')::text FROM ( \
                 SELECT v.conversation_ref, m.message_ref, m.answer_hash, m.citations_hash, m.turn_id, m.message_id, m.cfs, c.citation_count, c.holding_count \
                 FROM reground.messages AS m JOIN reground.conversations AS v USING (conversation_id), \
                     LATERAL (SELECT count(*) AS citation_count, count(*) FILTER (WHERE holds) AS holding_count FROM reground.message_citations WHERE message_id = m.message_id) AS c \
                 WHERE v.conversation_id = ANY ($1) AND m.conversation_id = ANY ($1) AND m.message_ref = ANY ($2)) AS r",
            &[conversations.ids().into(), messages.into()],
        )
    })?
    .unwrap_or_default();
    let rows = rows.into_iter().map(|row| {
        let known = StoredAnswer {
            fingerprint: row.fingerprint,
            row: row.answer,
        };
        ((row.conversation_ref, row.message_ref), known)
    });
    Ok(rows.collect())
}

/// Ids of a turn and its answer.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Ids {
    pub turn_id: i64,
    pub message_id: i64,
}

/// Reserves ids for `count` turns, in ascending order.
pub fn reserve(count: usize) -> Result<Vec<Ids>> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(i), '[]')::text FROM (SELECT nextval('reground.turns_turn_id_seq') AS turn_id, \
                 nextval('reground.messages_message_id_seq') AS message_id FROM generate_series(1, $1)) AS i",
            &[count.into()],
        )
    })?
    .unwrap_or_default())
}

/// A turn to be stored. Its answer is stored as other answers are.
#[derive(Serialize)]
pub struct NewTurn<'a> {
    pub turn_id: i64,
    pub conversation_id: i64,
    pub turn_no: i32,
    pub parent_turn_id: Option<i64>,
    pub query: &'a str,
    pub corpus: &'a str,
    /// Bound as an argument of its own, because only its texts are sealed.
    #[serde(skip)]
    pub context: &'a [ContextSource],
    pub context_tokens: usize,
    pub query_tokens: usize,
    pub tags: Option<&'a Map<String, Value>>,
    pub user_ref: Option<&'a str>,
    /// Index of its settings among those of the import.
    pub settings: usize,
    /// Time of question and answer, in a form that PostgreSQL reads.
    pub at: &'a str,
}

/// Stores turns with their answers, given in the same order. Each turn names one of `settings` by index.
pub fn insert(
    tenant: &str,
    settings: &[&Settings],
    turns: &[NewTurn<'_>],
    answers: &[NewMessage<'_>],
    conversations: &Conversations,
) -> Result<()> {
    if turns.is_empty() {
        return Ok(());
    }
    stage("write turns", || insert_turns(tenant, settings, turns))?;
    stage("write messages", || messages::insert(tenant, answers))?;
    stage("write markers", || reserve_markers(tenant, turns))?;
    stage("write conversations", || conversations.close())?;
    let chains = |turn: &NewTurn<'_>| settings.get(turn.settings).is_some_and(|s| s.chains());
    let each = turns.iter().zip(answers);
    let mut chained = each.filter(|(turn, _)| chains(turn)).peekable();
    if chained.peek().is_none() {
        return Ok(());
    }
    stage("write chain", || {
        chained.try_for_each(|(_, answer)| {
            let conversation = answer.conversation_id;
            chain::append(tenant, conversation, About::Turn(answer.turn_id))?;
            let link = About::Answer(answer.turn_id, answer.message_id);
            chain::append(tenant, conversation, link)
        })
    })
}

/// Columns of [`NewTurn`] that are stored as they are.
const NEW_TURN: Record = Record(&[
    "turn_id bigint, conversation_id bigint, turn_no integer, parent_turn_id bigint, query text, corpus text",
    "context_tokens integer, query_tokens integer, user_ref text",
]);

fn insert_turns(tenant: &str, settings: &[&Settings], turns: &[NewTurn<'_>]) -> Result<()> {
    let contexts: Vec<_> = turns.iter().map(|turn| turn.context).collect();
    let (rows, contexts, settings) = (
        sql::json(turns)?,
        sql::json(&contexts)?,
        sql::json(settings)?,
    );
    let contexts = keys::sealer(tenant)?.json(&contexts).into_owned();
    as_owner(|| {
        sql::run(
            &format!(
                // `given` and ROWS FROM parse each argument once. `->` with an index would parse the whole array for each turn.
                "WITH given AS MATERIALIZED (SELECT $3::jsonb AS settings) \
                 INSERT INTO reground.turns ({}, context, tenant, state, origin, intent, intent_confidence, intent_signals, query_expansion, settings, \
                     retrieved, tags, begun_at, ended_at) \
                 OVERRIDING SYSTEM VALUE \
                 SELECT {}, x.context, $2, 'ended', 'imported', 'new_topic', 0, '{{imported}}', '{{}}', given.settings -> x.settings, false, coalesce(x.tags, '{{}}'), x.at, x.at \
                 FROM given, ROWS FROM (json_to_recordset($1::json) AS ({NEW_TURN}, settings integer, tags jsonb, at timestamptz), json_array_elements($4::json)) \
                     AS x({}, settings, tags, at, context)",
                NEW_TURN.columns(""),
                NEW_TURN.columns("x."),
                NEW_TURN.columns("")
            ),
            &[rows.into(), tenant.into(), settings.into(), contexts.into()],
        )
    })?;
    Ok(())
}

/// Reserves the markers of imported turns, so that the conversation does not bind markers that its history shows to other sources. Other
/// systems may number anew in every answer; then the first meaning of a marker counts.
fn reserve_markers(tenant: &str, turns: &[NewTurn<'_>]) -> Result<()> {
    let mut seen = BTreeSet::new();
    let mut reserved = Vec::new();
    for turn in turns {
        for (bound, passage) in assign_markers::foreign_markers(turn.context) {
            if seen.insert((turn.conversation_id, bound.marker.clone())) {
                reserved.push(markers::Bound {
                    conversation_id: turn.conversation_id,
                    first_turn_no: turn.turn_no,
                    row: markers::Row::new(&bound, Some(passage)),
                });
            }
        }
    }
    markers::reserve(tenant, &reserved)
}
