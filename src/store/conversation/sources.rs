//! The table `conversation_sources`: the sources that a conversation remembers.

use reground_grounding::memory::{BoundMarker, RememberedSource};
use serde::Deserialize;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql::{self, Record};

/// A remembered source.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredSource {
    #[serde(flatten)]
    pub source: RememberedSource,
    /// Seconds since it was last active or pinned.
    pub idle_seconds: f64,
    /// The marker by which the question of this turn names it.
    #[serde(skip)]
    pub asked: Option<BoundMarker>,
}

/// Columns of [`RememberedSource`].
const SOURCE: Record = Record(&[
    "corpus text, doc_id text, chunk_id text, carry_score double precision, inactive_turns integer",
    "pinned boolean, pin_order bigint, cited boolean, content_hash text",
]);

/// The remembered sources: pins in their order, then the others by descending carry score.
pub fn load(conversation_id: i64) -> Result<Vec<StoredSource>> {
    Ok(as_owner(|| {
        sql::write_json(
            &format!(
                "SELECT coalesce(json_agg(s ORDER BY s.pin_order, s.carry_score DESC, s.corpus, s.doc_id, s.chunk_id), '[]')::text \
                 FROM (SELECT {}, date_part('epoch', now() - last_used_at) AS idle_seconds \
                       FROM reground.conversation_sources WHERE conversation_id = $1) AS s",
                SOURCE.columns("")
            ),
            &[conversation_id.into()],
        )
    })?
    .unwrap_or_default())
}

/// The remembered sources, without their idle times.
pub fn of(conversation_id: i64) -> Result<Vec<RememberedSource>> {
    let live = load(conversation_id)?.into_iter();
    Ok(live.map(|live| live.source).collect())
}

/// Replaces the remembered sources by those after a turn.
pub fn replace(tenant: &str, conversation_id: i64, sources: &[RememberedSource]) -> Result<()> {
    put(tenant, conversation_id, sources, None)
}

/// Restores the sources after an earlier turn. That does not count as use: a source that is still remembered keeps its time of last
/// use, any other gets the end of the turn.
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
    restored_from: Option<i64>,
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
            &format!(
                "INSERT INTO reground.conversation_sources AS s ({}, conversation_id, tenant, last_used_at) \
                 SELECT {}, $1, $3, coalesce((SELECT t.ended_at FROM reground.turns AS t WHERE t.turn_id = $4), now()) \
                 FROM json_to_recordset($2::json) AS x({SOURCE}) \
                 ON CONFLICT (conversation_id, corpus, doc_id, chunk_id) DO UPDATE SET {}, \
                     last_used_at = CASE WHEN $4 IS NULL AND excluded.inactive_turns = 0 THEN now() ELSE s.last_used_at END",
                SOURCE.columns(""),
                SOURCE.columns("x."),
                SOURCE.assignments("excluded.")
            ),
            &[
                conversation_id.into(),
                rows.as_str().into(),
                tenant.into(),
                restored_from.into(),
            ],
        )
    })?;
    Ok(())
}

/// Pins a source; inserts its row if it is not remembered.
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

/// Removes a pin; returns whether there was one.
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
