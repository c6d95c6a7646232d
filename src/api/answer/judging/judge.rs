//! Judgement of an answer: citations are resolved, their sources are read, and each citation gets a verdict.

use std::collections::BTreeMap;

use reground_citations::{
    Cues, Grammar, ImportNote, Judgement, KnownMarker, Lexemes, NamedDocument, Source,
    registry_names,
};
use reground_grounding::caller::check;
use reground_grounding::end::answer_metrics::{self, AnswerMetric};
use reground_grounding::end::parse_answer::{self, ParsedAnswer};
use reground_grounding::end::{self, EndInput, EndRules, JudgedAnswer, OtherReading};
use reground_grounding::prompt;
use serde_json::Value;

use crate::api::answer::citation_rows::citation_rows;
use crate::api::answer::judging::judge_context::JudgeContext;
use crate::api::answer::judging::readers::{Reader, Readers};
use crate::error::{Result, warn};
use crate::profile::stage;
use crate::retrieve::evidence::{self, DocumentLookup, content, look_up};
use crate::retrieve::visibility;
use crate::store::cues;
use crate::store::markers::{self, Row as MarkerRow};
use crate::store::messages::NewCitation;

/// A judged answer.
pub(in crate::api) struct AnswerVerdict {
    pub judged: JudgedAnswer,
    /// A row for each citation.
    pub citations: Vec<NewCitation>,
    /// The sources of the context.
    pub sources: Vec<Source>,
    /// Cues of the main reader, if its language is not that of the context.
    cues: Option<Cues>,
    /// Text search configuration of the main reader.
    text_config: String,
}

/// Parses an answer, with the citations that an API returned besides the text.
pub(in crate::api) fn read<'a>(
    answer: &'a str,
    grammar: &Grammar,
    citations: Option<&Value>,
) -> Result<ParsedAnswer<'a>> {
    let read = parse_answer::parse_answer(answer, grammar, citations)?;
    warn_of(&read.notes);
    Ok(read)
}

/// Warns of citations of an API that do not fit the answer.
pub(in crate::api) fn warn_of(notes: &[ImportNote]) {
    if let Some(note) = notes.first() {
        let (count, at, what) = (notes.len(), &note.at, note.what.as_str());
        warn(
            format!("{count} of the citations do not fit the answer"),
            &format!("The first is {at}, {what}."),
        );
    }
}

/// Judges a parsed answer.
pub(in crate::api) fn judge(
    read: &ParsedAnswer<'_>,
    context: &JudgeContext<'_>,
) -> Result<AnswerVerdict> {
    judge_part(read, context, true)
}

/// As [`judge`], for a part of an answer. `compares` tells whether the sources are compared with text of the answer, for which they
/// are split into words.
pub(in crate::api) fn judge_part(
    read: &ParsedAnswer<'_>,
    context: &JudgeContext<'_>,
    compares: bool,
) -> Result<AnswerVerdict> {
    let extraction = &read.extraction;
    warn_of_omitted(extraction.citations.len(), extraction.omitted);
    let readers = Readers::of(context)?;
    let main = &readers.main;
    let claims: Vec<String> = extraction.compared_texts().map(str::to_owned).collect();
    let claim_lexemes = stage("lexemes", || content_once(&main.text_config, &claims))?;
    let sources = sources(context, &main.text_config, compares)?;
    let registry = match context.conversation_id {
        Some(conversation_id) => stage("memory", || {
            markers::named(conversation_id, registry_names(extraction))
        })?,
        None => Vec::new(),
    };
    let bound: Vec<_> = registry.iter().map(MarkerRow::bound).collect();
    let known: Vec<KnownMarker> = end::known_markers(&bound, context.context);
    let requests = end::documents_to_look_up(extraction, &sources, &known);
    let named = stage("named documents", || {
        look_up(&DocumentLookup {
            tenant: context.tenant,
            corpora: &context.corpora,
            requests: &requests,
            grammar: context.grammar,
            text_config: &main.text_config,
        })
    })?;
    let cues = match main.language == context.language(context.text_config) {
        true => None,
        false => Some(stage("cues", || cues::load(&main.language))?),
    };
    let readings = readers
        .others
        .iter()
        .filter(|_| compares)
        .map(|reader| AlternateReading::of(reader, context, &named, &claims))
        .collect::<Result<Vec<_>>>()?;
    let readings: Vec<_> = readings.iter().map(AlternateReading::borrow).collect();
    let input = EndInput {
        conflicts: context.conflicts,
        cues: cues.as_ref().unwrap_or(context.cues),
        extraction,
        compares_statements: read.compares_statements,
        quotes: &read.quotes,
        context: context.context,
        sources: &sources,
        markers: &known,
        remembered: context.remembered,
        named: &named,
        claim_lexemes: &claim_lexemes,
        others: &readings,
        read_by: &readers.by_source,
        trace: context.trace,
        rules: EndRules::from(context.settings),
    };
    let judged = stage("judge", || end::judge_answer(&input))?;
    let citations = citation_rows(read, &judged, context.context, &sources, &registry);
    Ok(AnswerVerdict {
        judged,
        citations,
        sources,
        cues,
        text_config: readers.main.text_config,
    })
}

