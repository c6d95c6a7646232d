//! The vector branch finds the nearest passages with pgvector's operators.

mod schema;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;

use pgrx::datum::DatumWithOid;
use reground_grounding::passage::{Branch, Hit, Metric, RankedList, nearest_first};
use reground_grounding::settings::VectorSearch;
use serde::Deserialize;

use crate::error::{Error, Result, is_first, notice};
use crate::retrieve::filter::Filter;
use crate::retrieve::lists::addresses::{Addresses, address};
use crate::retrieve::passages::{document_clause, passage_clause};
use crate::session::with_settings;
use crate::sql::{self, CatalogCache, PLAN_ONCE, Row};
use crate::store::corpora::Corpus;

pub use schema::vector_schema;

/// Bounds of hnsw.ef_search. pgvector defines the upper bound. The lower bound is measured on 13,000 passages: at 40, the
/// number of candidates of a turn, the nDCG@5 of one graph in three was .01 below that of the exact order; at 100 each graph
/// was within .002 (docs/evaluation.md).
pub const EF_SEARCH: std::ops::RangeInclusive<usize> = 100..=1000;

/// Condition for a valid distance. The cosine distance of a zero vector is NaN, and an overflow is infinite.
const MEASURABLE: &str = "abs(n.value) < 'Infinity'::float8";

/// Ends a subquery whose values are used twice. Without it PostgreSQL merges the subquery with the outer query and computes
/// each distance twice, which reads the vector from the TOAST table twice.
const ONCE: &str = "OFFSET 0";

/// A vector index for the metric of a corpus.
#[derive(Clone, Debug, Deserialize)]
pub struct VectorIndex {
    /// Its name.
    pub name: String,
    /// Its access method: hnsw or ivfflat.
    pub method: String,
    /// The indexed expression, as the catalog prints it.
    pub expression: String,
}

/// Returns the metric of a corpus.
pub fn metric(corpus: &Corpus) -> Metric {
    match corpus.metric.as_str() {
        "l2" => Metric::L2,
        "inner_product" => Metric::InnerProduct,
        _ => Metric::Cosine,
    }
}

/// Returns pgvector's operator for the metric of a corpus.
fn operator(corpus: &Corpus) -> &'static str {
    match metric(corpus) {
        Metric::Cosine => "<=>",
        Metric::L2 => "<->",
        Metric::InnerProduct => "<#>",
    }
}

/// Returns the suffix of pgvector's operator classes for the metric of a corpus.
pub fn operator_class(corpus: &Corpus) -> &'static str {
    match metric(corpus) {
        Metric::Cosine => "cosine_ops",
        Metric::L2 => "l2_ops",
        Metric::InnerProduct => "ip_ops",
    }
}

/// Returns the vector index on the embedding column for the metric of the corpus, if there is one.
pub fn index(corpus: &Corpus) -> Result<Option<VectorIndex>> {
    // An index contains the current rows only.
    if corpus.past.is_some() {
        return Ok(None);
    }
    let (Some(relation), Some(column)) = (&corpus.relation, corpus.mapping.get("embedding")) else {
        return Ok(None);
    };
    let key = (relation.clone(), operator_class(corpus));
    let rows = sql::kept_by_statements(&INDEXES, key, || {
        find_indexes(relation, operator_class(corpus))
    })?;
    // The index is on the column or on a cast of it: "emb", "(emb::halfvec(3))".
    let indexed = sql::ident(&column.column);
    Ok(rows.into_iter().find(|index| {
        let (operand, _) = index
            .expression
            .split_once("::")
            .unwrap_or((&index.expression, ""));
        operand.trim_matches(['(', ')']) == indexed
    }))
}

