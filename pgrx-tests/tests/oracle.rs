//! Search, by the index and in one exact pass, against the same formulas in plain SQL: BM25 (Robertson and Zaragoza 2009, with the idf of Lucene, which is never
//! negative), reciprocal rank fusion (Cormack, Clarke and Büttcher 2009), and pgvector's own distances.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use pgvector::Vector;
use postgres::Client;
use reground_tests::chance::Chance;
use reground_tests::corpus;
use reground_tests::server::Database;
use serde_json::{Value, json};

/// Everything that a search can be compared by.
#[derive(Debug, PartialEq)]
struct Row {
    score: f64,
    lexical_rank: Option<i32>,
    vector_rank: Option<i32>,
    lexical_score: Option<f64>,
    vector_distance: Option<f64>,
}

/// $1 query, $2 vector, $3 filter on metadata, $4 candidates a branch; a word that is asked twice counts twice. Statistics are those of the whole corpus: a filter
/// chooses among passages, it does not change how rare a word is.
fn oracle(lexical: Lexical, distance: &str) -> String {
    // As Lucene's SmallFloat.intToByte4 and back: exact up to 40, then with four significant bits.
    let kept = match lexical {
        Lexical::Exact => "l.whole",
        Lexical::Indexed => {
            "CASE WHEN l.whole < 40 THEN l.whole ELSE 24 + ((l.whole - 24)::int >> s.shift << s.shift) END"
        }
    };
    format!(
        "WITH counted AS (
            SELECT p.chunk_id, coalesce(sum(t.tf), 0) AS whole FROM books AS p LEFT JOIN terms AS t USING (chunk_id) GROUP BY p.chunk_id
        ), lengths AS (
            SELECT l.chunk_id, {kept} AS length FROM counted AS l, LATERAL (SELECT floor(log(2.0, greatest(l.whole::numeric - 24, 8)))::int - 3 AS shift) AS s
        ), corpus AS (
            SELECT count(*)::float8 AS n, avg(length) AS avgdl FROM lengths
        ), asked AS (
            SELECT q.lexeme, cardinality(q.positions) * ln(1 + (c.n - f.df + 0.5) / (f.df + 0.5)) AS idf
            FROM unnest(to_tsvector('english', $1)) AS q, corpus AS c,
                LATERAL (SELECT count(*)::float8 AS df FROM terms WHERE terms.lexeme = q.lexeme) AS f
        ), bm25 AS (
            SELECT t.chunk_id, sum(a.idf * t.tf / (t.tf + 1.2 * (1 - 0.75 + 0.75 * l.length / c.avgdl))) AS score
            FROM terms AS t JOIN asked AS a USING (lexeme) JOIN lengths AS l USING (chunk_id), corpus AS c GROUP BY t.chunk_id
        ), lexical AS (
            SELECT chunk_id, score, row_number() OVER (ORDER BY round(score::numeric, 12) DESC, chunk_id::text COLLATE \"C\")::int AS rank
            FROM bm25 JOIN books USING (chunk_id) WHERE $3::jsonb IS NULL OR metadata @> $3 ORDER BY rank LIMIT $4
        ), nearest AS (
            SELECT chunk_id, embedding {distance} $2 AS distance,
                row_number() OVER (ORDER BY embedding {distance} $2, chunk_id::text COLLATE \"C\")::int AS rank
            FROM books WHERE embedding IS NOT NULL AND ($3::jsonb IS NULL OR metadata @> $3) ORDER BY rank LIMIT $4
        )
        SELECT chunk_id::text, coalesce(1.0::float8 / (60 + l.rank), 0) + coalesce(1.0::float8 / (60 + v.rank), 0) AS score,
            l.rank, v.rank, l.score, v.distance
        FROM lexical AS l FULL JOIN nearest AS v USING (chunk_id)"
    )
}

/// How the lexical branch is asked.
#[derive(Clone, Copy, Debug)]
enum Lexical {
    /// Without an index: one pass over the passages.
    Exact,
    /// By the index that `create_corpus` makes.
    Indexed,
}

impl Lexical {
    /// Has the branch be asked so, on the corpus as it is: the index counts what was removed until it is vacuumed and merged.
    fn prepare(self, client: &mut Client) -> Result<()> {
        match self {
            Self::Exact => client.batch_execute("DROP INDEX IF EXISTS books_content_idx")?,
            Self::Indexed => {
                client.batch_execute("VACUUM (FREEZE, INDEX_CLEANUP on) books")?;
                client.batch_execute("SELECT reground.bm25_merge('books_content_idx')")?;
            }
        }
        Ok(())
    }
}

/// The oracle's own reading of the passages as they stand, kept for the session.
fn read_terms(client: &mut Client) -> Result<()> {
    client.batch_execute(
        "DROP TABLE IF EXISTS terms;
         CREATE TEMPORARY TABLE terms AS SELECT p.chunk_id, t.lexeme, cardinality(t.positions)::float8 AS tf
             FROM books AS p, unnest(to_tsvector('english', p.content)) AS t;
         CREATE INDEX ON terms (lexeme); ANALYZE terms",
    )?;
    Ok(())
}

fn rows(found: Vec<postgres::Row>) -> BTreeMap<String, Row> {
    found
        .into_iter()
        .map(|row| {
            let compared = Row {
                score: row.get(1),
                lexical_rank: row.get(2),
                vector_rank: row.get(3),
                lexical_score: row.get(4),
                vector_distance: row.get(5),
            };
            (row.get(0), compared)
        })
        .collect()
}

/// Equal to one part in a million; both absent counts as equal.
fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1e-3),
        _ => false,
    }
}

