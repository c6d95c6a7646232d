//! BM25 through an index of the access method `reground_bm25`. Its time grows little with the size of the corpus.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::datum::DatumWithOid;
use reground_bm25::index::terms::Weights;
use reground_grounding::passage::Hit;
use reground_grounding::query::plan::SubQuery;
use serde::Deserialize;

use super::ranked::{Ranked, Wanted};
use crate::error::Result;
use crate::index::{Bm25Query, Expansion, IndexedColumns};
use crate::retrieve::filter::Filter;
use crate::retrieve::passages;
use crate::sql;
use crate::store::corpora::{Corpus, Side};

/// An index that serves a corpus: it is on the content column, alone or with the titles, and has the text search configuration of the
/// corpus.
#[derive(Debug)]
pub struct LexicalIndex {
    oid: u32,
    /// Qualified and quoted name.
    pub name: String,
    /// Whether row-level security or a mapped column hides rows of the table from the caller.
    pub hides_rows: bool,
    /// Whether they hide rows from this or another role.
    pub may_hide_rows: bool,
    /// Meanings of the titles that it contains.
    titles: Vec<&'static str>,
    /// How it differs from the index that check_corpus would suggest.
    pub difference: Option<Difference>,
}

/// A difference between an index and the corpus, with which searches use the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// It has other weights.
    Weights,
    /// It does not contain the titles.
    NoTitles,
}

/// Meanings of the columns that hide rows from callers.
const HIDING: [&str; 2] = ["tenant_column", "principals_column"];

/// Returns the index that serves the corpus best, if there is one: with the titles and their weight, with the titles, or without them.
pub fn index(corpus: &Corpus) -> Result<Option<LexicalIndex>> {
    #[derive(Deserialize)]
    struct Row {
        oid: u32,
        name: String,
        hides_rows: bool,
        has_policies: bool,
    }
    let (Some(relation), Some(column)) = (&corpus.relation, corpus.mapping.get("content")) else {
        return Ok(None);
    };
    let named = corpus.mapping.get("text_config_column");
    if column.side != Side::Passages || named.is_some_and(|named| named.side != Side::Passages) {
        return Ok(None);
    }
    let rows: Vec<Row> = sql::read_rows(
        "SELECT c.oid::bigint, format('%I.%I', n.nspname, c.relname) AS name, row_security_active(i.indrelid) AS hides_rows, t.relrowsecurity AS has_policies \
         FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
             JOIN pg_am AS m ON m.oid = c.relam JOIN pg_class AS t ON t.oid = i.indrelid \
         WHERE i.indrelid = $1::regclass AND i.indisvalid AND i.indpred IS NULL AND m.amname = 'reground_bm25' ORDER BY c.oid",
        &[relation.as_str().into()],
    )?;
    let by_column = HIDING.iter().any(|of| corpus.mapping.contains_key(*of));
    let titles = corpus.searched_titles();
    let mut best: Option<LexicalIndex> = None;
    for row in rows {
        let Some(columns) = crate::index::indexed_columns(row.oid.into()) else {
            continue;
        };
        let Some(has_titles) = contents(corpus, &titles, &columns) else {
            continue;
        };
        // The declared options may have changed since the index was built.
        let Some(weights) = crate::index::weights_under(row.oid.into(), &corpus.text_config)?
        else {
            continue;
        };
        let difference = match has_titles {
            false if !titles.is_empty() => Some(Difference::NoTitles),
            true if weights != weights_of(titles.len(), corpus.title_weight) => {
                Some(Difference::Weights)
            }
            _ => None,
        };
        if best
            .as_ref()
            .is_none_or(|best| difference < best.difference)
        {
            best = Some(LexicalIndex {
                oid: row.oid,
                name: row.name,
                hides_rows: row.hides_rows || by_column,
                may_hide_rows: row.has_policies || by_column,
                titles: if has_titles {
                    titles.clone()
                } else {
                    Vec::new()
                },
                difference,
            });
        }
    }
    Ok(best)
}

/// Returns whether an index on these columns contains the titles; `None` if it does not serve the corpus.
fn contents(corpus: &Corpus, titles: &[&str], columns: &IndexedColumns) -> Option<bool> {
    let column = |meaning: &str| corpus.mapping.get(meaning).map(|column| &column.column);
    if columns.text_config.as_ref() != column("text_config_column") {
        return None;
    }
    let (content, first) = columns.texts.split_last()?;
    if Some(content) != column("content") {
        return None;
    }
    match first {
        [] => Some(false),
        first => {
            let all = titles.iter().map(|title| column(title));
            (!titles.is_empty() && first.iter().map(Some).eq(all)).then_some(true)
        }
    }
}

/// The weights of an index on titles and a text.
fn weights_of(titles: usize, title_weight: u8) -> Weights {
    let weights: Vec<u8> = std::iter::repeat_n(title_weight, titles).collect();
    Weights::new(&weights).unwrap_or_default()
}

/// Returns the qualified and quoted names of all `reground_bm25` indexes on a relation.
pub fn indexes_of(relation: &str) -> Result<Vec<String>> {
    let names = sql::read_json(
        "SELECT json_agg(format('%I.%I', n.nspname, c.relname))::text FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid \
             JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_am AS m ON m.oid = c.relam \
         WHERE i.indrelid = $1::regclass AND m.amname = 'reground_bm25'",
        &[relation.into()],
    )?;
    Ok(names.unwrap_or_default())
}

