//! The turns that every competitor is given: what people asked in real conversations, in their order. In words that stand alone: what
//! a turn carries that cannot be understood alone is a matter of the judgement that the reference leaves out.

use anyhow::Result;
use pgvector::Vector;

use crate::data::queries::{self, Form};
use crate::data::{Domain, Folder};

/// A question with its embedding.
#[derive(Clone)]
pub struct Question {
    /// The question.
    pub query: String,
    /// Embedding of the words.
    pub embedding: Vector,
    /// The intent, given by the caller so that all competitors go the same way: `new_topic` first, then `drill_down`.
    pub intent: &'static str,
}

/// The questions of one conversation in order.
pub struct Conversation {
    /// Id in the data.
    pub id: String,
    /// Its questions.
    pub questions: Vec<Question>,
}

/// Whole conversations of both domains by turns, until `turns` questions are there, and one more before them to warm up.
///
/// # Errors
/// Files that are missing or malformed.
pub fn conversations(folder: &Folder, turns: usize) -> Result<Vec<Conversation>> {
    let mut domains = Vec::new();
    for domain in Domain::ALL {
        let mut conversations: Vec<Conversation> = Vec::new();
        for query in queries::queries(folder, domain, Form::Rewrite)? {
            let (id, _) = queries::conversation_and_turn(&query.id)?;
            let known = conversations.iter().any(|one| one.id == id);
            let question = Question {
                query: query.text,
                embedding: Vector::from(query.embedding),
                intent: if known { "drill_down" } else { "new_topic" },
            };
            match conversations.iter_mut().find(|one| one.id == id) {
                Some(conversation) => conversation.questions.push(question),
                None => conversations.push(Conversation {
                    id: id.to_owned(),
                    questions: vec![question],
                }),
            }
        }
        domains.push(conversations.into_iter());
    }
    let (mut chosen, mut count) = (Vec::new(), 0);
    while count < turns {
        let before = chosen.len();
        for domain in &mut domains {
            if let Some(conversation) = domain.next() {
                // The first of all is the warm-up.
                if !chosen.is_empty() {
                    count += conversation.questions.len();
                }
                chosen.push(conversation);
            }
        }
        if chosen.len() == before {
            break;
        }
    }
    Ok(chosen)
}
