//! The evidence that an answer is judged by: of its turn, or given with the answer.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::pg_sys;
use reground_citations::{Cues, Grammar, SourceConflict};
use reground_grounding::end::Traced;
use reground_grounding::end::parse_answer;
use reground_grounding::memory::{ContextSource, RememberedSource, SourceKey};
use reground_grounding::settings::Settings;
use serde_json::{Value, json};

use crate::error::Result;
use crate::guc;
use crate::profile::stage;
use crate::retrieve::text_config::{self, PLAIN};
use crate::retrieve::visibility;
use crate::store::corpora::{self, Corpus};
use crate::store::cues;
use crate::store::turns::Turn;

/// The evidence that an answer is judged by.
pub(in crate::api) struct JudgeContext<'a> {
    pub tenant: &'a str,
    pub settings: &'a Settings,
    /// The grammar that parsed the answer.
    pub grammar: &'a Grammar,
    /// Whether numbers name the sources of the context by their position.
    pub numbered: bool,
    /// The sources that the model got.
    pub context: &'a [ContextSource],
    /// The sources that the caller may no longer read. Their citations get no verdict.
    pub hidden: &'a BTreeSet<SourceKey>,
    /// The conversation whose markers the answer may name; `None` for an answer without a turn.
    pub conversation_id: Option<i64>,
    /// Corpora whose documents the answer may name.
    pub corpora: BTreeSet<&'a str>,
    /// Text search configuration of the sources.
    pub text_config: &'a str,
    /// Words for negation and number formats of the language.
    pub cues: &'a Cues,
    /// Text configurations of the other corpora of the context.
    pub text_configs: &'a BTreeMap<String, String>,
    /// The conflicts of the sources; empty if the decision on the answer does not depend on them.
    pub conflicts: &'a [SourceConflict],
    /// The turn's candidates.
    pub trace: &'a [Traced],
    /// The remembered sources when the turn began.
    pub remembered: &'a [RememberedSource],
}

impl<'a> JudgeContext<'a> {
    /// The context for a decision that depends on these conflicts.
    pub fn with_conflicts(self, conflicts: &'a [SourceConflict]) -> Self {
        Self { conflicts, ..self }
    }

    /// The language of texts that name none of their own. A text search configuration is named for its language.
    pub fn language(&self, text_config: &str) -> String {
        let set = self.settings.language.as_deref();
        Cues::code(set.unwrap_or(text_config))
    }
}

/// The evidence of a turn.
pub(in crate::api) struct TurnEvidence<'a> {
    tenant: &'a str,
    turn: &'a Turn,
    pub settings: Settings,
    pub grammar: Grammar,
    text_config: Option<String>,
    cues: Cues,
    text_configs: BTreeMap<String, String>,
    hidden: BTreeSet<SourceKey>,
}

impl<'a> TurnEvidence<'a> {
    /// Reads the evidence.
    pub fn load(tenant: &'a str, turn: &'a Turn) -> Result<Self> {
        let settings: Settings = serde_json::from_value(turn.settings.clone())?;
        let text_config = stage("corpus", || corpora::text_config(tenant, &turn.corpus))?;
        let mut text_configs = BTreeMap::new();
        for source in &turn.context {
            let corpus = &source.candidate.passage.corpus;
            if *corpus != turn.corpus
                && !text_configs.contains_key(corpus)
                && let Some(config) = corpora::text_config(tenant, corpus)?
            {
                text_configs.insert(corpus.clone(), config);
            }
        }
        let candidates = turn.context.iter().map(|source| &source.candidate);
        let hidden = visibility::hidden(tenant, candidates.flat_map(SourceKey::members))?;
        Ok(Self {
            text_configs,
            tenant,
            turn,
            grammar: match hidden.is_empty() {
                true => parse_answer::grammar(&settings, &turn.context)?,
                false => parse_answer::grammar(&settings, &without_titles(turn, &hidden))?,
            },
            hidden,
            cues: cues(&settings, text_config.as_deref().unwrap_or(PLAIN))?,
            settings,
            text_config,
        })
    }

