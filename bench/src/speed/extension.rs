//! The extension's own arm: two calls a turn, and the two candidate queries alone.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use postgres::{Client, Row, Statement};
use serde_json::{Value, json};

use super::CORPUS;
use super::compare::{self, Fields};
use super::workload::Question;
use crate::server::{self, Address};

/// Candidates of each branch, the extension's default.
const CANDIDATES: i32 = 40;

/// Least breadth of a search through HNSW, the extension's own.
const BREADTH: i32 = 100;

/// Settings of every turn that the reference does too: the words as they are, ranks fused, and wide carrying, so that there is some.
pub fn settings() -> Value {
    json!({
        "query_from": "turn", "fusion": "rrf", "reserved_slots": 3, "carry_threshold": 0.5,
        "carry_activation": "context", "support_threshold": 0.5,
    })
}

/// How a call went.
#[derive(Clone, Debug)]
pub struct Call {
    /// From BEGIN to the last row, everything written.
    pub took: Duration,
    /// Its COMMIT.
    pub commit: Duration,
    /// Time of each stage by the extension's own stopwatch.
    pub stages: Vec<(String, Duration)>,
    /// What it returned.
    pub rows: Vec<Fields>,
}

/// A turn that was begun.
pub struct Begun {
    /// How begin_turn went.
    pub call: Call,
    /// The turn's id.
    pub turn: i64,
    /// Marker and text of each source of its context.
    pub sources: Vec<(String, String)>,
}

/// A session of one user.
pub struct Extension {
    client: Client,
    lexical: Statement,
    vector: Statement,
    begin: Statement,
    end: Statement,
    profile: Statement,
    settings: Value,
}

impl Extension {
    /// Connects and prepares.
    ///
    /// # Errors
    /// Those of the server.
    pub fn connect(address: &Address) -> Result<Self> {
        let mut client = server::connect(address)?;
        // As begin_turn sets it.
        client.batch_execute(&format!("SET hnsw.ef_search = {BREADTH}"))?;
        Ok(Self {
            lexical: client.prepare(
                "SELECT chunk_id, lexical_score FROM reground.search($1, $2, NULL, max_results => $3)",
            )?,
            vector: client.prepare(&format!(
                "SELECT chunk_id::text, embedding <=> $1 AS distance FROM {}.{CORPUS} WHERE embedding IS NOT NULL ORDER BY 2 LIMIT $2",
                crate::load::SCHEMA
            ))?,
            begin: client.prepare(
                "SELECT * FROM reground.begin_turn($1, $2, $3, $4, intent => $5, settings => $6)",
            )?,
            end: client.prepare("SELECT * FROM reground.end_turn($1, $2)")?,
            profile: client.prepare("SELECT stage, microseconds FROM reground.profile()")?,
            settings: settings(),
            client,
        })
    }

    /// The two candidate queries alone, prepared, one after the other.
    ///
    /// # Errors
    /// Those of the server.
    pub fn candidates(&mut self, question: &Question) -> Result<Duration> {
        let begun = Instant::now();
        self.client
            .query(&self.lexical, &[&CORPUS, &question.query, &CANDIDATES])?;
        self.client
            .query(&self.vector, &[&question.embedding, &i64::from(CANDIDATES)])?;
        Ok(begun.elapsed())
    }

    /// begin_turn.
    ///
    /// # Errors
    /// Those of the server.
    pub fn begin(&mut self, conversation: &str, question: &Question) -> Result<Begun> {
        let begun = Instant::now();
        let mut transaction = self.client.transaction()?;
        let rows = transaction.query(
            &self.begin,
            &[
                &conversation,
                &question.query,
                &CORPUS,
                &question.embedding,
                &question.intent,
                &self.settings,
            ],
        )?;
        let took = begun.elapsed();
        let begun = Instant::now();
        transaction.commit()?;
        let commit = begun.elapsed();
        let call = self.call(took, commit, &rows)?;
        let sources = rows
            .iter()
            .filter_map(|row| Some((row.get::<_, Option<String>>("marker")?, row.get("content"))));
        Ok(Begun {
            call,
            turn: rows
                .first()
                .context("begin_turn gave no row")?
                .get("turn_id"),
            sources: sources.collect(),
        })
    }

    /// end_turn.
    ///
    /// # Errors
    /// Those of the server.
    pub fn end(&mut self, turn: i64, answer: &str) -> Result<Call> {
        let begun = Instant::now();
        let mut transaction = self.client.transaction()?;
        let rows = transaction.query(&self.end, &[&turn, &answer])?;
        let took = begun.elapsed();
        let begun = Instant::now();
        transaction.commit()?;
        self.call(took, begun.elapsed(), &rows)
    }

    fn call(&mut self, took: Duration, commit: Duration, rows: &[Row]) -> Result<Call> {
        let stages = self.client.query(&self.profile, &[])?;
        let stages = stages.iter().map(|row| {
            let time = u64::try_from(row.get::<_, i64>(1)).unwrap_or(0);
            (row.get(0), Duration::from_micros(time))
        });
        Ok(Call {
            took,
            commit,
            stages: stages.collect(),
            rows: rows.iter().map(compare::fields).collect::<Result<_>>()?,
        })
    }
}
