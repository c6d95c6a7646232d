//! The tables `model_status` and `model_usage`.

use pgrx::datum::Interval;
use reground_models::breaker::Breaker;
use serde::Deserialize;

use super::tasks::Task;
use crate::error::Result;
use crate::run_as::{as_owner, as_owner_scanning};
use crate::sql;

/// The breaker of a model, and the tasks that count against its budget.
#[derive(Debug, Default, Deserialize)]
pub struct Status {
    pub failures: i32,
    /// Seconds until the breaker lets a task pass; `None` if it is closed.
    pub open_for: Option<f64>,
    /// Tasks of this hour, completed or leased.
    pub used: i64,
}

impl Status {
    /// The breaker.
    pub fn breaker(&self) -> Breaker {
        Breaker {
            failures: self.failures,
            open_for: self.open_for,
        }
    }
}

/// The status of a model.
pub fn of(model: &str) -> Result<Status> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT json_build_object('failures', coalesce(s.failures, 0), 'open_for', date_part('epoch', s.open_until - clock_timestamp()), \
                 'used', (SELECT coalesce(sum(u.tasks), 0) FROM reground.model_usage AS u WHERE u.model = $1 AND u.hour = date_trunc('hour', clock_timestamp())) \
                     + (SELECT count(*) FROM reground.model_tasks AS t WHERE t.model = $1 AND t.state = 'leased' AND t.due_at > clock_timestamp()))::text \
             FROM (SELECT) AS one LEFT JOIN reground.model_status AS s ON s.model = $1",
            &[model.into()],
        )
    })?
    .unwrap_or_default())
}

/// Lets the next task try a model whose breaker is open.
pub fn try_again(model: &str) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.model_status SET open_until = clock_timestamp() WHERE model = $1 AND held_open",
            &[model.into()],
        )
    })?;
    Ok(())
}

/// Keeps other tasks away from a model that one task tries, until its lease ends, for five minutes at most.
pub fn hold_open(model: &str, lease: Interval) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.model_status SET open_until = clock_timestamp() + least($2, interval '5 minutes'), held_open = true WHERE model = $1",
            &[model.into(), lease.into()],
        )
    })?;
    Ok(())
}

/// Stores a breaker after a failure.
pub fn failed(model: &str, breaker: Breaker, error: &str) -> Result<()> {
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.model_status AS s (model, failures, open_until, last_error, failed_at) \
             VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3), $4, clock_timestamp()) \
             ON CONFLICT (model) DO UPDATE SET failures = excluded.failures, open_until = excluded.open_until, held_open = false, \
                 last_error = excluded.last_error, failed_at = excluded.failed_at",
            &[
                model.into(),
                breaker.failures.into(),
                breaker.open_for.into(),
                error.into(),
            ],
        )
    })?;
    Ok(())
}

/// Closes the breaker of a model; of all models with `None`.
pub fn close(model: Option<&str>) -> Result<()> {
    as_owner(|| {
        sql::run(
            "DELETE FROM reground.model_status WHERE $1::text IS NULL OR model = $1",
            &[model.into()],
        )
    })?;
    Ok(())
}

/// Removes the usage of more than 90 days ago.
pub fn trim() -> Result<()> {
    as_owner_scanning(|| {
        sql::run(
            "DELETE FROM reground.model_usage WHERE hour < now() - interval '90 days'",
            &[],
        )
    })?;
    Ok(())
}

/// What a call used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub tasks: i64,
    pub failures: i64,
    pub input_tokens: i64,
    pub output_tokens: i64,
}

/// Adds to the usage of this hour.
pub fn count(task: &Task, usage: Usage) -> Result<()> {
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.model_usage AS u (hour, model, worker, tenant, tasks, failures, input_tokens, output_tokens) \
             VALUES (date_trunc('hour', clock_timestamp()), $1, $2, $3, $4, $5, $6, $7) \
             ON CONFLICT (hour, model, worker, tenant) DO UPDATE SET tasks = u.tasks + excluded.tasks, failures = u.failures + excluded.failures, \
                 input_tokens = u.input_tokens + excluded.input_tokens, output_tokens = u.output_tokens + excluded.output_tokens",
            &[
                task.model.as_str().into(),
                task.worker.as_deref().unwrap_or_default().into(),
                task.tenant.as_deref().into(),
                usage.tasks.into(),
                usage.failures.into(),
                usage.input_tokens.into(),
                usage.output_tokens.into(),
            ],
        )
    })?;
    Ok(())
}
