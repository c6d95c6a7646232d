//! The live sources of a conversation.

use reground_grounding::memory::RememberedSource;
use serde::Deserialize;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;

/// A live source, and how long ago it was last active or pinned.
#[derive(Clone, Debug, Deserialize)]
pub struct Live {
    #[serde(flatten)]
    pub source: RememberedSource,
    pub idle_seconds: f64,
}

/// All live sources, pins first, then strongest first.
pub fn load(conversation_id: i64) -> Result<Vec<Live>> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(s ORDER BY s.pin_order, s.carry_score DESC, s.corpus, s.doc_id, s.chunk_id), '[]')::text \
             FROM (SELECT corpus, doc_id, chunk_id, carry_score, inactive_turns, pinned, pin_order, cited, content_hash, \
                     date_part('epoch', now() - last_used_at) AS idle_seconds \
                   FROM reground.conversation_sources WHERE conversation_id = $1) AS s",
            &[conversation_id.into()],
        )
    })?
    .unwrap_or_default())
}

/// The live sources as a turn remembers them.
pub fn of(conversation_id: i64) -> Result<Vec<RememberedSource>> {
    let live = load(conversation_id)?.into_iter();
    Ok(live.map(|live| live.source).collect())
}

/// Puts the sources as a turn left them in place of those before it.
pub fn replace(tenant: &str, conversation_id: i64, sources: &[RememberedSource]) -> Result<()> {
    put(tenant, conversation_id, sources, None)
}

/// Puts the sources back that a turn of a conversation left. Nothing is used by that: a source that is there keeps its time, another
/// has that of the turn.
pub fn restore(
    tenant: &str,
    conversation_id: i64,
    sources: &[RememberedSource],
    turn_id: i64,
) -> Result<()> {
    put(tenant, conversation_id, sources, Some(turn_id))
}

fn put(
    tenant: &str,
    conversation_id: i64,
    sources: &[RememberedSource],
    left_by: Option<i64>,
) -> Result<()> {
    let rows = sql::json(sources)?;
    as_owner(|| {
        sql::run(
            "DELETE FROM reground.conversation_sources AS s WHERE s.conversation_id = $1 AND NOT EXISTS ( \
                 SELECT FROM json_to_recordset($2::json) AS x(corpus text, doc_id text, chunk_id text) \
                 WHERE (x.corpus, x.doc_id, x.chunk_id) = (s.corpus, s.doc_id, s.chunk_id))",
            &[conversation_id.into(), rows.as_str().into()],
        )?;
        sql::run(
            "INSERT INTO reground.conversation_sources AS s (conversation_id, tenant, corpus, doc_id, chunk_id, carry_score, inactive_turns, pinned, pin_order, cited, content_hash, last_used_at) \
             SELECT $1, $3, x.corpus, x.doc_id, x.chunk_id, x.carry_score, x.inactive_turns, x.pinned, x.pin_order, x.cited, x.content_hash, \
                 coalesce((SELECT t.ended_at FROM reground.turns AS t WHERE t.turn_id = $4), now()) \
             FROM json_to_recordset($2::json) AS x(corpus text, doc_id text, chunk_id text, carry_score double precision, inactive_turns integer, \
                 pinned boolean, pin_order bigint, cited boolean, content_hash text) \
             ON CONFLICT (conversation_id, corpus, doc_id, chunk_id) DO UPDATE SET carry_score = excluded.carry_score, inactive_turns = excluded.inactive_turns, \
                 pinned = excluded.pinned, pin_order = excluded.pin_order, cited = excluded.cited, content_hash = excluded.content_hash, \
                 last_used_at = CASE WHEN $4 IS NULL AND excluded.inactive_turns = 0 THEN now() ELSE s.last_used_at END",
            &[
                conversation_id.into(),
                rows.as_str().into(),
                tenant.into(),
                left_by.into(),
            ],
        )
    })?;
    Ok(())
}

/// Pins a source, making its row if need be.
pub fn pin(
    tenant: &str,
    conversation_id: i64,
    corpus: &str,
    doc_id: &str,
    chunk_id: &str,
    order: i64,
) -> Result<()> {
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.conversation_sources AS s (conversation_id, tenant, corpus, doc_id, chunk_id, carry_score, inactive_turns, pinned, pin_order) \
             VALUES ($1, $2, $3, $4, $5, 1, 0, true, $6) \
             ON CONFLICT (conversation_id, corpus, doc_id, chunk_id) DO UPDATE SET pinned = true, pin_order = coalesce(s.pin_order, excluded.pin_order), \
                 last_used_at = now()",
            &[
                conversation_id.into(),
                tenant.into(),
                corpus.into(),
                doc_id.into(),
                chunk_id.into(),
                order.into(),
            ],
        )
    })?;
    Ok(())
}

/// Takes a pin back; true if there was one.
pub fn unpin(conversation_id: i64, corpus: &str, doc_id: &str, chunk_id: &str) -> Result<bool> {
    Ok(as_owner(|| {
        sql::write_one::<bool>(
            "UPDATE reground.conversation_sources SET pinned = false, pin_order = NULL, inactive_turns = 0 \
             WHERE conversation_id = $1 AND corpus = $2 AND doc_id = $3 AND chunk_id = $4 AND pinned RETURNING true",
            &[
                conversation_id.into(),
                corpus.into(),
                doc_id.into(),
                chunk_id.into(),
            ],
        )
    })?
    .unwrap_or(false))
}
