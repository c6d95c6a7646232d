//! Retention: archives and removes old traces, chain links and shadow turns.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;
use serde::Serialize;

use crate::error::Result;
use crate::run_as::as_owner_scanning;
use crate::session::sees_everything;
use crate::sql;

/// A row of run_retention.
#[derive(Debug, Serialize)]
pub struct RetentionRow {
    pub relation: String,
    /// Number of rows.
    pub rows: i64,
    pub action: &'static str,
}

/// Number of partitions of `turn_traces`.
const PARTITIONS: i32 = 16;

/// The retention periods.
#[derive(Clone, Copy)]
pub struct Periods {
    /// The time from which days are counted back.
    pub as_of: TimestampWithTimeZone,
    /// Days for which traces, links and shadow turns are kept.
    pub trace_days: i32,
    /// Days for which archived turns are kept.
    pub archive_days: i32,
}

/// Waits until no other session archives, and prevents it until the transaction ends.
pub fn hold_off() -> Result<()> {
    sql::lock("reground.turns_turn_id_seq")
}

/// Archives and removes rows that are older than the periods. `is_alone`: whether the transaction ends with the statement.
pub fn run(periods: Periods, is_alone: bool) -> Result<Vec<RetentionRow>> {
    as_owner_scanning(|| {
        // One session at a time: a second one then finds nothing to do.
        hold_off()?;
        let before = |days: i32| {
            sql::write_one::<TimestampWithTimeZone>(
                "SELECT $1::timestamptz - make_interval(days => $2)",
                &[periods.as_of.into(), days.into()],
            )
        };
        let mut done = Vec::new();
        let (Some(traced), Some(archived)) =
            (before(periods.trace_days)?, before(periods.archive_days)?)
        else {
            return Ok(done);
        };
        archive(traced, &mut done)?;
        remove_links(traced, &mut done)?;
        remove_shadows(traced, &mut done)?;
        expire(archived, &mut done)?;
        remove_traces(traced, archived, is_alone, &mut done)?;
        done.retain(|done| done.rows > 0);
        Ok(done)
    })
}

/// Adds a row to the archive for each turn with an old trace.
fn archive(before: TimestampWithTimeZone, done: &mut Vec<RetentionRow>) -> Result<()> {
    let rows = sql::run(
        "INSERT INTO reground.turn_archive (turn_id, tenant, conversation_ref, turn_no, corpus, model, begun_at, candidate_count, source_count, citation_count, holding_count, cfs, decision, \
             markers, corpora, doc_ids, chunk_ids, hash_prefixes) \
         SELECT t.turn_id, t.tenant, v.conversation_ref, t.turn_no, t.corpus, m.model, t.begun_at, cardinality(x.chunk_ids), jsonb_array_length(t.context), \
             n.citation_count, n.holding_count, m.cfs, m.decision, coalesce(c.markers, '{}'), coalesce(c.corpora, '{}'), coalesce(c.doc_ids, '{}'), coalesce(c.chunk_ids, '{}'), coalesce(c.hash_prefixes, '') \
         FROM reground.turn_traces AS x JOIN reground.turns AS t USING (turn_id) JOIN reground.conversations AS v ON v.conversation_id = t.conversation_id \
             LEFT JOIN LATERAL (SELECT m.* FROM reground.messages AS m WHERE m.turn_id = t.turn_id AND NOT m.superseded ORDER BY m.message_id DESC LIMIT 1) AS m ON true \
             LEFT JOIN LATERAL (SELECT count(*) AS citation_count, count(*) FILTER (WHERE c.holds) AS holding_count \
                 FROM reground.message_citations AS c WHERE c.message_id = m.message_id) AS n ON m.message_id IS NOT NULL \
             LEFT JOIN LATERAL ( \
                 SELECT array_agg(c.marker ORDER BY c.first) AS markers, array_agg(c.corpus ORDER BY c.first) AS corpora, \
                     array_agg(c.doc_id ORDER BY c.first) AS doc_ids, array_agg(c.chunk_id ORDER BY c.first) AS chunk_ids, \
                     string_agg(decode(c.hash, 'hex'), '' ORDER BY c.first) AS hash_prefixes \
                 FROM (SELECT c.marker, c.corpus, c.doc_id, c.chunk_id, min(c.citation_no) AS first, \
                           coalesce(substring(c.source_hash, '^[0-9a-f]{16}'), '0000000000000000') AS hash \
                       FROM reground.message_citations AS c WHERE c.message_id = m.message_id AND c.doc_id IS NOT NULL GROUP BY 1, 2, 3, 4, 6) AS c) AS c ON true \
         WHERE x.traced_at < $1 ON CONFLICT (turn_id) DO NOTHING",
        &[before.into()],
    )?;
    report(done, "turn_archive", rows, "archived");
    Ok(())
}

