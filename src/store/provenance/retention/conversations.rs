//! Removes old conversations.

use pgrx::datum::TimestampWithTimeZone;

use super::done::{RetentionRow, report};
use crate::error::Result;
use crate::sql;
use crate::store::provenance::archive;
use crate::store::provenance::erasure::{self, Archived, Receipt};
use crate::store::rollups;

/// Archives the turns of conversations that were not used since, and removes their other rows. A conversation that another session
/// uses now is left for the next run, so no lock is waited for.
pub fn remove(before: TimestampWithTimeZone, done: &mut Vec<RetentionRow>) -> Result<()> {
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