/// Returns the CREATE INDEX statement for a corpus. `None` if no index is possible, because the rows find their configuration
/// in another relation.
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
    let titles = corpus.searched_titles();
    let indexed = match corpus.indexed("", &titles)? {
        array if array.starts_with("ARRAY[") => format!("({array})"),
        other => other,
    };
    Ok(Some(create_on(
        relation,
        &indexed,
        &corpus.text_config,
        titles.len(),
        corpus.title_weight,
    )))
}

/// Returns the CREATE INDEX statement for a column, or for an expression that begins with a number of titles.
pub fn create_on(
    relation: &str,
    indexed: &str,
    text_config: &str,
    titles: usize,
    title_weight: u8,
) -> String {
    let weights = match titles {
        0 => String::new(),
        titles => format!(", weights = '{}'", weights_of(titles, title_weight)),
    };
    format!(
        "CREATE INDEX ON {relation} USING reground_bm25 ({indexed}) WITH (text_config = {}{weights})",
        sql::literal(text_config)
    )
}

/// A passage and its score.
#[derive(Deserialize)]
struct Row {
    chunk_id: String,
    score: f64,
}

/// Ranks the passages for each query, in the order of the queries.
pub fn rank(
    corpus: &Corpus,
    index: &LexicalIndex,
    queries: &[SubQuery],
    text_configs: &[String],
    filter: &Filter,
    wanted: &Wanted,
    limit: usize,
) -> Result<Vec<Ranked>> {
    let queries = queries
        .iter()
        .map(|query| IndexQuery::of(corpus, index, query, text_configs, filter))
        .collect::<Result<Vec<_>>>()?;
    let mut results = Vec::with_capacity(queries.len());
    for query in &queries {
        results.push(Ranked {
            hits: query.best(limit)?,
            ..Ranked::default()
        });
    }
    let others = results.iter().skip(1).flat_map(|result| &result.hits);
    let chunk_ids: BTreeSet<String> = others
        .map(|hit| hit.chunk_id.clone())
        .chain(wanted.chunk_ids.iter().cloned())
        .collect();
    if let (Some(own), Some(result)) = (queries.first(), results.first_mut()) {
        result.wanted = own.scores(&chunk_ids, &wanted.doc_ids)?;
    }
    Ok(results)
}

/// A query over the passages of a corpus.
struct IndexQuery<'a> {
    corpus: &'a Corpus,
    filter: &'a Filter,
    /// The indexed expression.
    indexed: String,
    query: Bm25Query,
    /// The distance of a passage from `$1`.
    distance: String,
    /// Selects ids and scores of the passages that pass the filter. The parameters of the filter begin at `$3`.
    select: String,
}

impl<'a> IndexQuery<'a> {
    fn of(
        corpus: &'a Corpus,
        index: &LexicalIndex,
        query: &SubQuery,
        text_configs: &[String],
        filter: &'a Filter,
    ) -> Result<Self> {
        let expansion = Expansion::new(query.terms.clone())?;
        let indexed = corpus.indexed("p.", &index.titles)?;
        let distance = format!("{indexed} <@> $1");
        let mut bm25_query = Bm25Query::new(index.oid.into(), &query.text, expansion)?;
        // A single configuration is stored in the index.
        if corpus.mapping.contains_key("text_config_column") {
            bm25_query = bm25_query.with_text_configs(text_configs.to_vec())?;
        }
        Ok(Self {
            corpus,
            filter,
            indexed,
            query: bm25_query,
            select: format!(
                "SELECT {key}::text AS chunk_id, - ({distance}) AS score FROM {} WHERE {key} IS NOT NULL AND {} IS NOT NULL AND {}",
                corpus.relations()?,
                corpus.required("content")?,
                filter.clause(3),
                key = corpus.key()?,
            ),
            distance,
        })
    }

    /// Returns the best passages, by descending score.
    fn best(&self, limit: usize) -> Result<Vec<Hit>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        if limit == 0 {
            return Ok(Vec::new());
        }
        // WITH TIES ends the index scan at the first lower score. An incremental sort by score and id would read 64 rows at least,
        // and a hidden row is read for each visible one that the policies leave.
        let statement = format!(
            "SELECT s.chunk_id, s.score FROM ({} AND {} @@@ $1 ORDER BY {} FETCH FIRST ($2::bigint) ROWS WITH TIES) AS s \
             ORDER BY s.score DESC, s.chunk_id COLLATE \"C\" LIMIT $2::bigint",
            self.select, self.indexed, self.distance,
        );
        let rows: Vec<Row> = sql::read_rows(&statement, &self.args(limit.into()))?;
        Ok(rows.into_iter().map(Row::hit).collect())
    }

    /// Returns the scores of passages, and of all passages of documents. Passages without a word of the query are left out.
    fn scores(
        &self,
        chunk_ids: &BTreeSet<String>,
        doc_ids: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, f64>> {
        let mut scores = BTreeMap::new();
        for (clause, ids) in [
            passages::passage_clause(self.corpus, 2, chunk_ids)?,
            passages::document_clause(self.corpus, 2, doc_ids)?,
        ] {
            if !ids.is_empty() {
                // OFFSET 0 prevents a second computation of the score for the condition.
                let statement = format!(
                    "SELECT s.chunk_id, s.score FROM ({} AND {clause} OFFSET 0) AS s WHERE s.score > 0::float8",
                    self.select
                );
                let rows: Vec<Row> = sql::read_rows(&statement, &self.args(ids.into()))?;
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
