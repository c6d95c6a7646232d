//! `dry_run_turn`: everything is read and computed, and nothing is written.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::begin::{self, Composed};
use reground_grounding::passage::{Candidate, single_precision};
use serde::Serialize;

use crate::api::not_empty;
use crate::api::turn::begin_turn::{BegunTurn, compose};
use crate::api::turn::question::Question;
use crate::api::turn::retrieval::{PreparedTurn, gather};
use crate::datum::{Json, Vector};
use crate::error::{Error, Result};
use crate::retrieve::past;
use crate::rows;
use crate::store::conversations::{self, Conversation};
use crate::tenant;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn dry_run_turn(
    query: Option<&str>,
    corpus: Option<&str>,
    embedding: Option<Vector>,
    filter: Option<Json>,
    settings: Option<Json>,
    conversation_ref: Option<&str>,
    as_of: Option<TimestampWithTimeZone>,
    context_embedding: Option<Vector>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let tenant = tenant::required()?;
    let embedding = embedding.map(|vector| vector.0);
    let context_embedding = context_embedding.map(|vector| vector.0);
    let filter = Json::optional(filter, "filter")?;
    let settings = Json::optional(settings, "settings")?.unwrap_or_default();
    let as_of = as_of.map(past::time).transpose()?;
    let question = Question {
        corpus,
        embedding: embedding.as_deref(),
        context_embedding: context_embedding.as_deref(),
        filter: filter.as_ref(),
        as_of: as_of.as_deref(),
        ..Question::of(not_empty(query, "query")?, &settings)
    };
    let conversation = match conversation_ref {
        Some(name) => conversations::look(&tenant, name)?
            .ok_or_else(|| Error::Unknown("conversation", name.to_owned()))?,
        None => Conversation::imagined(),
    };
    let (_, turn) = dry_run(&tenant, &conversation, &question)?;
    rows::emit(fcinfo, &candidates(&turn))?;
    Ok(())
}

/// Returns the context that `begin_turn` would have now. A deferred rerank is skipped.
pub(in crate::api) fn dry_run<'a>(
    tenant: &'a str,
    conversation: &'a Conversation,
    question: &'a Question<'a>,
) -> Result<(PreparedTurn<'a>, Composed)> {
    let (prepared, gathered) = gather(tenant, conversation, question)?;
    let turn = match compose(&prepared, gathered)? {
        BegunTurn::Composed(turn) => turn,
        BegunTurn::Deferred(gathered) => begin::compose(
            gathered,
            None,
            &prepared.register,
            question.query,
            &prepared.resolved.settings,
        )?,
    };
    Ok((prepared, turn))
}

/// A row of the type `turn_candidate`, without marker and retrieval_no.
#[derive(Serialize)]
pub(in crate::api) struct CandidateRow<'a> {
    candidate_no: usize,
    corpus: &'a str,
    doc_id: &'a str,
    chunk_id: &'a str,
    member_chunk_ids: &'a [String],
    origin: &'static str,
    lexical_rank: Option<u32>,
    lexical_score: Option<f32>,
    vector_rank: Option<u32>,
    vector_distance: Option<f32>,
    graph_rank: Option<u32>,
    fused_score: f32,
    rerank_score: Option<f32>,
    relevance: f32,
    carry_score: Option<f32>,
    in_context: bool,
    dropped_stage: Option<&'static str>,
    drop_reason: Option<&'static str>,
    replaced_by: Option<&'a str>,
    recency: Option<f32>,
}

/// Returns all candidates, those of the context first.
pub(in crate::api) fn candidates(turn: &Composed) -> Vec<CandidateRow<'_>> {
    let kept = turn.context.iter().map(|source| row(&source.candidate));
    let mut rows: Vec<CandidateRow<'_>> = kept
        .map(|row| CandidateRow {
            in_context: true,
            ..row
        })
        .collect();
    rows.extend(turn.dropped.iter().map(|left| CandidateRow {
        dropped_stage: Some(left.stage.name()),
        drop_reason: Some(left.reason.name()),
        replaced_by: left.into.as_deref(),
        ..row(&left.candidate)
    }));
    for (candidate_no, row) in (1..).zip(&mut rows) {
        row.candidate_no = candidate_no;
    }
    rows
}

fn row(candidate: &Candidate) -> CandidateRow<'_> {
    CandidateRow {
        candidate_no: 0,
        corpus: &candidate.passage.corpus,
        doc_id: &candidate.passage.doc_id,
        chunk_id: &candidate.passage.chunk_id,
        member_chunk_ids: &candidate.member_chunk_ids,
        origin: candidate.origin.name(),
        lexical_rank: candidate.lexical_rank,
        lexical_score: candidate.lexical_score.map(single_precision),
        vector_rank: candidate.vector_rank,
        vector_distance: candidate.vector_distance.map(single_precision),
        graph_rank: candidate.graph_rank,
        fused_score: single_precision(candidate.fused_score),
        rerank_score: candidate.rerank_score.map(single_precision),
        relevance: single_precision(candidate.relevance),
        carry_score: candidate.carry_score.map(single_precision),
        in_context: false,
        dropped_stage: None,
        drop_reason: None,
        replaced_by: None,
        recency: candidate.recency.map(single_precision),
    }
}
