//! The SQL functions of the queue.
//!
//! All statements are unnamed and typed, so they also work through a pooler that changes the connection between transactions.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::types::{Json, ToSql, Type};
use tokio_postgres::{Client, Error, Row};

use crate::batch::{Done, Outcome};
use crate::failure::Failure;
use crate::model::{Model, Settings, Task};

/// What became of a result or of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// It is stored.
    Yes,
    /// The lease was no longer held, so another worker has the task.
    Lost,
    /// It is not stored, but may be later.
    Conflict(String),
    /// The database cannot use it.
    Refused(String),
}

/// A row of `worker_models()` that this worker cannot use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusableModel {
    /// The name of the model.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Lists the models.
///
/// # Errors
/// The error of the database.
pub async fn worker_models(client: &Client) -> Result<Vec<Result<Model, UnusableModel>>, Error> {
    let statement = "SELECT model, task, api, endpoint, api_model, dimensions, key_name, settings \
                     FROM reground.worker_models()";
    let rows = client.query_typed(statement, &[]).await?;
    rows.iter().map(read_model).collect()
}

fn read_model(row: &Row) -> Result<Result<Model, UnusableModel>, Error> {
    let name: String = row.try_get("model")?;
    let api: String = row.try_get("api")?;
    let settings: Option<Value> = row.try_get("settings")?;
    let unusable = |reason: String| UnusableModel {
        name: name.clone(),
        reason,
    };
    let api = match api.parse() {
        Ok(api) => api,
        Err(reason) => return Ok(Err(unusable(reason))),
    };
    let settings = match settings.map_or_else(|| Ok(Settings::default()), serde_json::from_value) {
        Ok(settings) => settings,
        Err(error) => return Ok(Err(unusable(format!("invalid settings: {error}")))),
    };
    let dimensions: Option<i32> = row.try_get("dimensions")?;
    Ok(Ok(Model {
        task: row.try_get("task")?,
        api,
        endpoint: row.try_get("endpoint")?,
        api_model: row
            .try_get::<_, Option<String>>("api_model")?
            .unwrap_or_else(|| name.clone()),
        dimensions: dimensions.and_then(|dimensions| usize::try_from(dimensions).ok()),
        key_name: row.try_get("key_name")?,
        settings,
        name,
    }))
}

/// Claims tasks of one model.
///
/// # Errors
/// The error of the database.
pub async fn claim(
    client: &Client,
    worker: &str,
    model: &str,
    most: usize,
    lease: Duration,
) -> Result<Vec<Task>, Error> {
    let statement = "SELECT task_id, lease_token, kind, attempts, request FROM reground.claim_tasks(\
                     $1, NULL, ARRAY[$2], $3, make_interval(secs => $4))";
    let most = i32::try_from(most).unwrap_or(i32::MAX);
    let rows = client
        .query_typed(
            statement,
            &[
                (&worker, Type::TEXT),
                (&model, Type::TEXT),
                (&most, Type::INT4),
                (&lease.as_secs_f64(), Type::FLOAT8),
            ],
        )
        .await?;
    rows.iter()
        .map(|row| {
            Ok(Task {
                id: row.try_get("task_id")?,
                lease_token: row.try_get("lease_token")?,
                kind: row.try_get("kind")?,
                attempts: row.try_get("attempts")?,
                request: row.try_get("request")?,
            })
        })
        .collect()
}

/// Stores results and reports failures, each in a transaction of its own, so that an error of one task concerns no other. The
/// statements are sent together. Returns what became of each report, or the error of a broken connection.
pub async fn report(client: &Client, reports: &[(&Task, &Outcome)]) -> Vec<Result<Stored, Error>> {
    let calls = reports.iter().map(|(task, outcome)| async {
        let ended = match outcome {
            Ok(done) => complete(client, task, done).await,
            Err(failure) => fail(client, task, failure).await,
        };
        match ended {
            Ok(()) => Ok(Stored::Yes),
            Err(error) => classify(error),
        }
    });
    join_all(calls).await
}

