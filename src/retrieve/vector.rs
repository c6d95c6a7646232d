//! The vector branch: the nearest passages by pgvector's operators.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;

use pgrx::datum::DatumWithOid;
use reground_grounding::passage::{Branch, Hit, Metric, RankedList};
use reground_grounding::settings::VectorSearch;
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::retrieve::filter::Filter;
use crate::retrieve::vector_schema;
use crate::session::{PLAIN_TEXT, with_settings};
use crate::sql;
use crate::store::corpora::Corpus;

/// Bounds of hnsw.ef_search. The upper is pgvector's. The lower is ours: at 40, as many as a turn asks for, the nDCG@5 of
/// one graph in three on 13,000 passages fell .01 below the exact order; at 100 each stayed within .002 (docs/evaluation.md).
const EF_SEARCH: std::ops::RangeInclusive<usize> = 100..=1000;

/// What a distance must be to be one: a zero vector has no angle (NaN), and overflow is not near.
const MEASURABLE: &str = "pg_catalog.abs(n.value) < 'Infinity'::pg_catalog.float8";

/// Ends a subquery whose values are looked at twice: PostgreSQL would merge it with what is around it, and compute each distance, of
/// a vector that is stored apart from its row, as often as it is looked at.
const ONCE: &str = "OFFSET 0";

/// A vector index that serves the corpus' metric.
#[derive(Debug, Deserialize)]
pub struct VectorIndex {
    /// Its name.
    pub name: String,
    /// What it indexes, as the catalog prints it.
    pub expression: String,
}

/// The corpus' metric, as the pure crate names it.
pub fn metric(corpus: &Corpus) -> Metric {
    match corpus.metric.as_str() {
        "l2" => Metric::L2,
        "inner_product" => Metric::InnerProduct,
        _ => Metric::Cosine,
    }
}

/// pgvector's operator for the corpus' metric.
fn operator(corpus: &Corpus) -> &'static str {
    match metric(corpus) {
        Metric::Cosine => "<=>",
        Metric::L2 => "<->",
        Metric::InnerProduct => "<#>",
    }
}

/// Suffix of pgvector's operator classes for the corpus' metric.
pub fn operator_class(corpus: &Corpus) -> &'static str {
    match metric(corpus) {
        Metric::Cosine => "cosine_ops",
        Metric::L2 => "l2_ops",
        Metric::InnerProduct => "ip_ops",
    }
}

/// The vector index on the corpus' embedding column that serves its metric, if any.
pub fn index(corpus: &Corpus) -> Result<Option<VectorIndex>> {
    let (Some(relation), Some(column)) = (&corpus.relation, corpus.mapping.get("embedding")) else {
        return Ok(None);
    };
    let rows: Vec<VectorIndex> = sql::read_rows(
        "SELECT c.relname AS name, pg_catalog.pg_get_indexdef(i.indexrelid, 1, true) AS expression \
         FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_am m ON m.oid = c.relam \
             JOIN pg_catalog.pg_opclass o ON o.oid = i.indclass[0] \
         WHERE i.indrelid = $1::regclass AND i.indisvalid AND i.indpred IS NULL AND m.amname IN ('hnsw', 'ivfflat') \
             AND o.opcname LIKE '%' || $2 ORDER BY c.relname",
        &[relation.as_str().into(), operator_class(corpus).into()],
    )?;
    // The column itself, or a cast of it: "emb", "(emb::halfvec(3))".
    let indexed = sql::ident(&column.column);
    Ok(rows.into_iter().find(|index| {
        let (operand, _) = index
            .expression
            .split_once("::")
            .unwrap_or((&index.expression, ""));
        operand.trim_matches(['(', ')']) == indexed
    }))
}

/// Refuses an embedding that the corpus cannot compare.
pub fn check_dimensions(corpus: &Corpus, embedding: &[f32]) -> Result<()> {
    corpus.embedding_column()?;
    match corpus.dimensions {
        Some(expected) if usize::try_from(expected) != Ok(embedding.len()) => {
            Err(Error::Dimensions {
                corpus: corpus.name.clone(),
                expected,
                given: embedding.len(),
            })
        }
        _ => Ok(()),
    }
}

/// The nearest passages as a list to be fused.
pub fn list(
    corpus: &Corpus,
    embedding: &[f32],
    filter: &Filter,
    search: VectorSearch,
    limit: usize,
    weight: f64,
) -> Result<RankedList> {
    Ok(RankedList {
        branch: Branch::Vector,
        weight,
        entity: None,
        hits: nearest(corpus, embedding, filter, search, limit)?,
    })
}

