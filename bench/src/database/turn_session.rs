//! Conversations about the passages of a corpus: each turn asks with the beginning of one, and answers with it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use pgvector::Vector;
use postgres::Client;

use crate::database::load::SCHEMA;
use crate::progress::Progress;

/// Characters of a question.
const ASKED: usize = 60;
/// Characters of an answer, before its citation.
const ANSWERED: usize = 300;
/// Passages between one question and the next, so that each turn has sources of its own.
const STRIDE: usize = 23;

/// What a turn took.
#[derive(Debug, Clone, Copy)]
pub struct TurnTimes {
    /// `begin_turn`.
    pub begin: Duration,
    /// `end_turn`.
    pub end: Duration,
}

/// A passage to be talked about.
struct Passage {
    text: String,
    embedding: Vector,
}

/// Someone who talks to a server, each turn a transaction of its own.
pub struct TurnSession {
    /// The session.
    pub client: Client,
    corpus: String,
    passages: Vec<Passage>,
    /// Tells the conversations of a run from those of another.
    run: u128,
}

impl TurnSession {
    /// Reads what to talk about.
    ///
    /// # Errors
    /// Those of the server.
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

    /// A conversation whose next turn is that one; its name.
    ///
    /// # Errors
    /// Those of the server.
    pub fn up_to(&mut self, turn: usize) -> Result<String> {
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

    /// A conversation of its own under settings; its name.
    ///
    /// # Errors
    /// Those of the server.
    pub fn under(&mut self, name: &str, settings: &str) -> Result<String> {
        let name = format!("talk-{}-{name}", self.run);
        self.client.execute(
            "SELECT reground.alter_conversation($1, $2::text::jsonb)",
            &[&name, &settings],
        )?;
        Ok(name)
    }

    /// Holds a turn about the passage of that number.
    ///
    /// # Errors
    /// Those of the server.
    pub fn turn(&mut self, conversation: &str, number: usize) -> Result<TurnTimes> {
        let at = number * STRIDE % self.passages.len();
        let passage = self.passages.get(at).context("a corpus without passages")?;
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
        let answer = format!("{}{cited}.", first(ANSWERED));
        let begun = Instant::now();
        self.client
            .query("SELECT FROM reground.end_turn($1, $2)", &[&turn, &answer])?;
        Ok(TurnTimes {
            begin,
            end: begun.elapsed(),
        })
    }
}
