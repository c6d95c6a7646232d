//! BM25 by an index of the access method `reground_bm25`: its time grows little with the corpus.

use std::collections::BTreeMap;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use reground_grounding::passage::Hit;
use serde::Deserialize;

use super::{Ranked, Wanted};
use crate::error::Result;
use crate::retrieve::filter::Filter;
use crate::retrieve::passages;
use crate::sql;
use crate::store::corpora::{Corpus, Side};

/// An index that serves a corpus: on its column, with its text search configuration.
#[derive(Debug, Deserialize)]
pub struct LexicalIndex {
    oid: u32,
    /// Its name, qualified and quoted.
    pub name: String,
    /// Whether row-level security hides rows of the table from the caller.
    pub row_security: bool,
}

/// The index that serves the corpus, if any.
pub fn index(corpus: &Corpus) -> Result<Option<LexicalIndex>> {
    let (Some(relation), Some(column)) = (&corpus.relation, corpus.mapping.get("content")) else {
        return Ok(None);
    };
    if column.side != Side::Passages {
        return Ok(None);
    }
    let rows: Vec<LexicalIndex> = sql::read_rows(
        "SELECT c.oid::bigint, pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, pg_catalog.row_security_active(i.indrelid) AS row_security \
         FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             JOIN pg_catalog.pg_am m ON m.oid = c.relam JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] \
         WHERE i.indrelid = $1::pg_catalog.regclass AND i.indisvalid AND i.indpred IS NULL AND m.amname = 'reground_bm25' AND a.attname = $2 ORDER BY c.oid",
        &[relation.as_str().into(), column.column.as_str().into()],
    )?;
    // What it is declared as may be another configuration by now than the one that made its words.
    for index in rows {
        if crate::index::is_made_with(index.oid.into(), &corpus.text_config)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// The CREATE INDEX that serves a corpus.
pub fn create(relation: &str, column: &str, text_config: &str) -> String {
    format!(
        "CREATE INDEX ON {relation} USING reground_bm25 ({}) WITH (text_config = {})",
        sql::ident(column),
        sql::literal(text_config)
    )
}

/// A passage and its score.
#[derive(Deserialize)]
struct Row {
    key: String,
    score: f64,
}

/// Ranks the passages for a query.
pub fn rank(
    corpus: &Corpus,
    index: &LexicalIndex,
    query: &str,
    filter: &Filter,
    wanted: &Wanted,
    limit: usize,
) -> Result<Ranked> {
    let asked = "reground.bm25_query($1, $2::pg_catalog.oid::pg_catalog.regclass)";
    let content = corpus.required("content")?;
    let distance = format!("{content} OPERATOR(pg_catalog.<@>) {asked}");
    let select = format!(
        "SELECT {key}::text AS key, - ({distance}) AS score FROM {} WHERE {key} IS NOT NULL AND {}",
        corpus.relations()?,
        filter.clause(4),
        key = corpus.key()?,
    );
    let args = |third: DatumWithOid<'static>| {
        let mut args: Vec<DatumWithOid<'_>> =
            vec![query.into(), pg_sys::Oid::from(index.oid).into(), third];
        args.extend(filter.args());
        args
    };
    let hits: Vec<Row> = match i64::try_from(limit).unwrap_or(i64::MAX) {
        0 => Vec::new(),
        limit => sql::read_rows(
            &format!(
                "{select} AND {content} OPERATOR(pg_catalog.@@@) {asked} ORDER BY {distance}, ({}::text) COLLATE \"C\" LIMIT $3::bigint",
                corpus.key()?
            ),
            &args(limit.into()),
        )?,
    };
    let mut scores = BTreeMap::new();
    for (clause, keys) in [
        passages::passage_clause(corpus, 3, &wanted.passages)?,
        passages::document_clause(corpus, 3, &wanted.documents)?,
    ] {
        if !keys.is_empty() {
            // OFFSET keeps the score from being computed for the condition again.
            let statement = format!(
                "SELECT s.key, s.score FROM ({select} AND {clause} OFFSET 0) AS s WHERE s.score > 0"
            );
            let rows: Vec<Row> = sql::read_rows(&statement, &args(keys.into()))?;
            scores.extend(rows.into_iter().map(|row| (row.key, row.score)));
        }
    }
    Ok(Ranked {
        hits: hits
            .into_iter()
            .map(|row| Hit {
                key: row.key,
                value: row.score,
            })
            .collect(),
        wanted: scores,
    })
}
