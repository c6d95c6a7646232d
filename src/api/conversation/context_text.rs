//! `context_text`: the text to embed besides a question, so that a follow-up finds the passages of its subject.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::query::context_text::{PreviousTurn, context_text as compose};
use reground_grounding::query::query_expansion::without_citations;

use crate::api::not_empty;
use crate::error::Error;
use crate::retrieve::visibility;
use crate::store::{conversations, earlier_turns};
use crate::tenant;

#[pg_extern(sql = false)]
fn context_text(
    conversation_ref: Option<&str>,
    query: Option<&str>,
    parent_turn_id: Option<i64>,
) -> std::result::Result<String, ErrorReport> {
    let tenant = tenant::required()?;
    let conversation_ref = not_empty(conversation_ref, "conversation_ref")?;
    let query = not_empty(query, "query")?;
    let previous = match conversations::id(&tenant, conversation_ref)? {
        Some(conversation_id) => earlier_turns::previous(conversation_id, parent_turn_id)?,
        None => None,
    };
    if let Some(parent) = parent_turn_id
        && parent != 0
        && previous.is_none()
    {
        return Err(Error::Unknown("turn", parent.to_string()).into());
    }
    let hidden = visibility::hidden_turns(
        &tenant,
        previous.as_ref().map(|turn| turn.turn_id).as_slice(),
    )?;
    let previous = previous.map(|turn| PreviousTurn {
        answer: match hidden.contains(&turn.turn_id) {
            true => String::new(),
            false => without_citations(&turn.answer, &turn.citations),
        },
        query: turn.query,
    });
    Ok(compose(previous.as_ref(), query))
}
