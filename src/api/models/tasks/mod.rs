//! The kinds of tasks: the request that a worker gets, and what its result changes.

pub mod decompose;
pub mod embed;
pub mod entail;
pub mod judge;
mod prepared;
pub mod rerank;

use reground_models::kind::Kind;
use serde_json::Value;

pub use self::prepared::Prepared;

use crate::error::{Error, Result};
use crate::sql;
use crate::store::models::tasks::Task;

/// Prepares claimed tasks of one model, in their order. An error concerns only the tasks that it affects.
pub fn prepare(tasks: &[Task]) -> Result<Vec<Prepared>> {
    let prepared = match tasks.first().map(|task| task.kind) {
        None => Vec::new(),
        Some(Kind::Embed) => embed::prepare(tasks)?,
        Some(Kind::Rerank) => one_by_one(tasks, rerank::request),
        Some(Kind::Judge) => one_by_one(tasks, judge::request),
        Some(Kind::Decompose) => one_by_one(tasks, decompose::request),
        Some(Kind::Entail) => one_by_one(tasks, entail::request),
    };
    Ok(prepared)
}

fn one_by_one(tasks: &[Task], request: fn(&Task) -> Result<Option<Value>>) -> Vec<Prepared> {
    let prepare = |task| {
        let prepared = sql::guarded(|| match request(task) {
            Err(Error::Sealed) => Ok(Prepared::Sealed),
            Ok(Some(request)) => Ok(Prepared::Request(request)),
            Ok(None) => Ok(Prepared::Gone),
            Err(error) => Err(error),
        });
        prepared.unwrap_or_else(|caught| Prepared::Failed(caught.described()))
    };
    tasks.iter().map(prepare).collect()
}

/// Stores the result of a task. Errors: 22023 if the result cannot be used.
pub fn complete(task: &Task, result: Value) -> Result<()> {
    match task.kind {
        Kind::Embed => embed::complete(task, result),
        Kind::Rerank => rerank::complete(task, result),
        Kind::Decompose => decompose::complete(task, &result),
        Kind::Entail => entail::complete(task, &result),
        Kind::Judge => judge::complete(task, result),
    }
}
