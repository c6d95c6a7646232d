//! The tables `maintenance_tasks`, `maintenance_runs` and `coordinate_faults`.

use pgrx::datum::Interval;
use reground_models::recheck::LastCheck;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::run_as::{as_owner, as_owner_scanning};
use crate::sql;

/// Days that runs are kept.
const KEPT_DAYS: i32 = 30;

/// Locks a task until the transaction ends; returns false if another session runs it.
pub fn hold(task: &str) -> Result<bool> {
    as_owner(|| sql::try_lock_key("reground.maintenance_tasks", 0, task))
}

/// Names of the enabled tasks that are due. Probes are due only if there are any.
pub fn due() -> Result<Vec<String>> {
    Ok(as_owner(|| {
        sql::write_one(
            "SELECT array_agg(s.task) FROM reground.maintenance_status AS s \
             WHERE s.next_due_at <= clock_timestamp() AND (s.task <> 'probes' OR EXISTS (SELECT FROM reground.probes))",
            &[],
        )
    })?
    .unwrap_or_default())
}

/// Records the start of a run, and returns its id.
pub fn begin(task: &str) -> Result<i64> {
    Ok(as_owner(|| {
        sql::write_one(
            "INSERT INTO reground.maintenance_runs (task) VALUES ($1) RETURNING run_id",
            &[task.into()],
        )
    })?
    .unwrap_or_default())
}

/// Removes a run that did not take place.
pub fn forget(run_id: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "DELETE FROM reground.maintenance_runs WHERE run_id = $1",
            &[run_id.into()],
        )
    })?;
    Ok(())
}

/// Records the end of a run. Earlier runs of the task without an end were interrupted, because the caller holds the task.
pub fn finish(
    task: &str,
    run_id: i64,
    processed: Option<i64>,
    error: Option<&str>,
    sqlstate: Option<String>,
) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.maintenance_runs SET finished_at = clock_timestamp(), processed = $2, error = $3, sqlstate = $4 WHERE run_id = $1",
            &[
                run_id.into(),
                processed.into(),
                error.into(),
                sqlstate.into(),
            ],
        )?;
        // Only runs after the last finished one can be open.
        sql::run(
            "UPDATE reground.maintenance_runs AS r SET finished_at = clock_timestamp(), error = 'the session ended during the run', sqlstate = '57P01' \
             WHERE r.task = $1 AND r.finished_at IS NULL AND r.started_at > coalesce( \
                 (SELECT l.started_at FROM reground.maintenance_runs AS l WHERE l.task = $1 AND l.run_id <> $2 AND l.finished_at IS NOT NULL ORDER BY l.started_at DESC LIMIT 1), '-infinity')",
            &[task.into(), run_id.into()],
        )
    })?;
    Ok(())
}

/// Removes old runs.
pub fn trim() -> Result<()> {
    as_owner(|| {
        sql::run(
            "DELETE FROM reground.maintenance_runs WHERE started_at < now() - make_interval(days => $1)",
            &[KEPT_DAYS.into()],
        )
    })?;
    Ok(())
}

/// Whether a task may have this period: 1 second to 30 days.
pub fn is_period(period: Option<Interval>) -> Result<bool> {
    let fits: Option<bool> = as_owner(|| {
        sql::read_one(
            "SELECT coalesce($1 BETWEEN interval '1 second' AND interval '30 days', true)",
            &[period.into()],
        )
    })?;
    Ok(fits == Some(true))
}

/// Stores the user's values of a task, or removes them if both are `None`.
pub fn set(task: &str, enabled: Option<bool>, period: Option<Interval>) -> Result<()> {
    as_owner(|| match (enabled, period) {
        (None, None) => sql::run(
            "DELETE FROM reground.maintenance_tasks WHERE task = $1 AND NOT built_in",
            &[task.into()],
        ),
        (enabled, period) => sql::run(
            "INSERT INTO reground.maintenance_tasks AS t (task, enabled, period) VALUES ($1, $2, $3) \
             ON CONFLICT (task, built_in) DO UPDATE SET enabled = coalesce(excluded.enabled, t.enabled), period = coalesce(excluded.period, t.period)",
            &[task.into(), enabled.into(), period.into()],
        ),
    })?;
    Ok(())
}

/// The corpora of all tenants with their last check, those that were checked longest ago first.
pub fn coordinate_checks() -> Result<Vec<StoredCheck>> {
    Ok(as_owner_scanning(|| {
        sql::write_json(
            "SELECT json_agg(json_build_object('corpus_id', k.corpus_id, 'corpus', k.corpus, 'passages', f.passages, 'faults', f.faults, 'last', json_build_object('changes', f.changes, 'seconds', f.seconds, \
                 'age', date_part('epoch', clock_timestamp() - f.checked_at))) ORDER BY f.checked_at NULLS FIRST, k.corpus_id)::text \
             FROM reground.corpora AS k LEFT JOIN reground.coordinate_faults AS f USING (corpus_id)",
            &[],
        )
    })?
    .unwrap_or_default())
}

/// The stored result of the last check of a corpus.
#[derive(Debug, Deserialize)]
pub struct StoredCheck {
    pub corpus_id: i64,
    pub corpus: String,
    pub passages: Option<i64>,
    pub faults: Option<i64>,
    pub last: LastCheck,
}

/// The result of the check of a corpus.
#[derive(Debug, Serialize)]
pub struct CoordinateCheck {
    pub corpus_id: i64,
    pub passages: Option<i64>,
    pub faults: Option<i64>,
    /// Counter of changes of the relations before the check; `None` to check again soon.
    pub changes: Option<i64>,
    pub seconds: f64,
    pub error: Option<String>,
}

/// Stores the results of checks; replaces those of the same corpora. A check with an error keeps the counts of the last one without. A corpus
/// that was dropped meanwhile gets none.
pub fn write_coordinate_checks(checks: &[CoordinateCheck]) -> Result<()> {
    let rows = sql::json(checks)?;
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.coordinate_faults AS f (corpus_id, tenant, corpus, passages, faults, changes, seconds, error) \
             SELECT k.corpus_id, k.tenant, k.corpus, x.passages, x.faults, x.changes, x.seconds, x.error \
             FROM json_to_recordset($1::json) AS x(corpus_id bigint, passages bigint, faults bigint, changes bigint, seconds double precision, error text) \
                 JOIN LATERAL (SELECT k.* FROM reground.corpora AS k WHERE k.corpus_id = x.corpus_id FOR KEY SHARE) AS k ON true \
             ON CONFLICT (corpus_id) DO UPDATE SET checked_at = excluded.checked_at, \
                 passages = CASE WHEN excluded.error IS NULL THEN excluded.passages ELSE f.passages END, faults = CASE WHEN excluded.error IS NULL THEN excluded.faults ELSE f.faults END, \
                 changes = excluded.changes, seconds = excluded.seconds, error = excluded.error",
            &[rows.into()],
        )
    })?;
    Ok(())
}
