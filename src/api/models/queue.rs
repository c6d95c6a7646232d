//! Functions of the workers: they claim tasks, and give them back with a result or an error.

use pgrx::datum::Interval;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_models::breaker::{Failure, SEALED_DELAY, budget_room, is_dead};
use reground_models::kind::Kind;
use reground_models::registration::Registration;
use reground_models::settings::ModelSettings;
use serde::Serialize;
use serde_json::Value;

use crate::api::models::tasks::{Prepared, complete, prepare};
use crate::api::{given, names, not_empty, writable};
use crate::datum::Json;
use crate::error::{Error, Result};
use crate::rows;
use crate::sql;
use crate::store::models::registry;
use crate::store::models::status::{self, Usage};
use crate::store::models::tasks::{self, Release, Task};

/// Characters of an error that are stored.
const LONGEST_ERROR: usize = 500;

/// A row of `claim_tasks`.
#[derive(Serialize)]
struct ClaimedRow {
    task_id: i64,
    lease_token: String,
    kind: Kind,
    model: String,
    attempts: i32,
    request: Value,
}

/// What a worker asks for.
struct Claim<'a> {
    worker: &'a str,
    kinds: Option<Vec<String>>,
    lease: Interval,
}

#[pg_extern(sql = false)]
fn claim_tasks(
    worker: Option<&str>,
    kinds: Option<Vec<Option<String>>>,
    models: Option<Vec<Option<String>>>,
    max_tasks: Option<i32>,
    lease: Option<Interval>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("claim_tasks")?;
    let claim = Claim {
        worker: not_empty(worker, "worker")?,
        kinds: names(kinds, "kinds")?,
        lease: checked_lease(given(lease, "lease")?)?,
    };
    for kind in claim.kinds.iter().flatten() {
        Kind::parse(kind).map_err(Error::from)?;
    }
    let models = names(models, "models")?;
    let most = match given(max_tasks, "max_tasks")? {
        count @ 1..=10_000 => count,
        other => return Err(invalid("max_tasks", other, "From 1 to 10000.").into()),
    };
    let mut claimed = Vec::new();
    for model in registry::all()? {
        let wanted = models
            .as_ref()
            .is_none_or(|models| models.contains(&model.model));
        let left = left_of(most, claimed.len());
        if wanted && left > 0 {
            claim_of(&model, &claim, left, &mut claimed)?;
        }
    }
    rows::emit(fcinfo, &claimed)?;
    Ok(())
}

fn left_of(most: i32, claimed: usize) -> i32 {
    most.saturating_sub(i32::try_from(claimed).unwrap_or(i32::MAX))
}

fn invalid(argument: &'static str, fault: impl ToString, hint: &str) -> Error {
    Error::Bad {
        argument,
        fault: fault.to_string(),
        hint: hint.into(),
    }
}

/// Claims tasks of one model. Tasks that need no call do not take a place.
fn claim_of(
    model: &Registration,
    claim: &Claim<'_>,
    most: i32,
    claimed: &mut Vec<ClaimedRow>,
) -> Result<()> {
    let settings = ModelSettings::read(&model.settings)?;
    tasks::expire(&model.model, settings.max_attempts)?;
    let status = status::of(&model.model)?;
    let room = status.breaker().room(most);
    let room = room.min(budget_room(settings.max_tasks_per_hour, status.used));
    let before = claimed.len();
    let mut is_sealed = false;
    while !is_sealed {
        let left = left_of(room, claimed.len().saturating_sub(before));
        if left <= 0 {
            break;
        }
        let kinds = claim.kinds.as_deref();
        let leased = tasks::claim(&model.model, kinds, left, claim.worker, claim.lease)?;
        if leased.is_empty() {
            break;
        }
        for (task, prepared) in leased.iter().zip(prepare(&leased)?) {
            match prepared {
                Prepared::Request(request) => claimed.push(ClaimedRow {
                    task_id: task.task_id,
                    lease_token: task.lease_token.clone(),
                    kind: task.kind,
                    model: task.model.clone(),
                    attempts: task.attempts,
                    request,
                }),
                Prepared::Gone => tasks::delete(task.task_id)?,
                Prepared::Delayed => {}
                // Another worker may have the key. The task has not failed.
                Prepared::Sealed => {
                    let error = "the source is encrypted, and the session of the worker has no master key that opens it";
                    give_back(task, Failure::Limit, error, Some(SEALED_DELAY))?;
                    is_sealed = true;
                }
                Prepared::Failed(error) => {
                    give_back(task, Failure::Item, &error, None)?;
                }
            }
        }
    }
    if status.breaker().is_half_open() && claimed.len() > before {
        status::hold_open(&model.model, claim.lease)?;
    }
    Ok(())
}

/// Gives up tasks whose last lease has ended, and removes old usage. Returns the number of tasks.
pub(in crate::api) fn expire_all() -> Result<i64> {
    let mut expired = 0_usize;
    for model in registry::all()? {
        let settings = ModelSettings::read(&model.settings)?;
        expired = expired.saturating_add(tasks::expire(&model.model, settings.max_attempts)?);
    }
    status::trim()?;
    Ok(i64::try_from(expired).unwrap_or(i64::MAX))
}

