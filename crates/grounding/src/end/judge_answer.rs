//! `end_turn`, as far as it needs no database: extract → resolve → verify → support → score → decay.
//!
//! The glue fetches in between: [`read`](crate::end::parse_answer::parse_answer) says which claims the server has to stem, [`sources_of`] and
//! [`documents_to_look_up`] say what else it has to know, [`judge_answer`] does the rest.

use std::collections::{BTreeMap, BTreeSet};

use reground_citations::{
    Cues, Decision, DocumentRequest, Error, Evidence, Extraction, Factors, Grammar, Judgement,
    KnownMarker, Lexemes, MessageScores, NamedDocument, Pages, PolicyRules, Source, StageFacts,
    SupportRules,
};
use reground_documents::PageRange;

use crate::end::parse_answer;
use crate::memory::SourceKey;
use crate::memory::decay::{DecayRules, after_turn};
use crate::memory::{BoundMarker, ContextSource, Fact, RememberedSource};
use crate::passage::{CharRange, Origin};
use crate::settings::Settings;

/// The settings that an answer is judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndRules {
    /// When support is enough.
    pub support: SupportRules,
    /// What the answer has to fulfil.
    pub policy: PolicyRules,
    /// How memory fades.
    pub decay: DecayRules,
}

impl From<&Settings> for EndRules {
    fn from(settings: &Settings) -> Self {
        Self {
            support: SupportRules {
                threshold: settings.support_threshold,
                other_source_margin: settings.other_source_margin,
            },
            policy: PolicyRules {
                min_cfs: settings.min_cfs,
                require_citations: settings.require_citations,
            },
            decay: DecayRules {
                decay: settings.carry_decay,
                ttl_turns: settings.carry_ttl_turns,
                activation: settings.carry_activation,
            },
        }
    }
}

/// How far a candidate of the turn came, by the turn's trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// The candidate.
    pub key: SourceKey,
    /// The stages it passed.
    pub facts: StageFacts,
}

/// All that an answer is judged by.
#[derive(Clone, Copy, Debug)]
pub struct EndInput<'a> {
    /// What was read of the answer.
    pub extraction: &'a Extraction,
    /// By citation, what an API says that the source says.
    pub quotes: &'a [Option<String>],
    /// The turn's context.
    pub context: &'a [ContextSource],
    /// What [`sources_of`] made of it.
    pub sources: &'a [Source],
    /// The markers of the conversation that the answer may name.
    pub markers: &'a [KnownMarker],
    /// The sources as they stood when the turn began.
    pub remembered: &'a [RememberedSource],
    /// What [`documents_to_look_up`] found.
    pub named: &'a [NamedDocument],
    /// The content of each claim, in the order of [`Extraction::claims`].
    pub claim_lexemes: &'a [Lexemes],
    /// How the language of the texts denies and writes numbers.
    pub cues: &'a Cues,
    /// Where sources are read by several configurations, how the others read all this; and by source, which of them is its
    /// own: 0 is the one above.
    pub others: &'a [OtherReading<'a>],
    /// See there; a source that is not listed is read as above.
    pub read_by: &'a [usize],
    /// The turn's candidates.
    pub trace: &'a [Traced],
    /// The settings.
    pub rules: EndRules,
}

/// The same evidence as another text search configuration and the cues of another language read it.
#[derive(Clone, Copy, Debug)]
pub struct OtherReading<'a> {
    /// The sources of the context.
    pub sources: &'a [Source],
    /// What [`documents_to_look_up`] found.
    pub named: &'a [NamedDocument],
    /// The content of each claim.
    pub claim_lexemes: &'a [Lexemes],
    /// How the language denies and writes numbers.
    pub cues: &'a Cues,
}

/// A citation of the answer and everything that is said of it; its text is the one of the same index in the extraction.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedCitation {
    /// The verdict.
    pub judgement: Judgement,
    /// The five factors.
    pub factors: Factors,
}

/// What a cited source gives the next turns instead of its text (C7).
#[derive(Clone, Debug, PartialEq)]
pub struct SourceFacts {
    /// Index of the source in the context.
    pub source: usize,
    /// Its marker.
    pub marker: String,
    /// Its key bullets; without any, the sentences that its citations rest on.
    pub facts: Vec<Fact>,
}

/// The outcome of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// One for each extracted citation.
    pub citations: Vec<JudgedCitation>,
    /// What they add up to.
    pub scores: MessageScores,
    /// Whether the answer may stand.
    pub decision: Decision,
    /// The sources after the turn.
    pub sources_after: Vec<RememberedSource>,
    /// Facts of the sources whose citations held, in the order of the context.
    pub facts: Vec<SourceFacts>,
}