/// The nearest passages, nearest first, equal distances by key.
fn nearest(
    corpus: &Corpus,
    embedding: &[f32],
    filter: &Filter,
    search: VectorSearch,
    limit: usize,
) -> Result<Vec<Hit>> {
    check_dimensions(corpus, embedding)?;
    let index = match search {
        VectorSearch::Exact => None,
        VectorSearch::Auto | VectorSearch::Index => index(corpus)?,
    };
    let distance = distance(corpus, index.as_ref())?;
    let key = corpus.key()?;
    // Only an ordering by distance alone can come from the index; without one, ties are settled by key.
    let order = match index {
        Some(_) => "2".to_owned(),
        None => format!("2, ({key}::text) COLLATE \"C\""),
    };
    let statement = format!(
        "SELECT n.chunk_id, n.value FROM (SELECT {key}::text AS chunk_id, {distance} AS value FROM {} WHERE {} IS NOT NULL AND {} ORDER BY {order} LIMIT $2::bigint) AS n \
         WHERE n.chunk_id IS NOT NULL AND {MEASURABLE} ORDER BY n.value, n.chunk_id COLLATE \"C\"",
        corpus.relations()?,
        corpus.embedding_column()?,
        filter.clause(3),
    );
    let mut args: Vec<DatumWithOid<'_>> = vec![
        embedding.to_vec().into(),
        i64::try_from(limit).unwrap_or(i64::MAX).into(),
    ];
    args.extend(filter.args());
    with_scan_settings(search, index.is_some(), limit, || {
        sql::read_rows(&statement, &args)
    })
}

/// Distances of given passages.
pub fn distances<'a>(
    corpus: &Corpus,
    embedding: &[f32],
    filter: &Filter,
    passages: impl IntoIterator<Item = &'a String>,
) -> Result<Vec<Hit>> {
    let (which, passages) = super::passages::passage_clause(corpus, 2, passages)?;
    if passages.is_empty() {
        return Ok(Vec::new());
    }
    let statement = format!(
        "SELECT n.chunk_id, n.value FROM (SELECT {}::text AS chunk_id, {} AS value FROM {} WHERE {} IS NOT NULL AND {which} AND {} {ONCE}) AS n WHERE {MEASURABLE}",
        corpus.key()?,
        distance(corpus, None)?,
        corpus.relations()?,
        corpus.embedding_column()?,
        filter.clause(3),
    );
    let mut args: Vec<DatumWithOid<'_>> = vec![embedding.to_vec().into(), passages.into()];
    args.extend(filter.args());
    sql::read_rows(&statement, &args)
}

/// Passages of a document that are looked at for the nearest of them: a document may be a book.
const MOST_SIBLINGS: i64 = 200;

/// The largest cosine of a passage of each document to a vector, apart from given passages; of a document, its first passages
/// by key are looked at.
pub fn siblings(
    corpus: &Corpus,
    embedding: &[f32],
    documents: &BTreeSet<&String>,
    apart: &BTreeSet<&String>,
) -> Result<BTreeMap<String, f64>> {
    #[derive(Deserialize)]
    struct Row {
        doc_id: String,
        cosine: f64,
    }
    let (which, documents) =
        super::passages::document_clause(corpus, 2, documents.iter().copied())?;
    if documents.is_empty() {
        return Ok(BTreeMap::new());
    }
    let schema = vector_schema()?;
    let statement = format!(
        "SELECT n.doc_id, max(n.value) AS cosine FROM (SELECT s.doc_id, 1::pg_catalog.float8 - (s.embedding::{schema}.vector OPERATOR({schema}.<=>) {query}) AS value \
             FROM (SELECT {document}::text AS doc_id, {column} AS embedding, pg_catalog.row_number() OVER (PARTITION BY {document} ORDER BY {key}) AS place \
                   FROM {} WHERE {which} AND {column} IS NOT NULL AND NOT ({key}::text = ANY ($3::text[]))) AS s WHERE s.place <= $4::bigint {ONCE}) AS n \
         WHERE {MEASURABLE} GROUP BY n.doc_id",
        corpus.relations()?,
        query = query(&schema),
        document = corpus.document()?,
        column = corpus.embedding_column()?,
        key = corpus.key()?,
    );
    let apart: Vec<String> = apart.iter().map(|key| (*key).clone()).collect();
    let args: [DatumWithOid<'_>; 4] = [
        embedding.to_vec().into(),
        documents.into(),
        apart.into(),
        MOST_SIBLINGS.into(),
    ];
    let rows: Vec<Row> = sql::read_rows(&statement, &args)?;
    let each = rows.into_iter();
    Ok(each.map(|row| (row.doc_id, row.cosine)).collect())
}

