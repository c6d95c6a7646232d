//! Exact BM25 in one pass over the visible passages.
//!
//! N, df and the average length are those of what the caller may see, so no statistics leak across row-level security.

use std::collections::BTreeSet;

use reground_bm25::{Collector, Parameters, QueryWeight, Ranking, TsVector};
use reground_grounding::passage::Hit;
use reground_grounding::query::plan::SubQuery;

use super::{Ranked, Wanted};
use crate::datum::TsVectorBytes;
use crate::error::Result;
use crate::retrieve::filter::Filter;
use crate::retrieve::lexemes::LONGEST_TEXT;
use crate::session::{PLAIN_TEXT, with_settings};
use crate::sql::{self, Row};
use crate::store::corpora::Corpus;

/// Passages read from the cursor at a time.
const BATCH: i64 = 1000;

/// Ranks the passages for each query, in order.
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
    let lexemes = match corpus.column("lexemes") {
        Some(column) => column,
        None => format!(
            "pg_catalog.to_tsvector({}, pg_catalog.left({}::text, {LONGEST_TEXT}))",
            corpus.row_config(),
            corpus.required("content")?
        ),
    };
    let statement = format!(
        "SELECT {}::text, {}::text, coalesce({}, false), {lexemes} FROM {} WHERE {lexemes} IS NOT NULL",
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
        let vector = TsVector::parse(&bytes.0)?;
        // Wanted passages are scored by the turn's own query, which comes first, as through an index.
        for (at, collector) in collectors.iter_mut().enumerate() {
            collector.add(&key, admitted, wanted && at == 0, &vector);
        }
        Ok(())
    };
    // Keys and filters are read as text like in every other statement.
    with_settings(&PLAIN_TEXT, || {
        sql::read_batches(&statement, &filter.args(), BATCH, read)
    })?;
    Ok(finish(collectors, limit))
}

/// The answers, in the order of the queries. What the later ones found is scored by the first too.
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

/// The lexemes of a query, with how much it asks for each: what several configurations make of it together, each as often as
/// the one that makes it most often.
fn query_terms(text_configs: &[String], query: &SubQuery) -> Result<Vec<(Vec<u8>, QueryWeight)>> {
    #[derive(serde::Deserialize)]
    struct Term {
        lexeme: String,
        occurrences: u32,
    }
    let terms: Vec<Term> = sql::read_rows(
        "SELECT t.lexeme, pg_catalog.max(pg_catalog.cardinality(t.positions)) AS occurrences \
         FROM pg_catalog.unnest($1::text[]) AS c(name), pg_catalog.unnest(pg_catalog.to_tsvector(c.name::pg_catalog.regconfig, pg_catalog.left($2, $3))) AS t \
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