    /// The context for a judgement. `trace` and `remembered` are needed only when the turn ends.
    pub fn context(
        &'a self,
        trace: &'a [Traced],
        remembered: &'a [RememberedSource],
    ) -> JudgeContext<'a> {
        JudgeContext {
            tenant: self.tenant,
            settings: &self.settings,
            grammar: &self.grammar,
            // Imported answers were judged with numbered sources.
            numbered: self.turn.is_imported(),
            context: &self.turn.context,
            hidden: &self.hidden,
            conversation_id: Some(self.turn.conversation_id),
            corpora: self.turn.citable_corpora(),
            text_config: self.text_config.as_deref().unwrap_or(PLAIN),
            cues: &self.cues,
            text_configs: &self.text_configs,
            conflicts: &[],
            trace,
            remembered,
        }
    }
}

/// The context of a turn without the titles of hidden sources, which the grammar would find in prose.
fn without_titles(turn: &Turn, hidden: &BTreeSet<SourceKey>) -> Vec<ContextSource> {
    let mut context = turn.context.clone();
    for source in &mut context {
        if visibility::is_hidden(&source.candidate, hidden) {
            source.candidate.passage.title = None;
        }
    }
    context
}

/// Settings and cues for answers that are given with their passages.
pub(in crate::api) struct CallerRules {
    pub settings: Settings,
    cues: Cues,
}

impl CallerRules {
    /// Resolves the settings of the server, a corpus, a conversation and a call.
    pub fn resolve(
        corpus: Option<&Corpus>,
        conversation_settings: &Value,
        call_settings: &Value,
        text_config: &str,
    ) -> Result<Self> {
        let empty = json!({});
        let settings = Settings::resolve(&[
            ("server", &guc::turn_settings()),
            ("corpus", corpus.map_or(&empty, |corpus| &corpus.settings)),
            ("conversation", conversation_settings),
            ("call", call_settings),
        ])?;
        Ok(Self {
            cues: cues(&settings, text_config)?,
            settings,
        })
    }

    /// The context for a judgement by passages of the caller. The answer may name documents of `corpus`.
    pub fn context<'a>(
        &'a self,
        tenant: &'a str,
        corpus: Option<&'a Corpus>,
        text_config: &'a str,
        grammar: &'a Grammar,
        context: &'a [ContextSource],
    ) -> JudgeContext<'a> {
        static NO_TEXT_CONFIGS: BTreeMap<String, String> = BTreeMap::new();
        static NOTHING_HIDDEN: BTreeSet<SourceKey> = BTreeSet::new();
        JudgeContext {
            tenant,
            settings: &self.settings,
            grammar,
            numbered: true,
            context,
            hidden: &NOTHING_HIDDEN,
            conversation_id: None,
            corpora: corpus.iter().map(|corpus| corpus.name.as_str()).collect(),
            text_config,
            cues: &self.cues,
            text_configs: &NO_TEXT_CONFIGS,
            conflicts: &[],
            trace: &[],
            remembered: &[],
        }
    }
}

/// The text search configuration of a call: the given one, otherwise that of the corpus, otherwise that of the session.
pub(in crate::api) fn text_config(
    given: Option<pg_sys::Oid>,
    corpus: Option<&Corpus>,
) -> Result<String> {
    match (given, corpus) {
        (Some(given), _) => text_config::name(given),
        (None, Some(corpus)) => Ok(corpus.text_config.clone()),
        (None, None) => text_config::of_session(),
    }
}

/// Words for negation and number formats of the language: that of the settings, otherwise that of the text search configuration.
fn cues(settings: &Settings, text_config: &str) -> Result<Cues> {
    let language = settings.language.as_deref();
    stage("cues", || cues::load(language.unwrap_or(text_config)))
}
