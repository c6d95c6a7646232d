//! Loads corpora through the public functions of the extension.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use pgvector::Vector;
use postgres::Client;
use serde_json::Value;

use crate::data::corpus::{Corpus, Document};
use crate::data::vectors::DIMENSIONS;
use crate::progress::Progress;

/// Schema of all tables that an evaluation creates.
pub const SCHEMA: &str = "eval";

/// Model of the embeddings.
const MODEL: &str = "all-MiniLM-L6-v2";

/// Documents per transaction.
const DOCUMENT_BATCH: usize = 200;

/// Embeddings per call.
const EMBEDDING_BATCH: usize = 500;

/// The size and the times of a load.
#[derive(Debug)]
pub struct Load {
    /// Name of the corpus.
    pub corpus: String,
    /// [`Corpus::digest`] of each part, concatenated.
    pub digest: String,
    /// Documents.
    pub documents: usize,
    /// Passages.
    pub passages: usize,
    /// Passages whose text starts with their title.
    pub titled_texts: usize,
    /// Total time of `put_document`.
    pub documents_took: Duration,
    /// Total time of `put_embeddings`.
    pub embeddings_took: Duration,
    /// Time to build the vector index.
    pub index_took: Duration,
    /// Whether an earlier run loaded the corpus; the times are those of that run.
    pub reused: bool,
}

/// Loads a domain as a corpus of its own, without searching titles, unless the same data are already loaded.
///
/// # Errors
/// Errors of the server, and row counts that differ from the data.
pub fn load(client: &mut Client, corpus: &Corpus) -> Result<Load> {
    load_together(
        client,
        &corpus.domain.corpus(),
        std::slice::from_ref(corpus),
        Some(0),
    )
}

/// Loads domains into one corpus, unless the same data are already loaded. Their document ids must be distinct. `title_weight` is that
/// of the corpus; `None` for the default.
///
/// # Errors
/// As [`load`].
pub fn load_together(
    client: &mut Client,
    name: &str,
    parts: &[Corpus],
    title_weight: Option<i32>,
) -> Result<Load> {
    client.batch_execute(&format!(
        "CREATE SCHEMA IF NOT EXISTS {SCHEMA};
         CREATE TABLE IF NOT EXISTS {SCHEMA}.loads (corpus text PRIMARY KEY, digest text NOT NULL, documents_seconds float8 NOT NULL, \
             embeddings_seconds float8 NOT NULL, index_seconds float8 NOT NULL);"
    ))?;
    let documents: Vec<Document> = parts.iter().flat_map(Corpus::documents).collect();
    let load = Load {
        digest: parts.iter().map(Corpus::digest).collect(),
        documents: documents.len(),
        passages: parts.iter().map(|part| part.passages.len()).sum(),
        titled_texts: parts.iter().map(Corpus::titled_texts).sum(),
        documents_took: Duration::ZERO,
        embeddings_took: Duration::ZERO,
        index_took: Duration::ZERO,
        reused: false,
        corpus: name.to_owned(),
    };
    if let Some(reused) = recorded_load(client, &load)? {
        eprintln!("{}: already loaded", reused.corpus);
        return Ok(reused);
    }
    clear(client, &load.corpus)?;
    client.execute(
        "SELECT reground.create_corpus($1, dimensions => $2, schema => $3)",
        &[&load.corpus, &i32::try_from(DIMENSIONS)?, &SCHEMA],
    )?;
    if let Some(weight) = title_weight {
        client.execute(
            "SELECT reground.alter_corpus($1, title_weight => $2)",
            &[&load.corpus, &weight],
        )?;
    }
    let load = Load {
        documents_took: put_documents(client, &load.corpus, &documents)?,
        embeddings_took: put_embeddings(client, &load.corpus, parts)?,
        index_took: index(client, &load.corpus)?,
        ..load
    };
    vacuum_and_merge(client, &load.corpus)?;
    ensure!(
        complete(client, &load)?,
        "{} does not contain the data that were put into it",
        load.corpus
    );
    client.execute(
        &format!("INSERT INTO {SCHEMA}.loads VALUES ($1, $2, $3, $4, $5)"),
        &[
            &load.corpus,
            &load.digest,
            &load.documents_took.as_secs_f64(),
            &load.embeddings_took.as_secs_f64(),
            &load.index_took.as_secs_f64(),
        ],
    )?;
    Ok(load)
}

/// The recorded load, if the corpus is complete and has the same data.
fn recorded_load(client: &mut Client, load: &Load) -> Result<Option<Load>> {
    let recorded = client.query_opt(
        &format!(
            "SELECT l.documents_seconds, l.embeddings_seconds, l.index_seconds FROM {SCHEMA}.loads AS l \
             JOIN reground.corpora AS c USING (corpus) WHERE l.corpus = $1 AND l.digest = $2"
        ),
        &[&load.corpus, &load.digest],
    )?;
    let Some(row) = recorded else {
        return Ok(None);
    };
    if !complete(client, load)? {
        return Ok(None);
    }
    Ok(Some(Load {
        corpus: load.corpus.clone(),
        digest: load.digest.clone(),
        documents_took: Duration::from_secs_f64(row.get(0)),
        embeddings_took: Duration::from_secs_f64(row.get(1)),
        index_took: Duration::from_secs_f64(row.get(2)),
        reused: true,
        ..*load
    }))
}