fn warn_of_omitted(judged: usize, omitted: usize) {
    if omitted > 0 {
        warn(
            format!("{omitted} citations beyond the first {judged} were not judged"),
            "",
        );
    }
}

/// Judges a parsed answer and computes its quality measures.
pub(in crate::api) fn measure(
    read: &ParsedAnswer<'_>,
    context: &JudgeContext<'_>,
) -> Result<Vec<AnswerMetric>> {
    let verdict = judge(read, context)?;
    let citations = verdict.judged.citations.into_iter();
    let judgements: Vec<Judgement> = citations.map(|citation| citation.judgement).collect();
    let statements = answer_metrics::statements(read.answer, &read.extraction);
    Ok(answer_metrics::answer_metrics(&answer_metrics::Answer {
        extraction: &read.extraction,
        judgements: &judgements,
        sources: &verdict.sources,
        lexemes: &content(&verdict.text_config, &statements)?,
        statements: &statements,
        cues: verdict.cues.as_ref().unwrap_or(context.cues),
        rules: EndRules::from(context.settings).support,
    }))
}

/// The lexemes of each text. A statement that is a claim, too, is read once.
fn content_once(text_config: &str, texts: &[String]) -> Result<Vec<Lexemes>> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut distinct = Vec::new();
    for text in texts {
        numbers.entry(text).or_insert_with(|| {
            distinct.push(text.clone());
            distinct.len() - 1
        });
    }
    let lexemes = content(text_config, &distinct)?;
    let of = |text: &String| lexemes.get(*numbers.get(text.as_str())?).cloned();
    Ok(texts
        .iter()
        .map(|text| of(text).unwrap_or_default())
        .collect())
}

/// The evidence under the text search configuration and the language of another reader.
struct AlternateReading {
    sources: Vec<Source>,
    named: Vec<NamedDocument>,
    claim_lexemes: Vec<Lexemes>,
    cues: Cues,
}

impl AlternateReading {
    fn of(
        reader: &Reader,
        context: &JudgeContext<'_>,
        named: &[NamedDocument],
        claims: &[String],
    ) -> Result<Self> {
        let text_config = &reader.text_config;
        Ok(Self {
            sources: sources(context, text_config, true)?,
            named: stage("lexemes", || evidence::reread(named, text_config))?,
            claim_lexemes: stage("lexemes", || content_once(text_config, claims))?,
            cues: stage("cues", || cues::load(&reader.language))?,
        })
    }

    fn borrow(&self) -> OtherReading<'_> {
        OtherReading {
            sources: &self.sources,
            named: &self.named,
            claim_lexemes: &self.claim_lexemes,
            cues: &self.cues,
        }
    }
}

/// The sources of the context, with their lexemes if they are compared.
fn sources(context: &JudgeContext<'_>, text_config: &str, compares: bool) -> Result<Vec<Source>> {
    let lexemes = if compares {
        let texts: Vec<String> = context.context.iter().map(prompt::title_and_text).collect();
        stage("lexemes", || content(text_config, &texts))?
    } else {
        vec![Lexemes::default(); context.context.len()]
    };
    let mut sources = end::sources_of(context.context, lexemes, context.grammar)?;
    if context.numbered {
        check::number_sources(&mut sources);
    }
    if context.hidden.is_empty() {
        return Ok(sources);
    }
    let shown = context.context.iter().zip(sources);
    let shown = shown.map(|(shown, source)| {
        match visibility::is_hidden(&shown.candidate, context.hidden) {
            true => source.hide(),
            false => source,
        }
    });
    Ok(shown.collect())
}