thread_local! {
    /// The vector indexes of a table for a metric.
    static INDEXES: RefCell<CatalogCache<(String, &'static str), Vec<VectorIndex>>> = RefCell::default();
    /// Whether pgvector can continue an index scan.
    static ITERATES: RefCell<CatalogCache<(), bool>> = RefCell::default();
}

/// Returns the vector indexes of a table with an operator class.
fn find_indexes(relation: &str, operator_class: &str) -> Result<Vec<VectorIndex>> {
    sql::read_rows(
        "SELECT c.relname AS name, m.amname AS method, pg_get_indexdef(i.indexrelid, 1, true) AS expression \
         FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS m ON m.oid = c.relam \
             JOIN pg_opclass AS o ON o.oid = i.indclass[0] \
         WHERE i.indrelid = $1::regclass AND i.indisvalid AND i.indpred IS NULL AND m.amname IN ('hnsw', 'ivfflat') \
             AND o.opcname LIKE '%' || $2 ORDER BY c.relname",
        &[relation.into(), operator_class.into()],
    )
}

/// Checks the number of dimensions of an embedding.
///
/// # Errors
/// 22023 for another number, 55000 if the corpus has no embedding column, 42804 if the column has another type.
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

/// Number of passages among which an embedding is looked for. Reading all passages of a large table would take long.
const SAMPLE: i32 = 1000;

/// Says how to store embeddings if none of the first passages has one. Returns whether it did; a session checks each corpus once.
pub fn hint_if_missing(corpus: &Corpus) -> Result<bool> {
    if !is_first("missing embeddings", corpus.corpus_id) {
        return Ok(false);
    }
    let statement = format!(
        "SELECT count(s.embedding) = 0 AND count(*) > 0 FROM (SELECT {} AS embedding FROM {} LIMIT {SAMPLE}) AS s",
        corpus.embedding_column()?,
        corpus.relations()?,
    );
    let missing = sql::read_one::<bool>(&statement, &[])? == Some(true);
    if missing {
        notice(
            format!(
                "corpus \"{}\" has no embeddings yet: only the lexical branch finds passages",
                corpus.name
            ),
            match corpus.embedding_model {
                Some(_) => "The worker computes them: see the view reground.embedding_progress.",
                None => {
                    "reground.pending_embeddings lists the passages to embed, and reground.put_embeddings stores their vectors."
                }
            },
        );
    }
    Ok(missing)
}

/// Returns the nearest passages as a list for fusion, and their addresses.
pub fn list(
    corpus: &Corpus,
    embedding: &[f32],
    filter: &Filter,
    search: VectorSearch,
    limit: usize,
    weight: f64,
) -> Result<(RankedList, Addresses)> {
    let (hits, addresses) = visible_nearest(corpus, embedding, filter, search, limit)?;
    let list = RankedList {
        branch: Branch::Vector,
        weight,
        entity: None,
        hits,
    };
    Ok((list, addresses))
}

/// Returns the nearest passages. An index scan ends after a number of rows, also if row-level security has hidden nearly all of them;
/// then all visible embeddings are compared.
fn visible_nearest(
    corpus: &Corpus,
    embedding: &[f32],
    filter: &Filter,
    search: VectorSearch,
    limit: usize,
) -> Result<(Vec<Hit>, Addresses)> {
    let nearest_by_index = nearest(corpus, embedding, filter, search, limit)?;
    let may_be_short = search != VectorSearch::Exact && nearest_by_index.0.len() < limit;
    if may_be_short && corpus.may_hide_rows()? && index(corpus)?.is_some() {
        return nearest(corpus, embedding, filter, VectorSearch::Exact, limit);
    }
    Ok(nearest_by_index)
}

/// Returns the nearest passages and their addresses, nearest first, then by id.
fn nearest(
    corpus: &Corpus,
    embedding: &[f32],
    filter: &Filter,
    search: VectorSearch,
    limit: usize,
) -> Result<(Vec<Hit>, Addresses)> {
    check_dimensions(corpus, embedding)?;
    let index = match search {
        VectorSearch::Exact => None,
        VectorSearch::Auto | VectorSearch::Index => index(corpus)?,
    };
    let distance = distance(corpus, index.as_ref())?;
    let key = corpus.key()?;
    // An index can only order by distance. Without an index, LIMIT breaks ties by id, and no index, on any server, has the sum.
    let (distance, order) = match index {
        Some(_) => (distance, "2".to_owned()),
        None => (
            format!("({distance} OPERATOR(pg_catalog.+) 0::float8)"),
            format!("2, ({key}::text) COLLATE \"C\""),
        ),
    };
    // The use of the index depends on the limit and on the settings of the scan, so both are in the text.
    let (relations, address_columns) = corpus.searched_relations(filter.reads_documents())?;
    let statement = format!(
        "{PLAN_ONCE} /* {search:?} */ SELECT {key}::text, {distance}, {address_columns} FROM {relations} \
         WHERE {} IS NOT NULL AND {} ORDER BY {order} LIMIT {limit}",
        corpus.embedding_column()?,
        filter.clause(2),
    );
    let mut args: Vec<DatumWithOid<'_>> = vec![embedding.to_vec().into()];
    args.extend(filter.args());
    let mut addresses = Addresses::new();
    let read = |row: &Row| {
        // With a condition on the key, PostgreSQL before 17 may use the index on the key.
        let Some(chunk_id) = row.get(1)? else {
            return Ok(None);
        };
        let hit = Hit {
            chunk_id,
            value: row.get(2)?.unwrap_or_default(),
        };
        Ok(Some((hit, address(row, 3)?)))
    };
    let rows = with_scan_settings(search, index.is_some(), limit, || {
        sql::read_each_as_text(&statement, &args, read)
    })?;
    let hits = rows.into_iter().flatten().map(|(hit, address)| {
        addresses.extend(address.map(|address| (hit.chunk_id.clone(), address)));
        hit
    });
    Ok((nearest_first(hits), addresses))
}

/// Returns the distances of passages that pass the filter.
pub fn distances<'a>(
    corpus: &Corpus,
    embedding: &[f32],
    filter: &Filter,
    chunk_ids: impl IntoIterator<Item = &'a String>,
) -> Result<Vec<Hit>> {
    let (clause, chunk_ids) = passage_clause(corpus, 2, chunk_ids)?;
    if chunk_ids.is_empty() {
        return Ok(Vec::new());
    }
    let statement = format!(
        "SELECT n.chunk_id, n.value FROM (SELECT {}::text AS chunk_id, {} AS value FROM {} WHERE {} IS NOT NULL AND {clause} AND {} {ONCE}) AS n WHERE {MEASURABLE}",
        corpus.key()?,
        distance(corpus, None)?,
        corpus.relations()?,
        corpus.embedding_column()?,
        filter.clause(3),
    );
    let mut args: Vec<DatumWithOid<'_>> = vec![embedding.to_vec().into(), chunk_ids.into()];
    args.extend(filter.args());
    sql::read_rows(&statement, &args)
}