fn same(ours: &Row, oracles: &Row) -> bool {
    ours.lexical_rank == oracles.lexical_rank
        && ours.vector_rank == oracles.vector_rank
        && close(ours.lexical_score, oracles.lexical_score)
        && close(ours.vector_distance, oracles.vector_distance)
        && close(Some(ours.score), Some(oracles.score))
}

/// One query against the oracle, with as many candidates as asked for; returns how many rows agreed.
fn compare(
    client: &mut Client,
    (lexical, distance): (Lexical, &str),
    query: &str,
    vector: &Vector,
    filter: Option<&Value>,
    candidates: i64,
) -> Result<usize> {
    let outer = filter.map(|part| json!({"metadata": part}));
    let settings = json!({"candidates": candidates, "vector_search": "exact", "fusion": "rrf"});
    let found = client.query(
        "SELECT chunk_id, score, lexical_rank, vector_rank, lexical_score, vector_distance \
         FROM reground.search('books', $1, $2, max_results => 1000, filter => $3, settings => $4)",
        &[&query, vector, &outer, &settings],
    );
    let ours = rows(found.with_context(|| format!("search for {query:?}"))?);
    // As many as results, or more.
    let wanted = candidates.max(1000);
    let expected = rows(client.query(
        &oracle(lexical, distance),
        &[&query, vector, &filter, &wanted],
    )?);
    ensure!(
        ours.keys().eq(expected.keys()),
        "{lexical:?}, {query:?} under {filter:?}: {} rows, the oracle has {}",
        ours.len(),
        expected.len()
    );
    for (key, row) in &ours {
        let oracles = expected.get(key).context("just compared")?;
        ensure!(
            same(row, oracles),
            "{lexical:?}, {query:?} under {filter:?}, passage {key}:\nours   {row:?}\noracle {oracles:?}"
        );
    }
    Ok(ours.len())
}

