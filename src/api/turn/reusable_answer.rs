//! `reusable_answer`: an earlier answer to the same question, if its turn would have the same context now.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::inspect::same_context::is_same_context;
use serde::Serialize;
use serde_json::json;

use crate::api::turn::dry_run::dry_run;
use crate::api::turn::question::Question;
use crate::api::turn::retrieval::ResolvedQuestion;
use crate::api::{given, not_empty};
use crate::datum::Vector;
use crate::error::Result;
use crate::profile::{self, stage};
use crate::rows;
use crate::store::conversations::Conversation;
use crate::store::reusable_answers::{self, AcceptedAnswer};
use crate::store::roles::Roles;
use crate::tenant;

/// A row of `reusable_answer`.
#[derive(Serialize)]
struct AnswerRow {
    message_id: i64,
    turn_id: i64,
    answer: String,
    model: Option<String>,
    answered_at: String,
}

impl From<AcceptedAnswer> for AnswerRow {
    fn from(answer: AcceptedAnswer) -> Self {
        Self {
            message_id: answer.message_id,
            turn_id: answer.turn_id,
            answer: answer.answer,
            model: answer.model,
            answered_at: answer.answered_at,
        }
    }
}

#[pg_extern(sql = false)]
fn reusable_answer(
    corpus: Option<&str>,
    query: Option<&str>,
    embedding: Option<Vector>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let tenant = tenant::required()?;
    let embedding = embedding.map(|vector| vector.0);
    let question = Question {
        query: not_empty(query, "query")?,
        corpus: Some(given(corpus, "corpus")?),
        corpora: None,
        embedding: embedding.as_deref(),
        context_embedding: None,
        embedding_model: None,
        filter: None,
        as_of: None,
        rewrite: None,
        intent: None,
        settings: &json!({}),
        call_roles: Roles::default(),
        begun_at: None,
        repeated_turn_no: None,
    };
    let answer = profile::call("reusable_answer", || find(&tenant, &question))?;
    let found: Vec<AnswerRow> = answer.map(AnswerRow::from).into_iter().collect();
    rows::emit(fcinfo, &found)?;
    Ok(())
}

/// The latest accepted answer whose turn had the context that a new turn would have now. The new turn searches as the caller, so no answer comes
/// from passages that the caller may not read.
fn find(tenant: &str, question: &Question<'_>) -> Result<Option<AcceptedAnswer>> {
    let conversation = Conversation::imagined();
    let resolved = stage("corpus", || {
        ResolvedQuestion::read(tenant, &conversation, question)
    })?;
    if !resolved.settings.reuse_answers {
        return Ok(None);
    }
    let corpus = &resolved.corpora.first.corpus.name;
    let answers = stage("answers", || {
        reusable_answers::accepted(tenant, corpus, question.query)
    })?;
    if answers.is_empty() {
        return Ok(None);
    }
    let (_, turn) = dry_run(tenant, &conversation, question)?;
    let mut answers = answers.into_iter();
    Ok(answers.find(|answer| is_same_context(&answer.context, &turn.context)))
}
