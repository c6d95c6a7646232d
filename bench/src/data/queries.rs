//! Queries with their embeddings, and human relevance judgements.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::{Domain, Folder, json_lines, vectors};

/// The form of a turn's query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The user's words.
    LastTurn,
    /// A stand-alone rewrite by a language model.
    Rewrite,
    /// All questions of the user so far.
    Questions,
}

impl Form {
    /// All variants, in the order of the reports.
    pub const ALL: [Self; 3] = [Self::LastTurn, Self::Rewrite, Self::Questions];

    /// The name in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::LastTurn => "lastturn",
            Self::Rewrite => "rewrite",
            Self::Questions => "questions",
        }
    }
}

/// A query of one turn.
#[derive(Debug)]
pub struct Query {
    /// Conversation and turn, as in the judgements.
    pub id: String,
    /// Number of the turn in its conversation, from 1.
    pub turn: u32,
    /// The text without the speaker's label.
    pub text: String,
    /// Embedding of the text.
    pub embedding: Vec<f32>,
}

impl Query {
    /// Id of the conversation.
    pub fn conversation(&self) -> &str {
        self.id
            .split_once("<::>")
            .map_or(&self.id, |(conversation, _)| conversation)
    }
}

/// Relevant passages by query.
pub type Judgements = BTreeMap<String, BTreeSet<String>>;

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "_id")]
    id: String,
    text: String,
}

/// The queries of a domain in one form, in the order of the file.
///
/// # Errors
/// Missing or malformed files, ids without a turn.
pub fn queries(folder: &Folder, domain: Domain, form: Form) -> Result<Vec<Query>> {
    let name = format!("{}_{}", domain.name(), form.name());
    let lines: Vec<Line> = json_lines(&folder.file(&format!("queries/{name}.jsonl")))?;
    let embeddings = vectors::read(folder, &name, lines.len())?;
    lines
        .into_iter()
        .zip(embeddings)
        .map(|(line, embedding)| {
            Ok(Query {
                turn: turn_of(&line.id)?,
                text: without_speaker(&line.text),
                id: line.id,
                embedding,
            })
        })
        .collect()
}

/// The judgements of a domain. The file has a header line, then query, passage and grade, separated by tabs.
///
/// # Errors
/// A missing or malformed file.
pub fn judgements(folder: &Folder, domain: Domain) -> Result<Judgements> {
    let path = folder.file(&format!("qrels/{}.tsv", domain.name()));
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    let mut judgements = Judgements::new();
    for (line, number) in text.lines().zip(1..).skip(1) {
        let place = || format!("{}:{number}", path.display());
        let mut fields = line.split('\t');
        let (Some(query), Some(passage), Some(grade)) =
            (fields.next(), fields.next(), fields.next())
        else {
            anyhow::bail!("{}: three fields expected", place());
        };
        if grade.trim().parse::<i32>().with_context(place)? > 0 {
            judgements
                .entry(query.to_owned())
                .or_default()
                .insert(passage.to_owned());
        }
    }
    Ok(judgements)
}

/// Splits `CONVERSATION<::>TURN`.
///
/// # Errors
/// An id of another form.
pub fn conversation_and_turn(id: &str) -> Result<(&str, u32)> {
    let (conversation, turn) = id
        .split_once("<::>")
        .with_context(|| format!("{id:?} names no turn"))?;
    Ok((
        conversation,
        turn.parse().with_context(|| format!("turn of {id:?}"))?,
    ))
}

fn turn_of(id: &str) -> Result<u32> {
    Ok(conversation_and_turn(id)?.1)
}

/// Removes the label of the speaker at the start of each line.
fn without_speaker(text: &str) -> String {
    text.lines()
        .map(|line| line.trim().trim_start_matches("|user|:").trim())
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speaker_is_removed() {
        assert_eq!(without_speaker("|user|: Why?"), "Why?");
        assert_eq!(
            without_speaker("|user|: a | b\n|user|:  and then? \n"),
            "a | b\nand then?"
        );
    }

    #[test]
    fn ids_contain_conversation_and_turn() {
        assert_eq!(conversation_and_turn("ab<::>12").unwrap(), ("ab", 12));
        assert!(conversation_and_turn("ab12").is_err());
        assert!(conversation_and_turn("ab<::>x").is_err());
    }
}