fn agrees(name: &str, metric: &str, distance: &str, queries: usize) -> Result<()> {
    let database = Database::create(name)?;
    let mut client = database.connect()?;
    corpus::generate(&mut client, "books", metric, 75, 20_260_501)?;
    let passages: i64 = client.query_one("SELECT count(*) FROM books", &[])?.get(0);
    ensure!(passages > 250, "only {passages} passages were generated");
    read_terms(&mut client)?;
    let longest =
        "SELECT max(length) FROM (SELECT sum(tf) AS length FROM terms GROUP BY chunk_id) AS l";
    let longest: f64 = client.query_one(longest, &[])?.get(0);
    ensure!(longest > 41.0, "every length is kept exactly");
    for lexical in [Lexical::Indexed, Lexical::Exact] {
        lexical.prepare(&mut client)?;
        let compared = agree(&mut client, (lexical, distance), queries)?;
        // Each query over nearly all passages, and over a third of them.
        ensure!(
            compared > queries * 250,
            "only {compared} rows were compared"
        );
    }
    Ok(())
}

/// Random queries against the oracle; returns how many rows agreed.
fn agree(client: &mut Client, how: (Lexical, &str), queries: usize) -> Result<usize> {
    let mut chance = Chance::of(7);
    let mut compared = 0;
    for number in 0..queries {
        let length = 1 + number % 6;
        let mut query = corpus::text(&mut chance, 160, length);
        match number {
            // A word twice, stop words between, words that nobody has, upper case and punctuation.
            5 => query = format!("{query} {query}"),
            11 => query = format!("the {query} of and"),
            17 => query = "unheardofword anotherone".into(),
            23 => query = format!("{}! ({query})", query.to_uppercase()),
            _ => {}
        }
        let vector = corpus::embedding(&mut chance);
        let part = json!({"part": number % 4});
        compared += compare(client, how, &query, &vector, None, 1000)?;
        compared += compare(client, how, &query, &vector, Some(&part), 1000)?;
    }
    Ok(compared)
}

#[test]
fn cosine_and_bm25_agree_with_plain_sql() -> Result<()> {
    agrees("oracle_cosine", "cosine", "<=>", 40)
}

#[test]
fn l2_agrees_with_plain_sql() -> Result<()> {
    agrees("oracle_l2", "l2", "<->", 10)
}

#[test]
fn inner_product_agrees_with_plain_sql() -> Result<()> {
    agrees("oracle_ip", "inner_product", "<#>", 10)
}

#[test]
fn statistics_follow_the_corpus_as_it_changes() -> Result<()> {
    statistics_follow("oracle_changes", Lexical::Exact)
}

#[test]
fn those_of_the_index_follow_once_it_is_vacuumed() -> Result<()> {
    statistics_follow("oracle_index_changes", Lexical::Indexed)
}

fn statistics_follow(name: &str, lexical: Lexical) -> Result<()> {
    let database = Database::create(name)?;
    let mut client = database.connect()?;
    corpus::generate(&mut client, "books", "cosine", 20, 3)?;
    let mut chance = Chance::of(11);
    for round in 0..6 {
        let query = corpus::text(&mut chance, 100, 3);
        let vector = corpus::embedding(&mut chance);
        read_terms(&mut client)?;
        lexical.prepare(&mut client)?;
        compare(&mut client, (lexical, "<=>"), &query, &vector, None, 1000)?;
        client.execute(
            "SELECT reground.delete_document('books', $1)",
            &[&format!("doc-{round}")],
        )?;
        let body = corpus::text(&mut chance, 100, 25);
        client.execute(
            "SELECT reground.put_document('books', $1, content => $2)",
            &[&format!("new-{round}"), &body],
        )?;
        // Passages without an embedding, and one of stop words alone, count in N and in the mean length.
        client.execute(
            "SELECT reground.put_document('books', 'stop words', content => 'it is what it is')",
            &[],
        )?;
        read_terms(&mut client)?;
        lexical.prepare(&mut client)?;
        compare(&mut client, (lexical, "<=>"), &query, &vector, None, 1000)?;
    }
    Ok(())
}
