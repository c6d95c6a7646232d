//! The table `model_tasks`.

use pgrx::Uuid;
use pgrx::datum::Interval;
use reground_models::kind::Kind;
use serde::Deserialize;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;

/// Channel on which workers learn of new tasks.
const NOTIFY: &str = "pg_notify('reground_tasks', '')";

/// Columns of [`Task`], from the alias `t`.
const TASK: &str = "t.task_id, t.lease_token, t.tenant, t.kind, t.model, t.corpus_id, t.turn_id, t.subject, encode(t.input_hash, 'hex') AS input_hash, t.attempts, t.worker";

/// A leased task.
#[derive(Clone, Debug, Deserialize)]
pub struct Task {
    pub task_id: i64,
    pub lease_token: String,
    pub tenant: Option<String>,
    pub kind: Kind,
    pub model: String,
    pub corpus_id: Option<i64>,
    pub turn_id: Option<i64>,
    pub subject: String,
    /// SHA-256 of the text of a passage, in hexadecimal.
    pub input_hash: Option<String>,
    /// Attempts, with the present one.
    pub attempts: i32,
    pub worker: Option<String>,
}

impl Task {
    /// The tenant; empty, which no tenant is, for a shared corpus.
    pub fn of_tenant(&self) -> &str {
        self.tenant.as_deref().unwrap_or_default()
    }

    /// The subject of a task about a row with a number; 0, which no row has, for another subject.
    pub fn subject_id(&self) -> i64 {
        self.subject.parse().unwrap_or_default()
    }
}

/// Leases due tasks of a model, the longest due first.
pub fn claim(
    model: &str,
    kinds: Option<&[String]>,
    room: i32,
    worker: &str,
    lease: Interval,
) -> Result<Vec<Task>> {
    as_owner(|| {
        sql::write_json(
            &format!(
                "WITH due AS MATERIALIZED ( \
                     SELECT d.task_id FROM reground.model_tasks AS d \
                     WHERE d.model = $1 AND d.state <> 'dead' AND d.due_at <= clock_timestamp() AND ($2::text[] IS NULL OR d.kind = ANY ($2)) \
                     ORDER BY d.due_at, d.task_id LIMIT $3 FOR UPDATE SKIP LOCKED), \
                 leased AS ( \
                     UPDATE reground.model_tasks AS t SET state = 'leased', attempts = t.attempts + 1, due_at = clock_timestamp() + $5, \
                         lease_token = gen_random_uuid(), worker = $4, \
                         last_error = CASE t.state WHEN 'leased' THEN 'the lease ended without a result' ELSE t.last_error END \
                     FROM due WHERE t.task_id = due.task_id RETURNING {TASK}) \
                 SELECT json_agg(l ORDER BY l.task_id)::text FROM leased AS l"
            ),
            &[
                model.into(),
                kinds.map(<[String]>::to_vec).into(),
                room.into(),
                worker.into(),
                lease.into(),
            ],
        )
    })
    .map(Option::unwrap_or_default)
}

/// Gives up tasks of a model whose last lease ended without a result; returns their number.
pub fn expire(model: &str, max_attempts: u32) -> Result<usize> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.model_tasks AS t SET state = 'dead', lease_token = NULL, last_error = 'the lease ended without a result' \
             FROM (SELECT d.task_id FROM reground.model_tasks AS d \
                   WHERE d.model = $1 AND d.state = 'leased' AND d.due_at <= clock_timestamp() AND d.attempts >= $2 FOR UPDATE SKIP LOCKED) AS d \
             WHERE t.task_id = d.task_id",
            &[model.into(), i64::from(max_attempts).into()],
        )
    })
}

/// The task of a lease that has not ended; `None` otherwise. It is not locked: its subject is written first, in the order in which
/// other functions lock them, and [`end`] checks the lease again.
pub fn leased(task_id: i64, lease_token: Uuid) -> Result<Option<Task>> {
    as_owner(|| {
        sql::write_json(
            &format!(
                "SELECT row_to_json(r)::text FROM (SELECT {TASK} FROM reground.model_tasks AS t \
                 WHERE t.task_id = $1 AND t.lease_token = $2 AND t.due_at > clock_timestamp()) AS r"
            ),
            &[task_id.into(), lease_token.into()],
        )
    })
}

/// As [`leased`], and locks the task.
pub fn held(task_id: i64, lease_token: Uuid) -> Result<Option<Task>> {
    as_owner(|| {
        sql::write_json(
            &format!(
                "SELECT row_to_json(r)::text FROM (SELECT {TASK} FROM reground.model_tasks AS t \
                 WHERE t.task_id = $1 AND t.lease_token = $2 AND t.due_at > clock_timestamp() FOR UPDATE) AS r"
            ),
            &[task_id.into(), lease_token.into()],
        )
    })
}

/// Deletes a completed task; returns false if its lease has ended meanwhile.
pub fn end(task_id: i64, lease_token: Uuid) -> Result<bool> {
    let deleted = as_owner(|| {
        sql::run(
            "DELETE FROM reground.model_tasks WHERE task_id = $1 AND lease_token = $2 AND due_at > clock_timestamp()",
            &[task_id.into(), lease_token.into()],
        )
    })?;
    Ok(deleted > 0)
}