/// The embeddings of given passages, by key; those that have none are left out.
pub fn embeddings<'a>(
    corpus: &Corpus,
    passages: impl IntoIterator<Item = &'a String>,
) -> Result<BTreeMap<String, Vec<f32>>> {
    let (which, keys) = super::passages::passage_clause(corpus, 1, passages)?;
    if keys.is_empty() {
        return Ok(BTreeMap::new());
    }
    let schema = vector_schema()?;
    let column = corpus.embedding_column()?;
    let statement = format!(
        "SELECT {}::text, {column}::{schema}.vector::real[] FROM {} WHERE {column} IS NOT NULL AND {which}",
        corpus.key()?,
        corpus.relations()?,
    );
    // Keys read as they do in every other statement.
    let rows = with_settings(&PLAIN_TEXT, || {
        sql::read_each(&statement, &[keys.into()], |row| {
            Ok((row.get::<String>(1)?, row.get::<Vec<f32>>(2)?))
        })
    })?;
    let each = rows.into_iter();
    Ok(each
        .filter_map(|(key, embedding)| key.zip(embedding))
        .collect())
}

/// The query's embedding, which is `$1::real[]`, as a vector. A scalar subquery is evaluated once: under a plan for all values the
/// cast alone would be made for every row.
fn query(schema: &str) -> String {
    format!("(SELECT $1::real[]::{schema}.vector)")
}

/// The distance of a passage's embedding from `$1::real[]`, in the form that an index on a cast to halfvec serves.
fn distance(corpus: &Corpus, index: Option<&VectorIndex>) -> Result<String> {
    let schema = vector_schema()?;
    let column = corpus.embedding_column()?;
    let query = query(&schema);
    let half = corpus.embedding_kind() == Some("halfvec");
    let cast = index
        .and_then(|index| index.expression.split_once("halfvec("))
        .and_then(|(_, rest)| rest.split_once(')'))
        .map(|(dimensions, _)| dimensions.to_owned())
        .filter(|_| !half);
    let operator = format!("OPERATOR({schema}.{})", operator(corpus));
    Ok(match cast {
        Some(dimensions) => format!(
            "({column}::{schema}.halfvec({dimensions}) {operator} {query}::{schema}.halfvec({dimensions}))"
        ),
        None if half => format!("({column} {operator} {query}::{schema}.halfvec)"),
        None => format!("({column} {operator} {query})"),
    })
}

/// Runs a nearest-neighbour query with the settings that it needs, which end with it.
fn with_scan_settings<T>(
    search: VectorSearch,
    indexed: bool,
    limit: usize,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    // A filter must not starve the index: where pgvector can go on scanning (0.8 and later), it does.
    let iterates = sql::read_one::<bool>(
        "SELECT pg_catalog.string_to_array(pg_catalog.split_part(extversion, '-', 1), '.')::int[] >= ARRAY[0, 8] FROM pg_catalog.pg_extension WHERE extname = 'vector'",
        &[],
    )? == Some(true);
    let breadth = limit.clamp(*EF_SEARCH.start(), *EF_SEARCH.end()).max(
        crate::guc::value("hnsw.ef_search")
            .and_then(|value| value.parse().ok())
            .unwrap_or(0),
    );
    let breadth = CString::new(breadth.to_string()).unwrap_or_default();
    // Planned anew each time: whether the index serves depends on the limit, and on what is set below.
    let mut settings = vec![
        (c"plan_cache_mode", c"force_custom_plan"),
        (c"hnsw.ef_search", breadth.as_c_str()),
    ];
    if iterates {
        settings.push((c"hnsw.iterative_scan", c"strict_order"));
        settings.push((c"ivfflat.iterative_scan", c"relaxed_order"));
    }
    match search {
        VectorSearch::Exact => settings.push((c"enable_indexscan", c"off")),
        VectorSearch::Index if indexed => settings.push((c"enable_seqscan", c"off")),
        _ => {}
    }
    with_settings(&settings, work)
}
