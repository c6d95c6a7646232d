//! Retention: archives and removes old conversations, traces, chain links and shadow turns.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;
use serde::Serialize;

use super::archive;
use super::erasure::{self, Archived, Receipt};
use crate::error::{Error, Result};
use crate::run_as::as_owner_scanning;
use crate::session::sees_everything;
use crate::sql;
use crate::store::rollups;

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
    /// Days for which conversations are kept after their last turn, answer or pin; `None`: for ever.
    pub conversation_days: Option<i32>,
    /// Days for which traces, links and shadow turns are kept.
    pub trace_days: i32,
    /// Days for which archived turns are kept.
    pub archive_days: i32,
}

impl Periods {
    /// Rows before this time are removed.
    fn before(&self, days: i32) -> Result<TimestampWithTimeZone> {
        let before = sql::write_one(
            "SELECT $1::timestamptz - make_interval(days => $2)",
            &[self.as_of.into(), days.into()],
        )?;
        before.ok_or_else(|| Error::Spi("no time before the retention".into()))
    }
}

/// Archives and removes rows that are older than the periods. `is_alone`: whether the transaction ends with the statement.
pub fn run(periods: Periods, is_alone: bool) -> Result<Vec<RetentionRow>> {
    as_owner_scanning(|| {
        let mut done = Vec::new();
        let traced = periods.before(periods.trace_days)?;
        let archived = periods.before(periods.archive_days)?;
        // Locks conversations, and so comes before the locks below, as in erasure. Without the users of turns, erasure would not find their
        // archived rows.
        if let (Some(days), true) = (periods.conversation_days, archive::has_users()) {
            remove_conversations(periods.before(days)?, &mut done)?;
        }
        // One session at a time: a second one then finds nothing to do.
        archive::hold_off()?;
        let rows = archive::turns(archive::Which::TracedBefore(traced))?;
        report(&mut done, "turn_archive", rows, "archived");
        remove_links(traced, &mut done)?;
        remove_shadows(traced, &mut done)?;
        expire(archived, &mut done)?;
        remove_traces(traced, archived, is_alone, &mut done)?;
        done.retain(|done| done.rows > 0);
        Ok(done)
    })
}

/// Archives the turns of conversations that were not used since, and removes their other rows. A conversation that another session
/// uses now is left for the next run, so no lock is waited for.
fn remove_conversations(before: TimestampWithTimeZone, done: &mut Vec<RetentionRow>) -> Result<()> {
    let mut receipt = Receipt::default();
    let mut last = 0_i64;
    loop {
        let batch = old_conversations(before, last)?;
        let Some(end) = batch.last() else { break };
        last = *end;
        // A turn can have begun until its conversation was locked.
        let unused: Vec<i64> = sql::write_one(
            &format!("SELECT array_agg(v.conversation_id) FROM reground.conversations AS v WHERE v.conversation_id = ANY ($2) AND {UNUSED}"),
            &[before.into(), batch.into()],
        )?
        .unwrap_or_default();
        let ids = lock_rows(unused)?;
        if ids.is_empty() {
            continue;
        }
        // In the order of erasure.
        rollups::hold_off()?;
        archive::hold_off()?;
        let rows = archive::turns(archive::Which::OfConversations(&ids))?;
        report(done, "turn_archive", rows, "archived");
        erasure::conversations(&ids, Archived::Kept, &mut receipt)?;
    }
    for row in receipt.rows() {
        let relation = row.relation.trim_start_matches("reground.");
        report(
            done,
            relation,
            usize::try_from(row.erased).unwrap_or_default(),
            "removed",
        );
    }
    Ok(())
}

/// Condition that a conversation `v` had no turn, answer or source since `$1`.
const UNUSED: &str = "v.created_at < $1 AND NOT EXISTS (SELECT FROM reground.turns AS t WHERE t.conversation_id = v.conversation_id AND t.begun_at >= $1) \
     AND NOT EXISTS (SELECT FROM reground.messages AS m WHERE m.conversation_id = v.conversation_id AND m.created_at >= $1) \
     AND NOT EXISTS (SELECT FROM reground.conversation_sources AS s WHERE s.conversation_id = v.conversation_id AND s.last_used_at >= $1)";

/// Rows `x` of a turn that other sessions lock without its conversation: for reports, labels, evaluations and results of models.
const LOCKED_ALONE: [&str; 10] = [
    "reground.model_tasks AS x USING (turn_id)",
    "reground.turns AS x USING (turn_id)",
    "reground.messages AS x USING (turn_id)",
    "reground.messages AS m USING (turn_id) JOIN reground.citation_reports AS x USING (message_id)",
    "reground.message_citations AS x USING (turn_id)",
    "reground.message_citations AS c USING (turn_id) JOIN reground.citation_labels AS x USING (citation_id)",
    "reground.factuality_evaluations AS x USING (turn_id)",
    "reground.factuality_evaluations AS e USING (turn_id) JOIN reground.decomposition_labels AS x USING (evaluation_id)",
    "reground.factuality_evaluations AS e USING (turn_id) JOIN reground.factuality_verdicts AS x USING (evaluation_id)",
    "reground.factuality_evaluations AS e USING (turn_id) JOIN reground.factuality_verdicts AS w USING (evaluation_id) JOIN reground.factuality_labels AS x USING (verdict_id)",
];

/// Locks these rows of conversations, and returns the conversations without a row that another session has locked.
fn lock_rows(mut ids: Vec<i64>) -> Result<Vec<i64>> {
    for join in LOCKED_ALONE {
        let rows = format!(
            "SELECT t.conversation_id FROM reground.turns AS t JOIN {join} WHERE t.conversation_id = ANY ($1)"
        );
        let locked = sql::write_one(
            &format!(
                "WITH present AS ({rows}), locked AS (SELECT l.conversation_id FROM ({rows} FOR UPDATE OF x SKIP LOCKED) AS l) \
                 SELECT array_agg(v.id) FROM unnest($1::bigint[]) AS v(id) \
                     LEFT JOIN (SELECT p.conversation_id AS id, count(*) AS number FROM present AS p GROUP BY 1) AS p USING (id) \
                     LEFT JOIN (SELECT l.conversation_id AS id, count(*) AS number FROM locked AS l GROUP BY 1) AS l USING (id) \
                 WHERE p.number IS NOT DISTINCT FROM l.number"
            ),
            &[ids.into()],
        )?;
        ids = locked.unwrap_or_default();
    }
    Ok(ids)
}

/// Number of conversations that are removed at a time, which bounds the memory.
const BATCH: i32 = 1000;

/// The next old conversations after an id, in the order of the ids; their rows are locked.
fn old_conversations(before: TimestampWithTimeZone, last: i64) -> Result<Vec<i64>> {
    let ids = sql::write_one(
        &format!(
            "SELECT array_agg(v.conversation_id ORDER BY v.conversation_id) FROM ( \
                 SELECT v.conversation_id FROM reground.conversations AS v WHERE v.conversation_id > $2 AND {UNUSED} \
                 ORDER BY v.conversation_id LIMIT $3 FOR UPDATE SKIP LOCKED) AS v"
        ),
        &[before.into(), last.into(), BATCH.into()],
    )?;
    Ok(ids.unwrap_or_default())
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
    let rows = i64::try_from(rows).unwrap_or(i64::MAX);
    let of_it = |row: &&mut RetentionRow| row.relation == relation && row.action == action;
    match done.iter_mut().find(of_it) {
        Some(row) => row.rows += rows,
        None => done.push(RetentionRow {
            relation: relation.to_owned(),
            rows,
            action,
        }),
    }
}
