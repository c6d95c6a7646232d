//! Concurrent sessions that record turns.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use postgres::Client;
use serde_json::{Value, json};

use super::answers::{RecordedAnswer, Shape};
use crate::database::server::{self, Address};
use crate::statistics::random::SplitMix;

/// Turns per call of record_turns.
pub const BATCH: usize = 250;

pub const RECORD: &str = "SELECT count(*) FILTER (WHERE recorded) FROM reground.record_turns($1)";

/// Empties the tables.
pub const CLEAR: &str = "TRUNCATE plain_turns; TRUNCATE reground.conversations CASCADE; CHECKPOINT";

/// The turns of a session in batches; conversations have five turns.
pub fn batches(texts: &[String], shape: Shape, seed: u64, turns: usize) -> Vec<Value> {
    let mut random = SplitMix(seed);
    let turns: Vec<Value> = (0..turns)
        .map(|n| {
            let RecordedAnswer { answer, passages } = RecordedAnswer::random(texts, shape, &mut random);
            json!({
                "conversation_ref": format!("{seed}-{}", n / 5), "query": "What is said of it?", "answer": answer, "passages": passages,
                "at": format!("2025-03-{:02} 10:00+00", 1 + n % 28), "message_ref": format!("{seed}-{n}"), "model": "old",
            })
        })
        .collect();
    turns
        .chunks(BATCH)
        .map(|batch| Value::Array(batch.to_vec()))
        .collect()
}

/// Turns per second of concurrent sessions; each batch is a transaction. Fails if a turn is not counted.
pub fn run_concurrently(address: &Address, turns: &[Vec<Value>], statement: &str) -> Result<f64> {
    let mut sessions = turns
        .iter()
        .map(|_| open(address))
        .collect::<Result<Vec<Client>>>()?;
    let begun = Instant::now();
    let written = std::thread::scope(|scope| {
        let threads: Vec<_> = sessions
            .iter_mut()
            .zip(turns)
            .map(|(session, batches)| {
                scope.spawn(move || -> Result<usize> {
                    let statement = session.prepare(statement)?;
                    let mut written = 0;
                    for batch in batches {
                        let counted: i64 = session.query_one(&statement, &[batch])?.get(0);
                        let turns = batch.as_array().map_or(0, Vec::len);
                        ensure!(counted == turns as i64, "{counted} of {turns} turns");
                        written += turns;
                    }
                    Ok(written)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().ok().context("a session ended")?)
            .sum::<Result<usize>>()
    })?;
    Ok(written as f64 / begun.elapsed().as_secs_f64())
}

/// Opens a session with the text configuration of the answers.
pub fn open(address: &Address) -> Result<Client> {
    let mut session = server::connect(address)?;
    session.batch_execute("SET default_text_search_config = 'pg_catalog.english'")?;
    Ok(session)
}
