//! Retention: archives and removes old conversations, traces, chain links and shadow turns.

mod conversations;
mod done;
mod traces;

use pgrx::datum::TimestampWithTimeZone;

pub use done::RetentionRow;
use done::report;

use super::archive;
use crate::error::{Error, Result};
use crate::run_as::as_owner_scanning;
use crate::sql;

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
            conversations::remove(periods.before(days)?, &mut done)?;
        }
        // One session at a time: a second one then finds nothing to do.
        archive::hold_off()?;
        let rows = archive::turns(archive::Which::TracedBefore(traced))?;
        report(&mut done, "turn_archive", rows, "archived");
        remove_links(traced, &mut done)?;
        remove_shadows(traced, &mut done)?;
        expire(archived, &mut done)?;
        traces::remove(traced, archived, is_alone, &mut done)?;
        done.retain(|done| done.rows > 0);
        Ok(done)
    })
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
