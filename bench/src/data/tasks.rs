//! Conversations: the user's questions and the answers that humans wrote.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Deserialize;

use super::queries::conversation_and_turn;
use super::{Domain, Folder, json_lines};

/// A turn of a conversation.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Conversation and turn, as in queries and judgements.
    pub id: String,
    /// Number in the conversation, from 1.
    pub number: u32,
    /// The user's words.
    pub question: String,
    /// The human-written answer.
    pub answer: String,
    /// Whether the corpus answers the question, as humans judged.
    pub answerability: Answerability,
}

/// A label of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Answerability {
    /// The corpus has an answer.
    #[default]
    Answerable,
    /// It answers a part of the question.
    Partial,
    /// It has no answer.
    Unanswerable,
    /// The user's words need no answer from a corpus.
    Conversational,
}

impl Answerability {
    /// All labels, in the order of the reports.
    pub const ALL: [Self; 4] = [
        Self::Answerable,
        Self::Partial,
        Self::Unanswerable,
        Self::Conversational,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answerable => "answerable",
            Self::Partial => "partial",
            Self::Unanswerable => "unanswerable",
            Self::Conversational => "conversational",
        }
    }
}

/// A conversation with its turns in order.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Its domain.
    pub domain: Domain,
    /// Id in the data.
    pub id: String,
    /// Turns in order.
    pub turns: Vec<Turn>,
}

#[derive(Deserialize)]
struct Line {
    task_id: String,
    user: User,
    agent: Said,
}

#[derive(Deserialize)]
struct User {
    text: String,
    enrichments: Enrichments,
}

#[derive(Deserialize)]
struct Enrichments {
    #[serde(rename = "Answerability")]
    answerability: [Answerability; 1],
}

#[derive(Deserialize)]
struct Said {
    text: String,
}

/// The conversations of a domain, by id.
///
/// # Errors
/// A missing or malformed file, ids without a turn.
pub fn conversations(folder: &Folder, domain: Domain) -> Result<Vec<Conversation>> {
    let lines: Vec<Line> = json_lines(&folder.file(&format!("tasks/{}.jsonl.gz", domain.name())))?;
    let mut turns: BTreeMap<String, Vec<Turn>> = BTreeMap::new();
    for line in lines {
        let (conversation, number) = conversation_and_turn(&line.task_id)?;
        turns
            .entry(conversation.to_owned())
            .or_default()
            .push(Turn {
                number,
                question: line.user.text.trim().to_owned(),
                answer: line.agent.text.trim().to_owned(),
                answerability: line.user.enrichments.answerability[0],
                id: line.task_id,
            });
    }
    Ok(turns
        .into_iter()
        .map(|(id, mut turns)| {
            turns.sort_by_key(|turn| turn.number);
            Conversation { domain, id, turns }
        })
        .collect())
}

/// The conversation with most turns; the first by domain and id among equals.
pub fn longest(conversations: &[Conversation]) -> Option<&Conversation> {
    conversations.iter().min_by(|a, b| {
        b.turns
            .len()
            .cmp(&a.turns.len())
            .then_with(|| (a.domain, &a.id).cmp(&(b.domain, &b.id)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_conversation_does_not_depend_on_the_order() {
        let conversation = |domain, id: &str, turns| Conversation {
            domain,
            id: id.into(),
            turns: (1..=turns)
                .map(|number| Turn {
                    id: format!("{id}<::>{number}"),
                    number,
                    question: String::new(),
                    answer: String::new(),
                    answerability: Answerability::default(),
                })
                .collect(),
        };
        let mut all = vec![
            conversation(Domain::Cloud, "a", 3),
            conversation(Domain::Clapnq, "c", 3),
            conversation(Domain::Clapnq, "b", 3),
            conversation(Domain::Clapnq, "a", 2),
        ];
        for _ in 0..4 {
            all.rotate_left(1);
            assert_eq!(longest(&all).unwrap().id, "b");
        }
        assert!(longest(&[]).is_none());
    }
}
