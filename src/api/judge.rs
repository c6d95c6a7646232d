//! What it takes to judge an answer, whether it ends a turn or comes with its passages.

use std::collections::{BTreeMap, BTreeSet};

use reground_citations::{
    Cues, Grammar, ImportNote, Judgement, KnownMarker, Lexemes, NamedDocument, Source,
    registry_names,
};
use reground_grounding::caller::check;
use reground_grounding::end::answer_metrics::{self, AnswerMetric};
use reground_grounding::end::parse_answer::{self, ParsedAnswer};
use reground_grounding::end::{self, EndInput, EndRules, JudgedAnswer, OtherReading, Traced};
use reground_grounding::memory::{ContextSource, RememberedSource};
use reground_grounding::prompt;
use reground_grounding::settings::Settings;
use serde_json::Value;

use crate::api::citation_rows::citation_rows;
use crate::error::{Error, Result, warn};
use crate::profile::stage;
use crate::retrieve::evidence::{self, Asked, content, look_up};
use crate::retrieve::text_config::{self, PLAIN};
use crate::store::markers::{self, Row as MarkerRow};
use crate::store::messages::NewCitation;
use crate::store::turns::Turn;
use crate::store::{corpora, cues};

/// What an answer is judged by.
pub(super) struct JudgeContext<'a> {
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
    /// How those of the other corpora of the context are.
    pub text_configs: &'a BTreeMap<String, String>,
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
    text_configs: BTreeMap<String, String>,
}

impl<'a> OfTurn<'a> {
    /// Reads it.
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
        Ok(Self {
            text_configs,
            tenant,
            turn,
            grammar: parse_answer::grammar(&settings, &turn.context)?,
            cues: cues(&settings, text_config.as_deref().unwrap_or(PLAIN))?,
            settings,
            text_config,
        })
    }

    /// The ground, with what only the end of the turn needs of its candidates and of the conversation's memory.
    pub fn ground(
        &'a self,
        trace: &'a [Traced],
        remembered: &'a [RememberedSource],
    ) -> JudgeContext<'a> {
        JudgeContext {
            tenant: self.tenant,
            settings: &self.settings,
            grammar: &self.grammar,
            // As `record_turn` judged it.
            numbered: self.turn.is_imported(),
            context: &self.turn.context,
            conversation_id: Some(self.turn.conversation_id),
            corpora: self.turn.citable_corpora(),
            text_config: self.text_config.as_deref().unwrap_or(PLAIN),
            cues: &self.cues,
            text_configs: &self.text_configs,
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
    pub judged: JudgedAnswer,
    /// A row for each citation.
    pub citations: Vec<NewCitation>,
    /// The context, as citations see it.
    sources: Vec<Source>,
    /// Those of the language that most of them are in, where it is not that of the ground.
    cues: Option<Cues>,
    /// The configuration that most of them are read by.
    text_config: String,
}

/// What a judged answer is worth by each measure.
pub(super) fn measure(
    read: &ParsedAnswer<'_>,
    ground: &JudgeContext<'_>,
) -> Result<Vec<AnswerMetric>> {
    let verdict = judge(read, ground)?;
    let citations = verdict.judged.citations.into_iter();
    let judgements: Vec<Judgement> = citations.map(|citation| citation.judgement).collect();
    let statements = answer_metrics::statements(read.answer, &read.extraction);
    Ok(answer_metrics::answer_metrics(&answer_metrics::Answer {
        extraction: &read.extraction,
        judgements: &judgements,
        sources: &verdict.sources,
        lexemes: &content(&verdict.text_config, &statements)?,
        statements: &statements,
        cues: verdict.cues.as_ref().unwrap_or(ground.cues),
        rules: EndRules::from(ground.settings).support,
    }))
}

/// Reads an answer, with the citations that an API returned beside it.
pub(super) fn read<'a>(
    answer: &'a str,
    grammar: &Grammar,
    citations: Option<&Value>,
) -> Result<ParsedAnswer<'a>> {
    let read = parse_answer::parse_answer(answer, grammar, citations)?;
    warn_of(&read.notes);
    Ok(read)
}

/// Warns of citations of an API that do not fit the answer.
pub(super) fn warn_of(notes: &[ImportNote]) {
    if let Some(note) = notes.first() {
        let (count, at, what) = (notes.len(), &note.at, note.what.as_str());
        warn(
            format!("{count} of the citations do not fit the answer"),
            &format!("The first is {at}, {what}."),
        );
    }
}