/// The context as citations see it. `[1]` resolves only where markers are numbers (`marker_style` `1`).
///
/// # Errors
/// [`Error::SourceLexemes`] when there is not one set of lexemes for each source.
pub fn sources_of(
    context: &[ContextSource],
    lexemes: Vec<Lexemes>,
    grammar: &Grammar,
) -> Result<Vec<Source>, Error> {
    if context.len() != lexemes.len() {
        return Err(Error::SourceLexemes {
            sources: context.len(),
            given: lexemes.len(),
        });
    }
    let source = |(shown, lexemes): (&ContextSource, Lexemes)| {
        let passage = &shown.candidate.passage;
        Source {
            marker: shown.marker.clone(),
            ordinal: shown.marker.parse().ok(),
            corpus: passage.corpus.clone(),
            doc_id: passage.doc_id.clone(),
            passage: passage.key.clone(),
            members: shown.candidate.members.clone(),
            title: passage.title.clone(),
            uri: passage.uri.clone(),
            pages: passage.pages.map(pages),
            locators: grammar.locators().and_then(|locators| {
                let title = passage.title.as_deref();
                parse_answer::place(locators, &passage.metadata, &passage.doc_id, title)
            }),
            carried: shown.candidate.origin == Origin::Carried,
            text: passage.text.clone(),
            lexemes,
        }
    };
    Ok(context.iter().zip(lexemes).map(source).collect())
}

/// The conversation's markers as citations see them in a turn with this context.
pub fn known_markers(markers: &[BoundMarker], context: &[ContextSource]) -> Vec<KnownMarker> {
    let known = |bound: &BoundMarker| KnownMarker {
        marker: bound.marker.clone(),
        corpus: bound.corpus.clone(),
        doc_id: bound.doc_id.clone(),
        passage: bound.passage.clone(),
        pages: bound.pages.map(pages),
        replaced: context.iter().any(|shown| replaces(shown, bound)),
    };
    markers.iter().map(known).collect()
}

/// Whether a source of the context has the key that a marker was bound to, and another text: a row that was written anew. The text
/// of a merge is another one too, and holds what was bound, or is held by it.
fn replaces(shown: &ContextSource, bound: &BoundMarker) -> bool {
    let passage = &shown.candidate.passage;
    let same_key = (&passage.corpus, &passage.doc_id) == (&bound.corpus, &bound.doc_id)
        && (passage.key == bound.passage || shown.candidate.members.contains(&bound.passage));
    let merged = match (passage.chars, bound.chars) {
        (Some(one), Some(other)) => one != other && (one.holds(other) || other.holds(one)),
        _ => false,
    };
    same_key && passage.hash != bound.hash && !merged
}

/// The documents that have to be looked up before the answer can be judged.
pub fn documents_to_look_up(
    extraction: &Extraction,
    sources: &[Source],
    markers: &[KnownMarker],
) -> Vec<DocumentRequest> {
    reground_citations::document_requests(extraction, sources, markers)
}

/// Judges an answer and says what the conversation remembers after it.
///
/// # Errors
/// [`Error::ClaimLexemes`] when there is not one set of lexemes for each claim.
pub fn judge_answer(input: &EndInput<'_>) -> Result<Judged, Error> {
    let evidence = Evidence {
        sources: input.sources,
        known: input.markers,
        named: input.named,
        claims: input.claim_lexemes,
        cues: input.cues,
        rules: input.rules.support,
    };
    let mut judgements = reground_citations::judge(input.extraction, &evidence)?;
    for (number, other) in input.others.iter().enumerate() {
        let evidence = Evidence {
            sources: other.sources,
            named: other.named,
            claims: other.claim_lexemes,
            cues: other.cues,
            ..evidence
        };
        let read = reground_citations::judge(input.extraction, &evidence)?;
        for (judgement, read) in judgements.iter_mut().zip(read) {
            let own = |judgement: &Judgement, number: usize| {
                let source = judgement.source?;
                Some(input.read_by.get(source).copied().unwrap_or(0) == number)
            };
            // What was taken so far is the best of the readings before this one.
            let stands = (0..=number).any(|before| own(judgement, before) == Some(true));
            if prefers(own(&read, number + 1), &read, stands, judgement) {
                *judgement = read;
            }
        }
    }
    reground_citations::check_quotes(&mut judgements, input.quotes, input.sources);
    let trace = furthest(input.trace);
    let facts: Vec<_> = judgements
        .iter()
        .map(|judgement| facts_of(judgement, input.sources, &trace))
        .collect();
    let (scores, factors) = reground_citations::score(&judgements, &facts, |_| 1.0)?;
    let decision = reground_citations::decide(&judgements, &scores, &input.rules.policy);
    let cited: BTreeSet<_> = judgements
        .iter()
        .filter_map(|judgement| cited_key(judgement, input.context))
        .collect();
    Ok(Judged {
        sources_after: after_turn(input.remembered, input.context, &cited, &input.rules.decay),
        facts: fact_sheet(&judgements, input.context),
        citations: judgements
            .into_iter()
            .zip(factors)
            .map(|(judgement, factors)| JudgedCitation { judgement, factors })
            .collect(),
        scores,
        decision,
    })
}