/// Whether the tables contain as many documents, passages and embeddings as the data.
fn complete(client: &mut Client, load: &Load) -> Result<bool> {
    let row = client.query_one(
        &format!(
            "SELECT count(DISTINCT doc_id), count(DISTINCT metadata ->> 'id'), count(embedding) FROM {SCHEMA}.{}",
            load.corpus
        ),
        &[],
    )?;
    let is = |column, count| usize::try_from(row.get::<_, i64>(column)).is_ok_and(|n| n == count);
    Ok(is(0, load.documents) && is(1, load.passages) && is(2, load.passages))
}

/// Removes other data of this name, and the remains of an interrupted load or a dropped extension.
fn clear(client: &mut Client, corpus: &str) -> Result<()> {
    client.execute(
        &format!("DELETE FROM {SCHEMA}.loads WHERE corpus = $1"),
        &[&corpus],
    )?;
    client.execute(
        "SELECT reground.drop_corpus(c.corpus, drop_tables => true) FROM reground.corpora AS c WHERE c.corpus = $1",
        &[&corpus],
    )?;
    client.batch_execute(&format!(
        "DROP TABLE IF EXISTS {SCHEMA}.{corpus}, {SCHEMA}.{corpus}_documents, {SCHEMA}.{corpus}_history"
    ))?;
    Ok(())
}

fn put_documents(client: &mut Client, corpus: &str, documents: &[Document]) -> Result<Duration> {
    let task = format!("{corpus}: put_document");
    let progress = Progress::new(&task, documents.len());
    let statement = client.prepare(
        "SELECT chunk_count FROM reground.put_document($1, $2, passages => $3, uri => $4, title => $5)",
    )?;
    for batch in documents.chunks(DOCUMENT_BATCH) {
        let mut transaction = client.transaction()?;
        for document in batch {
            let passages = Value::Array(document.passages.clone());
            let row = transaction
                .query_one(
                    &statement,
                    &[
                        &corpus,
                        &document.id,
                        &passages,
                        &document.uri,
                        &document.title,
                    ],
                )
                .with_context(|| format!("document {}", document.id))?;
            let chunk_count: i32 = row.get(0);
            ensure!(
                usize::try_from(chunk_count) == Ok(document.passages.len()),
                "document {} has {} passages, {chunk_count} were stored",
                document.id,
                document.passages.len()
            );
        }
        transaction.commit()?;
        progress.step(batch.len());
    }
    Ok(progress.finish())
}

fn put_embeddings(client: &mut Client, name: &str, parts: &[Corpus]) -> Result<Duration> {
    let keys = keys(client, name)?;
    let rows: Vec<_> = parts
        .iter()
        .flat_map(|part| part.passages.iter().zip(&part.embeddings))
        .collect();
    let task = format!("{name}: put_embeddings");
    let progress = Progress::new(&task, rows.len());
    let statement = client.prepare("SELECT reground.put_embeddings($1, $2, $3, model => $4)")?;
    for batch in rows.chunks(EMBEDDING_BATCH) {
        let ids = batch
            .iter()
            .map(|(passage, _)| {
                keys.get(&passage.id)
                    .with_context(|| format!("passage {} was not stored", passage.id))
            })
            .collect::<Result<Vec<&String>>>()?;
        let embeddings: Vec<Vector> = batch
            .iter()
            .map(|(_, embedding)| Vector::from((*embedding).clone()))
            .collect();
        let stored: i32 = client
            .query_one(&statement, &[&name, &ids, &embeddings, &MODEL])?
            .get(0);
        ensure!(
            usize::try_from(stored) == Ok(batch.len()),
            "{stored} of {} embeddings were stored",
            batch.len()
        );
        progress.step(batch.len());
    }
    Ok(progress.finish())
}

/// The `chunk_id` of each passage of the data set.
fn keys(client: &mut Client, corpus: &str) -> Result<BTreeMap<String, String>> {
    let rows = client.query(
        &format!("SELECT metadata ->> 'id', chunk_id::text FROM {SCHEMA}.{corpus}"),
        &[],
    )?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// Vacuums and merges: put_embeddings leaves dead rows, which count in lexical scores until VACUUM removes them. ANALYZE gives the
/// planner the sizes before anything is timed.
fn vacuum_and_merge(client: &mut Client, corpus: &str) -> Result<()> {
    let relation = format!("{SCHEMA}.{corpus}");
    client.batch_execute(&format!("VACUUM (ANALYZE, INDEX_CLEANUP on) {relation}"))?;
    client.batch_execute(&format!(
        "SELECT reground.bm25_merge(index) FROM reground.bm25_indexes WHERE relation = '{relation}'::regclass"
    ))?;
    Ok(())
}

/// Runs the CREATE INDEX statement that `check_corpus` suggests.
fn index(client: &mut Client, corpus: &str) -> Result<Duration> {
    let hint: Option<String> = client
        .query_one(
            "SELECT hint FROM reground.check_corpus($1) WHERE item = 'vector index'",
            &[&corpus],
        )?
        .get(0);
    let command = hint.context("check_corpus suggests no command for the missing vector index")?;
    eprintln!("{corpus}: {command}");
    let begun = Instant::now();
    client.batch_execute(&command)?;
    Ok(begun.elapsed())
}
