//! BM25 through an index of the access method `reground_bm25`. Its time grows little with the size of the corpus.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use pgrx::datum::DatumWithOid;
use reground_bm25::index::pages::meta::IndexSettings;
use reground_bm25::index::terms::Weights;
use reground_grounding::passage::Hit;
use reground_grounding::query::plan::SubQuery;
use serde::Deserialize;

use super::ranked::{Ranked, Search, Wanted};
use crate::error::Result;
use crate::index::{Bm25Query, Expansion, IndexedColumns, RowAddress, row_scores};
use crate::retrieve::filter::Filter;
use crate::retrieve::lists::addresses::{Addresses, address};
use crate::retrieve::{passages, vector};
use crate::sql::{self, CatalogCache, PLAN_EACH_TIME, PLAN_ONCE, Row};
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
    /// Whether neither the table nor a child of it can have another index of the access method.
    is_alone: bool,
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
    let (Some(relation), Some(column)) = (&corpus.relation, corpus.mapping.get("content")) else {
        return Ok(None);
    };
    let named = corpus.mapping.get("text_config_column");
    if column.side != Side::Passages || named.is_some_and(|named| named.side != Side::Passages) {
        return Ok(None);
    }
    let by_column = HIDING.iter().any(|of| corpus.mapping.contains_key(*of));
    let titles = corpus.searched_titles();
    let mut best: Option<LexicalIndex> = None;
    for row in usable_indexes(relation)? {
        let Some(has_titles) = contents(corpus, &titles, &row.columns) else {
            continue;
        };
        if !row.built.uses_text_config(&corpus.text_config) {
            continue;
        }
        let weights = row.built.weights;
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
                hides_rows: by_column || crate::index::hides_rows(row.oid.into())?,
                is_alone: row.is_alone,
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

/// A valid index on the columns of a table.
#[derive(Clone)]
struct UsableIndex {
    oid: u32,
    name: String,
    has_policies: bool,
    is_alone: bool,
    columns: IndexedColumns,
    /// The declared options may have changed since.
    built: IndexSettings,
}

thread_local! {
    /// Indexes by the table.
    static INDEXES: RefCell<CatalogCache<String, Vec<UsableIndex>>> = RefCell::default();
}

/// Returns the indexes of a table that a corpus may be able to use.
fn usable_indexes(relation: &str) -> Result<Vec<UsableIndex>> {
    #[derive(Deserialize)]
    struct Index {
        oid: u32,
        name: String,
        has_policies: bool,
        has_children: bool,
        is_usable: bool,
    }
    let find = || {
        let rows: Vec<Index> = sql::read_rows(
            "SELECT c.oid::bigint, format('%I.%I', n.nspname, c.relname) AS name, t.relrowsecurity AS has_policies, t.relhassubclass AS has_children, i.indisvalid AND i.indpred IS NULL AS is_usable \
             FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                 JOIN pg_am AS m ON m.oid = c.relam JOIN pg_class AS t ON t.oid = i.indrelid \
             WHERE i.indrelid = $1::regclass AND m.amname = 'reground_bm25' ORDER BY c.oid",
            &[relation.into()],
        )?;
        let is_alone = rows.len() == 1 && rows.iter().all(|row| !row.has_children);
        let mut usable = Vec::new();
        for row in rows.into_iter().filter(|row| row.is_usable) {
            let oid = row.oid.into();
            let columns = crate::index::indexed_columns(oid);
            if let Some((columns, built)) = columns.zip(crate::index::built_settings(oid)?) {
                usable.push(UsableIndex {
                    oid: row.oid,
                    name: row.name,
                    has_policies: row.has_policies,
                    is_alone,
                    columns,
                    built,
                });
            }
        }
        Ok(usable)
    };
    sql::kept_by_statements(&INDEXES, relation.to_owned(), find)
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
        let (embedding, distance) = match self.embedding {
            Some(_) => (
                self.corpus.embedding_column()?,
                vector::distance_of(self.corpus, "s.embedding", None, 3)?,
            ),
            None => ("NULL".to_owned(), "NULL::float8".to_owned()),
        };
        // WITH TIES ends the index scan at the first lower score. An incremental sort by score and id would read 64 rows at least,
        // and a hidden row is read for each visible one that the policies leave.
        let statement = format!(
            "{} SELECT s.chunk_id, s.score, s.row_table, s.row_place, {distance} FROM ( \
                 SELECT t.* FROM (SELECT {}::text, - ({}), {}, {embedding} FROM {} WHERE {} AND {} @@@ $1 \
                     ORDER BY {} FETCH FIRST {limit} ROWS WITH TIES) AS t(chunk_id, score, row_table, row_place, embedding) \
                 ORDER BY t.score DESC, t.chunk_id COLLATE \"C\" LIMIT {limit}) AS s",
            self.planned,
            self.corpus.key()?,
            self.distance,
            self.address,
            self.from,
            self.conditions,
            self.indexed,
            self.distance,
        );
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
            if !self.corpus.has_addresses() {
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
        // OFFSET 0 prevents a second computation of the score for the condition.
        let statement = format!(
            "SELECT s.* FROM ({scored} OFFSET 0) AS s(chunk_id, score, row_table, row_place, distance) WHERE s.score > 0::float8"
        );
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
