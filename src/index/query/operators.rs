//! The operators, for evaluation without an index scan, and the function that explains a score.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_bm25::index::score::{distance, to_float};
use serde::Serialize;

use super::bm25_query::Bm25Query;
use super::operator_query::OperatorQuery;
use super::weighted_query::{hides_rows, weighted_query};
use crate::error::Error;
use crate::index::content::Content;
use crate::index::content::InLanguage;
use crate::rows;

/// `text <@> query`: the negative score, so that ascending order puts the best first; 0 without a match.
#[pg_extern(sql = false)]
fn bm25_distance(content: &str, query: OperatorQuery) -> std::result::Result<f64, ErrorReport> {
    Ok(distance(query.weighted()?.score(&Content::Text(content))))
}

/// `text @@@ query`: whether the text contains a term of the query.
#[pg_extern(sql = false)]
fn bm25_matches(content: &str, query: OperatorQuery) -> std::result::Result<bool, ErrorReport> {
    Ok(query.weighted()?.matches(&Content::Text(content)))
}

/// The score of a text.
#[pg_extern(sql = false)]
fn bm25_score(content: &str, query: OperatorQuery) -> std::result::Result<f64, ErrorReport> {
    Ok(query.weighted()?.score(&Content::Text(content)))
}

/// `text[] <@> query`.
#[pg_extern(sql = false)]
fn bm25_fields_distance(
    content: Array<'_, &str>,
    query: OperatorQuery,
) -> std::result::Result<f64, ErrorReport> {
    Ok(distance(
        query.weighted()?.score(&Content::of_fields(&content)),
    ))
}

/// `text[] @@@ query`.
#[pg_extern(sql = false)]
fn bm25_fields_matches(
    content: Array<'_, &str>,
    query: OperatorQuery,
) -> std::result::Result<bool, ErrorReport> {
    Ok(query.weighted()?.matches(&Content::of_fields(&content)))
}

/// The score of an array of texts.
#[pg_extern(sql = false)]
fn bm25_fields_score(
    content: Array<'_, &str>,
    query: OperatorQuery,
) -> std::result::Result<f64, ErrorReport> {
    Ok(query.weighted()?.score(&Content::of_fields(&content)))
}

/// `bm25text <@> query`.
#[pg_extern(sql = false)]
fn bm25_in_language_distance(
    content: InLanguage,
    query: OperatorQuery,
) -> std::result::Result<f64, ErrorReport> {
    Ok(distance(
        query.weighted()?.score(&Content::InLanguage(content)),
    ))
}

/// `bm25text @@@ query`.
#[pg_extern(sql = false)]
fn bm25_in_language_matches(
    content: InLanguage,
    query: OperatorQuery,
) -> std::result::Result<bool, ErrorReport> {
    Ok(query.weighted()?.matches(&Content::InLanguage(content)))
}

/// The score of a text with its text search configuration.
#[pg_extern(sql = false)]
fn bm25_in_language_score(
    content: InLanguage,
    query: OperatorQuery,
) -> std::result::Result<f64, ErrorReport> {
    Ok(query.weighted()?.score(&Content::InLanguage(content)))
}

/// A row of `bm25_explain`.
#[derive(Serialize)]
struct ExplainRow<'a> {
    lexeme: std::borrow::Cow<'a, str>,
    query_frequency: u32,
    expansion_weight: f64,
    frequency: u32,
    document_frequency: Option<u64>,
    documents: Option<u64>,
    length: u32,
    average_length: Option<f64>,
    weight: Option<f64>,
    score: f64,
}

#[pg_extern(sql = false)]
fn bm25_explain(
    content: Option<&str>,
    query: Option<Bm25Query>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    explain(content.map(Content::Text), query, fcinfo)
}

#[pg_extern(sql = false)]
fn bm25_fields_explain(
    content: Option<Array<'_, &str>>,
    query: Option<Bm25Query>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    explain(
        content.map(|content| Content::of_fields(&content)),
        query,
        fcinfo,
    )
}

#[pg_extern(sql = false)]
fn bm25_in_language_explain(
    content: Option<InLanguage>,
    query: Option<Bm25Query>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    explain(content.map(Content::InLanguage), query, fcinfo)
}

fn explain(
    content: Option<Content<'_>>,
    query: Option<Bm25Query>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let content = content.ok_or(Error::Null("content"))?;
    let query = query.ok_or(Error::Null("query"))?;
    let weighted = weighted_query(&query)?;
    // Figures of the whole table tell about rows that the caller may not read.
    let shown = query.statistics.is_some() || !hides_rows(query.relation)?;
    let document = weighted.tokenizer().words(&content);
    let contributions = match weighted.meets_conditions(&content) {
        true => weighted.contributions(&document),
        false => vec![0; weighted.lexemes.len()],
    };
    let terms = weighted.terms(weighted.tokenizer().key);
    let length = reground_bm25::index::segment::norms::length(document.norm());
    let rows: Vec<ExplainRow<'_>> = weighted
        .lexemes
        .iter()
        .zip(&terms)
        .zip(&weighted.weights)
        .zip(&weighted.statistics.frequencies)
        .zip(contributions)
        .map(
            |(((((lexeme, query_weight), term), &weight), &document_frequency), contribution)| {
                ExplainRow {
                    lexeme: String::from_utf8_lossy(lexeme),
                    query_frequency: query_weight.frequency,
                    expansion_weight: query_weight.expansion,
                    frequency: document.frequency(term.hash),
                    document_frequency: shown.then_some(document_frequency),
                    documents: shown.then_some(weighted.statistics.documents),
                    length,
                    average_length: shown.then(|| weighted.statistics.average_length()),
                    weight: shown.then_some(weight),
                    score: to_float(contribution),
                }
            },
        )
        .collect();
    rows::emit(fcinfo, &rows)?;
    Ok(())
}
