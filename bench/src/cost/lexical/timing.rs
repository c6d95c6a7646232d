//! Times the competitors.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use postgres::Client;

use super::competitor::Competitor;
use crate::database::server::{self, Address};
use crate::statistics::times::median;

/// Repetitions of each query; the shortest time counts, because other load only adds time.
const REPEATS: usize = 3;
/// A query that takes longer is run once.
const LONG: Duration = Duration::from_millis(20);
/// Rows per query of the measurement of long lists.
pub const LONG_LIST: usize = 1000;
/// Clients of the throughput measurement.
pub const CLIENTS: usize = 2;
/// Duration of the throughput measurement.
const THROUGHPUT_TIME: Duration = Duration::from_secs(5);

/// Median time of a prepared `SELECT 1`.
///
/// # Errors
/// Errors of the server.
pub fn round_trip(client: &mut Client) -> Result<Duration> {
    let statement = client.prepare("SELECT 1")?;
    let mut times = Vec::new();
    for _ in 0..500 {
        let begun = Instant::now();
        client.query(&statement, &[])?;
        times.push(begun.elapsed());
    }
    Ok(median(times))
}

/// A search to be timed.
pub type Search<'a> = Box<dyn FnMut(&str) -> Result<()> + 'a>;

/// The search of a competitor, on its own connection.
///
/// # Errors
/// Errors of the server.
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

/// Runs every query on every competitor, alternating. Returns the shortest time of each query, by competitor and group of queries,
/// sorted.
///
/// # Errors
/// Errors of the searches.
pub fn time_queries(
    searches: &mut [Search<'_>],
    queries: &[Vec<String>],
) -> Result<Vec<Vec<Vec<Duration>>>> {
    let mut all = vec![Vec::new(); searches.len()];
    for group in queries {
        let mut times = vec![Vec::new(); searches.len()];
        for (number, query) in group.iter().enumerate() {
            let mut least = vec![Duration::MAX; searches.len()];
            for repeat in 0..=REPEATS {
                for step in 0..searches.len() {
                    // Each competitor is first equally often.
                    let at = (step + number + repeat) % searches.len();
                    // A repetition would not change the order of magnitude.
                    if repeat > 0 && least[at] > LONG {
                        continue;
                    }
                    let begun = Instant::now();
                    searches[at](query)?;
                    let took = begun.elapsed();
                    // The first run is the warm-up.
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

/// Time of the inserts with only this index.
///
/// # Errors
/// Errors of the server.
pub fn inserts(
    client: &mut Client,
    competitor: &Competitor,
    insert: &mut dyn FnMut(&mut Client) -> Result<()>,
) -> Result<Duration> {
    competitor.create_insert_table(client)?;
    // The wait for the disk is the same for all.
    client.batch_execute("SET synchronous_commit = off")?;
    let begun = Instant::now();
    insert(client)?;
    let took = begun.elapsed();
    client.batch_execute("RESET synchronous_commit; DROP TABLE lexical.inserted")?;
    Ok(took)
}

/// Queries per second of [`CLIENTS`] clients, each running all queries repeatedly.
///
/// # Errors
/// Errors of the server.
pub fn rate(
    address: &Address,
    queries: &[Vec<String>],
    limit: usize,
    competitor: &Competitor,
) -> Result<f64> {
    let queried = |client: usize| -> Result<(usize, Duration)> {
        let mut session = server::connect(address)?;
        session.batch_execute("SET jit = off")?;
        let statement = session.prepare(&competitor.query(limit))?;
        // Alternates short and long queries; each client starts at another one.
        let longest = queries.iter().map(Vec::len).max().unwrap_or_default();
        let turns =
            (0..longest).flat_map(|at| queries.iter().filter_map(move |group| group.get(at)));
        let all: Vec<&String> = turns.collect();
        let begun = Instant::now();
        let mut count = 0;
        for query in all.iter().cycle().skip(client * all.len() / CLIENTS) {
            if begun.elapsed() >= THROUGHPUT_TIME {
                break;
            }
            session.query(&statement, &[query])?;
            count += 1;
        }
        Ok((count, begun.elapsed()))
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| scope.spawn(move || queried(client)))
            .collect();
        let mut rate = 0.0;
        for client in clients {
            let (count, took) = client.join().ok().context("a client has panicked")??;
            rate += count as f64 / took.as_secs_f64();
        }
        Ok(rate)
    })
}
