//! The turns of the benchmark: the users' own words of real conversations, in their order.

use anyhow::Result;
use pgvector::Vector;

use crate::data::queries::{self, Form};
use crate::data::{Domain, Folder};

/// A question with its embedding.
#[derive(Clone)]
pub struct Question {
    /// The user's words.
    pub query: String,
    /// Embedding of the words.
    pub embedding: Vector,
}

/// The questions of one conversation in order.
pub struct Conversation {
    /// Id in the data.
    pub id: String,
    /// Its questions.
    pub questions: Vec<Question>,
}

/// Whole conversations, alternating between the domains, until they have `turns` questions. One more conversation comes first, as
/// warm-up.
///
/// # Errors
/// Missing or malformed files.
pub fn conversations(folder: &Folder, turns: usize) -> Result<Vec<Conversation>> {
    let mut domains = Vec::new();
    for domain in Domain::ORIGINAL {
        domains.push(of_domain(folder, domain)?.into_iter());
    }
    let (mut chosen, mut count) = (Vec::new(), 0);
    while count < turns {
        let before = chosen.len();
        for domain in &mut domains {
            if let Some(conversation) = domain.next() {
                // The first conversation is the warm-up.
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

fn of_domain(folder: &Folder, domain: Domain) -> Result<Vec<Conversation>> {
    let mut conversations: Vec<Conversation> = Vec::new();
    for query in queries::queries(folder, domain, Form::LastTurn)? {
        let (id, _) = queries::conversation_and_turn(&query.id)?;
        let question = Question {
            query: query.text,
            embedding: Vector::from(query.embedding),
        };
        match conversations.iter_mut().find(|one| one.id == id) {
            Some(conversation) => conversation.questions.push(question),
            None => conversations.push(Conversation {
                id: id.to_owned(),
                questions: vec![question],
            }),
        }
    }
    Ok(conversations)
}
