//! How the query of a turn is made, and how the branches are fused: conversations held again, and what each turn's search
//! ranked.

pub mod folds;
pub mod ranking;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use pgvector::Vector;
use postgres::{Client, GenericClient};
use serde_json::{Value, json};

use super::replay::citing::cite;
use super::replay::turn::Source;
use super::{Standing, parallel};
use crate::data::queries::{self, Form, Query};
use crate::data::tasks::{Conversation, Turn};
use crate::data::{Domain, Folder};
use crate::progress::Progress;
use ranking::Found;

/// What a turn is searched by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Way {
    /// The user's words alone.
    Turn,
    /// All that the user has said.
    Dialogue,
    /// The language model's rewrite.
    Rewrite,
    /// The user's words and what they borrow of the conversation, times this.
    Contextual(f64),
}

impl Way {
    /// Those that are compared, the user's words first.
    pub const COMPARED: [Self; 4] = [
        Self::Turn,
        Self::Dialogue,
        Self::Rewrite,
        Self::Contextual(1.0),
    ];
    /// Others that the folds choose from.
    pub const TRIED: [Self; 2] = [Self::Contextual(0.5), Self::Contextual(2.0)];

    /// The name in reports and floors.
    pub fn name(self) -> String {
        match self {
            Self::Turn => "turn".to_owned(),
            Self::Dialogue => "dialogue".to_owned(),
            Self::Rewrite => "LLM rewrite".to_owned(),
            Self::Contextual(1.0) => "contextual".to_owned(),
            Self::Contextual(weight) => format!("contextual × {weight}"),
        }
    }

    /// All that bears on the result. Nothing is merged or carried: what is ranked is single passages.
    fn settings(self) -> Value {
        let (from, weight) = match self {
            Self::Turn | Self::Rewrite => ("turn", 1.0),
            Self::Dialogue => ("dialogue", 1.0),
            Self::Contextual(weight) => ("contextual", weight),
        };
        json!({
            "query_from": from,
            "history_weight": weight,
            "fusion": "scores",
            "lexical_search": "exact",
            "vector_search": "exact",
            "merge_adjacent": false,
            "carry_over": false,
        })
    }
}

/// A turn, and what the search ranked.
#[derive(Debug)]
pub struct Asked {
    /// Where.
    pub domain: Domain,
    /// Conversation.
    pub conversation: String,
    /// Number in the conversation, from 1.
    pub number: u32,
    /// Different passages that humans judged relevant, twins as one.
    pub gold: BTreeSet<String>,
    /// Whether the rewrite says word for word what the user said.
    pub stands_alone: bool,
    /// Every passage that a branch found.
    pub found: Vec<Found>,
}

/// What the conversations are asked with.
pub struct Asking<'a> {
    corpora: &'a [Standing],
    own: BTreeMap<String, Query>,
    rewritten: BTreeMap<String, Query>,
}

impl<'a> Asking<'a> {
    /// Reads the queries.
    ///
    /// # Errors
    /// Files that are missing or malformed.
    pub fn read(folder: &Folder, corpora: &'a [Standing]) -> Result<Self> {
        let read = |form| {
            let mut all = BTreeMap::new();
            for corpus in corpora {
                let queries = queries::queries(folder, corpus.domain, form)?;
                all.extend(queries.into_iter().map(|query| (query.id.clone(), query)));
            }
            Ok::<_, anyhow::Error>(all)
        };
        Ok(Self {
            corpora,
            own: read(Form::LastTurn)?,
            rewritten: read(Form::Rewrite)?,
        })
    }

    /// Holds every conversation with a way of asking; its judged turns. Each conversation is rolled back.
    ///
    /// # Errors
    /// Those of the server.
    pub fn ask(
        &self,
        clients: &mut [Client],
        way: Way,
        conversations: &[Conversation],
    ) -> Result<Vec<Asked>> {
        let turns = conversations.iter().map(|one| one.turns.len()).sum();
        let task = format!("query from {}", way.name());
        let progress = Progress::new(&task, turns);
        let asked = parallel::over(clients, conversations, |client, conversation| {
            let mut transaction = client.transaction()?;
            let corpus = self
                .corpora
                .iter()
                .find(|corpus| corpus.domain == conversation.domain)
                .context("the conversation belongs to no corpus")?;
            let mut asked = Vec::new();
            for turn in &conversation.turns {
                let of_turn = self
                    .hold(&mut transaction, way, &conversation.id, turn, corpus)
                    .with_context(|| format!("turn {}", turn.id))?;
                asked.push(of_turn);
            }
            transaction.rollback()?;
            progress.step(asked.len());
            Ok(asked)
        })?;
        progress.finish();
        let judged = asked.into_iter().flatten();
        Ok(judged.filter(|turn| !turn.gold.is_empty()).collect())
    }

    fn hold(
        &self,
        client: &mut impl GenericClient,
        way: Way,
        conversation: &str,
        turn: &Turn,
        corpus: &Standing,
    ) -> Result<Asked> {
        let own = self.own.get(&turn.id);
        let rewritten = self.rewritten.get(&turn.id);
        let put = match way {
            Way::Rewrite => rewritten,
            _ => own,
        };
        let rewrite = put.filter(|_| way == Way::Rewrite);
        let rewrite = rewrite.map(|query| query.text.as_str());
        let embedding = put.map(|query| Vector::from(query.embedding.clone()));
        let name = corpus.domain.corpus();
        let rows = client.query(
            "SELECT turn_id, marker, content \
             FROM reground.begin_turn($1, $2, corpus => $3, embedding => $4, rewrite => $5, settings => $6)",
            &[
                &format!("asking-{conversation}"),
                &turn.question,
                &name,
                &embedding,
                &rewrite,
                &way.settings(),
            ],
        )?;
        let turn_id: i64 = rows.first().context("begin_turn gave no row")?.get(0);
        let sources: Vec<Source> = rows
            .iter()
            .filter_map(|row| {
                Some(Source {
                    marker: row.get::<_, Option<String>>(1)?,
                    content: row.get(2),
                    ..Source::default()
                })
            })
            .collect();
        let found = client
            .query(
                "SELECT chunk_id, lexical_rank, lexical_score, vector_rank, vector_distance FROM reground.explain_turn($1) \
                 WHERE origin = 'fresh'",
                &[&turn_id],
            )?
            .iter()
            .map(|row| Found {
                class: corpus.twins.class(row.get(0)),
                lexical_rank: row.get(1),
                lexical_score: row.get(2),
                vector_rank: row.get(3),
                vector_distance: row.get(4),
            })
            .collect();
        let answer = cite(&turn.answer, &sources);
        client.execute(
            "SELECT FROM reground.end_turn($1, $2)",
            &[&turn_id, &answer],
        )?;
        let alike = |query: &Query| letters(&query.text) == letters(&turn.question);
        Ok(Asked {
            domain: corpus.domain,
            conversation: conversation.to_owned(),
            number: turn.number,
            gold: corpus.gold(&turn.id),
            stands_alone: rewritten.is_some_and(alike),
            found,
        })
    }
}

fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
