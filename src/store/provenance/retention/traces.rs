//! Removes old traces from their ring of partitions.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;

use super::done::{RetentionRow, report};
use crate::error::Result;
use crate::session::sees_everything;
use crate::sql;

/// Number of partitions of `turn_traces`.
const PARTITIONS: i32 = 16;

/// Removes old traces. Single rows are deleted first, because that blocks nobody; then whole partitions are truncated, whose locks are
/// kept until the transaction ends. A transaction that goes on after this statement deletes the rows of whole partitions too, because turns
/// and pg_dump would wait for it.
pub fn remove(
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
