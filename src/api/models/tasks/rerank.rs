//! Reranks of deferred turns.

use reground_grounding::begin::Gathered;
use reground_grounding::begin::rerank::Reranked;
use reground_models::rerank;
use serde_json::Value;

use crate::error::Result;
use crate::store::models::tasks::Task;
use crate::store::turns::{self, Pending};

/// The request for the candidates of a turn; `None` if it does not wait for them any more.
pub fn request(task: &Task) -> Result<Option<Value>> {
    let Some((pending, gathered)) = pending(task)? else {
        return Ok(None);
    };
    let passages: Vec<&str> = gathered
        .candidates
        .iter()
        .map(|candidate| candidate.passage.content.as_str())
        .collect();
    Ok(Some(rerank::request(&pending.query, &passages)))
}

/// Stores the scores with the turn, for `apply_rerank`.
pub fn complete(task: &Task, result: Value) -> Result<()> {
    let Some((pending, gathered)) = pending(task)? else {
        return Ok(());
    };
    let scores = rerank::read(result, gathered.candidates.len())?;
    // By name: a candidate can be erased before the scores are applied.
    let results: Vec<Reranked> = gathered
        .candidates
        .into_iter()
        .zip(scores)
        .filter(|(_, score)| score.is_some())
        .map(|(candidate, score)| Reranked {
            chunk_id: Some(candidate.passage.chunk_id),
            corpus: Some(candidate.passage.corpus),
            score,
            ..Reranked::default()
        })
        .collect();
    turns::store_rerank(pending.turn_id, &results)
}

fn pending(task: &Task) -> Result<Option<(Pending, Gathered)>> {
    let Some(pending) = turns::pending(task.turn_id.unwrap_or_default())? else {
        return Ok(None);
    };
    let gathered = serde_json::from_value(pending.candidates.clone())?;
    Ok(Some((pending, gathered)))
}
