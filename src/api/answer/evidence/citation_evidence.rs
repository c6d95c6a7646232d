//! `citation_evidence`: returns the citations of a stored answer with their quotes and the text around these.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_citations::excerpt;
use reground_grounding::end::answer_sentences::AnswerSentences;
use reground_grounding::end::evidence::Evidence;
use reground_grounding::inspect::source_state::RowState;
use serde::Serialize;

use crate::api::answer::evidence::cited_sources::{self, StoredAnswer};
use crate::api::given;
use crate::rows;
use crate::store::messages::StoredCitation;
use crate::tenant;

/// A row of `citation_evidence`.
#[derive(Serialize)]
struct EvidenceRow<'a> {
    citation_id: i64,
    citation_no: usize,
    marker: Option<&'a str>,
    status: &'a str,
    holds: Option<bool>,
    support: Option<f64>,
    sentence: Option<String>,
    sentence_start: Option<usize>,
    sentence_end: Option<usize>,
    answer_start: usize,
    answer_end: usize,
    corpus: Option<&'a str>,
    doc_id: Option<&'a str>,
    chunk_id: Option<String>,
    title: Option<&'a str>,
    uri: Option<&'a str>,
    locator: Option<&'a str>,
    page_start: Option<u32>,
    page_end: Option<u32>,
    before: Option<String>,
    quote: Option<String>,
    after: Option<String>,
    quote_start: Option<usize>,
    quote_end: Option<usize>,
    char_start: Option<usize>,
    char_end: Option<usize>,
    source_state: Option<&'a str>,
}

#[pg_extern(sql = false)]
fn citation_evidence(
    message_id: Option<i64>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let tenant = tenant::required()?;
    let message_id = given(message_id, "message_id")?;
    let answer = StoredAnswer::load(&tenant, message_id)?;
    let evidence = cited_sources::evidence(&tenant, &answer)?;
    let read = answer.parsed()?;
    let sentences = read.as_ref().map(AnswerSentences::of);
    let rows: Vec<EvidenceRow<'_>> = answer
        .citations
        .iter()
        .zip(evidence)
        .map(|(citation, evidence)| row(citation, evidence, sentences.as_ref()))
        .collect();
    rows::emit(fcinfo, &rows)?;
    Ok(())
}

fn row<'a>(
    citation: &'a StoredCitation,
    evidence: Evidence,
    sentences: Option<&AnswerSentences<'_>>,
) -> EvidenceRow<'a> {
    let bytes = citation.byte_start..citation.byte_end;
    let sentence = sentences.and_then(|all| all.of_citation(citation.citation_no, &bytes));
    let state = evidence.state.map(RowState::name);
    EvidenceRow {
        citation_id: citation.citation_id,
        citation_no: citation.citation_no,
        marker: citation.marker.as_deref(),
        status: &citation.status,
        holds: citation.holds,
        support: citation.support,
        sentence: sentence
            .as_ref()
            .map(|sentence| excerpt(sentence.text).into_owned()),
        sentence_start: sentence.as_ref().map(|sentence| sentence.chars.start),
        sentence_end: sentence.as_ref().map(|sentence| sentence.chars.end),
        answer_start: citation.answer_start,
        answer_end: citation.answer_end,
        corpus: citation.corpus.as_deref(),
        doc_id: citation.doc_id.as_deref(),
        chunk_id: evidence.chunk_id.or_else(|| citation.chunk_id.clone()),
        title: citation.title.as_deref(),
        uri: citation.uri.as_deref(),
        locator: citation.locator.as_deref(),
        page_start: evidence.pages.map(|pages| pages.start),
        page_end: evidence.pages.map(|pages| pages.end),
        before: evidence.before,
        quote: evidence.quote,
        after: evidence.after,
        quote_start: evidence.passage.as_ref().map(|range| range.start),
        quote_end: evidence.passage.as_ref().map(|range| range.end),
        char_start: evidence.document.as_ref().map(|range| range.start),
        char_end: evidence.document.as_ref().map(|range| range.end),
        // Of a registered table only the row tells.
        source_state: citation.source_state.as_deref().or(state),
    }
}
