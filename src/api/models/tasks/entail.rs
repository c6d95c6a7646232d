//! Verdicts on statements and facts, for evaluations of factuality.

use reground_models::entail;
use serde_json::Value;

use crate::error::Result;
use crate::store::factuality::evaluations;
use crate::store::models::tasks::Task;

/// The request for a verdict; `None` if it is there, or its evaluation is gone.
pub fn request(task: &Task) -> Result<Option<Value>> {
    let texts = evaluations::judgeable(task.of_tenant(), task.subject_id())?;
    let request = texts.map(|texts| entail::request(&texts.premise, &texts.statement));
    Ok(request.map(serde_json::to_value).transpose()?)
}

/// Stores the verdict.
pub fn complete(task: &Task, result: &Value) -> Result<()> {
    let Some(texts) = evaluations::judgeable(task.of_tenant(), task.subject_id())? else {
        return Ok(());
    };
    let verdict = entail::read_result(result, &texts.statement)?;
    evaluations::store_verdict(task.of_tenant(), task.subject_id(), verdict)
}