async fn complete(client: &Client, task: &Task, done: &Done) -> Result<(), Error> {
    let statement = "SELECT reground.complete_task($1, $2, $3, $4, $5)";
    let parameters = [
        (&task.id as &(dyn ToSql + Sync), Type::INT8),
        (&task.lease_token, Type::UUID),
        (&Json(&done.result), Type::JSONB),
        (&done.input_tokens, Type::INT8),
        (&done.output_tokens, Type::INT8),
    ];
    client.query_typed(statement, &parameters).await.map(drop)
}

async fn fail(client: &Client, task: &Task, failure: &Failure) -> Result<(), Error> {
    let statement = "SELECT reground.fail_task($1, $2, $3, $4, make_interval(secs => $5))";
    let pause = failure.retry_after.map(|pause| pause.as_secs_f64());
    let parameters = [
        (&task.id as &(dyn ToSql + Sync), Type::INT8),
        (&task.lease_token, Type::UUID),
        (&failure.message, Type::TEXT),
        (&failure.class.name(), Type::TEXT),
        (&pause, Type::FLOAT8),
    ];
    client.query_typed(statement, &parameters).await.map(drop)
}

fn classify(error: Error) -> Result<Stored, Error> {
    // A trigger can raise each SQLSTATE, also one of a shutdown. Only FATAL ends the connection.
    let ended = |error: &&DbError| {
        let severity = error.parsed_severity();
        matches!(severity, Some(Severity::Fatal | Severity::Panic))
    };
    match error.as_db_error() {
        // The extension was updated: a new connection has its new library.
        Some(answer) if *answer.code() == SqlState::FEATURE_NOT_SUPPORTED => Err(error),
        Some(answer) if !ended(&answer) => Ok(refusal(answer.code(), answer.message())),
        _ => Err(error),
    }
}

fn refusal(state: &SqlState, message: &str) -> Stored {
    let code = state.code();
    if *state == SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE {
        Stored::Lost
    } else if is_conflict(state) {
        Stored::Conflict(format!(
            "the result could not be stored for the moment ({code})"
        ))
    } else {
        Stored::Refused(format!(
            "the database refused the result: {message} ({code})"
        ))
    }
}

/// Returns whether a later attempt may succeed: deadlocks and other conflicts, locks, timeouts, full disks.
fn is_conflict(state: &SqlState) -> bool {
    [SqlState::LOCK_NOT_AVAILABLE, SqlState::QUERY_CANCELED].contains(state)
        || ["40", "53"]
            .iter()
            .any(|class| state.code().starts_with(class))
}

/// Returns whether another attempt may succeed: the connection, resources, a shutdown, or a conflict.
pub fn is_passing(error: &Error) -> bool {
    error.code().is_none_or(|state| {
        ["08", "40", "53", "57"]
            .iter()
            .any(|class| state.code().starts_with(class))
    })
}

/// Queues the passages that have no embedding yet, and returns their number.
///
/// # Errors
/// The error of the database.
pub async fn queue_embeddings(client: &Client) -> Result<i64, Error> {
    let statement = "SELECT reground.queue_embeddings()";
    client
        .query_typed_one(statement, &[])
        .await?
        .try_get::<_, Option<i64>>(0)
        .map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_have_kinds() {
        let kind = |code| refusal(&SqlState::from_code(code), "message");
        assert_eq!(kind("55000"), Stored::Lost);
        for code in ["55P03", "40P01", "40001", "57014", "53100"] {
            let Stored::Conflict(message) = kind(code) else {
                panic!("{code} is no conflict");
            };
            assert!(message.contains(code), "{message}");
        }
        for code in ["22023", "57P01", "08006", "P0001"] {
            let expected = format!("the database refused the result: message ({code})");
            assert_eq!(kind(code), Stored::Refused(expected));
        }
    }
}
