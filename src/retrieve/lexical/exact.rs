//! Exact BM25, by reading all visible passages once.
//!
//! The number of passages, the document frequencies and the average length count only passages that the caller may read, so
//! scores reveal nothing about other rows.

use std::collections::BTreeSet;

use pgrx::pg_sys;
use reground_bm25::{Collector, Parameters, QueryWeight, Ranking, RowWords, TsVector, WordCounter};
use reground_grounding::passage::Hit;
use reground_grounding::query::plan::SubQuery;

use super::ranked::{Ranked, Search, Wanted};
use crate::datum::TsVectorBytes;
use crate::error::Result;
use crate::retrieve::lexemes::LONGEST_TEXT;
use crate::session::{PLAIN_TEXT, with_settings};
use crate::sql::{self, Row};
use crate::store::corpora::{Corpus, LONGEST_TITLE};
use crate::words::each_lexeme;

/// Number of passages that are read at a time.
const BATCH: i64 = 1000;

/// First result column with the words of a passage.
const WORDS: i32 = 4;

/// Ranks the passages for each query, in the order of the queries. Also returns the number of passages read.
pub fn rank(
    corpus: &Corpus,
    search: &Search<'_>,
    text_configs: &[String],
    wanted: &Wanted,
) -> Result<(Vec<Ranked>, u64)> {
    let Search {
        queries,
        filter,
        limit,
        ..
    } = *search;
    let terms = queries
        .iter()
        .map(|query| query_terms(text_configs, query))
        .collect::<Result<Vec<_>>>()?;
    let mut pass = Pass {
        collectors: terms
            .iter()
            .map(|terms| Collector::new(terms.clone(), Parameters::default()))
            .collect(),
        wanted,
        read: 0,
    };
    if terms.iter().all(Vec::is_empty) {
        return Ok((finish(pass.collectors, limit), 0));
    }
    let content = corpus.required("content")?;
    let stored = corpus.column("lexemes");
    let (columns, weights) = match &stored {
        Some(column) => (column.clone(), Vec::new()),
        None => texts(corpus, &content)?,
    };
    // As in an index, a row with a title counts in the statistics although it has no text.
    let counted = match corpus.searched_titles().is_empty() {
        true => format!("{content} IS NOT NULL"),
        false => "true".to_owned(),
    };
    let statement = format!(
        "SELECT {key}::text, {}::text, coalesce({}, false) AND {content} IS NOT NULL, {columns} FROM {} WHERE {counted} AND {key} IS NOT NULL",
        corpus.document()?,
        filter.clause(1),
        corpus.relations()?,
        key = corpus.key()?,
    );
    let lexemes = terms.iter().flatten().map(|(lexeme, _)| lexeme.as_slice());
    let mut counter = WordCounter::new(lexemes);
    let read = |row: &Row| {
        if stored.is_some() {
            let Some(bytes) = row.get::<TsVectorBytes>(WORDS)? else {
                return Ok(());
            };
            let vector = TsVector::parse_with_title(&bytes.0, corpus.title_weight)?;
            return pass.add(row, &vector);
        }
        count(row, &weights, &mut counter)?;
        pass.add(row, &counter)
    };
    // Ids and filter values are converted to text with the same settings as in `read_rows`.
    with_settings(&PLAIN_TEXT, || {
        sql::read_batches(&statement, &filter.args(), BATCH, read)
    })?;
    Ok((finish(pass.collectors, limit), pass.read))
}

/// A pass over the passages. Its rows have the id of the passage, that of the document, whether the filter admits the row, and the
/// words.
struct Pass<'a> {
    collectors: Vec<Collector>,
    wanted: &'a Wanted,
    read: u64,
}

impl Pass<'_> {
    /// Adds a row. Its ids are read only if it contains a word of a query.
    fn add(&mut self, row: &Row, words: &impl RowWords) -> Result<()> {
        self.read += 1;
        let mut known = None;
        for (at, collector) in self.collectors.iter_mut().enumerate() {
            if !collector.matches(words) {
                collector.add_other(words);
                continue;
            }
            let (key, admitted, wanted) = match &known {
                Some(known) => known,
                None => known.insert(ids(row, self.wanted)?),
            };
            // Only the turn's own query, which is the first, scores the wanted passages.
            collector.add(key, *admitted, *wanted && at == 0, words);
        }
        Ok(())
    }
}

