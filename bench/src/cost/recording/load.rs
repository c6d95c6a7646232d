//! A load into an empty database, to see whether the rate falls as the tables grow.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use postgres::Client;

use super::answers::Shape;
use super::options::Options;
use super::sessions::{BATCH, CLEAR, RECORD, batches, open};
use crate::database::server::Address;

/// Parts with their own times.
const PARTS: usize = 5;

/// Loads turns into empty tables with the statistics of empty tables, as in a new database; prints the rate of each part.
///
/// # Errors
/// Errors of the server; turns that were not stored.
pub fn run(
    client: &mut Client,
    address: &Address,
    texts: &[String],
    shape: Shape,
    options: &Options,
) -> Result<()> {
    client.batch_execute(CLEAR)?;
    client.batch_execute("ANALYZE")?;
    let part = options.load / options.sessions / PARTS / BATCH * BATCH;
    ensure!(
        part > 0,
        "--load is too small for {PARTS} parts of {BATCH} turns"
    );
    let took = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.sessions)
            .map(|number| scope.spawn(move || load(address, texts, shape, number, part)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().ok().context("a session ended")?)
            .collect::<Result<Vec<[Duration; PARTS]>>>()
    })?;
    let loaded = part * PARTS * options.sessions;
    let stored: i64 = client
        .query_one("SELECT count(*) FROM reground.turns", &[])?
        .get(0);
    ensure!(stored == loaded as i64, "{stored} of {loaded} turns");
    println!(
        "\nA load of {loaded} turns into an empty database ({}), by {} sessions; rate of each fifth:\n",
        shape.name, options.sessions
    );
    println!("| turns before | record_turns/s |");
    println!("|---:|---:|");
    for number in 0..PARTS {
        let rates = took
            .iter()
            .map(|took| part as f64 / took[number].as_secs_f64());
        let rate: f64 = rates.sum();
        println!("| {} | {rate:.0} |", number * part * options.sessions);
    }
    client.batch_execute(CLEAR)?;
    Ok(())
}

/// Loads the turns of one session; returns the time of each part, without the generation of the turns.
fn load(
    address: &Address,
    texts: &[String],
    shape: Shape,
    session_no: usize,
    part: usize,
) -> Result<[Duration; PARTS]> {
    let mut session = open(address)?;
    let statement = session.prepare(RECORD)?;
    let mut took = [Duration::ZERO; PARTS];
    for (number, took) in took.iter_mut().enumerate() {
        for batch in 0..part / BATCH {
            let seed = ((session_no * PARTS + number) * part + batch * BATCH) as u64;
            for turns in batches(texts, shape, u64::MAX - seed, BATCH) {
                let begun = Instant::now();
                let recorded: i64 = session.query_one(&statement, &[&turns])?.get(0);
                *took += begun.elapsed();
                ensure!(recorded == BATCH as i64, "{recorded} of {BATCH} turns");
            }
        }
    }
    Ok(took)
}
