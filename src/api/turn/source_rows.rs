//! Rows of the type `turn_source`, which the functions of a turn return.

use std::collections::BTreeSet;

use pgrx::pg_sys;
use reground_grounding::begin::Gathered;
use reground_grounding::memory::{ContextSource, SourceKey};
use reground_grounding::passage::{Candidate, Origin};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Result;
use crate::retrieve::visibility::{self, is_hidden};
use crate::rows;
use crate::store::turns::Turn;

/// A row of the type `turn_source`.
#[derive(Default, Serialize)]
struct SourceRow<'a> {
    turn_id: i64,
    marker: Option<&'a str>,
    corpus: Option<&'a str>,
    doc_id: Option<&'a str>,
    chunk_id: Option<&'a str>,
    title: Option<&'a str>,
    uri: Option<&'a str>,
    locator: Option<String>,
    published: Option<&'a str>,
    content: Option<&'a str>,
    facts: Vec<&'a str>,
    origin: &'static str,
    score: Option<f64>,
    tokens: Option<u32>,
    metadata: Option<&'a Value>,
    answerability: Option<f64>,
}

/// Returns stored sources of a turn that the caller may read: `context`, or the candidates if it waits for a rerank.
pub(in crate::api) fn emit_stored(
    fcinfo: pg_sys::FunctionCallInfo,
    tenant: &str,
    turn: &Turn,
    context: &[ContextSource],
) -> Result<()> {
    match &turn.pending_candidates {
        Some(candidates) => {
            let gathered = Gathered::deserialize(candidates)?;
            let candidates = gathered.candidates.iter();
            let hidden = visibility::hidden(tenant, candidates.flat_map(SourceKey::members))?;
            emit_candidates(fcinfo, turn.turn_id, &gathered, &hidden)
        }
        None => {
            let context = visibility::visible(tenant, context.to_vec())?;
            emit(fcinfo, turn.turn_id, &context, turn.answerability)
        }
    }
}

/// Returns the sources of a context, or one row without a source if there are none. `answerability` is that of the search.
pub(in crate::api) fn emit(
    fcinfo: pg_sys::FunctionCallInfo,
    turn_id: i64,
    context: &[ContextSource],
    answerability: Option<f64>,
) -> Result<()> {
    let rows: Vec<SourceRow<'_>> = context
        .iter()
        .map(|source| {
            let mut row = row(turn_id, &source.candidate);
            row.marker = Some(&source.marker);
            row.facts = source.facts.iter().map(|fact| fact.text.as_str()).collect();
            row
        })
        .collect();
    emit_rows(fcinfo, turn_id, answerability, rows)
}

/// Returns the candidates that wait for a rerank, in the order that `index` in `apply_rerank` refers to. A hidden candidate keeps its place,
/// in a row without a passage.
pub(in crate::api) fn emit_candidates(
    fcinfo: pg_sys::FunctionCallInfo,
    turn_id: i64,
    gathered: &Gathered,
    hidden: &BTreeSet<SourceKey>,
) -> Result<()> {
    let rows = gathered
        .candidates
        .iter()
        .map(|candidate| {
            let row = match is_hidden(candidate, hidden) {
                true => SourceRow::default(),
                false => row(turn_id, candidate),
            };
            SourceRow {
                turn_id,
                origin: "candidate",
                ..row
            }
        })
        .collect();
    emit_rows(fcinfo, turn_id, gathered.answerability, rows)
}

/// The row of a candidate, without marker and facts.
fn row(turn_id: i64, candidate: &Candidate) -> SourceRow<'_> {
    let passage = &candidate.passage;
    SourceRow {
        turn_id,
        marker: None,
        corpus: Some(&passage.corpus),
        doc_id: Some(&passage.doc_id),
        chunk_id: Some(&passage.chunk_id),
        title: passage.title.as_deref(),
        uri: passage.uri.as_deref(),
        locator: passage.locator(),
        published: passage.published.as_deref(),
        content: Some(&passage.content),
        facts: Vec::new(),
        origin: candidate.origin.name(),
        // Added passages and facts of earlier turns are not scored.
        score: (!matches!(candidate.origin, Origin::Added | Origin::Remembered))
            .then_some(candidate.relevance),
        tokens: Some(passage.tokens),
        metadata: Some(&passage.metadata),
        answerability: None,
    }
}

/// Returns at least one row, so that the caller always gets the turn_id.
fn emit_rows(
    fcinfo: pg_sys::FunctionCallInfo,
    turn_id: i64,
    answerability: Option<f64>,
    mut rows: Vec<SourceRow<'_>>,
) -> Result<()> {
    if rows.is_empty() {
        rows.push(SourceRow {
            turn_id,
            origin: "none",
            ..SourceRow::default()
        });
    }
    for row in &mut rows {
        row.answerability = answerability;
    }
    rows::emit(fcinfo, &rows)
}