/// Checks the length of a lease: a second to a day.
fn checked_lease(lease: Interval) -> Result<Interval> {
    let fits = sql::read_one::<bool>(
        "SELECT $1 BETWEEN interval '1 second' AND interval '1 day'",
        &[lease.into()],
    )?;
    match fits {
        Some(true) => Ok(lease),
        _ => Err(invalid("lease", "it is below 1 second or above 1 day", "")),
    }
}

#[pg_extern(sql = false)]
fn complete_task(
    task_id: Option<i64>,
    lease_token: Option<pgrx::Uuid>,
    result: Option<Json>,
    input_tokens: Option<i64>,
    output_tokens: Option<i64>,
) -> std::result::Result<(), ErrorReport> {
    writable("complete_task")?;
    let (task_id, lease_token) = (
        given(task_id, "task_id")?,
        given(lease_token, "lease_token")?,
    );
    let task = tasks::leased(task_id, lease_token)?.ok_or(Error::LeaseEnded(task_id))?;
    let result = given(result, "result")?.value("result")?;
    registry::keep(&task.model)?;
    complete(&task, result)?;
    if !tasks::end(task_id, lease_token)? {
        return Err(Error::LeaseEnded(task_id).into());
    }
    status::close(Some(&task.model))?;
    status::count(
        &task,
        Usage {
            tasks: 1,
            input_tokens: input_tokens.unwrap_or_default().max(0),
            output_tokens: output_tokens.unwrap_or_default().max(0),
            ..Usage::default()
        },
    )?;
    Ok(())
}

#[pg_extern(sql = false)]
fn fail_task(
    task_id: Option<i64>,
    lease_token: Option<pgrx::Uuid>,
    error: Option<&str>,
    failure: Option<&str>,
    retry_after: Option<Interval>,
) -> std::result::Result<&'static str, ErrorReport> {
    writable("fail_task")?;
    let failure = Failure::parse(given(failure, "failure")?).map_err(Error::from)?;
    let error = given(error, "error")?;
    let retry_after = retry_after.map(seconds).transpose()?;
    let (task_id, lease_token) = (
        given(task_id, "task_id")?,
        given(lease_token, "lease_token")?,
    );
    let task = tasks::held(task_id, lease_token)?.ok_or(Error::LeaseEnded(task_id))?;
    Ok(give_back(&task, failure, error, retry_after)?)
}

/// Seconds of an interval, between 0 and a day.
fn seconds(interval: Interval) -> Result<f64> {
    let seconds = sql::read_one::<f64>(
        "SELECT date_part('epoch', least(greatest($1, interval '0'), interval '1 day'))",
        &[interval.into()],
    )?;
    Ok(seconds.unwrap_or_default())
}

/// Ends the lease of a task that failed, and returns its state.
fn give_back(
    task: &Task,
    failure: Failure,
    error: &str,
    retry_after: Option<f64>,
) -> Result<&'static str> {
    let error: String = error.chars().take(LONGEST_ERROR).collect();
    let breaker = status::of(&task.model)?.breaker();
    let settings = match registry::find(&task.model)? {
        Some(model) => ModelSettings::read(&model.settings)?,
        None => ModelSettings::default(),
    };
    let counts = failure.counts(&breaker);
    // The claim has counted the attempt.
    let attempts = if counts {
        task.attempts
    } else {
        task.attempts.saturating_sub(1)
    };
    let is_dead = counts && is_dead(attempts, settings.max_attempts);
    match failure {
        Failure::Model => status::failed(&task.model, breaker.failed(), &error)?,
        // The model has answered.
        Failure::Item => status::close(Some(&task.model))?,
        // The task that tried the model has not: the next one may.
        Failure::Limit | Failure::Stopped => status::try_again(&task.model)?,
    }
    if failure != Failure::Stopped {
        let usage = Usage {
            failures: 1,
            ..Usage::default()
        };
        status::count(task, usage)?;
    }
    let jitter = sql::write_one::<f64>("SELECT random()", &[])?.unwrap_or_default();
    tasks::release(
        task.task_id,
        &Release {
            is_dead,
            attempts,
            delay: retry_after.unwrap_or_else(|| failure.delay(attempts, jitter)),
            error: (failure != Failure::Stopped).then_some(&error),
        },
    )?;
    Ok(if is_dead { "dead" } else { "waiting" })
}

#[pg_extern(sql = false)]
fn retry_tasks(model: Option<&str>, kind: Option<&str>) -> std::result::Result<i64, ErrorReport> {
    writable("retry_tasks")?;
    let kind = kind.map(Kind::parse).transpose().map_err(Error::from)?;
    if let Some(model) = model
        && registry::find(model)?.is_none()
    {
        return Err(Error::UnknownModel(model.to_owned()).into());
    }
    status::close(model)?;
    Ok(tasks::retry(model, kind)?)
}
