//! `run_maintenance`: the tasks, when they are due, and their runs.
//!
//! A task is an entry of [`TASKS`], its function, and a row with its defaults in `sql/install/78_maintenance.sql`.

use pgrx::datum::Interval;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use serde::Serialize;

use super::task_result::TaskResult;
use super::{alerts, coordinates, probes, retention};
use crate::api::corpus::sync;
use crate::api::judge::queue_sample;
use crate::api::models::{embeddings, queue};
use crate::api::{not_empty, writable};
use crate::error::{Error, Result};
use crate::rows;
use crate::session::is_alone;
use crate::sql;
use crate::store::{keys, maintenance, rollups};

/// A task of maintenance.
#[derive(Clone, Copy)]
pub(crate) struct Task {
    /// The name in `maintenance_tasks`.
    pub(crate) name: &'static str,
    /// Runs the task, and returns the number of processed objects.
    run: fn(Call) -> Result<TaskResult>,
}

/// How a task was called.
#[derive(Clone, Copy)]
struct Call {
    /// Whether the task was named. It then does all its work now.
    is_named: bool,
    /// Whether the transaction ends with the statement.
    is_alone: bool,
}

/// A task without problems of its own: an error undoes it.
fn all(processed: Result<i64>) -> Result<TaskResult> {
    Ok(TaskResult {
        processed: processed?,
        ..TaskResult::default()
    })
}

fn seal_rows() -> Result<TaskResult> {
    let done = keys::seal_rows()?;
    let waiting = (done.waiting > 0).then(|| {
        format!(
            "the rows of {} tenants wait until the transactions of this server that began before their keys have ended",
            done.waiting
        )
    });
    Ok(TaskResult {
        processed: i64::try_from(done.changed).unwrap_or(i64::MAX),
        problems: waiting.into_iter().collect(),
    })
}

/// All tasks, in the order in which they run. The queue of synchronised tables comes after the comparison that fills it. Retention is the
/// last, because it can lock partitions until the transaction ends.
const TASKS: [Task; 12] = [
    Task {
        name: "refresh_audit",
        run: |_| all(rollups::refresh(None)),
    },
    Task {
        name: "check_alerts",
        run: |_| all(alerts::check_all()),
    },
    Task {
        name: "leases",
        run: |_| all(queue::expire_all()),
    },
    Task {
        name: "embeddings",
        run: |_| all(embeddings::queue_all(None)),
    },
    Task {
        name: "embedding_records",
        run: |_| all(embeddings::forget_all_gone()),
    },
    Task {
        name: "resync",
        run: |_| sync::queue_differences(),
    },
    Task {
        name: "sync_queue",
        run: |_| sync::process_all(),
    },
    Task {
        name: "judge_sample",
        run: |_| all(queue_sample()),
    },
    Task {
        name: "probes",
        run: |_| all(probes::run_all()),
    },
    Task {
        name: "seal_rows",
        run: |_| seal_rows(),
    },
    Task {
        name: "check_coordinates",
        run: |call| coordinates::check_all(call.is_named),
    },
    Task {
        name: "retention",
        run: |call| all(retention::run_now(call.is_alone)),
    },
];

/// A row of `run_maintenance`.
#[derive(Serialize)]
pub(crate) struct TaskRow {
    task: &'static str,
    processed: Option<i64>,
    /// The message of the error that stopped the task, or what the task could not do.
    pub(crate) error: Option<String>,
}

#[pg_extern(sql = false)]
fn run_maintenance(
    task: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("run_maintenance")?;
    let is_named = task.is_some();
    let tasks = match task {
        Some(name) => vec![named(name)?],
        None => due()?,
    };
    let mut done = Vec::new();
    for task in tasks {
        done.extend(run(task, None, is_named)?);
    }
    maintenance::trim()?;
    rows::emit(fcinfo, &done)?;
    Ok(())
}

#[pg_extern(sql = false)]
fn set_maintenance(
    task: Option<&str>,
    enabled: Option<bool>,
    period: Option<Interval>,
) -> std::result::Result<(), ErrorReport> {
    writable("set_maintenance")?;
    let task = named(not_empty(task, "task")?)?;
    if !maintenance::is_period(period)? {
        return Err(Error::Bad {
            argument: "period",
            fault: "it is below 1 second or above 30 days".into(),
            hint: String::new(),
        }
        .into());
    }
    maintenance::set(task.name, enabled, period)?;
    Ok(())
}

/// The task of a name. Errors: 22023 if there is none.
fn named(name: &str) -> Result<Task> {
    let found = TASKS.into_iter().find(|task| task.name == name);
    found.ok_or_else(|| Error::Bad {
        argument: "task",
        fault: format!("\"{name}\""),
        hint: format!("One of {}.", TASKS.map(|task| task.name).join(", ")),
    })
}

/// The enabled tasks that are due, in the order in which they run.
pub(crate) fn due() -> Result<Vec<Task>> {
    let due = maintenance::due()?;
    let is_due = |task: &Task| due.iter().any(|name| name == task.name);
    Ok(TASKS.into_iter().filter(is_due).collect())
}

/// Records the start of a run. The worker commits it, so that it is visible while the task runs.
pub(crate) fn begin(task: Task) -> Result<i64> {
    maintenance::begin(task.name)
}

/// Runs a task, as a run that was begun or as a new one. `None` if another session runs the task.
pub(crate) fn run(task: Task, begun: Option<i64>, is_named: bool) -> Result<Option<TaskRow>> {
    if !maintenance::hold(task.name)? {
        begun.map(maintenance::forget).transpose()?;
        return Ok(None);
    }
    let run_id = match begun {
        Some(run_id) => run_id,
        None => maintenance::begin(task.name)?,
    };
    let call = Call {
        is_named,
        is_alone: is_alone(),
    };
    // A cancel ends a call by hand. In the worker it ends only the task.
    let outcome = match begun {
        Some(_) => sql::guarded_from_cancel(|| (task.run)(call)),
        None => sql::guarded(|| (task.run)(call)),
    };
    let (processed, error, sqlstate) = match &outcome {
        Ok(done) => (Some(done.processed), done.error(), None),
        Err(caught) => (
            None,
            Some(caught.message().to_owned()),
            Some(caught.sqlstate()),
        ),
    };
    maintenance::finish(task.name, run_id, processed, error.as_deref(), sqlstate)?;
    Ok(Some(TaskRow {
        task: task.name,
        processed,
        error,
    }))
}

/// Removes old runs.
pub(crate) fn trim() -> Result<()> {
    maintenance::trim()
}
