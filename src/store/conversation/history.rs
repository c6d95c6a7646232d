//! Queries over the earlier turns of a conversation, for the context and the history of the next turn.

use reground_grounding::begin::facts::remembered_facts::QuotedSource;
use reground_grounding::history::{HistoryTurn, NOT_STORED};
use reground_grounding::memory::ContextSource;
use reground_grounding::settings::PassageOrder;
use serde::Deserialize;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;
use crate::store::keys::{self, Of};

/// State of a conversation before a turn.
#[derive(Clone, Debug, Default)]
pub struct Before {
    /// Number of the turn whose search found the sources of the context.
    pub context_turn_no: Option<i32>,
    /// Tokens (o200k_base) of these sources.
    pub context_tokens: Option<u64>,
    /// Embedding of the query of that turn.
    pub sources_embedding: Option<Vec<f32>>,
    /// Embedding of the query of the turn itself, if it has a row.
    pub own_embedding: Option<Vec<f32>>,
}

/// The state of a conversation before a turn; `None` stands for its next turn.
pub fn before(conversation_id: i64, turn_no: Option<i32>) -> Result<Before> {
    let found = as_owner(|| {
        sql::write_each(
            "SELECT latest.context_turn_no, sources.context_tokens, sources.embedding, \
                 (SELECT o.embedding FROM reground.turns AS o WHERE o.conversation_id = $1 AND o.turn_no = $2) \
             FROM (SELECT 1) AS one \
                 LEFT JOIN (SELECT context_turn_no FROM reground.turns WHERE conversation_id = $1 AND NOT superseded AND turn_no < coalesce($2, 2147483647) \
                            ORDER BY turn_no DESC LIMIT 1) AS latest ON true \
                 LEFT JOIN LATERAL (SELECT s.context_tokens, s.embedding FROM reground.turns AS s \
                            WHERE s.conversation_id = $1 AND s.turn_no = latest.context_turn_no LIMIT 1) AS sources ON true",
            &[conversation_id.into(), turn_no.into()],
            |row| {
                let tokens = row.get::<i32>(2)?;
                Ok(Before {
                    context_turn_no: row.get(1)?,
                    context_tokens: tokens.and_then(|tokens| u64::try_from(tokens).ok()),
                    sources_embedding: row.get(3)?,
                    own_embedding: row.get(4)?,
                })
            },
        )
    })?;
    Ok(found.into_iter().next().unwrap_or_default())
}

/// A context and the order of its passages in the prompt.
#[derive(Clone, Debug, Deserialize)]
pub struct Shown {
    pub context: Vec<ContextSource>,
    pub passage_order: PassageOrder,
}

/// The context of a turn.
pub fn shown(conversation_id: i64, turn_no: i32) -> Result<Option<Shown>> {
    keys::read_json(
        Of::Caller,
        "SELECT json_build_object('context', context, 'passage_order', settings -> 'passage_order')::text \
             FROM reground.turns WHERE conversation_id = $1 AND turn_no = $2",
        &[conversation_id.into(), turn_no.into()],
    )
}

/// The context of the latest turn on the path of a conversation, in prompt order; empty without one. With `before`, of the latest
/// turn before that number.
pub fn previous_context(conversation_id: i64, before: Option<i32>) -> Result<Vec<ContextSource>> {
    Ok(keys::read_json(
        Of::Caller,
            "SELECT context::text FROM reground.turns WHERE conversation_id = $1 AND NOT superseded AND state <> 'abandoned' \
                 AND turn_no < coalesce($2, 2147483647) ORDER BY turn_no DESC LIMIT 1",
            &[conversation_id.into(), before.into()],
    )?
    .unwrap_or_default())
}

/// The passages that add_passages added to turns on the path of a conversation, in order. Only turns after `since` and before
/// `before` count, if these are given.
pub fn handed_over(
    conversation_id: i64,
    since: Option<i32>,
    before: Option<i32>,
) -> Result<Vec<ContextSource>> {
    Ok(keys::read_json(
        Of::Caller,
            "SELECT coalesce(json_agg(e.source ORDER BY t.turn_no, e.place), '[]')::text \
             FROM (SELECT turn_id, turn_no, context FROM reground.turns WHERE conversation_id = $1 AND NOT superseded AND state <> 'abandoned' \
                       AND turn_no > coalesce($2, 0) AND turn_no < coalesce($3, 2147483647)) AS t, \
                 LATERAL (SELECT r.retrieval_no FROM reground.turn_retrievals AS r WHERE r.turn_id = t.turn_id AND r.kind = 'passages' AND r.added_count > 0) AS r, \
                 jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, place) \
             WHERE (e.source ->> 'retrieval_no')::integer = r.retrieval_no",
            &[conversation_id.into(), since.into(), before.into()],
    )?
    .unwrap_or_default())
}