/// Returns those of the passages that have no embedding: all of them if the corpus has no embedding column.
pub fn without_embedding<'a>(
    corpus: &Corpus,
    chunk_ids: impl IntoIterator<Item = &'a String>,
) -> Result<BTreeSet<String>> {
    #[derive(Deserialize)]
    struct Row {
        chunk_id: String,
    }
    if !corpus.mapping.contains_key("embedding") {
        return Ok(chunk_ids.into_iter().cloned().collect());
    }
    let (clause, chunk_ids) = passage_clause(corpus, 1, chunk_ids)?;
    if chunk_ids.is_empty() {
        return Ok(BTreeSet::new());
    }
    let statement = format!(
        "SELECT {}::text AS chunk_id FROM {} WHERE {} IS NULL AND {clause}",
        corpus.key()?,
        corpus.relations()?,
        corpus.embedding_column()?,
    );
    let rows: Vec<Row> = sql::read_rows(&statement, &[chunk_ids.into()])?;
    Ok(rows.into_iter().map(|row| row.chunk_id).collect())
}

/// Maximum number of passages of a document that are compared. A document may be a book.
const MAX_SIBLINGS: i64 = 200;

/// Returns, for each document, the largest cosine similarity of its passages to an embedding. The passages in `apart` are
/// excluded. Only the first [`MAX_SIBLINGS`] passages by id are compared.
pub fn siblings(
    corpus: &Corpus,
    embedding: &[f32],
    doc_ids: &BTreeSet<&String>,
    apart: &BTreeSet<&String>,
) -> Result<BTreeMap<String, f64>> {
    #[derive(Deserialize)]
    struct Row {
        doc_id: String,
        cosine: f64,
    }
    let (clause, doc_ids) = document_clause(corpus, 2, doc_ids.iter().copied())?;
    if doc_ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let schema = corpus.vector_schema()?;
    let statement = format!(
        "SELECT n.doc_id, max(n.value) AS cosine FROM (SELECT s.doc_id, 1::float8 - (s.embedding::{schema}.vector OPERATOR({schema}.<=>) {query}) AS value \
             FROM (SELECT {document}::text AS doc_id, {column} AS embedding, row_number() OVER (PARTITION BY {document} ORDER BY {key}) AS row_no \
                   FROM {} WHERE {clause} AND {column} IS NOT NULL AND NOT ({key}::text = ANY ($3::text[]))) AS s WHERE s.row_no <= $4::bigint {ONCE}) AS n \
         WHERE {MEASURABLE} GROUP BY n.doc_id",
        corpus.relations()?,
        query = query(schema, 1),
        document = corpus.document()?,
        column = corpus.embedding_column()?,
        key = corpus.key()?,
    );
    let apart: Vec<String> = apart.iter().map(|key| (*key).clone()).collect();
    let args: [DatumWithOid<'_>; 4] = [
        embedding.to_vec().into(),
        doc_ids.into(),
        apart.into(),
        MAX_SIBLINGS.into(),
    ];
    let rows: Vec<Row> = sql::read_rows(&statement, &args)?;
    let each = rows.into_iter();
    Ok(each.map(|row| (row.doc_id, row.cosine)).collect())
}

