//! Decompositions of answers into statements, for evaluations of factuality.

use reground_models::decompose;
use serde_json::Value;

use crate::error::Result;
use crate::store::factuality::evaluations;
use crate::store::models::tasks::Task;

/// The request for the statements of an answer; `None` if its evaluation has them, or is gone.
pub fn request(task: &Task) -> Result<Option<Value>> {
    let texts = evaluations::decomposable(task.of_tenant(), task.subject_id())?;
    let request = texts.map(|texts| decompose::request(Some(&texts.query), &texts.answer));
    Ok(request.map(serde_json::to_value).transpose()?)
}

/// Stores the statements, and queues their verdicts.
pub fn complete(task: &Task, result: &Value) -> Result<()> {
    let statements = decompose::read_result(result)?;
    evaluations::store_statements(task.of_tenant(), task.subject_id(), &statements)
}
