//! Ingestion: stores passages and embeddings of the files. Unchanged passages of an earlier run are kept.

use anyhow::Result;
use pgvector::Vector;
use postgres::Client;
use postgres::error::SqlState;
use reground_encoders::SentenceEncoder;
use serde_json::json;

use crate::documents::{Document, Folder};
use crate::screen::Screen;

/// Name of the demo's corpus and of the schema of its tables.
pub const CORPUS: &str = "demo";

/// Number of passages that are embedded at a time.
const BATCH: i32 = 64;

/// Result of an ingestion.
#[derive(Debug, Default)]
pub struct IngestReport {
    /// Passages in the corpus.
    pub passages: i64,
    /// Passages that are unchanged since an earlier run.
    pub unchanged: i64,
    /// Documents of an earlier run that were removed because they are not in the folder.
    pub removed: usize,
    /// Passages with an embedding of an earlier run.
    pub unchanged_embeddings: i64,
    /// Passages that were embedded in this run.
    pub embedded: i64,
}

/// Makes the corpus equal to the folder.
///
/// # Errors
/// An error of the database or the encoder.
pub fn run(
    client: &mut Client,
    folder: &Folder,
    encoder: Option<&SentenceEncoder>,
    screen: &Screen,
) -> Result<IngestReport> {
    let dimensions = encoder
        .map(|encoder| i32::try_from(encoder.dimensions()))
        .transpose()?;
    create_corpus(client, dimensions)?;
    let mut done = IngestReport {
        removed: remove_others(client, folder)?,
        ..IngestReport::default()
    };
    for document in &folder.documents {
        screen.progress(&format!("reading {}", document.id));
        let (chunks, unchanged) = put(client, document)?;
        done.passages += chunks;
        done.unchanged += unchanged;
    }
    if let Some(encoder) = encoder {
        done.embedded = embed(client, encoder, done.passages, screen)?;
        done.unchanged_embeddings = done.passages - done.embedded;
    }
    screen.progress("");
    Ok(done)
}

/// Creates the corpus. Passages are small and contexts short, because otherwise nearly all of a manual of some hundred passages
/// would be in every context: no source would be carried, and no marker would become stale.
fn create_corpus(client: &mut Client, dimensions: Option<i32>) -> Result<()> {
    let settings = json!({"candidates": 12, "max_merged_tokens": 256, "max_sources": 8});
    client.batch_execute("CREATE SCHEMA IF NOT EXISTS demo")?;
    let create = |client: &mut Client| {
        client.execute(
            "SELECT reground.create_corpus($1, dimensions => $2, schema => 'demo', chunk_size => 128, chunk_overlap => 32, settings => $3)",
            &[&CORPUS, &dimensions, &settings],
        )
    };
    match create(client) {
        // The corpus exists with other dimensions, because an earlier run used another model or none.
        Err(error) if error.code() == Some(&SqlState::DUPLICATE_OBJECT) => {
            client.execute(
                "SELECT reground.drop_corpus($1, drop_tables => true)",
                &[&CORPUS],
            )?;
            create(client)?;
        }
        created => {
            created?;
        }
    }
    Ok(())
}

/// Deletes the documents that are not in the folder, for example those of another folder.
fn remove_others(client: &mut Client, folder: &Folder) -> Result<usize> {
    let ids: Vec<&str> = folder
        .documents
        .iter()
        .map(|document| document.id.as_str())
        .collect();
    let removed = client.query(
        "SELECT reground.delete_document($1, d.doc_id)
         FROM (SELECT DISTINCT doc_id FROM demo.demo_documents WHERE doc_id <> ALL ($2)) AS d",
        &[&CORPUS, &ids],
    )?;
    Ok(removed.len())
}

/// Stores one document. Returns the number of its passages, and how many of them are unchanged.
fn put(client: &mut Client, document: &Document) -> Result<(i64, i64)> {
    let row = client.query_one(
        "SELECT chunk_count::bigint, reused::bigint FROM reground.put_document($1, $2, content => $3, title => $4, page_starts => $5)",
        &[
            &CORPUS,
            &document.id,
            &document.text,
            &document.title,
            &document.page_starts,
        ],
    )?;
    Ok((row.get(0), row.get(1)))
}

/// Embeds the passages without an embedding. Returns their number.
fn embed(
    client: &mut Client,
    encoder: &SentenceEncoder,
    passages: i64,
    screen: &Screen,
) -> Result<i64> {
    let mut embedded = 0;
    loop {
        let pending = client.query(
            "SELECT chunk_id, content FROM reground.pending_embeddings($1, $2)",
            &[&CORPUS, &BATCH],
        )?;
        if pending.is_empty() {
            return Ok(embedded);
        }
        screen.progress(&format!(
            "embedding {embedded} of at most {passages} passages"
        ));
        let chunk_ids: Vec<String> = pending.iter().map(|row| row.get(0)).collect();
        let texts: Vec<&str> = pending.iter().map(|row| row.get(1)).collect();
        let embeddings: Vec<Vector> = encoder
            .encode(&texts)?
            .into_iter()
            .map(Vector::from)
            .collect();
        let stored: i32 = client
            .query_one(
                "SELECT reground.put_embeddings($1, $2, $3, model => 'all-MiniLM-L6-v2')",
                &[&CORPUS, &chunk_ids, &embeddings],
            )?
            .get(0);
        anyhow::ensure!(stored > 0, "no embedding was stored");
        embedded += i64::from(stored);
    }
}