/// Replaces old links by a checkpoint. An incomplete chain keeps its links, so that verify_chain reports the damage.
fn remove_links(before: TimestampWithTimeZone, done: &mut Vec<RetentionRow>) -> Result<()> {
    let ends = "links AS (SELECT x.conversation_id, x.link_no, x.linked_at, x.previous_digest, lag(x.digest) OVER w AS digest_before, lag(x.link_no) OVER w AS number_before \
             FROM reground.provenance_chain AS x \
             WHERE x.conversation_id IN (SELECT o.conversation_id FROM reground.provenance_chain AS o WHERE o.linked_at < $1) \
             WINDOW w AS (PARTITION BY x.conversation_id ORDER BY x.link_no)), \
         ends AS (SELECT l.conversation_id, coalesce(min(l.link_no) FILTER (WHERE l.linked_at >= $1) - 1, max(l.link_no)) AS link_no, \
             bool_and(CASE WHEN l.number_before IS NOT NULL THEN l.number_before = l.link_no - 1 AND l.digest_before = l.previous_digest \
                 ELSE l.link_no = 1 OR EXISTS (SELECT FROM reground.chain_checkpoints AS k WHERE (k.conversation_id, k.link_no, k.digest) = (l.conversation_id, l.link_no - 1, l.previous_digest)) END) AS whole \
             FROM links AS l GROUP BY l.conversation_id)";
    let kept = sql::write_one::<i64>(
        &format!("WITH {ends} SELECT count(*) FROM ends AS e WHERE NOT e.whole"),
        &[before.into()],
    )?;
    let made = sql::run(
        &format!(
            "WITH {ends} INSERT INTO reground.chain_checkpoints (conversation_id, link_no, tenant, digest, linked_at) \
             SELECT x.conversation_id, x.link_no, x.tenant, x.digest, x.linked_at FROM ends AS e JOIN reground.provenance_chain AS x USING (conversation_id, link_no) \
             WHERE e.whole ON CONFLICT (conversation_id, link_no) DO NOTHING"
        ),
        &[before.into()],
    )?;
    report(done, "chain_checkpoints", made, "made");
    let removed = sql::run(
        "DELETE FROM reground.provenance_chain AS x USING reground.chain_checkpoints AS k \
         WHERE x.conversation_id = k.conversation_id AND x.link_no <= k.link_no AND x.linked_at < $1",
        &[before.into()],
    )?;
    report(done, "provenance_chain", removed, "removed");
    done.push(RetentionRow {
        relation: "provenance_chain".to_owned(),
        rows: kept.unwrap_or_default(),
        action: "kept: not whole",
    });
    Ok(())
}

/// Removes old shadow turns.
fn remove_shadows(before: TimestampWithTimeZone, done: &mut Vec<RetentionRow>) -> Result<()> {
    let rows = sql::run(
        "DELETE FROM reground.shadow_turns WHERE shadowed_at < $1",
        &[before.into()],
    )?;
    report(done, "shadow_turns", rows, "removed");
    Ok(())
}

/// Removes old rows of the archive, and old checkpoints with a later one in the same chain.
fn expire(before: TimestampWithTimeZone, done: &mut Vec<RetentionRow>) -> Result<()> {
    let rows = sql::run(
        "DELETE FROM reground.turn_archive WHERE begun_at < $1",
        &[before.into()],
    )?;
    report(done, "turn_archive", rows, "removed");
    let rows = sql::run(
        "DELETE FROM reground.chain_checkpoints AS k WHERE k.created_at < $1 \
             AND EXISTS (SELECT FROM reground.chain_checkpoints AS l WHERE l.conversation_id = k.conversation_id AND l.link_no > k.link_no)",
        &[before.into()],
    )?;
    report(done, "chain_checkpoints", rows, "removed");
    Ok(())
}

