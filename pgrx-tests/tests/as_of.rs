//! Searches at an earlier time, compared with a corpus that is rebuilt from the documents of that time.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use pgvector::Vector;
use postgres::Client;
use postgres::types::ToSql;
use reground_tests::chance::Chance;
use reground_tests::server::{Database, state};
use serde_json::{Value, json};

/// A document as it was put.
#[derive(Clone, Debug, PartialEq)]
struct Document {
    paragraphs: Vec<String>,
    title: String,
    language: &'static str,
    team: usize,
    /// Whether it is put as passages instead of a text.
    is_split: bool,
}

/// The documents of a corpus at a time.
struct State {
    /// The clock of the server after the change.
    time: String,
    documents: BTreeMap<String, Document>,
}

const WORDS: [&str; 16] = [
    "harbour", "kettle", "lanterns", "walking", "copper", "violet", "engines", "marsh", "ladder",
    "pepper", "signals", "window", "orchard", "tunnels", "mirror", "saddle",
];

fn paragraph(chance: &mut Chance, doc_id: &str) -> String {
    let sentences = (0..1 + chance.below(3)).map(|_| {
        let words: Vec<&str> = (0..4 + chance.below(8))
            .map(|_| WORDS[chance.below(WORDS.len())])
            .collect();
        format!(
            "The {doc_id} {} {}.",
            words.join(" "),
            chance.bits() % 10_000
        )
    });
    sentences.collect::<Vec<_>>().join(" ")
}

fn document(chance: &mut Chance, doc_id: &str) -> Document {
    Document {
        paragraphs: (0..1 + chance.below(8))
            .map(|_| paragraph(chance, doc_id))
            .collect(),
        title: format!("Title {}", chance.below(100)),
        language: ["en", "de", "simple"][chance.below(3)],
        team: chance.below(2),
        is_split: chance.happens(30),
    }
}

/// Changes a document: its text, its white space, its description, or nothing.
fn edit(chance: &mut Chance, doc_id: &str, document: &mut Document) {
    let place = chance.below(document.paragraphs.len());
    match chance.below(7) {
        0 => document.paragraphs[place] = paragraph(chance, doc_id),
        1 => document.paragraphs.insert(place, paragraph(chance, doc_id)),
        2 if document.paragraphs.len() > 1 => {
            document.paragraphs.remove(place);
        }
        3 => document.paragraphs[place] = document.paragraphs[place].replacen(' ', "  ", 1),
        4 => document.title = format!("Title {}", chance.below(100)),
        5 => {
            document.team = 1 - document.team;
            document.language = ["en", "de", "simple"][chance.below(3)];
        }
        _ => {}
    }
}

fn put(client: &mut Client, corpus: &str, doc_id: &str, document: &Document) -> Result<()> {
    let passages: Vec<Value> = document
        .paragraphs
        .iter()
        .map(|text| json!({"content": text, "metadata": {"split": true}}))
        .collect();
    let text = document.paragraphs.join("\n\n");
    let (text, passages) = match document.is_split {
        true => (None, Some(json!(passages))),
        false => (Some(text), None),
    };
    client.execute(
        "SELECT reground.put_document($1, $2, content => $3, passages => $4, title => $5, language => $6, metadata => $7, published => '2026-01-01')",
        &[&corpus, &doc_id, &text, &passages, &document.title, &document.language, &json!({"team": document.team})],
    )?;
    embed(client, corpus)
}