/// Returns the id of the passage of a row, whether the filter admits it, and whether it is wanted.
fn ids(row: &Row, wanted: &Wanted) -> Result<(String, bool, bool)> {
    let key = row.get::<String>(1)?.unwrap_or_default();
    let admitted = row.get::<bool>(3)?.unwrap_or(false);
    let is_wanted = admitted
        && (wanted.chunk_ids.contains(&key)
            || row
                .get::<String>(2)?
                .is_some_and(|doc_id| wanted.doc_ids.contains(&doc_id)));
    Ok((key, admitted, is_wanted))
}

/// Columns for the text search configuration and the texts of a passage, and the weight of each text.
fn texts(corpus: &Corpus, content: &str) -> Result<(String, Vec<u8>)> {
    let mut columns = vec![format!("({})::oid", corpus.row_config())];
    let mut weights = Vec::new();
    let mut add = |column: &str, longest: i32, weight: u8| {
        columns.push(format!("left({column}::text, {longest})"));
        weights.push(weight);
    };
    for meaning in corpus.searched_titles() {
        add(
            &corpus.required(meaning)?,
            LONGEST_TITLE,
            corpus.title_weight,
        );
    }
    add(content, LONGEST_TEXT, 1);
    Ok((columns.join(", "), weights))
}

/// Counts the words of the texts of a row.
fn count(row: &Row, weights: &[u8], counter: &mut WordCounter) -> Result<()> {
    counter.clear();
    let config = row.get::<pg_sys::Oid>(WORDS)?.unwrap_or_default();
    for (column, &weight) in (WORDS + 1..).zip(weights) {
        if let Some(text) = row.get::<String>(column)? {
            each_lexeme(config, &text, |lexeme| counter.add(lexeme, weight));
        }
    }
    Ok(())
}

/// Returns the results in the order of the queries. The first query also scores the hits of the others.
fn finish(collectors: Vec<Collector>, limit: usize) -> Vec<Ranked> {
    let mut collectors = collectors.into_iter();
    let own = collectors.next();
    let others: Vec<Ranking> = collectors
        .map(|collector| collector.finish(limit, &BTreeSet::new()))
        .collect();
    let found = others.iter().flat_map(|ranking| &ranking.candidates);
    let found = found.map(|scored| scored.key.clone()).collect();
    let own = own.map(|collector| collector.finish(limit, &found));
    own.into_iter().chain(others).map(ranked).collect()
}

fn ranked(ranking: Ranking) -> Ranked {
    let hits = ranking.candidates.into_iter();
    Ranked {
        hits: hits
            .map(|scored| Hit {
                chunk_id: scored.key,
                value: scored.score,
            })
            .collect(),
        wanted: ranking.wanted.into_iter().collect(),
        ..Ranked::default()
    }
}

/// Returns the lexemes of a query with their weights. The lexemes of several configurations are combined; each counts with
/// its maximum frequency among them.
fn query_terms(text_configs: &[String], query: &SubQuery) -> Result<Vec<(Vec<u8>, QueryWeight)>> {
    #[derive(serde::Deserialize)]
    struct Term {
        lexeme: String,
        occurrences: u32,
    }
    let terms: Vec<Term> = sql::read_rows(
        "SELECT t.lexeme, max(cardinality(t.positions)) AS occurrences \
         FROM unnest($1::text[]) AS c(name), unnest(to_tsvector(c.name::regconfig, left($2, $3))) AS t \
         GROUP BY t.lexeme",
        &[
            text_configs.to_vec().into(),
            query.text.as_str().into(),
            LONGEST_TEXT.into(),
        ],
    )?;
    let own = terms
        .into_iter()
        .map(|term| (term.lexeme.into_bytes(), QueryWeight::own(term.occurrences)));
    let expanded = query.terms.iter().map(|(lexeme, &expansion)| {
        let weight = QueryWeight {
            frequency: 0,
            expansion,
        };
        (lexeme.clone().into_bytes(), weight)
    });
    Ok(own.chain(expanded).collect())
}
