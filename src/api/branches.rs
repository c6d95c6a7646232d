//! Going back in a conversation: a question is edited, or an answer asked for anew under another one.

use reground_grounding::memory::RememberedSource;
use reground_grounding::memory::decay::with_pins_of;

use crate::error::{Error, Result};
use crate::store::conversations::{self, Conversation};
use crate::store::turns::Turn;
use crate::store::{sources, turns};

/// Lets a locked conversation stand where it stood after a turn of it, or before all of them (0), with today's pins. What was
/// said since stays as rows, off its path.
pub(super) fn go_back(
    tenant: &str,
    conversation: Conversation,
    parent_turn_id: i64,
) -> Result<Conversation> {
    let conversation_id = conversation.conversation_id;
    if parent_turn_id != 0 {
        check(tenant, conversation_id, parent_turn_id)?;
    }
    let left = left_by(conversation_id, Some(parent_turn_id))?;
    let live = sources::of(conversation_id)?;
    let restored = with_pins_of(&left, &live);
    sources::restore(tenant, conversation_id, &restored, parent_turn_id)?;
    turns::stand_after(conversation_id, parent_turn_id)?;
    conversations::again(conversation)
}

/// Refuses a parent that is not an answered turn of the conversation.
fn check(tenant: &str, conversation_id: i64, parent_turn_id: i64) -> Result<()> {
    let turn = turns::load(tenant, parent_turn_id)?;
    if turn.conversation_id != conversation_id {
        let named = format!("{parent_turn_id} in this conversation");
        return Err(Error::Unknown("turn", named));
    }
    if turn.state != "ended" {
        return Err(Error::WrongState {
            turn: parent_turn_id,
            state: turn.state,
            wanted: "followed as a parent",
            hint: "Name a turn that was answered; the parent of an edited question is the turn before it (0: there is none).",
        });
    }
    Ok(())
}

/// The sources that a turn off the path started from: as its parent left them.
pub(super) fn before(turn: &Turn) -> Result<Vec<RememberedSource>> {
    left_by(turn.conversation_id, turn.parent_turn_id)
}

fn left_by(conversation_id: i64, turn: Option<i64>) -> Result<Vec<RememberedSource>> {
    match turn {
        None | Some(0) => Ok(Vec::new()),
        Some(turn) => turns::sources_left(conversation_id, turn),
    }
}