/// Stores the hash of the text that a task was claimed with.
pub fn set_input(task_id: i64, input_hash: &str) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.model_tasks SET input_hash = decode($2, 'hex') WHERE task_id = $1",
            &[task_id.into(), input_hash.into()],
        )
    })?;
    Ok(())
}

/// Deletes a task.
pub fn delete(task_id: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "DELETE FROM reground.model_tasks WHERE task_id = $1",
            &[task_id.into()],
        )
    })?;
    Ok(())
}

/// The state of a task that is given back.
pub struct Release<'a> {
    pub is_dead: bool,
    /// Attempts that count.
    pub attempts: i32,
    /// Seconds until the task is due.
    pub delay: f64,
    pub error: Option<&'a str>,
}

/// Ends the lease of a task.
pub fn release(task_id: i64, release: &Release<'_>) -> Result<()> {
    let state = if release.is_dead { "dead" } else { "waiting" };
    as_owner(|| {
        sql::run(
            "UPDATE reground.model_tasks SET state = $2, lease_token = NULL, attempts = $3, due_at = clock_timestamp() + make_interval(secs => $4), \
                 last_error = coalesce($5, last_error) WHERE task_id = $1",
            &[
                task_id.into(),
                state.into(),
                release.attempts.into(),
                release.delay.into(),
                release.error.into(),
            ],
        )
    })?;
    Ok(())
}

/// Gives back claimed tasks of a corpus, and delays those that wait. Nothing counts against them.
pub fn delay_corpus(corpus_id: i64, model: &str, claimed: Vec<i64>, error: &str) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.model_tasks AS t SET state = 'waiting', lease_token = NULL, due_at = clock_timestamp() + interval '1 minute', last_error = $4, \
                 attempts = CASE WHEN t.task_id = ANY ($3) THEN greatest(t.attempts - 1, 0) ELSE t.attempts END \
             WHERE t.corpus_id = $1 AND t.model = $2 AND (t.task_id = ANY ($3) OR t.state = 'waiting' AND t.due_at <= clock_timestamp())",
            &[corpus_id.into(), model.into(), claimed.into(), error.into()],
        )
    })?;
    Ok(())
}

/// Makes dead and delayed tasks due; returns their number.
pub fn retry(model: Option<&str>, kind: Option<Kind>) -> Result<i64> {
    Ok(as_owner(|| {
        sql::write_one(
            &format!(
                "WITH due AS (UPDATE reground.model_tasks AS t SET state = 'waiting', attempts = 0, due_at = clock_timestamp() \
                     WHERE (t.state = 'dead' OR t.state = 'waiting' AND t.due_at > clock_timestamp()) \
                         AND ($1::text IS NULL OR t.model = $1) AND ($2::text IS NULL OR t.kind = $2) RETURNING 1), \
                 counted AS MATERIALIZED (SELECT count(*) AS tasks FROM due) \
                 SELECT tasks FROM counted CROSS JOIN LATERAL (SELECT {NOTIFY}) AS n"
            ),
            &[model.into(), kind.map(Kind::name).into()],
        )
    })?
    .unwrap_or_default())
}

/// Queues a task about a turn, unless it is queued.
pub fn queue_for_turn(
    tenant: &str,
    kind: Kind,
    model: &str,
    turn_id: i64,
    subject: &str,
) -> Result<()> {
    as_owner(|| {
        sql::run(
            &format!(
                "WITH queued AS (INSERT INTO reground.model_tasks (tenant, kind, model, turn_id, subject) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING 1) \
                 SELECT {NOTIFY} FROM queued"
            ),
            &[
                tenant.into(),
                kind.name().into(),
                model.into(),
                turn_id.into(),
                subject.into(),
            ],
        )
    })?;
    Ok(())
}

/// Queues a task about a turn for each subject, unless it is queued.
pub fn queue_each_for_turn(
    tenant: &str,
    kind: Kind,
    model: &str,
    turn_id: i64,
    subjects: Vec<String>,
) -> Result<()> {
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.model_tasks (tenant, kind, model, turn_id, subject) \
             SELECT $1, $2, $3, $4, s.subject FROM unnest($5::text[]) WITH ORDINALITY AS s(subject, place) ORDER BY s.place ON CONFLICT DO NOTHING",
            &[
                tenant.into(),
                kind.name().into(),
                model.into(),
                turn_id.into(),
                subjects.into(),
            ],
        )
    })?;
    notify()
}

/// The state and the last error of a task about a turn; `None` if there is none.
pub fn of_turn(turn_id: i64, kind: Kind) -> Result<Option<(String, Option<String>)>> {
    as_owner(|| {
        sql::write_json(
            "SELECT json_build_array(t.state, t.last_error)::text FROM reground.model_tasks AS t WHERE t.turn_id = $1 AND t.kind = $2 LIMIT 1",
            &[turn_id.into(), kind.name().into()],
        )
    })
}

/// Deletes the tasks of a kind about a turn.
pub fn end_of_turn(turn_id: i64, kind: Kind) -> Result<()> {
    as_owner(|| {
        sql::run(
            "DELETE FROM reground.model_tasks AS t WHERE t.turn_id = $1 AND t.kind = $2",
            &[turn_id.into(), kind.name().into()],
        )
    })?;
    Ok(())
}

/// Wakes the workers when the transaction commits.
pub fn notify() -> Result<()> {
    as_owner(|| sql::run(&format!("SELECT {NOTIFY}"), &[]))?;
    Ok(())
}
