//! The tables `passage_embeddings` and `embedding_checks`: which text of each passage was embedded, and the comparison with the present
//! texts.

use reground_models::recheck::LastCheck;
use serde::{Deserialize, Serialize};

use pgrx::pg_sys;

use crate::error::Result;
use crate::run_as::{as_owner, as_owner_scanning};
use crate::sql;

/// The present state of some passages, as parallel arrays.
#[derive(Debug, Default)]
pub struct PresentPassages {
    pub chunk_ids: Vec<String>,
    /// SHA-256 of the texts, in hexadecimal.
    pub hashes: Vec<String>,
    pub have_vectors: Vec<bool>,
}

/// What a comparison found.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Compared {
    /// Passages without a vector of their present text.
    pub stale: i64,
    /// Tasks that were queued or changed.
    pub queued: i64,
}

impl Compared {
    /// Takes off passages that were embedded meanwhile.
    pub fn subtract(&mut self, passages: i64) {
        self.stale = self.stale.saturating_sub(passages);
        self.queued = self.queued.saturating_sub(passages);
    }

    /// Adds what was found in other passages.
    pub fn add(&mut self, other: Self) {
        self.stale = self.stale.saturating_add(other.stale);
        self.queued = self.queued.saturating_add(other.queued);
    }
}

/// A corpus and one of its models.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    pub corpus_id: i64,
    pub tenant: Option<&'a str>,
    pub model: &'a str,
}

/// Queues the passages whose vectors are missing or of another text, at most `most`. A vector without a record is taken as computed by
/// the model from the present text: its owner has named the model.
pub fn compare(target: Target<'_>, present: PresentPassages, most: i64) -> Result<Compared> {
    Ok(as_owner(|| {
        sql::write_json(
            "WITH given AS MATERIALIZED ( \
                 SELECT DISTINCT ON (g.chunk_id) g.chunk_id, decode(g.hash, 'hex') AS hash, g.has_vector, e.input_hash AS known \
                 FROM ROWS FROM (unnest($1::text[]), unnest($2::text[]), unnest($3::boolean[])) AS g(chunk_id, hash, has_vector) \
                 LEFT JOIN reground.passage_embeddings AS e ON e.corpus_id = $4 AND e.model = $5 AND e.chunk_id = g.chunk_id), \
             adopted AS (INSERT INTO reground.passage_embeddings (corpus_id, model, chunk_id, input_hash) \
                 SELECT $4, $5, g.chunk_id, g.hash FROM given AS g WHERE g.has_vector AND g.known IS NULL ON CONFLICT DO NOTHING), \
             done AS (DELETE FROM reground.model_tasks AS t USING given AS g WHERE t.kind = 'embed' AND t.model = $5 AND t.corpus_id = $4 AND t.state <> 'leased' \
                 AND t.subject = g.chunk_id AND g.has_vector AND coalesce(g.known, g.hash) = g.hash), \
             stale AS MATERIALIZED (SELECT g.chunk_id, g.hash FROM given AS g WHERE NOT g.has_vector OR g.known <> g.hash), \
             queued AS (INSERT INTO reground.model_tasks AS t (tenant, kind, model, corpus_id, subject, input_hash) \
                 SELECT $6, 'embed', $5, $4, s.chunk_id, s.hash FROM stale AS s LIMIT $7 \
                 ON CONFLICT (kind, model, corpus_id, turn_id, subject) DO UPDATE \
                     SET input_hash = excluded.input_hash, state = 'waiting', attempts = 0, due_at = clock_timestamp(), last_error = NULL \
                     WHERE t.input_hash <> excluded.input_hash AND t.state <> 'leased' RETURNING 1) \
             SELECT json_build_object('stale', (SELECT count(*) FROM stale), 'queued', (SELECT count(*) FROM queued))::text",
            &[
                present.chunk_ids.into(),
                present.hashes.into(),
                present.have_vectors.into(),
                target.corpus_id.into(),
                target.model.into(),
                target.tenant.into(),
                most.into(),
            ],
        )
    })?
    .unwrap_or_default())
}

