//! Conversations with the inputs of the intent classification: questions, answers, citations and embeddings. The citations of a
//! turn are the passages judged relevant to it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde::Deserialize;

use crate::data::corpus::{Address, Corpus};
use crate::data::queries::{Form, conversation_and_turn, judgements, queries};
use crate::data::{Domain, Folder, json_lines};

/// A text and its embedding.
#[derive(Clone, Debug)]
pub struct Question {
    /// The text.
    pub text: String,
    /// The embedding, if the data set has one.
    pub embedding: Option<Vec<f32>>,
}

/// A turn.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Number in the conversation, from 1.
    pub number: u32,
    /// The user's words.
    pub question: Question,
    /// Their stand-alone rewrite.
    pub rewrite: Option<Question>,
    /// The answer.
    pub answer: String,
    /// Titles of the passages shown for it.
    pub titles: Vec<String>,
    /// Relevant passages, as indexes into the corpus; for equal texts the first index.
    pub cited: BTreeSet<usize>,
    /// Whether its question type is `Comparative`.
    pub comparative: bool,
    /// Its dependency label: `N/A` (first turns), `Follow-up`, `Clarification`.
    pub label: String,
}

/// A conversation.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Its domain.
    pub domain: Domain,
    /// Id in the data.
    pub id: String,
    /// Turns in order.
    pub turns: Vec<Turn>,
}

/// A corpus with an index by document.
pub struct Library {
    /// Its passages.
    pub corpus: Corpus,
    /// Document of each passage.
    pub documents: Vec<String>,
    /// Passages of each document.
    pub passages: BTreeMap<String, Vec<usize>>,
}

impl Library {
    /// The corpus of a domain.
    ///
    /// # Errors
    /// Missing or malformed files.
    pub fn read(folder: &Folder, domain: Domain) -> Result<Self> {
        let corpus = Corpus::read(folder, domain)?;
        let of = |id: &str| Address::of(domain, id).document;
        let documents: Vec<String> = corpus.passages.iter().map(|p| of(&p.id)).collect();
        let mut passages: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, document) in documents.iter().enumerate() {
            passages.entry(document.clone()).or_default().push(place);
        }
        Ok(Self {
            corpus,
            documents,
            passages,
        })
    }

    /// The conversations of its domain, by id.
    ///
    /// # Errors
    /// Missing or malformed files.
    pub fn conversations(&self, folder: &Folder) -> Result<Vec<Conversation>> {
        let domain = self.corpus.domain;
        let questions = |form| -> Result<BTreeMap<String, Question>> {
            let queries = queries(folder, domain, form)?.into_iter();
            let question = |text, embedding| Question {
                text,
                embedding: Some(embedding),
            };
            Ok(queries
                .map(|query| (query.id, question(query.text, query.embedding)))
                .collect())
        };
        let (mut asked, mut rewritten) = (questions(Form::LastTurn)?, questions(Form::Rewrite)?);
        let judged = judgements(folder, domain)?;
        let places = self.places();
        let mut turns: BTreeMap<String, Vec<Turn>> = BTreeMap::new();
        let tasks = folder.file(&format!("tasks/{}.jsonl.gz", domain.name()));
        for task in json_lines::<Task>(&tasks)? {
            let (conversation, number) = conversation_and_turn(&task.task_id)?;
            let cited = judged.get(&task.task_id).into_iter().flatten();
            let said = Question {
                text: task.user.text.trim().to_owned(),
                embedding: None,
            };
            turns
                .entry(conversation.to_owned())
                .or_default()
                .push(Turn {
                    number,
                    question: asked.remove(&task.task_id).unwrap_or(said),
                    rewrite: rewritten.remove(&task.task_id),
                    answer: task.agent.text.trim().to_owned(),
                    titles: task.agent.contexts.into_iter().map(|c| c.title).collect(),
                    cited: cited
                        .filter_map(|id| places.get(id.as_str()).copied())
                        .collect(),
                    comparative: task
                        .user
                        .enrichments
                        .types
                        .iter()
                        .any(|t| t == "Comparative"),
                    label: task.user.enrichments.dependency.concat(),
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

    /// Index of each passage by id; equal texts have the index of the first.
    fn places(&self) -> BTreeMap<&str, usize> {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        let passages = self.corpus.passages.iter().enumerate();
        passages
            .map(|(place, passage)| {
                let place = *first.entry(passage.text.as_str()).or_insert(place);
                (passage.id.as_str(), place)
            })
            .collect()
    }

    /// The documents of passages.
    pub fn documents_of(&self, cited: &BTreeSet<usize>) -> BTreeSet<&str> {
        let documents = cited.iter().filter_map(|place| self.documents.get(*place));
        documents.map(String::as_str).collect()
    }
}

#[derive(Deserialize)]
struct Task {
    task_id: String,
    user: User,
    agent: Agent,
}

#[derive(Deserialize)]
struct User {
    text: String,
    enrichments: Enrichments,
}

#[derive(Deserialize)]
struct Enrichments {
    #[serde(rename = "Question Type", default)]
    types: Vec<String>,
    #[serde(rename = "Multi-Turn", default)]
    dependency: Vec<String>,
}

#[derive(Deserialize)]
struct Agent {
    text: String,
    #[serde(default)]
    contexts: Vec<Context>,
}

#[derive(Deserialize)]
struct Context {
    #[serde(default)]
    title: String,
}
