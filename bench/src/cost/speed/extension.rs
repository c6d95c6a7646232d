//! A session that calls the extension: the two calls of a turn, and the two candidate queries alone.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use postgres::{Client, Statement};

use super::workload::Question;
use crate::database::server::{self, Address};

/// Candidates of each branch, the extension's default.
const CANDIDATES: i32 = 40;

/// `hnsw.ef_search`, as `begin_turn` sets it.
pub const EF_SEARCH: i32 = 100;

/// The measurements of one call.
#[derive(Clone, Debug)]
pub struct Call {
    /// From BEGIN to the last row.
    pub took: Duration,
    /// COMMIT.
    pub commit: Duration,
    /// Time of each stage, by `reground.profile()`.
    pub stages: Vec<(String, Duration)>,
}

/// The result of `begin_turn`.
pub struct Begun {
    /// Its measurements.
    pub call: Call,
    /// Id of the turn.
    pub turn: i64,
    /// Marker and text of each source of the context.
    pub sources: Vec<(String, String)>,
}

/// A session of one user.
pub struct Extension {
    client: Client,
    corpus: String,
    lexical: Statement,
    vector: Statement,
    begin: Statement,
    end: Statement,
    profile: Statement,
}

impl Extension {
    /// Connects and prepares the statements.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn connect(address: &Address, corpus: &str) -> Result<Self> {
        let mut client = server::connect(address)?;
        client.batch_execute(&format!("SET hnsw.ef_search = {EF_SEARCH}"))?;
        Ok(Self {
            corpus: corpus.to_owned(),
            lexical: client.prepare(
                "SELECT chunk_id, lexical_score FROM reground.search($1, $2, NULL, max_results => $3)",
            )?,
            vector: client.prepare(&format!(
                "SELECT chunk_id::text, embedding <=> $1 AS distance FROM {}.{corpus} WHERE embedding IS NOT NULL ORDER BY 2 LIMIT $2",
                crate::database::load::SCHEMA
            ))?,
            begin: client.prepare("SELECT * FROM reground.begin_turn($1, $2, $3, $4)")?,
            end: client.prepare("SELECT * FROM reground.end_turn($1, $2)")?,
            profile: client.prepare("SELECT stage, self_us FROM reground.profile()")?,
            client,
        })
    }

    /// Time of the two candidate queries alone, prepared, one after the other.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn candidates(&mut self, question: &Question) -> Result<Duration> {
        let begun = Instant::now();
        self.client
            .query(&self.lexical, &[&self.corpus, &question.query, &CANDIDATES])?;
        self.client
            .query(&self.vector, &[&question.embedding, &i64::from(CANDIDATES)])?;
        Ok(begun.elapsed())
    }

    /// Calls `begin_turn`, with the default settings.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn begin(&mut self, conversation: &str, question: &Question) -> Result<Begun> {
        let begun = Instant::now();
        let mut transaction = self.client.transaction()?;
        let rows = transaction.query(
            &self.begin,
            &[
                &conversation,
                &question.query,
                &self.corpus,
                &question.embedding,
            ],
        )?;
        let took = begun.elapsed();
        let begun = Instant::now();
        transaction.commit()?;
        let call = self.call(took, begun.elapsed())?;
        let sources = rows
            .iter()
            .filter_map(|row| Some((row.get::<_, Option<String>>("marker")?, row.get("content"))));
        Ok(Begun {
            call,
            turn: rows
                .first()
                .context("begin_turn returned no row")?
                .get("turn_id"),
            sources: sources.collect(),
        })
    }

    /// Calls `end_turn`.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn end(&mut self, turn: i64, answer: &str) -> Result<Call> {
        let begun = Instant::now();
        let mut transaction = self.client.transaction()?;
        transaction.query(&self.end, &[&turn, &answer])?;
        let took = begun.elapsed();
        let begun = Instant::now();
        transaction.commit()?;
        self.call(took, begun.elapsed())
    }

    fn call(&mut self, took: Duration, commit: Duration) -> Result<Call> {
        let stages = self.client.query(&self.profile, &[])?;
        let stages = stages.iter().map(|row| {
            let time = u64::try_from(row.get::<_, i64>(1)).unwrap_or(0);
            (row.get(0), Duration::from_micros(time))
        });
        Ok(Call {
            took,
            commit,
            stages: stages.collect(),
        })
    }
}