/// Passages that are queued and recorded with the same text: their results came while they were compared, or their vectors were removed
/// since.
pub fn queued_and_recorded(target: Target<'_>) -> Result<Vec<String>> {
    Ok(as_owner(|| {
        sql::write_one(
            "SELECT array_agg(t.subject) FROM reground.model_tasks AS t \
             JOIN reground.passage_embeddings AS e ON e.corpus_id = t.corpus_id AND e.model = t.model AND e.chunk_id = t.subject \
             WHERE t.kind = 'embed' AND t.corpus_id = $1 AND t.model = $2 AND t.state = 'waiting' AND e.input_hash = t.input_hash",
            &[target.corpus_id.into(), target.model.into()],
        )
    })?
    .unwrap_or_default())
}

/// Records that vectors of these texts were stored. Hashes are in hexadecimal. An index could not contain longer ids.
pub fn record(
    corpus_id: i64,
    model: &str,
    chunk_ids: Vec<String>,
    hashes: Vec<String>,
) -> Result<()> {
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.passage_embeddings (corpus_id, model, chunk_id, input_hash) \
             SELECT $1, $2, g.chunk_id, decode(g.hash, 'hex') FROM ROWS FROM (unnest($3::text[]), unnest($4::text[])) AS g(chunk_id, hash) \
             WHERE octet_length(g.chunk_id) <= 1000 \
             ON CONFLICT (corpus_id, model, chunk_id) DO UPDATE SET input_hash = excluded.input_hash, embedded_at = clock_timestamp()",
            &[
                corpus_id.into(),
                model.into(),
                chunk_ids.into(),
                hashes.into(),
            ],
        )
    })?;
    Ok(())
}

/// The passages whose recorded text is another one than the present. A vector without a record counts as one of the present text. Hashes
/// are in hexadecimal.
pub fn changed_texts(
    corpus_id: i64,
    model: &str,
    chunk_ids: Vec<String>,
    hashes: Vec<String>,
) -> Result<Vec<String>> {
    Ok(as_owner(|| {
        sql::read_one(
            "SELECT array_agg(g.chunk_id) FROM ROWS FROM (unnest($3::text[]), unnest($4::text[])) AS g(chunk_id, hash) \
             JOIN reground.passage_embeddings AS e ON e.corpus_id = $1 AND e.model = $2 AND e.chunk_id = g.chunk_id \
             WHERE e.input_hash <> decode(g.hash, 'hex')",
            &[
                corpus_id.into(),
                model.into(),
                chunk_ids.into(),
                hashes.into(),
            ],
        )
    })?
    .unwrap_or_default())
}

/// Removes the tasks of passages that the application has embedded.
pub fn end_tasks(corpus_id: i64, model: &str, chunk_ids: Vec<String>) -> Result<()> {
    as_owner(|| {
        sql::run(
            "DELETE FROM reground.model_tasks AS t WHERE t.kind = 'embed' AND t.model = $2 AND t.corpus_id = $1 AND t.subject = ANY ($3)",
            &[corpus_id.into(), model.into(), chunk_ids.into()],
        )
    })?;
    Ok(())
}

/// Stores the error of an attempt to read the passages of a corpus.
pub fn note_error(corpus_id: i64, model: &str, error: &str) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.embedding_checks SET last_error = $3 WHERE corpus_id = $1 AND model = $2",
            &[corpus_id.into(), model.into(), error.into()],
        )
    })?;
    Ok(())
}

/// Removes the records and tasks of passages that no longer exist; returns the number of records.
pub fn forget(corpus_id: i64, chunk_ids: Vec<String>) -> Result<i64> {
    Ok(as_owner(|| {
        sql::write_one(
            "WITH tasks AS (DELETE FROM reground.model_tasks AS t WHERE t.corpus_id = $1 AND t.subject = ANY ($2)), \
             gone AS (DELETE FROM reground.passage_embeddings AS e WHERE e.corpus_id = $1 AND e.chunk_id = ANY ($2) RETURNING 1) \
             SELECT count(*) FROM gone",
            &[corpus_id.into(), chunk_ids.into()],
        )
    })?
    .unwrap_or_default())
}

