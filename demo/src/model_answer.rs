//! Answers of a language model.

use anyhow::Result;
use postgres::Client;

use crate::answer::Answer;
use crate::service::Llm;
use crate::turn::BegunTurn;

/// Returns the answer of a language model, which gets the instructions and the sources of the database.
///
/// # Errors
/// An error of the database or of the model.
pub fn ask(client: &mut Client, llm: &Llm, turn: &BegunTurn, question: &str) -> Result<Answer> {
    let prompt = client.query_one(
        "SELECT reground.citation_instructions(), reground.prompt_context($1)",
        &[&turn.turn_id],
    )?;
    Ok(Answer {
        text: llm.answer(prompt.get(0), prompt.get(1), question)?,
        statements: Vec::new(),
    })
}
