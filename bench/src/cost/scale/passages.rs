//! The passages: generated texts as for `lexical`, each with the normalised sum of three times the vector of one passage of the data and
//! the vector of another. So the vectors have the clusters of the data, and no two are equal.

use anyhow::Result;
use pgvector::Vector;
use postgres::Client;

use crate::cost::lexical::passages as texts;
use crate::data::corpus::Corpus;
use crate::data::vectors::DIMENSIONS;
use crate::data::{Domain, Folder};

/// The table of the passages.
pub const TABLE: &str = "lexical.scale";
/// Factors that spread the passages over pairs of vectors; they are prime.
const SPREAD: [i64; 2] = [2_654_435_761, 40_503_007];

/// Creates the table; returns the SHA-256 of the texts, in hex.
///
/// # Errors
/// Unreadable data, errors of the server.
pub fn load(client: &mut Client, folder: &Folder, count: usize) -> Result<String> {
    let digest = texts::load(client, folder, count)?;
    eprintln!("vectors …");
    client.batch_execute(&format!(
        "CREATE TABLE lexical.vectors (n bigint PRIMARY KEY, embedding vector({DIMENSIONS}) NOT NULL)"
    ))?;
    let insert = client.prepare("INSERT INTO lexical.vectors SELECT $1, $2")?;
    let mut transaction = client.transaction()?;
    let mut stored: i64 = 0;
    for domain in Domain::ORIGINAL {
        for embedding in Corpus::read(folder, domain)?.embeddings {
            transaction.execute(&insert, &[&stored, &Vector::from(embedding)])?;
            stored += 1;
        }
    }
    transaction.commit()?;
    let [first, second] = SPREAD;
    client.batch_execute(&format!(
        "CREATE TABLE {TABLE} AS \
             SELECT p.id AS chunk_id, p.body AS content, l2_normalize(a.embedding + a.embedding + a.embedding + b.embedding)::vector({DIMENSIONS}) AS embedding \
             FROM lexical.passages AS p JOIN lexical.vectors AS a ON a.n = (p.id * {first}) % {stored} \
                 JOIN lexical.vectors AS b ON b.n = (p.id * {second} + p.id / {stored}) % {stored};
         DROP TABLE lexical.passages, lexical.vectors;
         ALTER TABLE {TABLE} ADD PRIMARY KEY (chunk_id)"
    ))?;
    Ok(digest)
}
