//! The kinds of tasks: the request that a worker gets, and what its result changes.

pub mod embed;
pub mod judge;
pub mod rerank;

use reground_models::kind::Kind;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::sql;
use crate::store::models::tasks::Task;

/// What a claimed task needs.
pub enum Prepared {
    /// A call of the model.
    Request(Value),
    /// Nothing any more: its subject is gone, or is done.
    Gone,
    /// It cannot be prepared: the error.
    Failed(String),
}

/// Prepares claimed tasks of one model, in their order. An error concerns only the tasks that it affects.
pub fn prepare(tasks: &[Task]) -> Result<Vec<Prepared>> {
    match tasks.first().map(|task| task.kind) {
        None => Ok(Vec::new()),
        Some(Kind::Embed) => embed::prepare(tasks),
        Some(kind) => Ok(tasks.iter().map(|task| prepare_alone(kind, task)).collect()),
    }
}

fn prepare_alone(kind: Kind, task: &Task) -> Prepared {
    let request = sql::guarded(|| match kind {
        Kind::Rerank => rerank::request(task),
        Kind::Judge => judge::request(task),
        other => Err(Error::NoSuchTasks(other.name())),
    });
    match request {
        Ok(Some(request)) => Prepared::Request(request),
        Ok(None) => Prepared::Gone,
        Err(caught) => Prepared::Failed(caught.described()),
    }
}

/// Stores the result of a task. Errors: 22023 if the result cannot be used.
pub fn complete(task: &Task, result: Value) -> Result<()> {
    match task.kind {
        Kind::Embed => embed::complete(task, result),
        Kind::Rerank => rerank::complete(task, result),
        Kind::Judge => judge::complete(task, result),
        other => Err(Error::NoSuchTasks(other.name())),
    }
}