/// Number of recorded passages.
pub fn recorded_passages(target: Target<'_>) -> Result<i64> {
    Ok(as_owner(|| {
        sql::write_one(
            "SELECT count(*) FROM reground.passage_embeddings AS e WHERE e.corpus_id = $1 AND e.model = $2",
            &[target.corpus_id.into(), target.model.into()],
        )
    })?
    .unwrap_or_default())
}

/// A passage of a corpus with a record.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct EmbeddedPassage {
    pub chunk_id: String,
}

/// The recorded passages after a chunk id, in order.
pub fn recorded(
    corpus_id: i64,
    model: &str,
    after: &str,
    most: i64,
) -> Result<Vec<EmbeddedPassage>> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT json_agg(e)::text FROM (SELECT e.chunk_id FROM reground.passage_embeddings AS e \
                 WHERE e.corpus_id = $1 AND e.model = $2 AND e.chunk_id > $3 ORDER BY e.chunk_id LIMIT $4) AS e",
            &[corpus_id.into(), model.into(), after.into(), most.into()],
        )
    })?
    .unwrap_or_default())
}

/// Ids of the corpora with records of embeddings that the application computed.
pub fn recorded_by_applications() -> Result<Vec<i64>> {
    Ok(as_owner_scanning(|| {
        sql::write_one(
            "SELECT array_agg(k.corpus_id ORDER BY k.corpus_id) FROM reground.corpora AS k \
             WHERE EXISTS (SELECT FROM reground.passage_embeddings AS e WHERE e.corpus_id = k.corpus_id AND e.model = '')",
            &[],
        )
    })?
    .unwrap_or_default())
}

/// Registers a model of a corpus for comparison, with the number of passages and of those without a vector.
pub fn begin_checks(corpus_id: i64, model: &str, passages: i64, stale: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.embedding_checks (corpus_id, model, passages, stale) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
            &[
                corpus_id.into(),
                model.into(),
                passages.into(),
                stale.into(),
            ],
        )
    })?;
    Ok(())
}

/// Makes the vectors that the application computed those of a model: the records of their texts show which of them are stale.
pub fn take_over(corpus_id: i64, model: &str) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.passage_embeddings SET model = $2 WHERE corpus_id = $1 AND model = ''",
            &[corpus_id.into(), model.into()],
        )
    })?;
    Ok(())
}

/// Lets the texts of a corpus be compared again soon.
pub fn compare_again(corpus_id: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.embedding_checks SET changes = NULL WHERE corpus_id = $1",
            &[corpus_id.into()],
        )
    })?;
    Ok(())
}

/// Removes everything about a model that a corpus does not use any more; an empty name means that the application computed the embeddings.
pub fn end_checks(corpus_id: i64, model: &str) -> Result<()> {
    for table in ["embedding_checks", "passage_embeddings", "model_tasks"] {
        as_owner_scanning(|| {
            sql::run(
                &format!(
                    "DELETE FROM reground.{table} AS x WHERE x.corpus_id = $1 AND x.model = $2"
                ),
                &[corpus_id.into(), model.into()],
            )
        })?;
    }
    Ok(())
}

/// Models of corpora, of one corpus or of all; those that were compared longest ago first.
pub fn checks(corpus_id: Option<i64>) -> Result<Vec<(i64, String)>> {
    Ok(as_owner_scanning(|| {
        sql::write_json(
            "SELECT json_agg(json_build_array(k.corpus_id, k.model) ORDER BY k.checked_at NULLS FIRST, k.corpus_id, k.model)::text FROM reground.embedding_checks AS k \
             WHERE $1::bigint IS NULL OR k.corpus_id = $1",
            &[corpus_id.into()],
        )
    })?
    .unwrap_or_default())
}