/// A vector that depends on the words of a text only. No numbers are negative, because negative similarities count as equal.
fn vector(text: &str) -> Vector {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    let numbers = (0..5).map(|_| {
        for byte in words.bytes() {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        ((state >> 40) + 1) as f32 / (1 << 24) as f32
    });
    Vector::from(numbers.collect::<Vec<_>>())
}

fn embed(client: &mut Client, corpus: &str) -> Result<()> {
    // Vectors of the text alone: a later title replaces the vector of a passage, also for earlier times.
    let pending = client.query(
        &format!("SELECT e.chunk_id, p.content FROM reground.pending_embeddings($1, 10000) AS e JOIN {corpus} AS p ON p.chunk_id::text = e.chunk_id"),
        &[&corpus],
    )?;
    let chunk_ids: Vec<String> = pending.iter().map(|row| row.get(0)).collect();
    let vectors: Vec<Vector> = pending.iter().map(|row| vector(row.get(1))).collect();
    client.execute(
        "SELECT reground.put_embeddings($1, $2, $3)",
        &[&corpus, &chunk_ids, &vectors],
    )?;
    Ok(())
}

fn now(client: &mut Client) -> Result<String> {
    Ok(client
        .query_one("SELECT clock_timestamp()::text", &[])?
        .get(0))
}

/// Makes random changes, some of them several in one transaction, and returns the states between them.
fn edits(
    client: &mut Client,
    corpus: &str,
    chance: &mut Chance,
    count: usize,
) -> Result<Vec<State>> {
    let mut documents: BTreeMap<String, Document> = BTreeMap::new();
    let mut states = vec![State {
        time: now(client)?,
        documents: documents.clone(),
    }];
    for _ in 0..count {
        client.batch_execute("BEGIN")?;
        for _ in 0..1 + chance.below(3) {
            let doc_id = format!("doc{}", chance.below(5));
            match documents.get_mut(&doc_id) {
                Some(_) if chance.happens(20) => {
                    client.execute(
                        "SELECT reground.delete_document($1, $2)",
                        &[&corpus, &doc_id],
                    )?;
                    documents.remove(&doc_id);
                    continue;
                }
                Some(document) => edit(chance, &doc_id, document),
                None => {
                    documents.insert(doc_id.clone(), document(chance, &doc_id));
                }
            }
            put(client, corpus, &doc_id, &documents[&doc_id])?;
        }
        client.batch_execute("COMMIT")?;
        states.push(State {
            time: now(client)?,
            documents: documents.clone(),
        });
    }
    Ok(states)
}

/// A row of a search that is compared.
#[derive(Clone, Debug)]
struct Row {
    scores: Vec<Option<f64>>,
    rest: Value,
}

const SEARCH: &str = "SELECT score, lexical_score, vector_distance, \
     jsonb_build_array(doc_id, title, locator, content, lexical_rank IS NULL, vector_rank IS NULL, published::timestamptz, metadata) \
     FROM reground.search($1, $2, embedding => $3, max_results => 1000, filter => $4, settings => $5, as_of => $6::text::timestamptz)";

/// The first turn of a conversation.
const BEGIN: &str = "SELECT min(turn_id) FROM reground.begin_turn(gen_random_uuid()::text, $2, $1, $3, filter => $4, settings => $5, as_of => $6::text::timestamptz)";

/// The context of a turn, with the positions of its passages.
const CONTEXT: &str = "SELECT (s ->> 'relevance')::float8, (s ->> 'fused_score')::float8, (s ->> 'vector_distance')::float8, \
     jsonb_build_array(s -> 'passage' -> 'doc_id', s -> 'passage' -> 'chars', s -> 'passage' -> 'ordinal', s -> 'passage' -> 'content', \
         s -> 'passage' -> 'content_hash', s -> 'passage' -> 'tokens', s -> 'passage' -> 'title', s -> 'facts') \
     FROM reground.turns AS t, jsonb_array_elements(t.context) AS s WHERE t.turn_id = $1";

fn rows(
    client: &mut Client,
    statement: &str,
    corpus: &str,
    query: &Query,
    as_of: Option<&str>,
) -> Result<Vec<Row>> {
    let settings = json!({"candidates": 1000, "max_sources": 100, "max_tokens": 1_000_000, "lexical_search": "exact", "vector_search": "exact"});
    let arguments: [&(dyn ToSql + Sync); 6] = [
        &corpus,
        &query.text,
        &query.embedding,
        &query.filter,
        &settings,
        &as_of,
    ];
    let rows = if statement == BEGIN {
        let turn_id: i64 = client.query_one(BEGIN, &arguments)?.get(0);
        client.query(CONTEXT, &[&turn_id])?
    } else {
        client.query(statement, &arguments)?
    };
    let rows = rows.iter().map(|row| Row {
        scores: (0..3).map(|column| row.get(column)).collect(),
        rest: row.get(3),
    });
    // The rebuilt corpus has other ids, which decide between equal scores.
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_by_key(|row| {
        let score = row.scores[0].unwrap_or_default();
        ((-score * 1e9).round() as i64, row.rest.to_string())
    });
    Ok(rows)
}

struct Query {
    text: Option<String>,
    embedding: Option<Vector>,
    filter: Option<Value>,
}

fn query(chance: &mut Chance) -> Query {
    let words = [0, 1, 2].map(|_| WORDS[chance.below(WORDS.len())]);
    let text = words.join(" ");
    let kind = chance.below(3);
    Query {
        embedding: (kind != 0).then(|| vector(&text)),
        filter: match chance.below(4) {
            0 => Some(json!({"metadata": {"team": 1}})),
            1 => Some(json!({"language": ["en", "de"], "version": {">=": 1}})),
            _ => None,
        },
        text: (kind != 1).then_some(text),
    }
}

fn same(found: &[Row], expected: &[Row]) -> Result<()> {
    ensure!(
        found.len() == expected.len(),
        "{} rows instead of {}",
        found.len(),
        expected.len()
    );
    for (found, expected) in found.iter().zip(expected) {
        let close = found
            .scores
            .iter()
            .zip(&expected.scores)
            .all(|pair| match pair {
                (Some(one), Some(other)) => (one - other).abs() < 1e-9,
                (one, other) => one.is_none() && other.is_none(),
            });
        ensure!(
            close && found.rest == expected.rest,
            "{found:?} instead of {expected:?}"
        );
    }
    Ok(())
}

fn compare_with_rebuilt(name: &str, options: &str, seed: u64) -> Result<()> {
    let database = Database::create(name)?;
    let mut client = database.connect()?;
    let create = |client: &mut Client, corpus: &str| {
        client.execute(
            &format!("SELECT reground.create_corpus($1, dimensions => 5, chunk_size => 24, chunk_overlap => 6, {options})"),
            &[&corpus],
        )
    };
    create(&mut client, "books")?;
    let chance = &mut Chance::of(seed);
    let states = edits(&mut client, "books", chance, 30)?;
    let mut compared = 0;
    let mut other_than_now = 0;
    for (number, state) in states
        .iter()
        .enumerate()
        .filter(|(number, _)| number % 3 == 0)
    {
        let rebuilt = format!("rebuilt{number}");
        create(&mut client, &rebuilt)?;
        for (doc_id, document) in &state.documents {
            put(&mut client, &rebuilt, doc_id, document)?;
        }
        for _ in 0..6 {
            let query = query(chance);
            let mut statements = vec![SEARCH];
            statements.extend(query.text.is_some().then_some(BEGIN));
            for statement in statements {
                let then = rows(&mut client, statement, "books", &query, Some(&state.time))?;
                let expected = rows(&mut client, statement, &rebuilt, &query, None)?;
                same(&then, &expected).with_context(|| {
                    format!("state {number}, {:?} {:?}", query.text, query.filter)
                })?;
                compared += then.len();
                let present = rows(&mut client, statement, "books", &query, None)?;
                other_than_now += usize::from(same(&then, &present).is_err());
            }
        }
    }
    ensure!(compared > 500, "only {compared} rows were compared");
    ensure!(
        other_than_now > 20,
        "only {other_than_now} searches differ from now"
    );
    let last = states.last().context("a state")?;
    unaffected_by_later_changes(&mut client, last)
}

/// What a time returns stays, whatever is put afterwards, except after forget_document.
fn unaffected_by_later_changes(client: &mut Client, state: &State) -> Result<()> {
    let query = Query {
        text: Some("harbour kettle copper engines".into()),
        embedding: None,
        filter: None,
    };
    let before = rows(client, SEARCH, "books", &query, Some(&state.time))?;
    for doc_id in state.documents.keys() {
        client.execute("SELECT reground.delete_document('books', $1)", &[&doc_id])?;
    }
    let after = rows(client, SEARCH, "books", &query, Some(&state.time))?;
    same(&after, &before)?;
    ensure!(rows(client, SEARCH, "books", &query, None)?.is_empty());
    for doc_id in 0..5 {
        let doc_id = format!("doc{doc_id}");
        client.execute("SELECT reground.forget_document('books', $1)", &[&doc_id])?;
    }
    ensure!(rows(client, SEARCH, "books", &query, Some(&state.time))?.is_empty());
    let left: i64 = client
        .query_one(
            "SELECT (SELECT count(*) FROM books_history) + (SELECT count(*) FROM books_documents)",
            &[],
        )?
        .get(0);
    ensure!(left == 0, "{left} rows are left after forget_document");
    Ok(())
}

#[test]
fn a_time_returns_the_rows_of_a_rebuilt_corpus() -> Result<()> {
    compare_with_rebuilt("as_of", "metric => 'cosine'", 7)
}

#[test]
fn a_time_returns_the_rows_of_a_rebuilt_corpus_with_languages() -> Result<()> {
    compare_with_rebuilt(
        "as_of_languages",
        "metric => 'l2', embedding_type => 'halfvec', text_config_per_document => true",
        8,
    )
}

/// A writer that began earlier than the version before it does not make two versions current at one time.
#[test]
fn versions_of_slow_writers_do_not_overlap() -> Result<()> {
    let database = Database::create("as_of_slow")?;
    let (mut slow, mut fast) = (database.connect()?, database.connect()?);
    slow.execute("SELECT reground.create_corpus('books')", &[])?;
    slow.execute(
        "SELECT reground.put_document('books', 'd', 'The first text.')",
        &[],
    )?;
    slow.batch_execute("BEGIN; SELECT now()")?;
    fast.execute(
        "SELECT reground.put_document('books', 'd', 'The second text.')",
        &[],
    )?;
    slow.execute(
        "SELECT reground.put_document('books', 'd', 'The third text.')",
        &[],
    )?;
    slow.batch_execute("COMMIT")?;
    for table in ["books_documents", "reground.documents"] {
        let bad: i64 = slow
            .query_one(
                &format!("SELECT count(*) FROM {table} AS a JOIN {table} AS b USING (doc_id) WHERE a.version < b.version AND (a.replaced_at IS NULL OR a.replaced_at > b.indexed_at)"),
                &[],
            )?
            .get(0);
        ensure!(bad == 0, "{bad} versions overlap in {table}");
    }
    Ok(())
}

/// A policy on the passages alone does not hide the earlier passages, so as_of is refused until both tables have one.
#[test]
fn policies_must_cover_the_history() -> Result<()> {
    let database = Database::create("as_of_rls")?;
    let mut owner = database.connect()?;
    owner.batch_execute(
        "DROP ROLE IF EXISTS as_of_reader; CREATE ROLE as_of_reader LOGIN IN ROLE reground_user;
         SELECT reground.create_corpus('books', settings => '{}');
         SELECT reground.put_document('books', 'open', 'An open text about kettles.');
         SELECT reground.put_document('books', 'secret', 'A secret text about kettles.');
         SELECT reground.put_document('books', 'secret', 'A secret text about copper kettles.');
         ALTER TABLE books ENABLE ROW LEVEL SECURITY; CREATE POLICY visible ON books USING (doc_id <> 'secret');
         GRANT SELECT ON books, books_documents TO as_of_reader",
    )?;
    let time = now(&mut owner)?;
    let mut reader = database.connect_as("as_of_reader")?;
    let query = Query {
        text: Some("kettles".into()),
        embedding: None,
        filter: None,
    };
    let asked = |reader: &mut Client| {
        reader.query(
            "SELECT doc_id FROM reground.search('books', $1, as_of => $2::text::timestamptz)",
            &[&query.text, &time],
        )
    };
    ensure!(state(&asked(&mut reader)) == Some("42501"));
    owner.batch_execute("GRANT SELECT ON books_history TO as_of_reader")?;
    ensure!(state(&asked(&mut reader)) == Some("42501"));
    owner.batch_execute(
        "ALTER TABLE books_history ENABLE ROW LEVEL SECURITY; CREATE POLICY visible ON books_history USING (doc_id <> 'secret')",
    )?;
    let found: Vec<String> = asked(&mut reader)?.iter().map(|row| row.get(0)).collect();
    ensure!(found == ["open"], "{found:?}");
    Ok(())
}
