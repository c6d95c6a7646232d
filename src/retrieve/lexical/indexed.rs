//! BM25 by an index of the access method `reground_bm25`: its time grows little with the corpus.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::datum::DatumWithOid;
use reground_grounding::passage::Hit;
use reground_grounding::query::plan::SubQuery;
use serde::Deserialize;

use super::{Ranked, Wanted};
use crate::error::Result;
use crate::index::{Bm25Query, Expansion};
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
    let named = corpus.mapping.get("text_config_column");
    if column.side != Side::Passages || named.is_some_and(|named| named.side != Side::Passages) {
        return Ok(None);
    }
    // An index of rows that name their configuration is on an expression, which has no column.
    let rows: Vec<LexicalIndex> = sql::read_rows(
        "SELECT c.oid::bigint, pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, pg_catalog.row_security_active(i.indrelid) AS row_security \
         FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             JOIN pg_catalog.pg_am m ON m.oid = c.relam LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] \
         WHERE i.indrelid = $1::regclass AND i.indisvalid AND i.indpred IS NULL AND m.amname = 'reground_bm25' \
             AND CASE WHEN $3 THEN i.indkey[0] = 0 ELSE a.attname = $2 END ORDER BY c.oid",
        &[
            relation.as_str().into(),
            column.column.as_str().into(),
            named.is_some().into(),
        ],
    )?;
    // What it is declared as may be another configuration by now than the one that made its words.
    for index in rows {
        let serves = named.is_none_or(|named| {
            let columns = crate::index::columns_in_language(index.oid.into());
            columns.is_some_and(|(text, config)| text == column.column && config == named.column)
        });
        if serves && crate::index::uses_text_config(index.oid.into(), &corpus.text_config)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Names of all indexes of our access method on a relation, qualified and quoted.
pub fn indexes_of(relation: &str) -> Result<Vec<String>> {
    let names = sql::read_json(
        "SELECT json_agg(format('%I.%I', n.nspname, c.relname))::text FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid \
             JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_am AS m ON m.oid = c.relam \
         WHERE i.indrelid = $1::regclass AND m.amname = 'reground_bm25'",
        &[relation.into()],
    )?;
    Ok(names.unwrap_or_default())
}

/// The CREATE INDEX that serves a corpus; `None` where none can, as rows find their configuration in another relation.
pub fn create(corpus: &Corpus) -> Result<Option<String>> {
    let meanings = ["content", "text_config_column"];
    let mut sides = meanings
        .iter()
        .filter_map(|meaning| corpus.mapping.get(*meaning));
    let Some(relation) = corpus.relation.as_deref() else {
        return Ok(None);
    };
    if sides.any(|column| column.side != Side::Passages) {
        return Ok(None);
    }
    Ok(Some(create_on(
        relation,
        &corpus.indexed("")?,
        &corpus.text_config,
    )))
}

/// The CREATE INDEX on a column, or on what a function makes of columns.
pub fn create_on(relation: &str, indexed: &str, text_config: &str) -> String {
    format!(
        "CREATE INDEX ON {relation} USING reground_bm25 ({indexed}) WITH (text_config = {})",
        sql::literal(text_config)
    )
}

/// A passage and its score.
#[derive(Deserialize)]
struct Row {
    chunk_id: String,
    score: f64,
}

/// Ranks the passages for each query, in order.
pub fn rank(
    corpus: &Corpus,
    index: &LexicalIndex,
    queries: &[SubQuery],
    text_configs: &[String],
    filter: &Filter,
    wanted: &Wanted,
    limit: usize,
) -> Result<Vec<Ranked>> {
    let asked = queries
        .iter()
        .map(|query| Asked::of(corpus, index, query, text_configs, filter))
        .collect::<Result<Vec<_>>>()?;
    let mut answers = Vec::with_capacity(asked.len());
    for query in &asked {
        answers.push(Ranked {
            hits: query.best(limit)?,
            ..Ranked::default()
        });
    }
    let others = answers.iter().skip(1).flat_map(|answer| &answer.hits);
    let keys: BTreeSet<String> = others
        .map(|hit| hit.chunk_id.clone())
        .chain(wanted.chunk_ids.iter().cloned())
        .collect();
    if let (Some(own), Some(answer)) = (asked.first(), answers.first_mut()) {
        answer.wanted = own.scores(&keys, &wanted.doc_ids)?;
    }
    Ok(answers)
}

/// A query over the passages of a corpus.
struct Asked<'a> {
    corpus: &'a Corpus,
    filter: &'a Filter,
    /// What is indexed, of a passage.
    indexed: String,
    query: Bm25Query,
    /// The distance of a passage from `$1`.
    distance: String,
    /// Keys and scores of the passages that pass the filter, whose parameters begin at `$3`.
    select: String,
}

impl<'a> Asked<'a> {
    fn of(
        corpus: &'a Corpus,
        index: &LexicalIndex,
        query: &SubQuery,
        text_configs: &[String],
        filter: &'a Filter,
    ) -> Result<Self> {
        let expansion = Expansion::new(query.terms.clone())?;
        let indexed = corpus.indexed("p.")?;
        let distance = format!("{indexed} <@> $1");
        let mut asked = Bm25Query::new(index.oid.into(), &query.text, expansion)?;
        // Of one configuration the index knows itself.
        if corpus.mapping.contains_key("text_config_column") {
            asked = asked.with_text_configs(text_configs.to_vec())?;
        }
        Ok(Self {
            corpus,
            filter,
            indexed,
            query: asked,
            select: format!(
                "SELECT {key}::text AS chunk_id, - ({distance}) AS score FROM {} WHERE {key} IS NOT NULL AND {}",
                corpus.relations()?,
                filter.clause(3),
                key = corpus.key()?,
            ),
            distance,
        })
    }

    /// The best passages.
    fn best(&self, limit: usize) -> Result<Vec<Hit>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        if limit == 0 {
            return Ok(Vec::new());
        }
        let statement = format!(
            "{} AND {} @@@ $1 ORDER BY {}, ({}::text) COLLATE \"C\" LIMIT $2::bigint",
            self.select,
            self.indexed,
            self.distance,
            self.corpus.key()?
        );
        let rows: Vec<Row> = sql::read_rows(&statement, &self.args(limit.into()))?;
        Ok(rows.into_iter().map(Row::hit).collect())
    }

    /// Scores of given passages, and of all passages of given documents.
    fn scores(
        &self,
        keys: &BTreeSet<String>,
        documents: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, f64>> {
        let mut scores = BTreeMap::new();
        for (clause, keys) in [
            passages::passage_clause(self.corpus, 2, keys)?,
            passages::document_clause(self.corpus, 2, documents)?,
        ] {
            if !keys.is_empty() {
                // OFFSET keeps the score from being computed for the condition again.
                let statement = format!(
                    "SELECT s.chunk_id, s.score FROM ({} AND {clause} OFFSET 0) AS s WHERE s.score > 0::pg_catalog.float8",
                    self.select
                );
                let rows: Vec<Row> = sql::read_rows(&statement, &self.args(keys.into()))?;
                scores.extend(rows.into_iter().map(|row| (row.chunk_id, row.score)));
            }
        }
        Ok(scores)
    }

    fn args(&self, second: DatumWithOid<'static>) -> Vec<DatumWithOid<'_>> {
        let mut args: Vec<DatumWithOid<'_>> = vec![self.query.clone().into(), second];
        args.extend(self.filter.args());
        args
    }
}

impl Row {
    fn hit(self) -> Hit {
        Hit {
            chunk_id: self.chunk_id,
            value: self.score,
        }
    }
}
