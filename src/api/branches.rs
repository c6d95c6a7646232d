//! Going back in a conversation: a question is edited, or an answer asked for anew under another one.

use reground_grounding::decay::with_pins_of;
use reground_grounding::memory::RememberedSource;

use crate::error::{Error, Result};
use crate::store::conversations::{self, Conversation};
use crate::store::turns::Turn;
use crate::store::{sources, turns};

/// Lets a locked conversation stand where it stood after a turn of it, or before all of them (0), with today's pins. What was
/// said since stays as rows, off its path.
pub(super) fn go_back(
    tenant: &str,
    conversation: Conversation,
    parent: i64,
) -> Result<Conversation> {
    let conversation_id = conversation.conversation_id;
    let after = match parent {
        0 => Vec::new(),
        _ => after(tenant, conversation_id, parent)?,
    };
    let live = sources::of(conversation_id)?;
    sources::replace(tenant, conversation_id, &with_pins_of(&after, &live))?;
    turns::stand_after(conversation_id, parent)?;
    conversations::again(conversation)
}

/// The sources as a turn of the conversation left them.
fn after(tenant: &str, conversation_id: i64, parent: i64) -> Result<Vec<RememberedSource>> {
    let unknown = || Error::Unknown("turn", format!("{parent} in this conversation"));
    let turn = turns::load(tenant, parent)?;
    if turn.conversation_id != conversation_id {
        return Err(unknown());
    }
    if turn.state != "ended" {
        return Err(Error::WrongState {
            turn: parent,
            state: turn.state,
            wanted: "followed as a parent",
            hint: "Name a turn that was answered; the parent of an edited question is the turn before it (0: there is none).",
        });
    }
    Ok(turn.sources_after.unwrap_or_default())
}

/// The sources that a turn off the path started from: as its parent left them.
pub(super) fn before(tenant: &str, turn: &Turn) -> Result<Vec<RememberedSource>> {
    let Some(parent) = turn.parent else {
        return Ok(Vec::new());
    };
    let parent = turns::load(tenant, parent)?;
    Ok(parent.sources_after.unwrap_or_default())
}
