//! Asking the competitors, and timing it.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use postgres::Client;

use super::competitor::Competitor;
use crate::database::server::{self, Address};

/// Times that each query is asked of each competitor; the least counts, since the machine is never quiet.
const REPEATS: usize = 3;
/// A query that takes so long is asked once.
const LONG: Duration = Duration::from_millis(20);
/// Clients that ask at once to see how many queries a second there are.
pub const CLIENTS: usize = 2;
/// How long they ask.
const ASKING: Duration = Duration::from_secs(5);

/// The time of a statement that does nothing, prepared.
///
/// # Errors
/// Those of the server.
pub fn nothing(client: &mut Client) -> Result<Duration> {
    let statement = client.prepare("SELECT 1")?;
    let mut times = Vec::new();
    for _ in 0..500 {
        let begun = Instant::now();
        client.query(&statement, &[])?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// Somebody who answers queries.
pub type Search<'a> = Box<dyn FnMut(&str) -> Result<()> + 'a>;

/// A competitor, on a connection of its own.
///
/// # Errors
/// Those of the server.
pub fn connect(
    address: &Address,
    competitor: &Competitor,
    limit: usize,
) -> Result<Search<'static>> {
    let mut client = server::connect(address)?;
    client.batch_execute("SET jit = off")?;
    let statement = client.prepare(&competitor.query(limit))?;
    Ok(Box::new(move |query| {
        client.query(&statement, &[&query])?;
        Ok(())
    }))
}

/// Asks everybody every query in turn; the least of some times, by who was asked and by group of queries, rising.
///
/// # Errors
/// Those of whoever is asked.
pub fn time_queries(
    asked: &mut [Search<'_>],
    queries: &[Vec<String>],
) -> Result<Vec<Vec<Vec<Duration>>>> {
    let mut all = vec![Vec::new(); asked.len()];
    for group in queries {
        let mut times = vec![Vec::new(); asked.len()];
        for (number, query) in group.iter().enumerate() {
            let mut least = vec![Duration::MAX; asked.len()];
            for repeat in 0..=REPEATS {
                for step in 0..asked.len() {
                    // Each begins as often as the others.
                    let at = (step + number + repeat) % asked.len();
                    // What takes long is measured once: it would not be another order the next time.
                    if repeat > 0 && least[at] > LONG {
                        continue;
                    }
                    let begun = Instant::now();
                    asked[at](query)?;
                    let took = begun.elapsed();
                    // The first time warms up.
                    least[at] = if repeat == 1 && least[at] <= LONG {
                        took
                    } else {
                        least[at].min(took)
                    };
                }
            }
            for (times, least) in times.iter_mut().zip(least) {
                times.push(least);
            }
        }
        for (all, mut times) in all.iter_mut().zip(times) {
            times.sort_unstable();
            all.push(times);
        }
    }
    Ok(all)
}

/// The time of inserts with this index alone.
///
/// # Errors
/// Those of the server.
pub fn inserts(
    client: &mut Client,
    competitor: &Competitor,
    insert: &mut dyn FnMut(&mut Client) -> Result<()>,
) -> Result<Duration> {
    competitor.alone(client)?;
    // Waiting for the disk is the same for all.
    client.batch_execute("SET synchronous_commit = off")?;
    let begun = Instant::now();
    insert(client)?;
    let took = begun.elapsed();
    client.batch_execute("RESET synchronous_commit; DROP TABLE lexical.inserted")?;
    Ok(took)
}

/// Queries a second of several clients together, each asking all queries over and over.
///
/// # Errors
/// Those of the server.
pub fn rate(
    address: &Address,
    queries: &[Vec<String>],
    limit: usize,
    competitor: &Competitor,
) -> Result<f64> {
    let asked = |client: usize| -> Result<(usize, Duration)> {
        let mut session = server::connect(address)?;
        session.batch_execute("SET jit = off")?;
        let statement = session.prepare(&competitor.query(limit))?;
        // Long and short ones in turn; each client begins elsewhere.
        let longest = queries.iter().map(Vec::len).max().unwrap_or_default();
        let turns =
            (0..longest).flat_map(|at| queries.iter().filter_map(move |group| group.get(at)));
        let all: Vec<&String> = turns.collect();
        let begun = Instant::now();
        let mut count = 0;
        for query in all.iter().cycle().skip(client * all.len() / CLIENTS) {
            if begun.elapsed() >= ASKING {
                break;
            }
            session.query(&statement, &[query])?;
            count += 1;
        }
        Ok((count, begun.elapsed()))
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| scope.spawn(move || asked(client)))
            .collect();
        let mut rate = 0.0;
        for client in clients {
            let (count, took) = client.join().ok().context("a client has panicked")??;
            rate += count as f64 / took.as_secs_f64();
        }
        Ok(rate)
    })
}
