//! Branches of a conversation: a turn that follows an earlier turn instead of the latest.

use reground_grounding::memory::RememberedSource;
use reground_grounding::memory::decay::with_pins_of;

use crate::error::{Error, Result};
use crate::store::conversations::{self, Conversation};
use crate::store::turns::Turn;
use crate::store::{sources, turns};

/// Restores the state of a locked conversation after a turn, or before the first (0), with the current pins. Later turns stay
/// stored as superseded.
pub(in crate::api) fn go_back(
    tenant: &str,
    conversation: Conversation,
    parent_turn_id: i64,
) -> Result<Conversation> {
    let conversation_id = conversation.conversation_id;
    if parent_turn_id != 0 {
        check(tenant, conversation_id, parent_turn_id)?;
    }
    let left = sources_after(conversation_id, Some(parent_turn_id))?;
    let live = sources::of(conversation_id)?;
    let restored = with_pins_of(&left, &live);
    sources::restore(tenant, conversation_id, &restored, parent_turn_id)?;
    turns::stand_after(conversation_id, parent_turn_id)?;
    conversations::again(conversation)
}

/// Checks that a parent is an answered turn of the conversation. Errors: 55000 if it is not answered, P0002 if it is not there.
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
            hint: "Pass a turn that was answered. The parent of an edited question is the turn before it, or 0.",
        });
    }
    Ok(())
}

/// Returns the remembered sources that the parent of a turn has left.
pub(in crate::api) fn sources_before(turn: &Turn) -> Result<Vec<RememberedSource>> {
    sources_after(turn.conversation_id, turn.parent_turn_id)
}

fn sources_after(conversation_id: i64, turn_id: Option<i64>) -> Result<Vec<RememberedSource>> {
    match turn_id {
        None | Some(0) => Ok(Vec::new()),
        Some(turn_id) => turns::sources_left(conversation_id, turn_id),
    }
}
