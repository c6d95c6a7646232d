//! The embeddings of the questions with the turns before them.

use std::collections::BTreeMap;

use anyhow::Result;
use reground_grounding::query::context_text::{PreviousTurn, context_text};

use crate::data::embedder::Embedder;
use crate::data::tasks::Conversation;

/// The embedding of the context text of each turn, by the turn's id.
pub type Contexts = BTreeMap<String, Vec<f32>>;

/// Embeds the context text of every turn.
///
/// # Errors
/// Those of the embedder.
pub fn embed(embedder: &mut Embedder, conversations: &[Conversation]) -> Result<Contexts> {
    let (ids, texts): (Vec<&String>, Vec<String>) = conversations
        .iter()
        .flat_map(|conversation| {
            let turns = &conversation.turns;
            let before = std::iter::once(None).chain(turns.iter().map(Some));
            turns.iter().zip(before).map(|(turn, before)| {
                let before = before.map(|before| PreviousTurn {
                    query: before.question.clone(),
                    answer: before.answer.clone(),
                });
                (&turn.id, context_text(before.as_ref(), &turn.question))
            })
        })
        .unzip();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let embeddings = embedder.embed("context texts", &texts)?;
    Ok(ids.into_iter().cloned().zip(embeddings).collect())
}
