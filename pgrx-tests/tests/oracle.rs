//! Search with the index and with exact scans, compared with the same formulas in plain SQL: BM25 (Robertson and Zaragoza 2009, with the idf of Lucene, which is never
//! negative), reciprocal rank fusion (Cormack, Clarke and Büttcher 2009), and the distances of pgvector.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use pgvector::Vector;
use postgres::Client;
use reground_tests::chance::Chance;
use reground_tests::corpus;
use reground_tests::server::Database;
use serde_json::{Value, json};

/// The columns of a search that are compared.
#[derive(Debug, PartialEq)]
struct Row {
    score: f64,
    lexical_rank: Option<i32>,
    vector_rank: Option<i32>,
    lexical_score: Option<f64>,
    vector_distance: Option<f64>,
}

/// Parameters: $1 query, $2 vector, $3 filter on metadata, $4 candidates per search. A repeated query word counts twice. Statistics are those of the whole corpus: a
/// filter selects passages and does not change document frequencies.
fn oracle(lexical: Lexical, distance: &str) -> String {
    // As SmallFloat.intToByte4 of Lucene and back: exact up to 40, then four significant bits.
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
        SELECT chunk_id::text, coalesce(1.0::float8 / (60 + l.rank), 0) + coalesce(1.0::float8 / (60 + v.rank),
                CASE WHEN $2 IS NOT NULL AND (SELECT b.embedding IS NULL FROM books AS b WHERE b.chunk_id = coalesce(l.chunk_id, v.chunk_id)) THEN 0.8 / (60 + l.rank) END, 0) AS score,
            l.rank, v.rank, l.score, v.distance
        FROM lexical AS l FULL JOIN nearest AS v USING (chunk_id)"
    )
}

/// How lexical search runs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lexical {
    /// Without an index: an exact scan.
    Exact,
    /// With the index of `create_corpus`.
    Indexed,
}

