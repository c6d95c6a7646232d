//! Copies of a corpus in which a share of the documents has no vectors.

use std::collections::BTreeSet;

use anyhow::Result;
use postgres::Client;

use crate::database::load::SCHEMA;
use crate::eval::corpora::JudgedCorpus;
use crate::statistics::random::SplitMix;

/// Seed of the order in which documents lose their vectors.
const SEED: u64 = 20;

/// A copy of a corpus.
pub struct Vectors {
    /// Its name.
    pub corpus: String,
    /// Classes of equal passages of which at least one has a vector.
    pub embedded: BTreeSet<String>,
}

/// Copies the passages of a corpus into a table and registers it. `percent` of the documents lose all vectors; the documents
/// of a smaller share are among those of a larger one.
///
/// # Errors
/// Errors of the server.
pub fn without_vectors(
    client: &mut Client,
    judged: &JudgedCorpus,
    percent: usize,
) -> Result<Vectors> {
    let original = &judged.name;
    let corpus = format!("{original}_without_{percent}");
    let relation = format!("{SCHEMA}.{corpus}");
    let documents = without(client, original, percent)?;
    eprintln!("{corpus}: {} documents without vectors", documents.len());
    client.execute(
        "SELECT reground.drop_corpus(c.corpus) FROM reground.corpora AS c WHERE c.corpus = $1",
        &[&corpus],
    )?;
    client.batch_execute(&format!(
        "DROP TABLE IF EXISTS {relation};
         CREATE TABLE {relation} AS SELECT chunk_id, doc_id, content, embedding FROM {SCHEMA}.{original} WITH NO DATA;"
    ))?;
    client.execute(
        &format!(
            "INSERT INTO {relation} SELECT chunk_id, doc_id, content, CASE WHEN doc_id <> ALL ($1) THEN embedding END \
             FROM {SCHEMA}.{original}"
        ),
        &[&documents],
    )?;
    client.batch_execute(&format!(
        "ALTER TABLE {relation} ADD PRIMARY KEY (chunk_id);
         CREATE INDEX ON {relation} USING reground_bm25 (content) WITH (text_config = 'english');
         ANALYZE {relation}"
    ))?;
    client.execute(
        "SELECT reground.add_corpus($1, relation => $2::text::regclass, chunk_id => 'chunk_id', content => 'content', \
             doc_id => 'doc_id', embedding => 'embedding', title_weight => 0)",
        &[&corpus, &relation],
    )?;
    let rows = client.query(
        &format!("SELECT chunk_id::text FROM {relation} WHERE embedding IS NOT NULL"),
        &[],
    )?;
    let keys: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    Ok(Vectors {
        corpus,
        embedded: judged.duplicates.of_keys(&keys),
    })
}

/// The documents without vectors: the first of a random order.
fn without(client: &mut Client, original: &str, percent: usize) -> Result<Vec<String>> {
    let rows = client.query(
        &format!("SELECT DISTINCT doc_id COLLATE \"C\" FROM {SCHEMA}.{original} ORDER BY 1"),
        &[],
    )?;
    let mut documents: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    SplitMix(SEED).shuffle(&mut documents);
    documents.truncate(documents.len() * percent / 100);
    Ok(documents)
}
