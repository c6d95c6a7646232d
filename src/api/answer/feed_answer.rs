//! `feed_answer`: judges an answer while it is streamed. Nothing is stored between calls.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_citations::{Extraction, Reference};
use reground_grounding::end::parse_answer::ParsedAnswer;
use serde::Serialize;

use crate::api::answer::judge;
use crate::api::answer::judge_context::TurnEvidence;
use crate::api::conversation::prompts::with_context;
use crate::api::given;
use crate::error::Result;
use crate::rows;
use crate::store::messages::NewCitation;
use crate::store::turns::Turn;
use crate::tenant;

/// A row of `feed_answer`. Without citations, one row contains only the displayable length.
#[derive(Serialize)]
struct FeedRow {
    displayable_chars: usize,
    displayable_bytes: usize,
    #[serde(flatten)]
    citation: Option<NewCitation>,
}

#[pg_extern(sql = false)]
fn feed_answer(
    turn_id: Option<i64>,
    answer_so_far: Option<&str>,
    complete: Option<bool>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let tenant = tenant::required()?;
    let answer = given(answer_so_far, "answer_so_far")?;
    let complete = given(complete, "complete")?;
    let turn = with_context(turn_id)?;
    rows::emit(fcinfo, &feed(&tenant, &turn, answer, complete)?)?;
    Ok(())
}

fn feed(tenant: &str, turn: &Turn, answer: &str, complete: bool) -> Result<Vec<FeedRow>> {
    let evidence = TurnEvidence::load(tenant, turn)?;
    let fed = reground_citations::feed(answer, &evidence.grammar, complete);
    let read = ParsedAnswer {
        answer,
        extraction: fed.extraction,
        ..ParsedAnswer::default()
    };
    let verdict = judge::judge(&read, &evidence.context(&[], &[]))?;
    let displayable_bytes = fed.shown;
    let displayable_chars = answer
        .get(..displayable_bytes)
        .unwrap_or_default()
        .chars()
        .count();
    let mut rows: Vec<FeedRow> = verdict
        .citations
        .into_iter()
        .enumerate()
        .map(|(index, citation)| FeedRow {
            displayable_chars,
            displayable_bytes,
            citation: Some(match index < fed.placed {
                true => citation,
                false => pending(citation, &read.extraction, index),
            }),
        })
        .collect();
    if rows.is_empty() {
        rows.push(FeedRow {
            displayable_chars,
            displayable_bytes,
            citation: None,
        });
    }
    Ok(rows)
}

/// The columns of a citation that do not change while its paragraph continues: the source that it names, without the verdict.
fn pending(citation: NewCitation, extraction: &Extraction, index: usize) -> NewCitation {
    // For a document with several passages, the claim decides which passage is cited.
    let one_passage = matches!(
        extraction
            .citations
            .get(index)
            .map(|citation| &citation.reference),
        Some(Reference::Marker { pages: None, .. } | Reference::Ordinal { pages: None, .. })
    );
    NewCitation {
        chunk_id: citation.chunk_id.filter(|_| one_passage),
        locator: citation.locator.filter(|_| one_passage),
        claim: None,
        quote: None,
        quote_start: None,
        quote_end: None,
        support_parts: None,
        status: None,
        holds: None,
        hallucination_mode: None,
        score: None,
        coordinate_fidelity: None,
        support: None,
        diagnostic: None,
        detail: None,
        best_other_marker: None,
        ..citation
    }
}
