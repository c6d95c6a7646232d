//! The table `edges`: the knowledge graphs of the corpora.

use std::collections::BTreeSet;

use reground_grounding::query::graph::{Edge, Neighbour};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql::{self, Record};
use crate::store::corpora::Corpus;

/// Maximum number of edges that are read per entity and direction, the strongest first. An entity can have more edges than any
/// context can use.
const MAX_EDGES: i64 = 200;

/// The result of storing edges.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Put {
    pub added: i64,
    pub changed: i64,
}

/// Conditions on edges; `None` matches every edge.
#[derive(Debug, Default)]
pub struct Which<'a> {
    pub doc_id: Option<&'a str>,
    pub chunk_ids: Option<Vec<String>>,
    /// Normalised name of an entity at either end.
    pub entity: Option<&'a str>,
    /// Tenant of the edges.
    pub tenant: Option<&'a str>,
}

/// Columns of [`Edge`].
const EDGE: Record = Record(&[
    "source text, source_entity text, relation text, target text, target_entity text, doc_id text, chunk_id text, weight double precision",
]);

/// Stores edges, each with the document of its passage. An existing edge gets the new weight and spelling.
pub fn put(corpus: &Corpus, edges: &[Edge]) -> Result<Put> {
    let rows = sql::json(edges)?;
    let tenant = corpus.row_tenant()?;
    Ok(as_owner(|| {
        sql::write_json(
            &format!(
                "WITH stored AS (INSERT INTO reground.edges AS e (corpus_id, tenant, {}) \
                     SELECT $1, $2, {} FROM json_to_recordset($3::json) AS x({EDGE}) \
                     ON CONFLICT (corpus_id, doc_id, chunk_id, source_entity, relation, target_entity) DO UPDATE SET source = excluded.source, \
                         target = excluded.target, weight = excluded.weight \
                     WHERE (e.source, e.target, e.weight) IS DISTINCT FROM (excluded.source, excluded.target, excluded.weight) \
                     RETURNING xmax::text = '0' AS is_new) \
                 SELECT json_build_object('added', count(*) FILTER (WHERE is_new), 'changed', count(*) FILTER (WHERE NOT is_new))::text FROM stored",
                EDGE.columns(""),
                EDGE.columns("x.")
            ),
            &[
                corpus.corpus_id.into(),
                tenant.as_deref().into(),
                rows.into(),
            ],
        )
    })?
    .unwrap_or_default())
}

/// Condition for [`Which`], with its values as `$2` to `$5` and the corpus as `$1`.
const MATCHES: &str = "e.corpus_id = $1 AND ($2::text IS NULL OR e.doc_id = $2) AND ($3::text[] IS NULL OR e.chunk_id = ANY ($3)) \
     AND ($4::text IS NULL OR e.source_entity = $4 OR e.target_entity = $4) AND ($5::text IS NULL OR e.tenant = $5)";

/// Chunk ids of the passages of the matching edges.
pub fn passages(corpus_id: i64, which: &Which<'_>) -> Result<Vec<String>> {
    let statement = format!(
        "SELECT coalesce(json_agg(DISTINCT e.chunk_id), '[]')::text FROM reground.edges AS e WHERE {MATCHES}"
    );
    let args = [
        corpus_id.into(),
        which.doc_id.into(),
        which.chunk_ids.clone().into(),
        which.entity.into(),
        which.tenant.into(),
    ];
    Ok(as_owner(|| sql::write_json(&statement, &args))?.unwrap_or_default())
}

/// Deletes the matching edges and returns their number.
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
                which.tenant.into(),
            ],
        )
    })?
    .unwrap_or(0))
}

/// Condition that an edge has the tenant of the rows that the caller reads ($3). Without it, the edges of other tenants would use up the
/// limits.
fn of_tenant(tenant: Option<&str>) -> &'static str {
    match tenant {
        Some(_) => "e.tenant = $3",
        None => "e.tenant IS NULL",
    }
}

/// The normalised names that are entities of the graph. Each name is looked up in the indexes of both ends; the table is not scanned.
pub fn nodes(corpus: &Corpus, names: &[&str]) -> Result<BTreeSet<String>> {
    let names: Vec<&str> = names.to_vec();
    let tenant = corpus.row_tenant()?;
    let own = of_tenant(tenant.as_deref());
    let statement = format!(
        "SELECT coalesce(json_agg(n), '[]')::text FROM unnest($2::text[]) AS n \
         WHERE EXISTS (SELECT FROM reground.edges AS e WHERE e.corpus_id = $1 AND e.source_entity = n AND {own} OFFSET 0) \
            OR EXISTS (SELECT FROM reground.edges AS e WHERE e.corpus_id = $1 AND e.target_entity = n AND {own} OFFSET 0)"
    );
    let args = [
        corpus.corpus_id.into(),
        names.into(),
        tenant.as_deref().into(),
    ];
    Ok(as_owner(|| sql::write_json(&statement, &args))?.unwrap_or_default())
}

/// The strongest edges of these entities, in either direction.
pub fn of(corpus: &Corpus, nodes: &[String]) -> Result<Vec<Neighbour>> {
    let tenant = corpus.row_tenant()?;
    let own = of_tenant(tenant.as_deref());
    // The order is that of the index, also with the condition IS NULL.
    let from = |end: &str| {
        format!(
            "(SELECT n AS entity, e.weight, e.chunk_id FROM reground.edges AS e WHERE e.corpus_id = $1 AND e.{end} = n AND {own} \
              ORDER BY e.tenant, e.weight DESC, e.chunk_id LIMIT $4)"
        )
    };
    let statement = format!(
        "SELECT coalesce(json_agg(e), '[]')::text FROM unnest($2::text[]) AS n, LATERAL ({} UNION ALL {}) AS e",
        from("source_entity"),
        from("target_entity")
    );
    let args = [
        corpus.corpus_id.into(),
        nodes.to_vec().into(),
        tenant.as_deref().into(),
        MAX_EDGES.into(),
    ];
    Ok(as_owner(|| sql::write_json(&statement, &args))?.unwrap_or_default())
}