/// Turns that are searched for cited sources, from the newest.
const CITED_TURNS: i64 = 20;

/// The newest `count` sources that answers have cited with citations that hold, with the quotes of these; the newest first. With `before`, only of turns before it. Imported turns do not count,
/// because their markers are those of another system.
pub fn cited_sources(
    conversation_id: i64,
    before: Option<i32>,
    count: usize,
) -> Result<Vec<QuotedSource>> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Ok(keys::read_json(
        Of::Caller,
            // OFFSET 0: each context is read once, not for each of its markers.
            "WITH cited AS MATERIALIZED ( \
                 SELECT c.marker, max(t.turn_no) AS turn_no, json_agg(json_build_object('text', c.quote, 'chars', json_build_object('start', c.quote_start, 'end', c.quote_end)) ORDER BY t.turn_no DESC, c.citation_no) FILTER (WHERE c.quote IS NOT NULL AND c.quote_end IS NOT NULL) AS quotes \
                 FROM (SELECT turn_id, turn_no FROM reground.turns WHERE conversation_id = $1 AND state = 'ended' AND origin = 'live' AND NOT superseded \
                           AND turn_no < coalesce($2, 2147483647) ORDER BY turn_no DESC LIMIT $4) AS t \
                     JOIN reground.messages AS m ON m.turn_id = t.turn_id AND NOT m.superseded \
                     JOIN reground.message_citations AS c ON c.message_id = m.message_id \
                 WHERE c.holds AND c.marker IS NOT NULL GROUP BY c.marker ORDER BY max(t.turn_no) DESC, c.marker LIMIT $3) \
             SELECT coalesce(json_agg(json_build_object('source', e.source, 'quotes', coalesce(c.quotes, '[]')) ORDER BY c.turn_no DESC, c.marker), '[]')::text \
             FROM (SELECT t.turn_no, x.source, x.source ->> 'marker' AS marker FROM (SELECT DISTINCT turn_no FROM cited) AS n \
                       JOIN reground.turns AS t ON t.conversation_id = $1 AND t.turn_no = n.turn_no CROSS JOIN LATERAL jsonb_array_elements(t.context) AS x(source) OFFSET 0) AS e \
                 JOIN cited AS c ON c.turn_no = e.turn_no AND c.marker = e.marker",
            &[
                conversation_id.into(),
                before.into(),
                count.into(),
                CITED_TURNS.into(),
            ],
    )?
    .unwrap_or_default())
}

/// An ended turn.
#[derive(Debug, Deserialize)]
pub struct Ended {
    pub turn_id: i64,
    #[serde(flatten)]
    pub turn: HistoryTurn,
}

/// The ended turns of a conversation, newest last, with their current answers and citations. With `newest`, only that many of the
/// newest turns.
pub fn ended(conversation_id: i64, newest: Option<usize>) -> Result<Vec<Ended>> {
    let newest = newest.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
    Ok(as_owner(|| {
        sql::read_json(
            "SELECT coalesce(json_agg(json_build_object('turn_id', t.turn_id, 'turn_no', t.turn_no, 'query', t.query, 'query_tokens', t.query_tokens, \
                 'answer', coalesce(m.answer, $3), 'answer_tokens', CASE WHEN m.answer IS NOT NULL THEN m.answer_tokens END, 'citations', c.citations) ORDER BY t.turn_no), '[]')::text \
             FROM (SELECT turn_id, turn_no, query, query_tokens FROM reground.turns WHERE conversation_id = $1 AND state = 'ended' AND NOT superseded \
                   ORDER BY turn_no DESC LIMIT $2) AS t \
                 JOIN reground.messages AS m ON m.turn_id = t.turn_id AND NOT m.superseded \
                 CROSS JOIN LATERAL (SELECT coalesce(json_agg(json_build_object( \
                         'bytes', json_build_object('start', c.byte_start, 'end', c.byte_end), 'holds', c.holds)), '[]') AS citations \
                     FROM reground.message_citations AS c WHERE c.message_id = m.message_id AND m.answer IS NOT NULL) AS c",
            &[conversation_id.into(), newest.into(), NOT_STORED.into()],
        )
    })?
    .unwrap_or_default())
}