/// The last comparison of a corpus and a model, locked; `None` if another session compares them, or if there is none any more.
pub fn try_hold(corpus_id: i64, model: &str) -> Result<Option<LastCheck>> {
    as_owner(|| {
        sql::write_json(
            "SELECT row_to_json(r)::text FROM (SELECT k.changes, k.seconds, date_part('epoch', clock_timestamp() - k.checked_at) AS age \
                 FROM reground.embedding_checks AS k WHERE k.corpus_id = $1 AND k.model = $2 FOR UPDATE SKIP LOCKED) AS r",
            &[corpus_id.into(), model.into()],
        )
    })
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Check<'a> {
    /// Counter of changes of the relation before the comparison; `None` to compare again soon.
    pub changes: Option<i64>,
    pub passages: i64,
    pub stale: i64,
    pub seconds: f64,
    pub error: Option<&'a str>,
}

/// Stores the result of a comparison.
pub fn checked(corpus_id: i64, model: &str, check: &Check<'_>) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.embedding_checks SET checked_at = clock_timestamp(), changes = $3, \
                 passages = CASE WHEN $7::text IS NULL THEN $4 ELSE passages END, stale = CASE WHEN $7::text IS NULL THEN $5 ELSE stale END, \
                 seconds = $6, last_error = $7 WHERE corpus_id = $1 AND model = $2",
            &[
                corpus_id.into(),
                model.into(),
                check.changes.into(),
                check.passages.into(),
                check.stale.into(),
                check.seconds.into(),
                check.error.into(),
            ],
        )
    })?;
    Ok(())
}

/// Tasks of a corpus and a model.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Unfinished {
    /// Tasks that wait or are leased.
    pub waiting: i64,
    /// Tasks that were given up.
    pub dead: i64,
}

/// Counts the tasks of a corpus and a model.
pub fn unfinished(corpus_id: i64, model: &str) -> Result<Unfinished> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT json_build_object('waiting', count(*) FILTER (WHERE t.state <> 'dead'), 'dead', count(*) FILTER (WHERE t.state = 'dead'))::text \
             FROM reground.model_tasks AS t WHERE t.kind = 'embed' AND t.corpus_id = $1 AND t.model = $2",
            &[corpus_id.into(), model.into()],
        )
    })?
    .unwrap_or_default())
}

/// Counter of the rows that were inserted, updated or deleted in the relations of a corpus and their partitions, as the statistics have
/// it; `None` if the relation of the passages is distributed, because this server has no statistics of the others.
pub fn changes(corpus_id: i64) -> Result<Option<i64>> {
    as_owner_scanning(|| {
        let relation = sql::write_one::<pg_sys::Oid>(
            "SELECT k.relation::oid FROM reground.corpora AS k WHERE k.corpus_id = $1",
            &[corpus_id.into()],
        )?;
        if relation.map_or(Ok(false), sql::is_distributed)? {
            return Ok(None);
        }
        sql::write_one(
            "SELECT sum(pg_stat_get_tuples_inserted(r.oid) + pg_stat_get_tuples_updated(r.oid) + pg_stat_get_tuples_deleted(r.oid))::bigint \
             FROM reground.corpora AS k CROSS JOIN LATERAL (SELECT k.relation::oid AS oid UNION SELECT t.relid::oid FROM pg_partition_tree(k.relation) AS t \
                 UNION SELECT k.documents::oid UNION SELECT t.relid::oid FROM pg_partition_tree(k.documents) AS t) AS r \
             WHERE k.corpus_id = $1",
            &[corpus_id.into()],
        )
    })
}

/// The clock, to measure a comparison.
pub fn clock() -> Result<f64> {
    since(Default::default())
}

/// Seconds since a value of [`clock`].
pub fn since(begun: f64) -> Result<f64> {
    let now = "SELECT date_part('epoch', clock_timestamp()) - $1";
    Ok(sql::write_one(now, &[begun.into()])?.unwrap_or_default())
}
