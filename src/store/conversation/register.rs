//! The markers and facts of a conversation that a new turn needs.

use reground_grounding::memory::FactSheet;
use reground_grounding::memory::MarkerRegister;
use reground_grounding::settings::MarkerStyle;

use crate::error::Result;
use crate::store::conversations::Conversation;
use crate::store::{facts, markers};

/// Reads the markers of the documents that may get into the context of a turn, and the facts of the last ended turn.
pub fn load<'a>(
    conversation: &Conversation,
    documents: impl Iterator<Item = (&'a str, &'a str)>,
    style: MarkerStyle,
) -> Result<MarkerRegister> {
    let rows = markers::of_documents(conversation.conversation_id, documents, style)?;
    let facts = match conversation.last_ended_turn_id {
        Some(turn_id) => facts::sheet(turn_id)?,
        None => FactSheet::new(),
    };
    Ok(MarkerRegister {
        markers: rows.iter().map(markers::Row::bound).collect(),
        facts,
        ..MarkerRegister::default()
    })
}