/// Returns the embeddings of passages, by id. Passages without an embedding are left out.
pub fn embeddings<'a>(
    corpus: &Corpus,
    chunk_ids: impl IntoIterator<Item = &'a String>,
) -> Result<BTreeMap<String, Vec<f32>>> {
    let (clause, chunk_ids) = passage_clause(corpus, 1, chunk_ids)?;
    if chunk_ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let schema = corpus.vector_schema()?;
    let column = corpus.embedding_column()?;
    let statement = format!(
        "SELECT {}::text, {column}::{schema}.vector::real[] FROM {} WHERE {column} IS NOT NULL AND {clause}",
        corpus.key()?,
        corpus.relations()?,
    );
    let rows = sql::read_each_as_text(&statement, &[chunk_ids.into()], |row| {
        Ok((row.get::<String>(1)?, row.get::<Vec<f32>>(2)?))
    })?;
    let each = rows.into_iter();
    Ok(each
        .filter_map(|(key, embedding)| key.zip(embedding))
        .collect())
}

/// Returns SQL for the embedding in a parameter of the type real[] as a vector. The scalar subquery is evaluated once; in a generic plan the cast
/// alone is evaluated for every row.
fn query(schema: &str, parameter: usize) -> String {
    format!("(SELECT ${parameter}::real[]::{schema}.vector)")
}

/// Returns SQL for the distance of a passage from `$1::real[]`. With an index on a cast to halfvec it contains the same cast.
fn distance(corpus: &Corpus, index: Option<&VectorIndex>) -> Result<String> {
    distance_of(corpus, &corpus.embedding_column()?, index, 1)
}

/// Returns SQL for the distance of an embedding of a passage from the parameter with this number.
pub fn distance_of(
    corpus: &Corpus,
    column: &str,
    index: Option<&VectorIndex>,
    parameter: usize,
) -> Result<String> {
    let schema = corpus.vector_schema()?;
    let query = query(schema, parameter);
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

/// Runs a nearest-neighbour query with its settings.
fn with_scan_settings<T>(
    search: VectorSearch,
    indexed: bool,
    limit: usize,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    // With a filter, an index scan may return too few rows. pgvector 0.8 and later continue the scan.
    let iterates = sql::kept_by_statements(&ITERATES, (), || {
        Ok(sql::read_one::<bool>(
            "SELECT string_to_array(split_part(extversion, '-', 1), '.')::int[] >= ARRAY[0, 8] FROM pg_extension WHERE extname = 'vector'",
            &[],
        )? == Some(true))
    })?;
    let ef_search = limit.clamp(*EF_SEARCH.start(), *EF_SEARCH.end()).max(
        crate::guc::value("hnsw.ef_search")
            .and_then(|value| value.parse().ok())
            .unwrap_or(0),
    );
    let ef_search = CString::new(ef_search.to_string()).unwrap_or_default();
    let mut settings = vec![(c"hnsw.ef_search", ef_search.as_c_str())];
    if iterates {
        settings.push((c"hnsw.iterative_scan", c"strict_order"));
        settings.push((c"ivfflat.iterative_scan", c"relaxed_order"));
    }
    if search == VectorSearch::Index && indexed {
        settings.push((c"enable_seqscan", c"off"));
    }
    with_settings(&settings, work)
}
