//! What it takes to judge an answer, whether it ends a turn or comes with its passages.

use std::collections::BTreeSet;

use reground_citations::{Cues, Grammar, Judgement, KnownMarker, Note, Source, registry_names};
use reground_grounding::check;
use reground_grounding::end::{self, EndInput, EndRules, Judged, Traced};
use reground_grounding::measure::{self, Measured};
use reground_grounding::memory::{ContextSource, RememberedSource};
use reground_grounding::prompt;
use reground_grounding::reading::{self, Read};
use reground_grounding::settings::Settings;
use serde_json::Value;

use crate::api::citation_rows::citation_rows;
use crate::error::{Result, warn};
use crate::profile::stage;
use crate::retrieve::evidence::{Asked, content, look_up};
use crate::retrieve::text_config::PLAIN;
use crate::store::markers::{self, Row as MarkerRow};
use crate::store::messages::NewCitation;
use crate::store::turns::Turn;
use crate::store::{corpora, cues};

/// What an answer is judged by.
pub(super) struct Ground<'a> {
    pub tenant: &'a str,
    pub settings: &'a Settings,
    /// How it was read.
    pub grammar: &'a Grammar,
    /// Whether numbers name the sources of the context by their position.
    pub numbered: bool,
    /// What the model was shown.
    pub context: &'a [ContextSource],
    /// Where the answer is of a turn, the conversation whose markers it may name.
    pub conversation_id: Option<i64>,
    /// Corpora whose documents an answer may name.
    pub corpora: BTreeSet<&'a str>,
    /// How their texts are read.
    pub text_config: &'a str,
    /// How their language denies and writes numbers.
    pub cues: &'a Cues,
    /// The turn's candidates.
    pub trace: &'a [Traced],
    /// The sources as they stood when the turn began.
    pub remembered: &'a [RememberedSource],
}

/// What a turn has that its answers are judged by.
pub(super) struct OfTurn<'a> {
    tenant: &'a str,
    turn: &'a Turn,
    pub settings: Settings,
    pub grammar: Grammar,
    text_config: Option<String>,
    cues: Cues,
}

impl<'a> OfTurn<'a> {
    /// Reads it.
    pub fn load(tenant: &'a str, turn: &'a Turn) -> Result<Self> {
        let settings: Settings = serde_json::from_value(turn.settings.clone())?;
        let text_config = stage("corpus", || corpora::text_config(tenant, &turn.corpus))?;
        Ok(Self {
            tenant,
            turn,
            grammar: reading::grammar(&settings, &turn.context)?,
            cues: cues(&settings, text_config.as_deref().unwrap_or(PLAIN))?,
            settings,
            text_config,
        })
    }

    /// The ground, with what only the end of the turn needs of its candidates and of the conversation's memory.
    pub fn ground(&'a self, trace: &'a [Traced], remembered: &'a [RememberedSource]) -> Ground<'a> {
        Ground {
            tenant: self.tenant,
            settings: &self.settings,
            grammar: &self.grammar,
            numbered: false,
            context: &self.turn.context,
            conversation_id: Some(self.turn.conversation_id),
            corpora: self.turn.corpora(),
            text_config: self.text_config.as_deref().unwrap_or(PLAIN),
            cues: &self.cues,
            trace,
            remembered,
        }
    }
}

/// How the language of some texts denies and writes numbers: a text search configuration is named for its language.
pub(super) fn cues(settings: &Settings, text_config: &str) -> Result<Cues> {
    let language = settings.language.as_deref();
    stage("cues", || cues::load(language.unwrap_or(text_config)))
}

/// An answer, judged.
pub(super) struct Verdict {
    pub judged: Judged,
    /// A row for each citation.
    pub citations: Vec<NewCitation>,
    /// The context, as citations see it.
    sources: Vec<Source>,
}

/// What a judged answer is worth by each measure.
pub(super) fn measure(read: &Read<'_>, ground: &Ground<'_>) -> Result<Vec<Measured>> {
    let verdict = judge(read, ground)?;
    let citations = verdict.judged.citations.into_iter();
    let judgements: Vec<Judgement> = citations.map(|citation| citation.judgement).collect();
    let statements = measure::statements(read.answer, &read.extraction);
    Ok(measure::measure(&measure::Answer {
        extraction: &read.extraction,
        judgements: &judgements,
        sources: &verdict.sources,
        lexemes: &content(ground.text_config, &statements)?,
        statements: &statements,
        cues: ground.cues,
        rules: EndRules::from(ground.settings).support,
    }))
}

/// Reads an answer, with the citations that an API returned beside it.
pub(super) fn read<'a>(
    answer: &'a str,
    grammar: &Grammar,
    citations: Option<&Value>,
) -> Result<Read<'a>> {
    let read = reading::read(answer, grammar, citations)?;
    warn_of(&read.notes);
    Ok(read)
}

/// Warns of citations of an API that do not fit the answer.
pub(super) fn warn_of(notes: &[Note]) {
    if let Some(note) = notes.first() {
        let (count, at, what) = (notes.len(), &note.at, note.what.as_str());
        warn(
            format!("{count} of the citations do not fit the answer"),
            &format!("The first is {at}, {what}."),
        );
    }
}

/// Judges what was read of an answer.
pub(super) fn judge(read: &Read<'_>, ground: &Ground<'_>) -> Result<Verdict> {
    let extraction = &read.extraction;
    if extraction.omitted > 0 {
        let judged = extraction.citations.len();
        warn(
            format!(
                "{} citations beyond the first {judged} were not judged",
                extraction.omitted
            ),
            "",
        );
    }
    let sources = sources(ground)?;
    let claims: Vec<String> = extraction
        .claims
        .iter()
        .map(|claim| claim.text.clone())
        .collect();
    let claim_lexemes = stage("lexemes", || content(ground.text_config, &claims))?;
    let registry = match ground.conversation_id {
        Some(conversation) => stage("memory", || {
            markers::named(conversation, registry_names(extraction))
        })?,
        None => Vec::new(),
    };
    let bound: Vec<_> = registry.iter().map(MarkerRow::bound).collect();
    let known: Vec<KnownMarker> = end::known_markers(&bound, ground.context);
    let requests = end::documents_to_look_up(extraction, &sources, &known);
    let named = stage("named documents", || {
        look_up(&Asked {
            tenant: ground.tenant,
            corpora: &ground.corpora,
            requests: &requests,
            grammar: ground.grammar,
            text_config: ground.text_config,
        })
    })?;
    let input = EndInput {
        cues: ground.cues,
        extraction,
        quotes: &read.quotes,
        context: ground.context,
        sources: &sources,
        markers: &known,
        remembered: ground.remembered,
        named: &named,
        claim_lexemes: &claim_lexemes,
        trace: ground.trace,
        rules: EndRules::from(ground.settings),
    };
    let judged = stage("judge", || end::judge_answer(&input))?;
    let citations = citation_rows(read, &judged, ground.context, &sources, &registry);
    Ok(Verdict {
        judged,
        citations,
        sources,
    })
}

/// The context as citations see it.
fn sources(ground: &Ground<'_>) -> Result<Vec<Source>> {
    let shown: Vec<String> = ground.context.iter().map(prompt::shown).collect();
    let lexemes = stage("lexemes", || content(ground.text_config, &shown))?;
    let mut sources = end::sources_of(ground.context, lexemes, ground.grammar)?;
    if ground.numbered {
        check::number(&mut sources);
    }
    Ok(sources)
}
