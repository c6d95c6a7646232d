//! The markers and facts of a conversation that a new turn needs.

use std::collections::BTreeSet;

use reground_grounding::memory::FactSheet;
use reground_grounding::memory::MarkerRegister;
use reground_grounding::settings::MarkerStyle;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;
use crate::store::conversations::Conversation;
use crate::store::markers;

/// Reads the markers of the documents that may get into the context of a turn, and the facts of the last ended turn.
pub fn load<'a>(
    conversation: &Conversation,
    documents: impl Iterator<Item = (&'a str, &'a str)>,
    style: MarkerStyle,
) -> Result<MarkerRegister> {
    let facts = match conversation.last_ended_turn_id {
        Some(turn_id) => facts(turn_id)?,
        None => FactSheet::new(),
    };
    Ok(MarkerRegister {
        markers: markers::of_documents(conversation.conversation_id, documents, style)?,
        facts,
        ..MarkerRegister::default()
    })
}

/// The facts of a turn, by marker.
fn facts(turn_id: i64) -> Result<FactSheet> {
    let facts: Vec<(String, BTreeSet<String>)> = as_owner(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(json_build_array(f.marker, f.facts)), '[]')::text \
             FROM (SELECT marker, array_agg(fact) AS facts FROM reground.source_facts WHERE turn_id = $1 GROUP BY marker) AS f",
            &[turn_id.into()],
        )
    })?
    .unwrap_or_default();
    Ok(facts.into_iter().collect())
}
