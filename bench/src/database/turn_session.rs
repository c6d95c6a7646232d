//! Runs turns about the passages of a corpus: the question is the beginning of a passage, the answer repeats the passage.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use pgvector::Vector;
use postgres::Client;

use crate::database::load::SCHEMA;
use crate::progress::Progress;

/// Length of a question in characters.
const ASKED: usize = 60;
/// Length of an answer in characters, before its citation.
const ANSWERED: usize = 300;
/// Passages between two questions, so that each turn has other sources.
const STRIDE: usize = 23;

/// The times of a turn.
#[derive(Debug, Clone, Copy)]
pub struct TurnTimes {
    /// `begin_turn`.
    pub begin: Duration,
    /// `end_turn`.
    pub end: Duration,
}

/// A passage that a turn asks about.
struct Passage {
    text: String,
    embedding: Vector,
}

/// A session that runs turns, each in a transaction of its own.
pub struct TurnSession {
    /// The session.
    pub client: Client,
    corpus: String,
    passages: Vec<Passage>,
    /// Distinguishes the conversations of different runs.
    run: u128,
}

impl TurnSession {
    /// Reads the passages.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn new(mut client: Client, corpus: &str) -> Result<Self> {
        let rows = client.query(
            &format!("SELECT content, embedding FROM {SCHEMA}.{corpus} ORDER BY chunk_id"),
            &[],
        )?;
        let passages = rows.iter().map(|row| Passage {
            text: row.get(0),
            embedding: row.get(1),
        });
        client.batch_execute("SET client_min_messages = error")?;
        Ok(Self {
            client,
            corpus: corpus.to_owned(),
            passages: passages.collect(),
            run: SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis(),
        })
    }

    /// Starts a conversation and runs the turns before `turn`; returns its name.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn start_at_turn(&mut self, turn: usize) -> Result<String> {
        let name = format!("talk-{}-{turn}", self.run);
        let task = format!("up to turn {turn}");
        let progress = Progress::new(&task, turn - 1);
        for number in 0..turn - 1 {
            self.turn(&name, number)?;
            progress.step(1);
        }
        progress.finish();
        Ok(name)
    }

    /// Starts a conversation with settings; returns its name.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn start_with_settings(&mut self, name: &str, settings: &str) -> Result<String> {
        let name = format!("talk-{}-{name}", self.run);
        self.client.execute(
            "SELECT reground.alter_conversation($1, $2::text::jsonb)",
            &[&name, &settings],
        )?;
        Ok(name)
    }

    /// Runs a turn about the passage with this number.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn turn(&mut self, conversation: &str, number: usize) -> Result<TurnTimes> {
        self.turn_with(conversation, number, "")
    }

    /// As [`Self::turn`], with a text at the end of the answer.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn turn_with(
        &mut self,
        conversation: &str,
        number: usize,
        added: &str,
    ) -> Result<TurnTimes> {
        let at = number * STRIDE % self.passages.len();
        let passage = self
            .passages
            .get(at)
            .context("the corpus has no passages")?;
        let first = |count| passage.text.chars().take(count).collect::<String>();
        let begun = Instant::now();
        let row = self.client.query_one(
            "SELECT turn_id, marker FROM reground.begin_turn($1, $2, $3, $4) LIMIT 1",
            &[
                &conversation,
                &first(ASKED),
                &self.corpus,
                &passage.embedding,
            ],
        )?;
        let begin = begun.elapsed();
        let (turn, marker): (i64, Option<String>) = (row.get(0), row.get(1));
        let cited = marker.map_or_else(String::new, |marker| format!(" [{marker}]"));
        let answer = format!("{}{cited}. {added}", first(ANSWERED));
        let answer = answer.trim_end();
        let begun = Instant::now();
        self.client
            .query("SELECT FROM reground.end_turn($1, $2)", &[&turn, &answer])?;
        Ok(TurnTimes {
            begin,
            end: begun.elapsed(),
        })
    }
}
