//! `reusable_answer`: an earlier answer to the same question, if a new turn would have the same context.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::inspect::same_context::is_same_context;
use serde_json::json;

use crate::api::turn::begin_turn::{BegunTurn, compose};
use crate::api::turn::question::Question;
use crate::api::turn::retrieval::{ResolvedQuestion, gather_resolved};
use crate::api::{given, not_empty};
use crate::datum::Vector;
use crate::error::Result;
use crate::profile::{self, stage};
use crate::rows;
use crate::store::conversations::Conversation;
use crate::store::reusable_answers::{self, AcceptedAnswer};
use crate::tenant;

#[pg_extern(sql = false)]
fn reusable_answer(
    corpus: Option<&str>,
    query: Option<&str>,
    embedding: Option<Vector>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let tenant = tenant::required()?;
    let embedding = embedding.map(|vector| vector.0);
    let settings = json!({});
    let question = Question {
        corpus: Some(given(corpus, "corpus")?),
        embedding: embedding.as_deref(),
        ..Question::of(not_empty(query, "query")?, &settings)
    };
    let answer = profile::call("reusable_answer", || find(&tenant, &question))?;
    rows::emit(fcinfo, answer.as_slice())?;
    Ok(())
}

/// The latest accepted answer whose turn had the settings and the context that a new turn would have now. The new turn searches as the caller,
/// so no answer comes from passages that the caller may not read.
fn find(tenant: &str, question: &Question<'_>) -> Result<Option<AcceptedAnswer>> {
    let conversation = Conversation::imagined();
    let resolved = stage("corpus", || {
        ResolvedQuestion::read(tenant, &conversation, question)
    })?;
    if !resolved.settings.reuse_answers {
        return Ok(None);
    }
    let corpus = &resolved.corpora.first.corpus.name;
    let mut answers = stage("answers", || {
        reusable_answers::accepted(tenant, corpus, question.query)
    })?;
    answers.retain(|answer| answer.settings == resolved.settings);
    if answers.is_empty() {
        return Ok(None);
    }
    let (prepared, gathered) = gather_resolved(resolved)?;
    // Another component orders the candidates of a deferred turn, so its context is not known.
    let BegunTurn::Composed(turn) = compose(&prepared, gathered)? else {
        return Ok(None);
    };
    let mut answers = answers.into_iter();
    Ok(answers.find(|answer| is_same_context(&answer.context, &turn.context)))
}
