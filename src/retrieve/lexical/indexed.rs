//! BM25 through an index of the access method `reground_bm25`. Its time grows little with the size of the corpus.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::datum::DatumWithOid;
use reground_grounding::passage::Hit;
use reground_grounding::query::plan::SubQuery;

use super::corpus_index::LexicalIndex;
use super::ranked::{Ranked, Search, Wanted};
use crate::error::Result;
use crate::index::{Bm25Query, Expansion, RowAddress, row_scores, with_statistics};
use crate::retrieve::filter::Filter;
use crate::retrieve::lists::addresses::{Addresses, address};
use crate::retrieve::{passages, vector};
use crate::sql::{self, PLAN_EACH_TIME, PLAN_ONCE, Row};
use crate::store::corpora::Corpus;

/// A passage that a statement has found.
struct Found {
    hit: Hit,
    address: Option<RowAddress>,
    /// Distance of its embedding, if one was given.
    distance: Option<f64>,
}

impl Found {
    /// Reads a row of the id, the score, the address in two columns and the distance.
    fn read(row: &Row) -> Result<Self> {
        Ok(Self {
            hit: Hit {
                chunk_id: row.get(1)?.unwrap_or_default(),
                value: row.get(2)?.unwrap_or_default(),
            },
            address: address(row, 3)?,
            distance: row.get::<f64>(5)?.filter(|distance| distance.is_finite()),
        })
    }
}

/// Ranks the passages for each query, in the order of the queries, with their distances from an embedding.
pub fn rank(
    corpus: &Corpus,
    index: &LexicalIndex,
    search: &Search<'_>,
    text_configs: &[String],
    wanted: &Wanted,
) -> Result<Vec<Ranked>> {
    let queries = search.queries.iter();
    let queries = queries
        .map(|query| IndexQuery::of(corpus, index, query, text_configs, search))
        .collect::<Result<Vec<_>>>()?;
    let mut results = Vec::with_capacity(queries.len());
    let mut addresses = wanted.addresses.clone();
    for query in &queries {
        let mut result = Ranked::default();
        for found in query.best(search.limit)? {
            let chunk_id = &found.hit.chunk_id;
            addresses.extend(found.address.map(|address| (chunk_id.clone(), address)));
            let distance = found.distance.map(|distance| (chunk_id.clone(), distance));
            result.distances.extend(distance);
            result.hits.push(found.hit);
        }
        results.push(result);
    }
    let others = results.iter().skip(1).flat_map(|result| &result.hits);
    let chunk_ids: BTreeSet<String> = others
        .map(|hit| hit.chunk_id.clone())
        .chain(wanted.chunk_ids.iter().cloned())
        .collect();
    if let (Some(own), Some(result)) = (queries.first(), results.first_mut()) {
        result.wanted = own.scores(&chunk_ids, &wanted.doc_ids, &addresses)?;
    }
    Ok(results)
}

/// A query over the passages of a corpus.
struct IndexQuery<'a> {
    corpus: &'a Corpus,
    filter: &'a Filter,
    embedding: Option<&'a [f32]>,
    /// The indexed expression.
    indexed: String,
    query: Bm25Query,
    /// Whether the statement with the best passages is planned once or each time.
    planned: &'static str,
    /// The distance of a passage from `$1`.
    distance: String,
    /// FROM clause, columns with the address of a passage, and the conditions. The parameters of the filter begin at `$4`.
    from: String,
    address: &'static str,
    conditions: String,
}

impl<'a> IndexQuery<'a> {
    fn of(
        corpus: &'a Corpus,
        index: &LexicalIndex,
        query: &SubQuery,
        text_configs: &[String],
        search: &Search<'a>,
    ) -> Result<Self> {
        let expansion = Expansion::new(query.terms.clone())?;
        let indexed = corpus.indexed("p.", &index.titles)?;
        let mut bm25_query = Bm25Query::new(index.oid.into(), &query.text, expansion)?;
        // A single configuration is stored in the index.
        if corpus.mapping.contains_key("text_config_column") {
            bm25_query = bm25_query.with_text_configs(text_configs.to_vec())?;
        }
        if corpus.is_distributed()? {
            bm25_query = with_statistics(bm25_query)?;
        }
        let (from, address) = corpus.searched_relations(search.filter.reads_documents())?;
        Ok(Self {
            corpus,
            filter: search.filter,
            embedding: search.embedding,
            query: bm25_query,
            // The planner must know the query to choose among several indexes.
            planned: match index.is_alone {
                true => PLAN_ONCE,
                false => PLAN_EACH_TIME,
            },
            distance: format!("{indexed} <@> $1"),
            indexed,
            from,
            address,
            conditions: format!(
                "{} IS NOT NULL AND {} IS NOT NULL AND {}",
                corpus.key()?,
                corpus.required("content")?,
                search.filter.clause(4),
            ),
        })
    }

