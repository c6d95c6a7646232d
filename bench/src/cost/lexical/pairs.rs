//! Searches for two adjacent words of a passage: optional, both required, and as a phrase.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use postgres::Client;

use super::timing::{Search, time_queries};
use crate::database::server::{self, Address};
use crate::statistics::times::median;

/// Number of pairs of words.
pub const PAIRS: usize = 60;
/// Letters of the shortest word.
const LETTERS: usize = 4;

/// How a pair is searched: name, text before a word, text around the pair.
const METHODS: [(&str, &str, &str); 3] = [
    ("one of them", "", ""),
    ("both required", "+", ""),
    ("a phrase", "", "\""),
];

/// The measurements of one method.
pub struct PairRow {
    /// Name of the method.
    pub name: &'static str,
    /// Median time of a query.
    pub time: Duration,
    /// The longest time of a query.
    pub longest: Duration,
    /// Mean number of rows of a query.
    pub rows: f64,
}

/// Measures the searches for pairs of words.
///
/// # Errors
/// Errors of the server.
pub fn measure(client: &mut Client, address: &Address, limit: usize) -> Result<Vec<PairRow>> {
    let pairs = [pairs(client)?];
    let mut counts = vec![BTreeMap::new(); METHODS.len()];
    let mut searches: Vec<Search<'_>> = Vec::new();
    for ((_, sign, quote), found) in METHODS.into_iter().zip(&mut counts) {
        let mut session = server::connect(address)?;
        session.batch_execute("SET jit = off")?;
        let statement = session.prepare(&format!(
            "SELECT id FROM lexical.passages WHERE body @@@ reground.bm25_query($1, 'lexical.passages', syntax => true) \
             ORDER BY body <@> reground.bm25_query($1, 'lexical.passages', syntax => true) LIMIT {limit}"
        ))?;
        searches.push(Box::new(move |pair| {
            let words: Vec<String> = pair
                .split(' ')
                .map(|word| format!("{sign}{word}"))
                .collect();
            let query = format!("{quote}{}{quote}", words.join(" "));
            let rows = session.query(&statement, &[&query])?.len();
            found.insert(query, rows);
            Ok(())
        }));
    }
    let times = time_queries(&mut searches, &pairs)?;
    drop(searches);
    let rows = METHODS.into_iter().zip(times).zip(counts);
    Ok(rows
        .map(|(((name, ..), times), found)| {
            let times: Vec<Duration> = times.into_iter().flatten().collect();
            let rows: usize = found.values().sum();
            PairRow {
                name,
                longest: times.iter().max().copied().unwrap_or_default(),
                time: median(times),
                rows: rows as f64 / found.len().max(1) as f64,
            }
        })
        .collect())
}

/// The first two adjacent words of some passages.
fn pairs(client: &mut Client) -> Result<Vec<String>> {
    let rows = client.query(
        "SELECT body FROM lexical.passages ORDER BY hashint8(id) LIMIT $1",
        &[&i64::try_from(PAIRS)?],
    )?;
    let is_word =
        |word: &&str| word.len() >= LETTERS && word.chars().all(|c| c.is_ascii_lowercase());
    let pair = |body: String| {
        let words: Vec<&str> = body.split(' ').collect();
        let mut pairs = words.windows(2).filter(|pair| pair.iter().all(is_word));
        pairs.next().map(|pair| pair.join(" "))
    };
    Ok(rows.iter().filter_map(|row| pair(row.get(0))).collect())
}