/// Judges what was read of an answer.
pub(super) fn judge(read: &ParsedAnswer<'_>, ground: &JudgeContext<'_>) -> Result<Verdict> {
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
    let (readers, read_by) = readers(ground)?;
    let (main, others) = readers.split_first().ok_or(Error::Null("reader"))?;
    let sources = sources(ground, &main.text_config)?;
    let claims: Vec<String> = extraction
        .claims
        .iter()
        .map(|claim| claim.text.clone())
        .collect();
    let claim_lexemes = stage("lexemes", || content(&main.text_config, &claims))?;
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
            text_config: &main.text_config,
        })
    })?;
    let cues = match main.language == language(ground, ground.text_config) {
        true => None,
        false => Some(stage("cues", || cues::load(&main.language))?),
    };
    let read_otherwise = others
        .iter()
        .map(|reader| {
            Ok(Otherwise {
                sources: self::sources(ground, &reader.text_config)?,
                named: stage("lexemes", || evidence::reread(&named, &reader.text_config))?,
                claims: stage("lexemes", || content(&reader.text_config, &claims))?,
                cues: stage("cues", || cues::load(&reader.language))?,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let read_otherwise: Vec<_> = read_otherwise.iter().map(Otherwise::reading).collect();
    let input = EndInput {
        cues: cues.as_ref().unwrap_or(ground.cues),
        extraction,
        quotes: &read.quotes,
        context: ground.context,
        sources: &sources,
        markers: &known,
        remembered: ground.remembered,
        named: &named,
        claim_lexemes: &claim_lexemes,
        others: &read_otherwise,
        read_by: &read_by,
        trace: ground.trace,
        rules: EndRules::from(ground.settings),
    };
    let judged = stage("judge", || end::judge_answer(&input))?;
    let citations = citation_rows(read, &judged, ground.context, &sources, &registry);
    Ok(Verdict {
        judged,
        citations,
        sources,
        cues,
        text_config: main.text_config.clone(),
    })
}

/// By what a source is read.
#[derive(Clone, Debug, PartialEq)]
struct Reader {
    text_config: String,
    /// Whose cues say how it denies and writes numbers.
    language: String,
}

/// The language of texts that name none of their own: a text search configuration is named for it.
fn language(ground: &JudgeContext<'_>, text_config: &str) -> String {
    let set = ground.settings.language.as_deref();
    Cues::code(set.unwrap_or(text_config))
}

/// By what the sources of the context are read, what reads most of them first, and which of these reads each source.
fn readers(ground: &JudgeContext<'_>) -> Result<(Vec<Reader>, Vec<usize>)> {
    let mut readers = vec![(
        0,
        Reader {
            text_config: ground.text_config.to_owned(),
            language: language(ground, ground.text_config),
        },
    )];
    let mut read_by = Vec::with_capacity(ground.context.len());
    for source in ground.context {
        let passage = &source.candidate.passage;
        let own = ground.text_configs.get(&passage.corpus);
        let own = own.map_or(ground.text_config, String::as_str);
        let reader = match &passage.text_config {
            Some(named) => Reader {
                text_config: text_config::named_or(named, own)?,
                language: Cues::code(named),
            },
            None => Reader {
                text_config: own.to_owned(),
                language: language(ground, own),
            },
        };
        let known = readers.iter().position(|(_, known)| *known == reader);
        let number = known.unwrap_or_else(|| {
            readers.push((0, reader));
            readers.len() - 1
        });
        if let Some((count, _)) = readers.get_mut(number) {
            *count += 1;
        }
        read_by.push(number);
    }
    let most = (0..readers.len())
        .rev()
        .max_by_key(|&number| readers[number].0);
    let most = most.unwrap_or_default();
    readers.swap(0, most);
    for number in &mut read_by {
        *number = match *number {
            number if number == most => 0,
            0 => most,
            number => number,
        };
    }
    // What reads no source says nothing; of an empty context the corpus' own stands.
    while readers.len() > 1 && readers.last().is_some_and(|(count, _)| *count == 0) {
        readers.pop();
    }
    let readers = readers.into_iter().map(|(_, reader)| reader).collect();
    Ok((readers, read_by))
}

/// What is judged, as another reader has it.
struct Otherwise {
    sources: Vec<Source>,
    named: Vec<NamedDocument>,
    claims: Vec<Lexemes>,
    cues: Cues,
}

impl Otherwise {
    fn reading(&self) -> OtherReading<'_> {
        OtherReading {
            sources: &self.sources,
            named: &self.named,
            claim_lexemes: &self.claims,
            cues: &self.cues,
        }
    }
}

/// The context as citations see it.
fn sources(ground: &JudgeContext<'_>, text_config: &str) -> Result<Vec<Source>> {
    let shown: Vec<String> = ground.context.iter().map(prompt::title_and_text).collect();
    let lexemes = stage("lexemes", || content(text_config, &shown))?;
    let mut sources = end::sources_of(ground.context, lexemes, ground.grammar)?;
    if ground.numbered {
        check::number_sources(&mut sources);
    }
    Ok(sources)
}
