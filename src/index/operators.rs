//! The operators, wherever PostgreSQL evaluates them without the index, and the figures behind a score.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_bm25::index::score::{distance, number};
use serde::Serialize;

use super::document::Content;
use super::frozen::frozen;
use super::in_language::InLanguage;
use super::query::Bm25Query;
use crate::error::Error;
use crate::rows;

/// `text <@> query`: the score with its sign turned, so that the best come first; 0 where nothing matches.
#[pg_extern(sql = false)]
fn bm25_distance(content: &str, query: Bm25Query) -> std::result::Result<f64, ErrorReport> {
    Ok(distance(frozen(&query)?.score(&text(content))))
}

/// `text @@@ query`: whether the text has a term of the query.
#[pg_extern(sql = false)]
fn bm25_matches(content: &str, query: Bm25Query) -> std::result::Result<bool, ErrorReport> {
    Ok(frozen(&query)?.matches(&text(content)))
}

/// The score itself.
#[pg_extern(sql = false)]
fn bm25_score(content: &str, query: Bm25Query) -> std::result::Result<f64, ErrorReport> {
    Ok(frozen(&query)?.score(&text(content)))
}

/// `text[] <@> query`.
#[pg_extern(sql = false)]
fn bm25_fields_distance(
    content: Array<'_, &str>,
    query: Bm25Query,
) -> std::result::Result<f64, ErrorReport> {
    Ok(distance(
        frozen(&query)?.score(&Content::of_fields(&content)),
    ))
}

/// `text[] @@@ query`.
#[pg_extern(sql = false)]
fn bm25_fields_matches(
    content: Array<'_, &str>,
    query: Bm25Query,
) -> std::result::Result<bool, ErrorReport> {
    Ok(frozen(&query)?.matches(&Content::of_fields(&content)))
}

/// The score of fields itself.
#[pg_extern(sql = false)]
fn bm25_fields_score(
    content: Array<'_, &str>,
    query: Bm25Query,
) -> std::result::Result<f64, ErrorReport> {
    Ok(frozen(&query)?.score(&Content::of_fields(&content)))
}

/// `bm25text <@> query`.
#[pg_extern(sql = false)]
fn bm25_in_language_distance(
    content: InLanguage,
    query: Bm25Query,
) -> std::result::Result<f64, ErrorReport> {
    Ok(distance(
        frozen(&query)?.score(&Content::InLanguage(content)),
    ))
}

/// `bm25text @@@ query`.
#[pg_extern(sql = false)]
fn bm25_in_language_matches(
    content: InLanguage,
    query: Bm25Query,
) -> std::result::Result<bool, ErrorReport> {
    Ok(frozen(&query)?.matches(&Content::InLanguage(content)))
}

/// The score of a text in a language itself.
#[pg_extern(sql = false)]
fn bm25_in_language_score(
    content: InLanguage,
    query: Bm25Query,
) -> std::result::Result<f64, ErrorReport> {
    Ok(frozen(&query)?.score(&Content::InLanguage(content)))
}

fn text(content: &str) -> Content {
    Content::Text(content.to_owned())
}

/// A row of `bm25_explain`.
#[derive(Serialize)]
struct Part<'a> {
    lexeme: std::borrow::Cow<'a, str>,
    query_frequency: u32,
    borrowed: f64,
    frequency: u32,
    document_frequency: u64,
    documents: u64,
    length: u32,
    average_length: f64,
    weight: f64,
    score: f64,
}

#[pg_extern(sql = false)]
fn bm25_explain(
    content: Option<&str>,
    query: Option<Bm25Query>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    explain(content.map(text), query, fcinfo)
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
    content: Option<Content>,
    query: Option<Bm25Query>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let content = content.ok_or(Error::Null("content"))?;
    let query = query.ok_or(Error::Null("query"))?;
    let frozen = frozen(&query)?;
    let document = frozen.words().document(0, &content);
    let terms = frozen.terms(frozen.words());
    let length = reground_bm25::index::norms::length(document.norm());
    let rows: Vec<Part<'_>> = frozen
        .lexemes
        .iter()
        .zip(&terms)
        .zip(&frozen.weights)
        .zip(&frozen.statistics.frequencies)
        .zip(frozen.parts(&document))
        .map(
            |(((((lexeme, asked), term), &weight), &document_frequency), part)| Part {
                lexeme: String::from_utf8_lossy(lexeme),
                query_frequency: asked.frequency,
                borrowed: asked.borrowed,
                frequency: document.frequency(term.hash),
                document_frequency,
                documents: frozen.statistics.documents,
                length,
                average_length: frozen.statistics.average(),
                weight,
                score: number(part),
            },
        )
        .collect();
    rows::emit(fcinfo, &rows)?;
    Ok(())
}
