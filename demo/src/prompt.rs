//! The prompt of a turn: instructions, sources, earlier messages.

use anyhow::Result;
use postgres::Client;

/// What a model gets before the question.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// How to cite.
    pub instructions: String,
    /// The block of the sources.
    pub sources: String,
    /// The history, in order.
    pub history: Vec<Message>,
}

/// An entry of the history.
#[derive(Clone, Debug)]
pub struct Message {
    /// `sources` for the list of cited sources, `user` or `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
}

/// Reads the prompt of an open turn.
///
/// # Errors
/// An error of the database.
pub fn read(client: &mut Client, turn_id: i64, conversation_ref: &str) -> Result<Prompt> {
    let parts = client.query_one(
        "SELECT reground.citation_instructions(turn_id => $1), reground.prompt_context($1)",
        &[&turn_id],
    )?;
    let history = client.query(
        "SELECT role, content FROM reground.history($1) ORDER BY entry_no",
        &[&conversation_ref],
    )?;
    Ok(Prompt {
        instructions: parts.get(0),
        sources: parts.get(1),
        history: history
            .iter()
            .map(|row| Message {
                role: row.get(0),
                content: row.get(1),
            })
            .collect(),
    })
}
