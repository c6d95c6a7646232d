//! Helpers of the complaint tests: questions, answers and a corpus.

use anyhow::{Context, Result, ensure};
use postgres::{Client, Row};
use reground_tests::server::Database;
use serde_json::{Value, json};

/// A source of a context, as returned by begin_turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    pub marker: String,
    pub doc_id: String,
    pub chunk_id: String,
    pub content: String,
    pub origin: String,
}

/// A citation, as returned by end_turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Citation {
    pub raw: String,
    pub marker: Option<String>,
    pub doc_id: Option<String>,
    pub chunk_id: Option<String>,
    pub status: String,
    pub holds: Option<bool>,
    pub support: Option<f64>,
}

impl Citation {
    /// Reads a row that starts with these columns.
    pub fn read(row: &Row) -> Self {
        Self {
            raw: row.get(0),
            marker: row.get(1),
            doc_id: row.get(2),
            chunk_id: row.get(3),
            status: row.get(4),
            holds: row.get(5),
            support: row.get(6),
        }
    }
}

/// Begins a turn; returns its id and the sources of its context.
pub fn begin(
    client: &mut Client,
    conversation: &str,
    query: &str,
    corpus: &str,
    settings: &Value,
) -> Result<(i64, Vec<Source>)> {
    let rows = client.query(
        "SELECT turn_id, marker, doc_id, chunk_id, content, origin FROM reground.begin_turn($1, $2, $3, settings => $4)",
        &[&conversation, &query, &corpus, settings],
    )?;
    let turn = rows.first().context("begin_turn returns a row")?.get(0);
    let shown = rows.iter().filter_map(|row| {
        Some(Source {
            marker: row.get::<_, Option<String>>(1)?,
            doc_id: row.get(2),
            chunk_id: row.get(3),
            content: row.get(4),
            origin: row.get(5),
        })
    });
    Ok((turn, shown.collect()))
}

/// Ends a turn; returns its citations in the order of the text.
pub fn end(client: &mut Client, turn: i64, answer: &str) -> Result<Vec<Citation>> {
    let rows = client.query(
        "SELECT raw, marker, doc_id, chunk_id, status, holds, support FROM reground.end_turn($1, $2) WHERE citation_id IS NOT NULL",
        &[&turn, &answer],
    )?;
    Ok(rows.iter().map(Citation::read).collect())
}

/// The only citation of an answer.
pub fn only(client: &mut Client, turn: i64, answer: &str) -> Result<Citation> {
    let citations = end(client, turn, answer)?;
    ensure!(citations.len() == 1, "{citations:?}");
    citations.into_iter().next().context("there is one")
}

/// Three documents; a question finds one of them.
pub const FARM: [(&str, &str); 3] = [
    ("cows", "Cows give milk every day on the farm."),
    ("sheep", "Sheep give wool every spring on the hill."),
    ("bees", "Bees make honey in the hive all summer."),
];

/// A database with the corpus.
pub fn farm(name: &str) -> Result<(Database, Client)> {
    let database = Database::create(&format!("complaint_{name}"))?;
    let mut client = database.connect()?;
    client.batch_execute("SELECT reground.create_corpus('farm')")?;
    for (document, text) in FARM {
        client.execute(
            "SELECT reground.put_document('farm', $1, content => $2)",
            &[&document, &text],
        )?;
    }
    Ok((database, client))
}

/// Settings with one source per turn, and no sources of earlier turns unless they are found again.
pub fn alone(style: &str) -> Value {
    json!({"max_sources": 1, "carry_over": false, "query_from": "turn", "marker_style": style})
}
