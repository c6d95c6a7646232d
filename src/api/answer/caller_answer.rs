//! An answer that the caller gives with its passages, without a conversation.

use pgrx::pg_sys;
use reground_documents::CallerPassage;
use reground_grounding::caller::check;
use reground_grounding::end::parse_answer;
use serde_json::{Value, json};

use crate::api::answer::judging::judge_context;
use crate::api::answer::judging::judge_context::{CallerRules, JudgeContext};
use crate::api::given;
use crate::datum::Json;
use crate::error::Result;
use crate::store::corpora::{self, Corpus};
use crate::tenant;

/// An answer, its passages and the settings to judge it by.
pub(in crate::api::answer) struct CallerAnswer<'a> {
    pub text: &'a str,
    passages: Value,
    settings: Value,
    text_config: Option<pg_sys::Oid>,
    /// The corpus whose documents the answer may name, and the tenant.
    corpus: Option<(String, Corpus)>,
}

fn load(name: &str) -> Result<(String, Corpus)> {
    let tenant = tenant::required()?;
    let corpus = corpora::load(&tenant, name)?;
    Ok((tenant, corpus))
}

impl<'a> CallerAnswer<'a> {
    /// Reads the arguments.
    pub fn read(
        answer: Option<&'a str>,
        passages: Option<Json>,
        settings: Option<Json>,
        text_config: Option<pg_sys::Oid>,
        corpus: Option<&str>,
    ) -> Result<Self> {
        Ok(Self {
            text: given(answer, "answer")?,
            passages: given(passages, "passages")?.value("passages")?,
            settings: Json::object(settings, "settings")?,
            text_config,
            corpus: corpus.map(load).transpose()?,
        })
    }

    /// Calls a function with the evidence.
    pub fn with_context<T>(&self, judge: impl FnOnce(&JudgeContext<'_>) -> Result<T>) -> Result<T> {
        let (tenant, corpus) = match &self.corpus {
            Some((tenant, corpus)) => (tenant.as_str(), Some(corpus)),
            None => ("", None),
        };
        let name = corpus.map_or("", |corpus| corpus.name.as_str());
        let context = check::context(CallerPassage::parse_list(&self.passages)?, name)?;
        let text_config = judge_context::text_config(self.text_config, corpus)?;
        let rules = CallerRules::resolve(corpus, &json!({}), &self.settings, &text_config)?;
        let grammar = parse_answer::grammar(&rules.settings, &context)?;
        judge(&rules.context(tenant, corpus, &text_config, &grammar, &context))
    }
}
