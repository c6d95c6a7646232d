//! The edges of the corpora's knowledge graphs.

use std::collections::BTreeSet;

use reground_grounding::query::graph::{Edge, Neighbour};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;
use crate::store::corpora::Corpus;

/// Edges that are read of one node in one direction, the strongest first: a hub has more than any context can use.
const MOST_OF_A_NODE: i64 = 200;

/// What became of the edges that were given.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Put {
    pub added: i64,
    pub changed: i64,
}

/// Which edges are meant; what is `None` does not matter.
#[derive(Debug, Default)]
pub struct Which<'a> {
    pub doc_id: Option<&'a str>,
    pub chunk_ids: Option<Vec<String>>,
    /// Normal name of a node at either end.
    pub entity: Option<&'a str>,
}

/// Stores edges, each with the document of its passage; those that are there take the new weight and spelling.
pub fn put(corpus: &Corpus, edges: &[Edge]) -> Result<Put> {
    let rows = sql::json(edges)?;
    Ok(as_owner(|| {
        sql::write_json(
            "WITH stored AS (INSERT INTO reground.edges AS e (corpus_id, tenant, source, source_entity, relation, target, target_entity, doc_id, chunk_id, weight) \
                 SELECT $1, $2, x.source, x.source_entity, x.relation, x.target, x.target_entity, x.doc_id, x.chunk_id, x.weight \
                 FROM json_to_recordset($3::json) AS x(source text, source_entity text, relation text, target text, target_entity text, doc_id text, \
                     chunk_id text, weight double precision) \
                 ON CONFLICT (corpus_id, doc_id, chunk_id, source_entity, relation, target_entity) DO UPDATE SET source = excluded.source, \
                     target = excluded.target, weight = excluded.weight \
                 WHERE (e.source, e.target, e.weight) IS DISTINCT FROM (excluded.source, excluded.target, excluded.weight) \
                 RETURNING xmax::text = '0' AS is_new) \
             SELECT json_build_object('added', count(*) FILTER (WHERE is_new), 'changed', count(*) FILTER (WHERE NOT is_new))::text FROM stored",
            &[
                corpus.corpus_id.into(),
                corpus.tenant.as_deref().into(),
                rows.into(),
            ],
        )
    })?
    .unwrap_or_default())
}

/// The condition of [`Which`], whose values are `$2` to `$4`.
const MATCHES: &str = "e.corpus_id = $1 AND ($2::text IS NULL OR e.doc_id = $2) AND ($3::text[] IS NULL OR e.chunk_id = ANY ($3)) \
     AND ($4::text IS NULL OR e.source_entity = $4 OR e.target_entity = $4)";

/// The passages of edges.
pub fn passages(corpus_id: i64, which: &Which<'_>) -> Result<Vec<String>> {
    let statement = format!(
        "SELECT coalesce(json_agg(DISTINCT e.chunk_id), '[]')::text FROM reground.edges AS e WHERE {MATCHES}"
    );
    let args = [
        corpus_id.into(),
        which.doc_id.into(),
        which.chunk_ids.clone().into(),
        which.entity.into(),
    ];
    Ok(as_owner(|| sql::write_json(&statement, &args))?.unwrap_or_default())
}

/// Removes edges; how many there were.
pub fn delete(corpus_id: i64, which: Which<'_>) -> Result<i64> {
    Ok(as_owner(|| {
        sql::write_one::<i64>(
            &format!(
                "WITH gone AS (DELETE FROM reground.edges AS e WHERE {MATCHES} RETURNING 1) SELECT count(*) FROM gone"
            ),
            &[
                corpus_id.into(),
                which.doc_id.into(),
                which.chunk_ids.into(),
                which.entity.into(),
            ],
        )
    })?
    .unwrap_or(0))
}

/// Those of the normal names that are nodes. The index on either end is asked for each; the nodes are never read through.
pub fn nodes(corpus_id: i64, names: &[&str]) -> Result<BTreeSet<String>> {
    let names: Vec<&str> = names.to_vec();
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(n), '[]')::text FROM unnest($2::text[]) AS n \
             WHERE EXISTS (SELECT FROM reground.edges AS e WHERE e.corpus_id = $1 AND e.source_entity = n OFFSET 0) \
                OR EXISTS (SELECT FROM reground.edges AS e WHERE e.corpus_id = $1 AND e.target_entity = n OFFSET 0)",
            &[corpus_id.into(), names.into()],
        )
    })?
    .unwrap_or_default())
}

/// The edges of these nodes, in either direction: of each the strongest.
pub fn of(corpus_id: i64, nodes: &[String]) -> Result<Vec<Neighbour>> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(e), '[]')::text FROM unnest($2::text[]) AS n, LATERAL ( \
                 (SELECT n AS entity, e.weight, e.chunk_id FROM reground.edges AS e WHERE e.corpus_id = $1 AND e.source_entity = n \
                  ORDER BY e.weight DESC, e.chunk_id LIMIT $3) \
                 UNION ALL \
                 (SELECT n AS entity, e.weight, e.chunk_id FROM reground.edges AS e WHERE e.corpus_id = $1 AND e.target_entity = n \
                  ORDER BY e.weight DESC, e.chunk_id LIMIT $3)) AS e",
            &[
                corpus_id.into(),
                nodes.to_vec().into(),
                MOST_OF_A_NODE.into(),
            ],
        )
    })?
    .unwrap_or_default())
}
