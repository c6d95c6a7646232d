//! The SQL functions of the queue.
//!
//! All statements are unnamed and typed, so they also work through a pooler that changes the connection between transactions.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{Json, ToSql, Type};
use tokio_postgres::{Client, Error, Row};

use crate::batch::Done;
use crate::failure::Failure;
use crate::model::{Model, Settings, Task};

const COMPLETE: &str = "SELECT reground.complete_task($1, $2, $3, $4, $5)";

/// What became of a result.
#[derive(Debug)]
pub enum Stored {
    /// It is stored.
    Yes,
    /// The lease was no longer held, so another worker has the task.
    Lost,
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

/// Stores results in one transaction, or each alone if one of them has an error.
///
/// # Errors
/// The error of the connection, or another one that concerns all results.
pub async fn complete(
    client: &mut Client,
    results: &[(&Task, &Done)],
) -> Result<Vec<Stored>, Error> {
    if results.len() > 1 {
        let transaction = client.transaction().await?;
        let calls = results.iter().map(|(task, done)| async {
            let done = Parameters::new(task, done);
            transaction
                .query_typed(COMPLETE, &done.list())
                .await
                .map(drop)
        });
        let ended = join_all(calls).await;
        if ended.iter().all(Result::is_ok) && transaction.commit().await.is_ok() {
            return Ok(results.iter().map(|_| Stored::Yes).collect());
        }
    }
    let mut stored = Vec::with_capacity(results.len());
    for (task, done) in results {
        let parameters = Parameters::new(task, done);
        let mut ended = client.query_typed(COMPLETE, &parameters.list()).await;
        if ended.as_ref().is_err_and(is_conflict) {
            ended = client.query_typed(COMPLETE, &parameters.list()).await;
        }
        stored.push(match ended {
            Ok(_) => Stored::Yes,
            Err(error) => classify(error)?,
        });
    }
    Ok(stored)
}

fn classify(error: Error) -> Result<Stored, Error> {
    let Some(state) = error.code() else {
        return Err(error);
    };
    if *state == SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE {
        Ok(Stored::Lost)
    } else if is_passing(&error) {
        Err(error)
    } else {
        let message = error.as_db_error().map_or("", |error| error.message());
        Ok(Stored::Refused(format!(
            "the database refused the result: {message} ({})",
            state.code()
        )))
    }
}

/// Returns whether another attempt may succeed: the connection, resources, a shutdown, or a conflict.
pub fn is_passing(error: &Error) -> bool {
    error.code().is_none_or(|state| {
        ["08", "40", "53", "57"]
            .iter()
            .any(|class| state.code().starts_with(class))
    })
}

fn is_conflict(error: &Error) -> bool {
    error
        .code()
        .is_some_and(|state| state.code().starts_with("40"))
}

struct Parameters<'a> {
    task: &'a Task,
    done: &'a Done,
    result: Json<&'a Value>,
}

impl<'a> Parameters<'a> {
    fn new(task: &'a Task, done: &'a Done) -> Self {
        Self {
            task,
            done,
            result: Json(&done.result),
        }
    }

    fn list(&self) -> [(&(dyn ToSql + Sync), Type); 5] {
        [
            (&self.task.id, Type::INT8),
            (&self.task.lease_token, Type::UUID),
            (&self.result, Type::JSONB),
            (&self.done.input_tokens, Type::INT8),
            (&self.done.output_tokens, Type::INT8),
        ]
    }
}

/// Reports a failure and returns the new state of the task; none if its lease was no longer held.
///
/// # Errors
/// The error of the database.
pub async fn fail(
    client: &Client,
    task: &Task,
    failure: &Failure,
) -> Result<Option<String>, Error> {
    let statement = "SELECT reground.fail_task($1, $2, $3, $4, make_interval(secs => $5))";
    let pause = failure.retry_after.map(|pause| pause.as_secs_f64());
    let row = client
        .query_typed_one(
            statement,
            &[
                (&task.id, Type::INT8),
                (&task.lease_token, Type::UUID),
                (&failure.message, Type::TEXT),
                (&failure.class.name(), Type::TEXT),
                (&pause, Type::FLOAT8),
            ],
        )
        .await;
    match row {
        Ok(row) => row.try_get(0),
        Err(error) if error.code() == Some(&SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE) => Ok(None),
        Err(error) => Err(error),
    }
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
