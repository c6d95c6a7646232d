//! `check_answer`: judges an answer by passages of the caller, without a conversation. It writes nothing.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_documents::CallerPassage;
use reground_grounding::caller::check;
use reground_grounding::end::parse_answer;
use serde_json::{Value, json};

use crate::api::answer::judge;
use crate::api::answer::judge_context;
use crate::api::answer::judge_context::CallerRules;
use crate::api::given;
use crate::datum::Json;
use crate::error::Result;
use crate::profile;
use crate::rows;
use crate::store::corpora::{self, Corpus};
use crate::store::messages::NewCitation;
use crate::tenant;

#[pg_extern(sql = false)]
fn check_answer(
    answer: Option<&str>,
    passages: Option<Json>,
    settings: Option<Json>,
    text_config: Option<pg_sys::Oid>,
    corpus: Option<&str>,
    citations: Option<Json>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let request = Request {
        answer: given(answer, "answer")?,
        passages: given(passages, "passages")?.value("passages")?,
        settings: Json::object(settings, "settings")?,
        text_config,
        corpus: corpus.map(load).transpose()?,
        citations: Json::optional(citations, "citations")?,
    };
    profile::call("check_answer", || rows::emit(fcinfo, &request.judge()?))?;
    Ok(())
}

/// The arguments of `check_answer`.
struct Request<'a> {
    answer: &'a str,
    passages: Value,
    settings: Value,
    text_config: Option<pg_sys::Oid>,
    /// The corpus whose documents the answer may name, and the tenant.
    corpus: Option<(String, Corpus)>,
    /// Citations that the model's API returned besides the text.
    citations: Option<Value>,
}

fn load(name: &str) -> Result<(String, Corpus)> {
    let tenant = tenant::required()?;
    let corpus = corpora::load(&tenant, name)?;
    Ok((tenant, corpus))
}

impl Request<'_> {
    fn judge(&self) -> Result<Vec<NewCitation>> {
        let (tenant, corpus) = match &self.corpus {
            Some((tenant, corpus)) => (tenant.as_str(), Some(corpus)),
            None => ("", None),
        };
        let name = corpus.map_or("", |corpus| corpus.name.as_str());
        let context = check::context(CallerPassage::parse_list(&self.passages)?, name)?;
        let text_config = judge_context::text_config(self.text_config, corpus)?;
        let rules = CallerRules::resolve(corpus, &json!({}), &self.settings, &text_config)?;
        let grammar = parse_answer::grammar(&rules.settings, &context)?;
        let context = rules.context(tenant, corpus, &text_config, &grammar, &context);
        let read = judge::read(self.answer, &grammar, self.citations.as_ref())?;
        Ok(judge::judge(&read, &context)?.citations)
    }
}
