//! The table `passage_positions`: pages, characters and ordinal of the passages of registered corpora, as maintenance read them first.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;

/// The parts of a position.
pub const POSITION: [&str; 5] = [
    "ordinal",
    "char_start",
    "char_end",
    "page_start",
    "page_end",
];

/// A passage with a wrong position.
#[derive(Debug, Deserialize, Serialize)]
pub struct Fault {
    pub chunk_id: String,
    pub doc_id: String,
    pub problem: String,
    pub detail: String,
}

/// Joins a clause for each part of a position.
fn each(clause: &str, with: &str) -> String {
    POSITION.map(|name| clause.replace('#', name)).join(with)
}

/// FROM item `g` of the present states of passages, `$2` as JSON.
fn present_rows() -> String {
    format!(
        "json_to_recordset($2::json) AS g(chunk_id text, row_tenant text, doc_id text, is_out_of_bounds boolean, content_hash text, source_hash text, {})",
        each("# integer", ", ")
    )
}

/// Condition that a recorded part is missing now.
fn lost() -> String {
    each("r.# IS NOT NULL AND g.# IS NULL", " OR ")
}

/// Condition that a recorded part has another value now.
fn moved() -> String {
    each("r.# <> g.#", " OR ")
}

/// Condition that neither the text nor the mapped version or time has changed since the position was recorded. Otherwise another position
/// is expected.
const IS_SAME_SOURCE: &str = "(r.content_hash = decode(g.content_hash, 'hex') AND r.source_hash IS NOT DISTINCT FROM decode(g.source_hash, 'hex'))";

/// The passages, of those given, whose position is impossible, or was changed or lost without a change of the source.
pub fn compare(corpus_id: i64, present: &str) -> Result<Vec<Fault>> {
    let detail = |alias: &str| {
        format!(
            "concat_ws(', ', 'passage ' || {alias}.ordinal, 'characters ' || {alias}.char_start || ' to ' || {alias}.char_end, \
                 'pages ' || nullif(concat_ws(' to ', {alias}.page_start, {alias}.page_end), ''))"
        )
    };
    Ok(as_owner(|| {
        sql::read_json(
            &format!(
                "SELECT json_agg(w)::text FROM (SELECT g.chunk_id, g.doc_id, \
                     CASE WHEN {} THEN 'lost' WHEN g.is_out_of_bounds THEN 'out_of_bounds' WHEN {IS_SAME_SOURCE} AND coalesce({}, false) THEN 'moved' END AS problem, \
                     concat_ws('; recorded: ', {}, nullif({}, '')) AS detail \
                 FROM {} \
                     LEFT JOIN reground.passage_positions AS r ON r.corpus_id = $1 AND r.chunk_id = g.chunk_id AND r.row_tenant = g.row_tenant) AS w WHERE w.problem IS NOT NULL",
                lost(),
                moved(),
                detail("g"),
                detail("r"),
                present_rows(),
            ),
            &[corpus_id.into(), present.into()],
        )
    })?
    .unwrap_or_default())
}

/// Records the positions of new passages, of those whose source has changed, and those that have got more parts. A lost part stays
/// recorded, so that it stays a fault.
pub fn record(corpus_id: i64, present: &str) -> Result<()> {
    as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.passage_positions AS r (corpus_id, chunk_id, row_tenant, content_hash, source_hash, {}) \
                 SELECT DISTINCT ON (g.chunk_id, g.row_tenant) $1, g.chunk_id, g.row_tenant, decode(g.content_hash, 'hex'), decode(g.source_hash, 'hex'), {} FROM {} \
                     LEFT JOIN reground.passage_positions AS r ON r.corpus_id = $1 AND r.chunk_id = g.chunk_id AND r.row_tenant = g.row_tenant \
                 WHERE NOT g.is_out_of_bounds AND (r.chunk_id IS NULL OR NOT ({}) AND (NOT {IS_SAME_SOURCE} OR NOT coalesce({}, false) AND ({}))) \
                 ON CONFLICT (corpus_id, chunk_id, row_tenant) DO UPDATE SET recorded_at = excluded.recorded_at, content_hash = excluded.content_hash, \
                     source_hash = excluded.source_hash, {}",
                each("#", ", "),
                each("g.#", ", "),
                present_rows(),
                lost(),
                moved(),
                each("r.# IS DISTINCT FROM g.#", " OR "),
                each("# = excluded.#", ", "),
            ),
            &[corpus_id.into(), present.into()],
        )
    })?;
    Ok(())
}

/// The key of a record in a corpus. Two tenants can have passages of the same id.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Key {
    pub chunk_id: String,
    pub row_tenant: String,
}

/// The recorded passages after a key, in order.
pub fn recorded(corpus_id: i64, after: &Key, most: i64) -> Result<Vec<Key>> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT json_agg(r)::text FROM (SELECT r.chunk_id, r.row_tenant FROM reground.passage_positions AS r \
                 WHERE r.corpus_id = $1 AND (r.chunk_id, r.row_tenant) > ($2, $3) ORDER BY r.chunk_id, r.row_tenant LIMIT $4) AS r",
            &[
                corpus_id.into(),
                after.chunk_id.as_str().into(),
                after.row_tenant.as_str().into(),
                most.into(),
            ],
        )
    })?
    .unwrap_or_default())
}

/// Removes the records of passages.
pub fn forget(corpus_id: i64, passages: &[Key]) -> Result<()> {
    let passages = sql::json(passages)?;
    as_owner(|| {
        sql::run(
            "DELETE FROM reground.passage_positions AS r USING json_to_recordset($2::json) AS g(chunk_id text, row_tenant text) \
             WHERE r.corpus_id = $1 AND r.chunk_id = g.chunk_id AND r.row_tenant = g.row_tenant",
            &[corpus_id.into(), passages.into()],
        )
    })?;
    Ok(())
}

/// Removes all records of a corpus, and returns their number. The next run of maintenance checks the corpus again.
pub fn forget_all(corpus_id: i64) -> Result<i64> {
    let forgotten = as_owner(|| {
        sql::run(
            "UPDATE reground.coordinate_faults SET changes = NULL WHERE corpus_id = $1",
            &[corpus_id.into()],
        )?;
        sql::run(
            "DELETE FROM reground.passage_positions AS r WHERE r.corpus_id = $1",
            &[corpus_id.into()],
        )
    })?;
    Ok(i64::try_from(forgotten).unwrap_or(i64::MAX))
}
