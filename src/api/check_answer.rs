//! An answer judged by passages that come with it: nothing is read of a conversation, nothing is written.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_documents::CallerPassage;
use reground_grounding::caller::check;
use reground_grounding::end::parse_answer;
use reground_grounding::settings::Settings;
use serde_json::{Value, json};

use crate::api::given;
use crate::api::judge::{self, JudgeContext};
use crate::datum::Json;
use crate::error::Result;
use crate::retrieve::text_config;
use crate::rows;
use crate::store::corpora::{self, Corpus};
use crate::store::messages::NewCitation;
use crate::{guc, tenant};

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
    let checked = Checked {
        answer: given(answer, "answer")?,
        passages: given(passages, "passages")?.value("passages")?,
        settings: Json::object(settings, "settings")?,
        text_config,
        corpus: corpus.map(named).transpose()?,
        citations: Json::optional(citations, "citations")?,
    };
    rows::emit(fcinfo, &checked.rows()?)?;
    Ok(())
}

/// The arguments.
struct Checked<'a> {
    answer: &'a str,
    passages: Value,
    settings: Value,
    text_config: Option<pg_sys::Oid>,
    /// Its tenant, and the corpus whose documents the answer may name.
    corpus: Option<(String, Corpus)>,
    /// What the model's API returned beside the text.
    citations: Option<Value>,
}

fn named(name: &str) -> Result<(String, Corpus)> {
    let tenant = tenant::required()?;
    let corpus = corpora::load(&tenant, name)?;
    Ok((tenant, corpus))
}

impl Checked<'_> {
    fn rows(&self) -> Result<Vec<NewCitation>> {
        let (tenant, corpus) = match &self.corpus {
            Some((tenant, corpus)) => (tenant.as_str(), Some(corpus)),
            None => ("", None),
        };
        let name = corpus.map_or("", |corpus| corpus.name.as_str());
        let context = check::context(CallerPassage::parse_list(&self.passages)?, name)?;
        let nothing = json!({});
        let settings = Settings::resolve(&[
            ("server", &guc::turn_settings()),
            ("corpus", corpus.map_or(&nothing, |corpus| &corpus.settings)),
            ("call", &self.settings),
        ])?;
        let grammar = parse_answer::grammar(&settings, &context)?;
        let text_config = match (self.text_config, corpus) {
            (Some(given), _) => text_config::name(given)?,
            (None, Some(corpus)) => corpus.text_config.clone(),
            (None, None) => text_config::of_session()?,
        };
        let cues = judge::cues(&settings, &text_config)?;
        let ground = JudgeContext {
            tenant,
            settings: &settings,
            grammar: &grammar,
            numbered: true,
            context: &context,
            conversation_id: None,
            corpora: corpus
                .map(|corpus| corpus.name.as_str())
                .into_iter()
                .collect::<BTreeSet<_>>(),
            text_config: &text_config,
            cues: &cues,
            text_configs: &BTreeMap::new(),
            trace: &[],
            remembered: &[],
        };
        let read = judge::read(self.answer, &grammar, self.citations.as_ref())?;
        Ok(judge::judge(&read, &ground)?.citations)
    }
}
