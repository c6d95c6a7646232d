//! Votes on citations.

use reground_models::judge::prompt::{PROMPT, request as judge_request};
use reground_models::judge::reading::read_result;
use reground_models::judge::votes::is_deterministic;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::store::judge::rules;
use crate::store::judge::votes::{self, Vote};
use crate::store::models::registry;
use crate::store::models::tasks::Task;

/// A citation and the number of a vote on it.
struct Subject<'a> {
    tenant: &'a str,
    citation_id: i64,
    vote_no: i32,
}

/// The subject of a task, `CITATION_ID/VOTE_NO`.
fn subject(task: &Task) -> Result<Subject<'_>> {
    let parsed = task.subject.split_once('/');
    let parsed = parsed.and_then(|(id, no)| Some((id.parse().ok()?, no.parse().ok()?)));
    let (citation_id, vote_no) =
        parsed.ok_or_else(|| Error::Stored(format!("subject \"{}\"", task.subject)))?;
    Ok(Subject {
        tenant: task.tenant.as_deref().unwrap_or_default(),
        citation_id,
        vote_no,
    })
}

/// The request for a vote; `None` if judging was disabled, or if the citation or the text of its source was erased.
pub fn request(task: &Task) -> Result<Option<Value>> {
    let subject = subject(task)?;
    if !rules::is_enabled(subject.tenant, &task.model)? {
        return Ok(None);
    }
    let stored = votes::citation(subject.tenant, subject.citation_id)?;
    let request = stored.map(|stored| serde_json::to_value(judge_request(stored.cited())));
    Ok(request.transpose()?)
}

/// Stores a vote. The result is dropped if the source was erased meanwhile, because it may quote it.
pub fn complete(task: &Task, result: Value) -> Result<()> {
    let subject = subject(task)?;
    votes::hold(subject.tenant, subject.citation_id)?;
    let stored = votes::citation(subject.tenant, subject.citation_id)?;
    let (Some(stored), Some(model)) = (stored, registry::find(&task.model)?) else {
        return Ok(());
    };
    let judgement = read_result(&result, stored.cited())?;
    let vote = Vote {
        tenant: subject.tenant,
        citation_id: subject.citation_id,
        model: &task.model,
        prompt: PROMPT,
        vote_no: subject.vote_no,
        is_deterministic: is_deterministic(model.api),
    };
    votes::put(vote, &judgement)
}