    /// Returns the best passages, by descending score, then by id.
    fn best(&self, limit: usize) -> Result<Vec<Found>> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let embedding = match self.embedding {
            Some(_) => Some(self.corpus.embedding_column()?),
            None => None,
        };
        let vector_distance = |column: &str| match self.embedding {
            Some(_) => vector::distance_of(self.corpus, column, None, 3),
            None => Ok("NULL::float8".to_owned()),
        };
        let embedding = embedding.as_deref().unwrap_or("NULL");
        let (key, indexed) = (self.corpus.key()?, &self.indexed);
        let searched = format!(
            "FROM {} WHERE {} AND {indexed} @@@ $1",
            self.from, self.conditions
        );
        let (score, address) = (format!("- ({})", self.distance), self.address);
        // WITH TIES ends the index scan at the first lower score. An incremental sort by score and id would read 64 rows at least,
        // and a hidden row is read for each visible one that the policies leave. Citus merges the rows of shards without their ties.
        let statement = match self.corpus.is_distributed()? {
            true => format!(
                "SELECT {key}::text, {score}, {address}, {} {searched} ORDER BY {}, ({key}::text) COLLATE \"C\" LIMIT {limit}",
                vector_distance(embedding)?,
                self.distance,
            ),
            false => format!(
                "{} SELECT s.chunk_id, s.score, s.row_table, s.row_place, {} FROM ( \
                     SELECT t.* FROM (SELECT {key}::text, {score}, {address}, {embedding} {searched} \
                         ORDER BY {} FETCH FIRST {limit} ROWS WITH TIES) AS t(chunk_id, score, row_table, row_place, embedding) \
                     ORDER BY t.score DESC, t.chunk_id COLLATE \"C\" LIMIT {limit}) AS s",
                self.planned,
                vector_distance("s.embedding")?,
                self.distance,
            ),
        };
        self.read(&statement, Vec::new())
    }

    /// Returns the scores of passages, and of all passages of documents. Passages without a word of the query are left out.
    fn scores(
        &self,
        chunk_ids: &BTreeSet<String>,
        doc_ids: &BTreeSet<String>,
        addresses: &Addresses,
    ) -> Result<BTreeMap<String, f64>> {
        let mut known = BTreeMap::new();
        let mut unknown = BTreeSet::new();
        for chunk_id in chunk_ids {
            match addresses.get(chunk_id) {
                Some(address) => drop(known.insert(*address, chunk_id.clone())),
                None => drop(unknown.insert(chunk_id)),
            }
        }
        let clauses = [
            passages::passage_clause(self.corpus, 2, unknown)?,
            passages::document_clause(self.corpus, 2, doc_ids)?,
        ];
        let mut by_text = Vec::new();
        let mut found = Vec::new();
        for (clause, ids) in clauses {
            if !self.corpus.has_addresses()? {
                found.extend(self.find_scored(&clause, ids)?);
                continue;
            }
            for passage in self.find(&clause, ids)? {
                match passage.address {
                    Some(address) => drop(known.insert(address, passage.hit.chunk_id)),
                    None => by_text.push(passage.hit.chunk_id),
                }
            }
        }
        let mut scores = BTreeMap::new();
        match row_scores(&self.query, &known.keys().copied().collect())? {
            Some(of_rows) => {
                let scored = |(address, chunk_id)| Some((chunk_id, *of_rows.get(&address)?));
                scores.extend(known.into_iter().filter_map(scored));
            }
            None => by_text.extend(known.into_values()),
        }
        let (clause, ids) = passages::passage_clause(self.corpus, 2, &by_text)?;
        found.extend(self.find_scored(&clause, ids)?);
        let hits = found.into_iter().map(|passage| passage.hit);
        scores.extend(hits.map(|hit| (hit.chunk_id, hit.value)));
        Ok(scores)
    }

    /// Returns passages with their addresses.
    fn find(&self, clause: &str, ids: Vec<String>) -> Result<Vec<Found>> {
        let statement = self.with_columns("NULL::float8", self.address, clause)?;
        self.read_some(&statement, ids)
    }

    /// Returns passages that contain a word of the query with their scores, computed from their texts.
    fn find_scored(&self, clause: &str, ids: Vec<String>) -> Result<Vec<Found>> {
        let score = format!("- ({})", self.distance);
        let scored = self.with_columns(&score, "NULL::oid, NULL::tid", clause)?;
        // OFFSET 0 prevents a second computation of the score for the condition. Citus would copy the rows of such a subquery.
        let statement = match self.corpus.is_distributed()? {
            true => format!("{scored} AND {} @@@ $1", self.indexed),
            false => format!(
                "SELECT s.* FROM ({scored} OFFSET 0) AS s(chunk_id, score, row_table, row_place, distance) WHERE s.score > 0::float8"
            ),
        };
        self.read_some(&statement, ids)
    }

    /// A statement for passages with these columns.
    fn with_columns(&self, score: &str, address: &str, clause: &str) -> Result<String> {
        Ok(format!(
            "SELECT {}::text, {score}, {address}, NULL::float8 FROM {} WHERE {} AND {clause}",
            self.corpus.key()?,
            self.from,
            self.conditions,
        ))
    }

    /// As [`Self::read`]; without ids, no statement is run.
    fn read_some(&self, statement: &str, ids: Vec<String>) -> Result<Vec<Found>> {
        match ids.is_empty() {
            true => Ok(Vec::new()),
            false => self.read(statement, ids),
        }
    }

    /// Reads the rows of a statement with the parameters: the query, ids, the embedding, and those of the filter.
    fn read(&self, statement: &str, ids: Vec<String>) -> Result<Vec<Found>> {
        let embedding = self.embedding.map(<[f32]>::to_vec);
        let mut args: Vec<DatumWithOid<'_>> =
            vec![self.query.clone().into(), ids.into(), embedding.into()];
        args.extend(self.filter.args());
        sql::read_each_as_text(statement, &args, Found::read)
    }
}
