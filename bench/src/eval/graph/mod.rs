//! The knowledge graph: conversations replayed with and without edges made by [`mentions`].

pub mod mentions;

use anyhow::Result;
use postgres::Client;
use serde_json::{Value, json};

use super::corpora::JudgedCorpus;
use super::replay::arm::Arm;
use crate::database::load::SCHEMA;
use mentions::Described;

/// Edges per call.
const BATCH: usize = 2000;

/// The arms: without the graph, with neighbours as candidates only, with neighbours at the default weight.
pub const ARMS: [Arm; 3] = [Arm::None, Arm::GraphNominates, Arm::Graph];

/// The edges of a corpus.
#[derive(Debug)]
pub struct Edges {
    /// Name of the corpus.
    pub corpus: String,
    /// Number of edges.
    pub edges: usize,
    /// Documents with an edge.
    pub nodes: usize,
}

/// Replaces the edges of each corpus.
///
/// # Errors
/// Errors of the server.
pub fn put(client: &mut Client, corpora: &[JudgedCorpus]) -> Result<Vec<Edges>> {
    let put = corpora.iter().map(|corpus| {
        let name = corpus.domain.corpus();
        let documents = documents(client, &name)?;
        let mentions = mentions::of(&documents);
        let rows: Vec<Value> = mentions
            .iter()
            .map(|one| {
                json!({
                    "source": one.source,
                    "relation": "mentions",
                    "target": one.target,
                    "chunk_id": one.passage,
                    "weight": one.weight,
                })
            })
            .collect();
        let mut transaction = client.transaction()?;
        transaction.execute(
            "SELECT reground.delete_edges($1, everything => true)",
            &[&name],
        )?;
        for batch in rows.chunks(BATCH) {
            let batch = Value::from(batch);
            transaction.execute("SELECT FROM reground.put_edges($1, $2)", &[&name, &batch])?;
        }
        transaction.commit()?;
        client.batch_execute("ANALYZE reground.edges")?;
        let mut nodes: Vec<&str> = mentions
            .iter()
            .flat_map(|one| [one.source.as_str(), one.target.as_str()])
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        Ok(Edges {
            edges: mentions.len(),
            nodes: nodes.len(),
            corpus: name,
        })
    });
    put.collect()
}

/// The documents with a title, and their texts.
fn documents(client: &mut Client, corpus: &str) -> Result<Vec<Described>> {
    let rows = client.query(
        &format!(
            "SELECT d.title, (pg_catalog.array_agg(p.chunk_id::text ORDER BY p.ordinal))[1], pg_catalog.array_agg(p.content ORDER BY p.ordinal) \
             FROM {SCHEMA}.{corpus} AS p JOIN {SCHEMA}.{corpus}_documents AS d USING (doc_id, version) \
             WHERE d.title <> '' GROUP BY d.doc_id, d.title ORDER BY d.doc_id"
        ),
        &[],
    )?;
    let documents = rows.iter().map(|row| Described {
        title: row.get(0),
        first: row.get(1),
        texts: row.get(2),
    });
    Ok(documents.collect())
}
