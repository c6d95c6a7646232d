//! Runs the conversations with one way to make the query, and reads the ranking of each turn.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use pgvector::Vector;
use postgres::{Client, GenericClient};

use super::contexts::Contexts;
use super::queried::{BranchHit, QueriedTurn, QueryFrom};
use crate::attribution::marking::cite;
use crate::data::Folder;
use crate::data::queries::{self, Form, Query};
use crate::data::tasks::{Conversation, Turn};
use crate::eval::corpora::JudgedCorpus;
use crate::parallel;
use crate::progress::Progress;

/// Runs conversations with a way to make the query.
pub struct QueryRunner<'a> {
    corpora: &'a [JudgedCorpus],
    own: BTreeMap<String, Query>,
    rewritten: BTreeMap<String, Query>,
    contexts: Contexts,
}

impl<'a> QueryRunner<'a> {
    /// Reads the queries. Turns without an embedding in `contexts` are searched without it.
    ///
    /// # Errors
    /// Missing or malformed files.
    pub fn read(folder: &Folder, corpora: &'a [JudgedCorpus], contexts: Contexts) -> Result<Self> {
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
            contexts,
        })
    }

    /// Runs every conversation in a transaction that is rolled back, and returns its judged turns.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn run(
        &self,
        clients: &mut [Client],
        from: QueryFrom,
        conversations: &[Conversation],
    ) -> Result<Vec<QueriedTurn>> {
        let turns = conversations.iter().map(|one| one.turns.len()).sum();
        let task = format!("query from {}", from.name());
        let progress = Progress::new(&task, turns);
        let queried = parallel::over(clients, conversations, |client, conversation| {
            let mut transaction = client.transaction()?;
            let corpus = self
                .corpora
                .iter()
                .find(|corpus| corpus.domain == conversation.domain)
                .context("the conversation belongs to no corpus")?;
            let mut queried = Vec::new();
            for turn in &conversation.turns {
                let of_turn = self
                    .run_turn(&mut transaction, from, &conversation.id, turn, corpus)
                    .with_context(|| format!("turn {}", turn.id))?;
                queried.push(of_turn);
            }
            transaction.rollback()?;
            progress.step(queried.len());
            Ok(queried)
        })?;
        progress.finish();
        let judged = queried.into_iter().flatten();
        Ok(judged.filter(|turn| !turn.gold.is_empty()).collect())
    }

    fn run_turn(
        &self,
        client: &mut impl GenericClient,
        from: QueryFrom,
        conversation: &str,
        turn: &Turn,
        corpus: &JudgedCorpus,
    ) -> Result<QueriedTurn> {
        let own = self.own.get(&turn.id);
        let rewritten = self.rewritten.get(&turn.id);
        let put = if from.rewrites() { rewritten } else { own };
        let rewrite = put.filter(|_| from.rewrites());
        let rewrite = rewrite.map(|query| query.text.as_str());
        let embedding = put.map(|query| Vector::from(query.embedding.clone()));
        let context = self.contexts.get(&turn.id);
        let context = context.filter(|_| from.uses_context() && put.is_some());
        let context = context.map(|context| Vector::from(context.clone()));
        let name = corpus.domain.corpus();
        let rows = client.query(
            "SELECT turn_id, marker, content \
             FROM reground.begin_turn($1, $2, corpus => $3, embedding => $4, rewrite => $5, settings => $6, \
             context_embedding => $7)",
            &[
                &format!("query-{conversation}"),
                &turn.question,
                &name,
                &embedding,
                &rewrite,
                &from.settings(),
                &context,
            ],
        )?;
        let turn_id: i64 = rows.first().context("begin_turn returned no row")?.get(0);
        let sources = rows
            .iter()
            .filter_map(|row| Some((row.get::<_, Option<&str>>(1)?, row.get(2))));
        let found = client
            .query(
                "SELECT chunk_id, lexical_rank, lexical_score::float8, vector_rank, vector_distance::float8 FROM reground.explain_turn($1) \
                 WHERE origin = 'fresh'",
                &[&turn_id],
            )?
            .iter()
            .map(|row| BranchHit {
                class: corpus.duplicates.class(row.get(0)),
                lexical_rank: row.get(1),
                lexical_score: row.get(2),
                vector_rank: row.get(3),
                vector_distance: row.get(4),
            })
            .collect();
        let answer = cite(&turn.answer, sources);
        client.execute(
            "SELECT FROM reground.end_turn($1, $2)",
            &[&turn_id, &answer],
        )?;
        let alike = |query: &Query| letters(&query.text) == letters(&turn.question);
        Ok(QueriedTurn {
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