/// Removes old traces. Single rows are deleted first, because that blocks nobody; then whole partitions are truncated, whose locks are
/// kept until the transaction ends. A transaction that goes on after this statement deletes the rows of whole partitions too, because turns
/// and pg_dump would wait for it.
fn remove_traces(
    before: TimestampWithTimeZone,
    archived: TimestampWithTimeZone,
    is_alone: bool,
    done: &mut Vec<RetentionRow>,
) -> Result<()> {
    let may_truncate = is_alone && sees_everything();
    let mut whole: Vec<(String, i64)> = Vec::new();
    for number in 0..PARTITIONS {
        let partition = format!("turn_traces_{number:02}");
        let all_old = all_archived(&partition, before, archived)?;
        match all_old {
            None => {}
            // A transaction with an older snapshot does not see all rows that TRUNCATE would remove.
            Some(true) if may_truncate && is_free(&partition)? => {
                // Counted before the lock, because every turn waits for the lock.
                let count = format!("SELECT count(*) FROM reground.{partition}");
                let rows = sql::write_one::<i64>(&count, &[])?.unwrap_or_default();
                whole.push((partition, rows));
            }
            Some(_) => {
                let rows = sql::run(
                    &format!(
                        "DELETE FROM reground.{partition} AS x WHERE x.traced_at < $1 AND {ARCHIVED}"
                    ),
                    &[before.into(), archived.into()],
                )?;
                report(done, &partition, rows, "deleted");
            }
        }
    }
    for (relation, rows) in whole {
        if !hold(&relation)? || all_archived(&relation, before, archived)? != Some(true) {
            // Another session has used the partition meanwhile: the next run truncates it.
            continue;
        }
        sql::run(&format!("TRUNCATE reground.{relation}"), &[])?;
        done.push(RetentionRow {
            relation,
            rows,
            action: "truncated",
        });
    }
    Ok(())
}

/// Condition that the trace `x` may be deleted: its turn is archived, or gone, or so old (`$2`) that its archived row was removed too.
const ARCHIVED: &str = "(EXISTS (SELECT FROM reground.turn_archive AS a WHERE a.turn_id = x.turn_id) \
     OR NOT EXISTS (SELECT FROM reground.turns AS t WHERE t.turn_id = x.turn_id) \
     OR EXISTS (SELECT FROM reground.turns AS t WHERE t.turn_id = x.turn_id AND t.begun_at < $2))";

/// `None` if a partition has no old rows; otherwise whether all its rows are old and may be deleted.
fn all_archived(
    partition: &str,
    before: TimestampWithTimeZone,
    archived: TimestampWithTimeZone,
) -> Result<Option<bool>> {
    let old = sql::write_one::<bool>(
        &format!("SELECT EXISTS (SELECT FROM reground.{partition} WHERE traced_at < $1)"),
        &[before.into()],
    )?;
    if old != Some(true) {
        return Ok(None);
    }
    sql::write_one::<bool>(
        &format!(
            "SELECT NOT EXISTS (SELECT FROM reground.{partition} AS x WHERE x.traced_at >= $1 OR NOT {ARCHIVED})"
        ),
        &[before.into(), archived.into()],
    )
}

/// Whether no other session uses a partition at this moment.
fn is_free(partition: &str) -> Result<bool> {
    let Some(relation) = oid(partition)? else {
        return Ok(false);
    };
    // SAFETY: the lock is released at once, before anything is done under it.
    unsafe {
        let free = pg_sys::ConditionalLockRelationOid(relation, pg_sys::AccessExclusiveLock as i32);
        if free {
            pg_sys::UnlockRelationOid(relation, pg_sys::AccessExclusiveLock as i32);
        }
        Ok(free)
    }
}

/// Locks a partition exclusively until the transaction ends; returns false if that would wait.
fn hold(partition: &str) -> Result<bool> {
    let Some(relation) = oid(partition)? else {
        return Ok(false);
    };
    // SAFETY: the transaction keeps the lock until it ends, as it would after LOCK TABLE.
    Ok(unsafe { pg_sys::ConditionalLockRelationOid(relation, pg_sys::AccessExclusiveLock as i32) })
}

fn oid(partition: &str) -> Result<Option<pg_sys::Oid>> {
    sql::write_one(
        "SELECT to_regclass('reground.' || $1)::oid",
        &[partition.into()],
    )
}

fn report(done: &mut Vec<RetentionRow>, relation: &str, rows: usize, action: &'static str) {
    done.push(RetentionRow {
        relation: relation.to_owned(),
        rows: i64::try_from(rows).unwrap_or(i64::MAX),
        action,
    });
}