impl Lexical {
    /// Prepares the index for the current rows, because it counts removed rows until VACUUM and a merge. An autovacuum
    /// worker that analyses another table can delay VACUUM by its snapshot, so this retries.
    fn prepare(self, client: &mut Client) -> Result<()> {
        if self == Self::Exact {
            return Ok(client.batch_execute("DROP INDEX IF EXISTS books_array_idx")?);
        }
        for _ in 0..600 {
            client.batch_execute("VACUUM (FREEZE, INDEX_CLEANUP on) books")?;
            client.batch_execute("SELECT reground.bm25_merge('books_array_idx')")?;
            let counts = "SELECT documents = (SELECT count(*) FROM books) FROM reground.bm25_indexes WHERE index = 'books_array_idx'::regclass";
            if client.query_one(counts, &[])?.get(0) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        bail!("VACUUM cannot remove the deleted rows")
    }
}

/// Stores the words of all passages in a temporary table for the oracle. A word of a heading counts twice.
fn read_terms(client: &mut Client) -> Result<()> {
    client.batch_execute(
        "DROP TABLE IF EXISTS terms;
         CREATE TEMPORARY TABLE terms AS SELECT p.chunk_id, t.lexeme, sum(f.weight * cardinality(t.positions))::float8 AS tf
             FROM books AS p, LATERAL (VALUES (p.heading, 2), (p.content, 1)) AS f(content, weight), unnest(to_tsvector('english', f.content)) AS t
             GROUP BY 1, 2;
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

/// Equal to one part in a million; two missing values are equal.
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

/// Compares one query with the oracle; returns the number of equal rows.
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
    // All candidates are returned as results.
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
    add_titles(&mut client)?;
    read_terms(&mut client)?;
    let longest =
        "SELECT max(length) FROM (SELECT sum(tf) AS length FROM terms GROUP BY chunk_id) AS l";
    let longest: f64 = client.query_one(longest, &[])?.get(0);
    ensure!(longest > 41.0, "no length is rounded");
    for lexical in [Lexical::Indexed, Lexical::Exact] {
        lexical.prepare(&mut client)?;
        let compared = agree(&mut client, (lexical, distance), queries)?;
        // Each query with nearly all passages, and with a third of them.
        ensure!(
            compared > queries * 250,
            "only {compared} rows were compared"
        );
    }
    Ok(())
}

/// Gives titles to most documents.
fn add_titles(client: &mut Client) -> Result<()> {
    let mut chance = Chance::of(5);
    for number in 0..60 {
        let title = corpus::text(&mut chance, 160, 1 + number % 5);
        client.execute(
            "UPDATE books SET heading = $1 WHERE doc_id = (SELECT DISTINCT doc_id FROM books ORDER BY doc_id OFFSET $2 LIMIT 1)",
            &[&title, &i64::try_from(number)?],
        )?;
    }
    Ok(())
}

/// Compares random queries with the oracle; returns the number of equal rows.
fn agree(client: &mut Client, how: (Lexical, &str), queries: usize) -> Result<usize> {
    let mut chance = Chance::of(7);
    let mut compared = 0;
    for number in 0..queries {
        let length = 1 + number % 6;
        let mut query = corpus::text(&mut chance, 160, length);
        match number {
            // Repeated words, stop words, unknown words, upper case and punctuation.
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
fn statistics_are_current_after_changes() -> Result<()> {
    statistics_follow("oracle_changes", Lexical::Exact)
}

#[test]
fn statistics_of_the_index_are_current_after_vacuum() -> Result<()> {
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
        // Passages without an embedding, and one with only stop words, count in N and in the mean length.
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

/// Texts of three languages: words whose lexemes depend on the configuration, and words common to all.
fn tongue(chance: &mut Chance, language: &str, length: usize) -> String {
    const GERMAN: [&str; 8] = [
        "Wärmepumpen",
        "laufen",
        "die",
        "Häuser",
        "Kühlung",
        "running",
        "2024",
        "nicht",
    ];
    const ENGLISH: [&str; 8] = [
        "running", "pumps", "the", "houses", "cooling", "die", "2024", "not",
    ];
    const CHINESE: [&str; 8] = [
        "热泵",
        "功率",
        "图书馆",
        "R290",
        "2024",
        "的",
        "running",
        "逾期",
    ];
    let words = match language {
        "de" => GERMAN,
        "zh" => CHINESE,
        _ => ENGLISH,
    };
    let words: Vec<&str> = (0..length)
        .filter_map(|_| words.get(chance.below(words.len())).copied())
        .collect();
    words.join(if language == "zh" { "" } else { " " })
}

/// Creates a table of leaflets in three languages, which name their configuration by a text and by a regconfig column, two corpora
/// over it, and the words for the oracle.
fn create_leaflets(client: &mut Client, chance: &mut Chance) -> Result<()> {
    client.batch_execute(
        "SET client_min_messages = error;
         CREATE TABLE leaflets (id integer PRIMARY KEY, body text, lang varchar(20), config regconfig)",
    )?;
    for id in 0..400 {
        let language = ["de", "en", "zh"]
            .get(chance.below(3))
            .copied()
            .unwrap_or("de");
        let length = 1 + chance.below(20);
        let body = tongue(chance, language, length);
        // A language code, a name, a locale, NULL and an unknown name.
        let (lang, config) = match (language, id % 5) {
            ("de", 0 | 1) => (Some("de-AT"), Some("german")),
            ("de", _) => (Some("German"), Some("german")),
            ("zh", _) => (Some("zh_Hant"), Some("reground.bigrams")),
            (_, 0) => (None, None),
            (_, 1) => (Some("klingon"), None),
            _ => (Some("pg_catalog.english"), Some("english")),
        };
        client.execute(
            "INSERT INTO leaflets VALUES ($1, $2, $3, $4::text::regconfig)",
            &[&id, &body, &lang, &config],
        )?;
    }
    client.batch_execute(
        "SELECT reground.add_corpus('named', 'leaflets', 'id', 'body', text_config => 'simple', text_config_column => 'lang');
         SELECT reground.add_corpus('typed', 'leaflets', 'id', 'body', text_config => 'simple', text_config_column => 'config');
         CREATE TEMPORARY TABLE terms AS SELECT id, t.lexeme, cardinality(t.positions)::float8 AS tf
             FROM leaflets, unnest(to_tsvector(coalesce(config, 'simple'), body)) AS t;",
    )?;
    Ok(())
}

/// Scores of the leaflets in plain SQL. No leaflet has more than 40 words, so the index stores exact lengths.
fn expected_scores(client: &mut Client, query: &str) -> Result<BTreeMap<String, f64>> {
    let expected = client.query(
        "WITH lengths AS (SELECT l.id, coalesce(sum(t.tf), 0) AS length FROM leaflets AS l LEFT JOIN terms AS t USING (id) GROUP BY 1),
            corpus AS (SELECT count(*)::float8 AS n, avg(length) AS avgdl FROM lengths),
            asked AS (SELECT q.lexeme, max(cardinality(q.positions)) AS frequency
                FROM unnest('{simple,german,english,reground.bigrams}'::text[]) AS c, unnest(to_tsvector(c::regconfig, $1)) AS q GROUP BY 1),
            weighed AS (SELECT a.lexeme, a.frequency * ln(1 + (c.n - f.df + 0.5) / (f.df + 0.5)) AS idf
                FROM asked AS a, corpus AS c, LATERAL (SELECT count(*)::float8 AS df FROM terms WHERE terms.lexeme = a.lexeme) AS f)
         SELECT t.id::text, sum(w.idf * t.tf / (t.tf + 1.2 * (0.25 + 0.75 * l.length / c.avgdl)))
         FROM terms AS t JOIN weighed AS w USING (lexeme) JOIN lengths AS l USING (id), corpus AS c GROUP BY 1",
        &[&query],
    )?;
    Ok(expected
        .iter()
        .map(|row| (row.get(0), row.get(1)))
        .collect())
}

/// Each row is parsed with its own configuration, the query with all configurations; a word counts with the
/// highest frequency of all parses.
#[test]
fn rows_of_several_languages_share_statistics() -> Result<()> {
    let database = Database::create("oracle_languages")?;
    let mut client = database.connect()?;
    let mut chance = Chance::of(41);
    create_leaflets(&mut client, &mut chance)?;
    let ask = |client: &mut Client, corpus: &str, query: &str| -> Result<BTreeMap<String, f64>> {
        let found = client.query(
            "SELECT chunk_id, lexical_score FROM reground.search($1, $2, max_results => 1000, settings => '{\"candidates\": 1000}')",
            &[&corpus, &query],
        )?;
        Ok(found.iter().map(|row| (row.get(0), row.get(1))).collect())
    };
    let mut compared = 0;
    for index in [None, Some("lang"), Some("config")] {
        if let Some(column) = index {
            client.batch_execute(&format!(
                "CREATE INDEX leaflets_{column} ON leaflets USING reground_bm25 (reground.in_language(body, {column})) WITH (text_config = 'simple');
                 CREATE INDEX ON leaflets ({column})"
            ))?;
        }
        for number in 0..15 {
            let mut query = tongue(&mut chance, "de", 1 + number % 3);
            query = format!("{query} {}", tongue(&mut chance, "zh", 1 + number % 4));
            if number % 2 == 0 {
                query = format!("{query} {}", tongue(&mut chance, "en", 2));
            }
            let expected = expected_scores(&mut client, &query)?;
            for corpus in ["named", "typed"] {
                let found = ask(&mut client, corpus, &query)?;
                ensure!(
                    found.keys().eq(expected.keys()),
                    "{corpus} by {index:?}, {query}: {} rows, the oracle has {}",
                    found.len(),
                    expected.len()
                );
                for (key, score) in &found {
                    ensure!(
                        close(Some(*score), expected.get(key).copied()),
                        "{corpus} by {index:?}, {query}, {key}: {score}, the oracle has {:?}",
                        expected.get(key)
                    );
                }
                compared += found.len();
            }
        }
    }
    ensure!(compared > 5000, "only {compared} rows were compared");
    // Each corpus used the index on its column.
    for corpus in ["named", "typed"] {
        let status: String = client
            .query_one(
                "SELECT status FROM reground.check_corpus($1) WHERE item = 'lexical index'",
                &[&corpus],
            )?
            .get(0);
        ensure!(status == "ok", "no index serves {corpus}");
    }
    Ok(())
}