/// Whether a citation is to be judged by another reading: by that of the source that it means. Where several mean sources of
/// their own, or none does, by the one that finds more of the claim.
fn prefers(own: Option<bool>, read: &Judgement, stands: bool, judgement: &Judgement) -> bool {
    let support = |judgement: &Judgement| judgement.support.unwrap_or(0.0);
    match (own, stands) {
        (Some(true), false) => true,
        (Some(false), _) | (None, true) => false,
        (Some(true), true) | (None, false) => support(read) > support(judgement),
    }
}

/// How far each passage came. One can stand in the trace twice, as the fresh candidate and as the carried duplicate that
/// left for it: what came furthest counts.
fn furthest(trace: &[Traced]) -> BTreeMap<&SourceKey, StageFacts> {
    let passed = |facts: &StageFacts| {
        [
            facts.coordinates,
            facts.retrieved,
            facts.reranked,
            facts.in_context,
        ]
        .into_iter()
        .filter(|passed| *passed)
        .count()
    };
    let mut reached: BTreeMap<&SourceKey, StageFacts> = BTreeMap::new();
    for traced in trace {
        let facts = reached.entry(&traced.key).or_insert(traced.facts);
        if passed(&traced.facts) > passed(facts) {
            *facts = traced.facts;
        }
    }
    reached
}

/// How far the passage that a citation names came; `None` where the turn never saw it.
fn facts_of(
    judgement: &Judgement,
    sources: &[Source],
    trace: &BTreeMap<&SourceKey, StageFacts>,
) -> Option<StageFacts> {
    let place = judgement.place.as_ref()?;
    let passages = match judgement.source.and_then(|source| sources.get(source)) {
        Some(source) => std::iter::once(&source.passage)
            .chain(&source.members)
            .collect(),
        None => Vec::from_iter(&place.passage),
    };
    passages.into_iter().find_map(|passage| {
        let key = SourceKey {
            corpus: place.corpus.clone(),
            doc_id: place.doc_id.clone(),
            passage: passage.clone(),
        };
        trace.get(&key).copied()
    })
}

/// The source that a citation keeps alive: one of the context, under its own key, or an earlier one that the answer still
/// names by its marker. Whether the citation held does not matter to memory (C3: cited is cited).
fn cited_key(judgement: &Judgement, context: &[ContextSource]) -> Option<SourceKey> {
    if let Some(source) = judgement.source.and_then(|source| context.get(source)) {
        return Some(SourceKey::shown(source));
    }
    let place = judgement.place.as_ref()?;
    let passage = place.passage.clone()?;
    Some(SourceKey {
        corpus: place.corpus.clone(),
        doc_id: place.doc_id.clone(),
        passage,
    })
}

fn fact_sheet(judgements: &[Judgement], context: &[ContextSource]) -> Vec<SourceFacts> {
    let mut quotes: BTreeMap<usize, Vec<Fact>> = BTreeMap::new();
    for judgement in judgements
        .iter()
        .filter(|judgement| judgement.status.holds() == Some(true))
    {
        let Some(source) = judgement.source else {
            continue;
        };
        let facts = quotes.entry(source).or_default();
        let Some(fact) = judgement.quote.as_ref().and_then(quoted) else {
            continue;
        };
        // Two bullets a source (C7).
        if facts.len() < 2 && !facts.contains(&fact) {
            facts.push(fact);
        }
    }
    let sheet = |(source, quoted): (usize, Vec<Fact>)| {
        let shown = context.get(source)?;
        Some(SourceFacts {
            source,
            marker: shown.marker.clone(),
            facts: if shown.facts.is_empty() {
                quoted
            } else {
                shown.facts.clone()
            },
        })
    };
    quotes.into_iter().filter_map(sheet).collect()
}

fn quoted(quote: &reground_citations::Quote) -> Option<Fact> {
    Some(Fact {
        text: quote.text.clone(),
        chars: CharRange {
            start: u32::try_from(quote.chars.start).ok()?,
            end: u32::try_from(quote.chars.end).ok()?,
        },
    })
}

fn pages(range: PageRange) -> Pages {
    Pages::new(range.start, range.end)
}

#[cfg(test)]
#[path = "judge_answer_tests.rs"]
mod tests;
