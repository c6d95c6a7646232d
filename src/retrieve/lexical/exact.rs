//! Exact BM25, by reading all visible passages once.
//!
//! The number of passages, the document frequencies and the average length count only passages that the caller may read, so
//! scores reveal nothing about other rows.

use std::collections::BTreeSet;

use reground_bm25::{Collector, Parameters, QueryWeight, Ranking, TsVector};
use reground_grounding::passage::Hit;
use reground_grounding::query::plan::SubQuery;

use super::ranked::{Ranked, Wanted};
use crate::datum::TsVectorBytes;
use crate::error::Result;
use crate::retrieve::filter::Filter;
use crate::retrieve::lexemes::LONGEST_TEXT;
use crate::session::{PLAIN_TEXT, with_settings};
use crate::sql::{self, Row};
use crate::store::corpora::{Corpus, LONGEST_TITLE};

/// Number of passages that are read at a time.
const BATCH: i64 = 1000;

/// Ranks the passages for each query, in the order of the queries.
pub fn rank(
    corpus: &Corpus,
    queries: &[SubQuery],
    text_configs: &[String],
    filter: &Filter,
    wanted: &Wanted,
    limit: usize,
) -> Result<Vec<Ranked>> {
    let terms = queries
        .iter()
        .map(|query| query_terms(text_configs, query))
        .collect::<Result<Vec<_>>>()?;
    let mut collectors: Vec<Collector> = terms
        .iter()
        .map(|terms| Collector::new(terms.clone(), Parameters::default()))
        .collect();
    if terms.iter().all(Vec::is_empty) {
        return Ok(finish(collectors, limit));
    }
    let content = corpus.required("content")?;
    let lexemes = match corpus.column("lexemes") {
        Some(column) => column,
        None => lexemes(corpus, &content)?,
    };
    // As in an index, a row with a title counts in the statistics although it has no text.
    let counted = match corpus.searched_titles().is_empty() {
        true => format!("{content} IS NOT NULL"),
        false => "true".to_owned(),
    };
    let statement = format!(
        "SELECT {}::text, {}::text, coalesce({}, false) AND {content} IS NOT NULL, {lexemes} FROM {} WHERE {counted}",
        corpus.key()?,
        corpus.document()?,
        filter.clause(1),
        corpus.relations()?,
    );
    let read = |row: &Row| {
        let (Some(key), Some(bytes)) = (row.get::<String>(1)?, row.get::<TsVectorBytes>(4)?) else {
            return Ok(());
        };
        let admitted = row.get::<bool>(3)?.unwrap_or(false);
        let wanted = admitted
            && (wanted.chunk_ids.contains(&key)
                || row
                    .get::<String>(2)?
                    .is_some_and(|doc_id| wanted.doc_ids.contains(&doc_id)));
        let vector = TsVector::parse_with_title(&bytes.0, corpus.title_weight)?;
        // Only the turn's own query, which is the first, scores the wanted passages.
        for (at, collector) in collectors.iter_mut().enumerate() {
            collector.add(&key, admitted, wanted && at == 0, &vector);
        }
        Ok(())
    };
    // Ids and filter values are converted to text with the same settings as in `read_rows`.
    with_settings(&PLAIN_TEXT, || {
        sql::read_batches(&statement, &filter.args(), BATCH, read)
    })?;
    Ok(finish(collectors, limit))
}

/// Expression for the lexemes of a passage. Those of its titles have the weight A.
fn lexemes(corpus: &Corpus, content: &str) -> Result<String> {
    let config = corpus.row_config();
    let of = |column: &str, longest: i32| {
        format!("to_tsvector({config}, left(coalesce({column}::text, ''), {longest}))")
    };
    let mut lexemes = String::new();
    for meaning in corpus.searched_titles() {
        let title = of(&corpus.required(meaning)?, LONGEST_TITLE);
        lexemes.push_str(&format!("setweight({title}, 'A') || "));
    }
    lexemes.push_str(&of(content, LONGEST_TEXT));
    Ok(lexemes)
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
