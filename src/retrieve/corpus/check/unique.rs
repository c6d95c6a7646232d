//! Checks that the columns of ids are unique.

use serde::Deserialize;

use super::finding::Finding;
use crate::error::Result;
use crate::sql;
use crate::store::corpora::Corpus;

/// Checks that the ids of passages are unique and indexed.
pub fn chunk_id(corpus: &Corpus, relation: &str) -> Result<Option<Finding>> {
    match corpus.mapping.get("chunk_id") {
        Some(column) => unique("chunk_id", relation, &column.column, corpus.managed),
        None => Ok(None),
    }
}

/// Checks that the ids of documents are unique and indexed. Otherwise a join returns a passage several times.
pub fn documents_doc_id(corpus: &Corpus) -> Result<Option<Finding>> {
    match (&corpus.documents, corpus.mapping.get("documents_doc_id")) {
        (Some(documents), Some(column)) if !corpus.managed => {
            unique("documents_doc_id", documents, &column.column, false)
        }
        _ => Ok(None),
    }
}

/// The indexes whose first column is the checked column.
#[derive(Deserialize)]
struct ColumnIndexes {
    relation: u32,
    /// `pg_class.relkind` of the relation.
    kind: String,
    /// Whether one of them is a unique index on this column only.
    is_unique: bool,
    /// Name of one of them.
    index: Option<String>,
}

/// Checks that a column has a unique index. A partitioned or distributed table can have one only with its partition key, so there an
/// ordinary index is sufficient. A view has no indexes. `is_generated`: PostgreSQL makes the values.
fn unique(item: &str, relation: &str, column: &str, is_generated: bool) -> Result<Option<Finding>> {
    let Some(indexes) = indexes(relation, column)? else {
        return Ok(None);
    };
    let name = sql::ident(column);
    let parts = match indexes.kind.as_str() {
        "p" => Some("partitions"),
        _ if sql::is_distributed(indexes.relation.into())? => Some("shards"),
        _ => None,
    };
    Ok(Some(match (parts, indexes.index) {
        _ if indexes.is_unique => Finding::ok(item, format!("{column} is unique")),
        _ if indexes.kind == "v" => Finding::ok(
            item,
            format!("{column}; the view has to ensure that it is unique"),
        ),
        (Some(_), Some(index)) if is_generated => {
            Finding::ok(item, format!("{column} has the index {index}"))
        }
        (Some(parts), Some(index)) => Finding::ok(
            item,
            format!(
                "{column} has the index {index}; the application has to ensure that it is unique over all {parts}"
            ),
        ),
        (Some(_), None) => Finding::warning(
            item,
            format!("{column} has no index"),
            Some(format!("CREATE INDEX ON {relation} ({name});")),
        ),
        _ => Finding::warning(
            item,
            format!("{column} has no unique index"),
            Some(format!("CREATE UNIQUE INDEX ON {relation} ({name});")),
        ),
    }))
}

fn indexes(relation: &str, column: &str) -> Result<Option<ColumnIndexes>> {
    sql::read_json(
        "SELECT row_to_json(r)::text FROM (SELECT c.oid::bigint AS relation, c.relkind AS kind, coalesce(bool_or(i.indisunique AND i.indnkeyatts = 1), false) AS is_unique, \
             min(i.indexrelid::regclass::text) AS index \
         FROM pg_class AS c LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = $2 \
             LEFT JOIN (pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid JOIN pg_am AS m ON m.oid = x.relam AND m.amname IN ('btree', 'hash')) \
                 ON i.indrelid = c.oid AND i.indkey[0] = a.attnum AND i.indisvalid AND i.indpred IS NULL \
         WHERE c.oid = $1::regclass GROUP BY c.oid, c.relkind) AS r",
        &[relation.into(), column.into()],
    )
}
