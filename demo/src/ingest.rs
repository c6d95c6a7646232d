//! Ingestion: stores passages and embeddings of the files. Unchanged passages of an earlier run are kept.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use postgres::Client;
use postgres::error::SqlState;
use serde_json::json;

use crate::documents::{Document, Folder};
use crate::screen::Screen;
use crate::service::{DIMENSIONS, MODEL};

/// Name of the demo's corpus and of the schema of its tables.
pub const CORPUS: &str = "demo";

/// A worker that embeds nothing for this long does not work.
const PATIENCE: Duration = Duration::from_secs(120);

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

/// Makes the corpus equal to the folder, and waits until the worker has embedded its passages, if there is one.
///
/// # Errors
/// An error of the database, or a worker that embeds nothing.
pub fn run(
    client: &mut Client,
    folder: &Folder,
    has_worker: bool,
    screen: &Screen,
) -> Result<IngestReport> {
    if has_worker {
        client.execute(
            "SELECT reground.set_model($1, task => 'embed', api => 'local', dimensions => $2)",
            &[&MODEL, &DIMENSIONS],
        )?;
    }
    create_corpus(client, has_worker.then_some(MODEL))?;
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
    if has_worker {
        done.embedded = wait_for_embeddings(client, screen)?;
        done.unchanged_embeddings = done.passages - done.embedded;
    }
    screen.progress("");
    Ok(done)
}

/// Creates the corpus. Passages are small and contexts short, because otherwise nearly all of a manual of some hundred passages
/// would be in every context: no source would be carried, and no marker would become stale.
fn create_corpus(client: &mut Client, model: Option<&str>) -> Result<()> {
    let settings = json!({"candidates": 12, "max_merged_tokens": 256, "max_sources": 8});
    client.batch_execute("CREATE SCHEMA IF NOT EXISTS demo")?;
    let create = |client: &mut Client| {
        client.execute(
            "SELECT reground.create_corpus($1, embedding_model => $2, schema => 'demo', chunk_size => 128, chunk_overlap => 32, settings => $3)",
            &[&CORPUS, &model, &settings],
        )
    };
    match create(client) {
        // The corpus exists with other arguments, because an earlier run had no worker.
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
         FROM (SELECT DISTINCT doc_id FROM demo.demo_documents WHERE replaced_at IS NULL AND doc_id <> ALL ($2)) AS d",
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

/// Waits until the worker has embedded all passages. Returns the number of those that it embedded meanwhile.
fn wait_for_embeddings(client: &mut Client, screen: &Screen) -> Result<i64> {
    let waiting = |client: &mut Client| -> Result<(i64, i64)> {
        let row = client.query_one(
            "SELECT waiting, dead FROM reground.embedding_progress WHERE corpus = $1",
            &[&CORPUS],
        )?;
        Ok((row.get(0), row.get(1)))
    };
    let (all, _) = waiting(client)?;
    let (mut left, mut progress) = (all, Instant::now());
    while left > 0 {
        screen.progress(&format!("the worker embeds: {left} passages are left"));
        std::thread::sleep(Duration::from_millis(100));
        let (now, dead) = waiting(client)?;
        ensure!(dead == 0, "the worker could not embed {dead} passages");
        if now < left {
            progress = Instant::now();
        }
        left = now;
        ensure!(progress.elapsed() < PATIENCE, "the worker embeds nothing");
    }
    Ok(all)
}
