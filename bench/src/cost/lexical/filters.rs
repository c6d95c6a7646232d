//! Searches within a part of the rows: `WHERE part = … ORDER BY … LIMIT …`, with and without a filter column.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use postgres::Client;

use super::competitor::Competitor;
use super::timing::{Search, time_queries};
use crate::database::server::{self, Address};
use crate::statistics::times::median;

/// Numbers of parts that the rows are divided into, each by a column of its own.
pub const PARTS: [u32; 3] = [10, 100, 1000];
/// The part that is searched.
const PART: u32 = 3;
/// Queries of each number of words. Without an index for it, a search reads a tenth of the rows.
pub const QUERIES: usize = 2;

/// A way to search within a part.
struct Method {
    name: &'static str,
    /// The statement; `$1` is the query.
    statement: &'static str,
}

const METHODS: [Method; 3] = [
    Method {
        name: "reground_bm25 with a filter column",
        statement: "SELECT id FROM lexical.divided WHERE PARTS = PART AND body @@@ reground.bm25_query($1, 'lexical.divided') \
                    ORDER BY body <@> reground.bm25_query($1, 'lexical.divided') LIMIT LIMIT_ROWS",
    },
    Method {
        name: "reground_bm25 on the text only",
        statement: "SELECT id FROM lexical.divided_text WHERE PARTS = PART AND body @@@ reground.bm25_query($1, 'lexical.divided_text') \
                    ORDER BY body <@> reground.bm25_query($1, 'lexical.divided_text') LIMIT LIMIT_ROWS",
    },
    Method {
        name: "the part's rows first, then their scores",
        statement: "WITH part AS MATERIALIZED (SELECT id, body FROM lexical.divided WHERE PARTS = PART) \
                    SELECT id FROM part WHERE body @@@ reground.bm25_query($1, 'lexical.divided') \
                    ORDER BY body <@> reground.bm25_query($1, 'lexical.divided') LIMIT LIMIT_ROWS",
    },
];

/// The measurements of one method.
pub struct FilterRow {
    /// Name of the method.
    pub name: &'static str,
    /// For each number of parts: the median time and the mean number of rows of a query.
    pub parts: Vec<(Duration, f64)>,
}

/// Measures the searches within parts, ours first.
///
/// # Errors
/// Errors of the server.
pub fn measure(
    client: &mut Client,
    address: &Address,
    competitors: &[Competitor],
    queries: &[Vec<String>],
    limit: usize,
) -> Result<Vec<FilterRow>> {
    eprintln!("dividing the rows into parts …");
    let columns: Vec<String> = PARTS
        .iter()
        .map(|parts| format!("id % {parts} AS of_{parts}"))
        .collect();
    let names = PARTS.map(|parts| format!("of_{parts}")).join(", ");
    client.batch_execute(&format!(
        "CREATE TABLE lexical.divided AS SELECT id, body, {} FROM lexical.passages; \
         CREATE TABLE lexical.divided_text AS TABLE lexical.divided; \
         CREATE INDEX ON lexical.divided USING reground_bm25 (body, {names}) WITH (text_config = 'english'); \
         CREATE INDEX ON lexical.divided_text USING reground_bm25 (body) WITH (text_config = 'english')",
        columns.join(", ")
    ))?;
    for parts in PARTS {
        for table in ["divided", "divided_text"] {
            client.batch_execute(&format!("CREATE INDEX ON lexical.{table} (of_{parts})"))?;
        }
    }
    let mut statements: Vec<(&'static str, String)> = METHODS
        .iter()
        .map(|method| (method.name, method.statement.to_owned()))
        .collect();
    for competitor in competitors {
        if let Some(statement) = competitor.search_divided(client)? {
            statements.push((competitor.name, statement));
        }
    }
    client.batch_execute("VACUUM ANALYZE lexical.divided, lexical.divided_text")?;
    let queries: Vec<Vec<String>> = queries
        .iter()
        .map(|group| group.iter().take(QUERIES).cloned().collect())
        .collect();
    let mut rows: Vec<FilterRow> = statements
        .iter()
        .map(|(name, _)| FilterRow {
            name,
            parts: Vec::new(),
        })
        .collect();
    for parts in PARTS {
        // Rows by query; a slow query runs fewer times than a fast one.
        let mut counts = vec![BTreeMap::new(); statements.len()];
        let mut searches: Vec<Search<'_>> = Vec::new();
        for ((_, statement), found) in statements.iter().zip(&mut counts) {
            let statement = statement
                .replace("PARTS", &format!("of_{parts}"))
                .replace("PART", &PART.to_string())
                .replace("LIMIT_ROWS", &limit.to_string());
            let mut session = server::connect(address)?;
            session.batch_execute("SET jit = off")?;
            let statement = session.prepare(&statement)?;
            searches.push(Box::new(move |query| {
                let rows = session.query(&statement, &[&query])?.len();
                found.insert(query.to_owned(), rows);
                Ok(())
            }));
        }
        let times = time_queries(&mut searches, &queries)?;
        drop(searches);
        for ((row, times), found) in rows.iter_mut().zip(times).zip(counts) {
            let each = times.into_iter().flatten().collect();
            let rows: usize = found.values().sum();
            let mean = rows as f64 / found.len().max(1) as f64;
            row.parts.push((median(each), mean));
        }
    }
    client.batch_execute("DROP TABLE lexical.divided, lexical.divided_text")?;
    Ok(rows)
}
