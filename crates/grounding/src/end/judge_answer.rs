//! Judges an answer: resolve → verify → support → score → decay. Nothing here needs a database.
//!
//! The glue reads data in between: [`parse_answer`](parse_answer::parse_answer) returns the claims that the server has
//! to stem, [`sources_of`] and [`documents_to_look_up`] return what else is needed, and [`judge_answer`] does the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use reground_citations::{
    Cues, Decision, DocumentRequest, Error, Evidence, Extraction, Factors, Grammar, Interval,
    Judgement, KnownMarker, Lexemes, MessageScores, NamedDocument, PolicyRules, Source,
    SourceConflict, StageFacts, StatementSupport, SupportRules,
};
use reground_documents::PageRange;

use crate::end::parse_answer;
use crate::memory::SourceKey;
use crate::memory::decay::{DecayRules, after_turn};
use crate::memory::{BoundMarker, ContextSource, RememberedSource};
use crate::passage::{CharRange, Origin};
use crate::settings::Settings;

/// The settings for judging an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndRules {
    /// The thresholds of support.
    pub support: SupportRules,
    /// The conditions that an answer has to meet.
    pub policy: PolicyRules,
    /// The settings of memory decay.
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
                min_support_rate: settings.min_support_rate,
                min_cfs: settings.min_cfs,
                min_grounded_cfs: settings.min_grounded_cfs,
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

/// The stages that a candidate of the turn passed, from the turn's trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// The candidate.
    pub key: SourceKey,
    /// The stages it passed.
    pub facts: StageFacts,
}

/// All input for judging an answer.
#[derive(Clone, Copy, Debug)]
pub struct EndInput<'a> {
    /// The parsed answer.
    pub extraction: &'a Extraction,
    /// Whether each statement is compared with all sources.
    pub compares_statements: bool,
    /// For each citation, the quote of the source that an API returned.
    pub quotes: &'a [Option<String>],
    /// The turn's context.
    pub context: &'a [ContextSource],
    /// The context as returned by [`sources_of`].
    pub sources: &'a [Source],
    /// The markers of the conversation that the answer may use.
    pub markers: &'a [KnownMarker],
    /// The sources at the beginning of the turn.
    pub remembered: &'a [RememberedSource],
    /// The documents found for [`documents_to_look_up`].
    pub named: &'a [NamedDocument],
    /// The lexemes of each text of [`Extraction::compared_texts`].
    pub claim_lexemes: &'a [Lexemes],
    /// The words for negation and the number formats of the language.
    pub cues: &'a Cues,
    /// If the sources have several text search configurations, the same evidence under the other ones.
    pub others: &'a [OtherReading<'a>],
    /// For each source, the index of its own configuration: 0 is the one above, 1 the first of `others`. A missing
    /// source has 0.
    pub read_by: &'a [usize],
    /// The conflicts of the sources that are shown to the model.
    pub conflicts: &'a [SourceConflict],
    /// The turn's candidates.
    pub trace: &'a [Traced],
    /// The settings.
    pub rules: EndRules,
}

/// The same evidence under another text search configuration and the cues of another language.
#[derive(Clone, Copy, Debug)]
pub struct OtherReading<'a> {
    /// The sources of the context.
    pub sources: &'a [Source],
    /// The documents found for [`documents_to_look_up`].
    pub named: &'a [NamedDocument],
    /// The lexemes of each claim.
    pub claim_lexemes: &'a [Lexemes],
    /// The words for negation and the number formats of the language.
    pub cues: &'a Cues,
}

/// The judgement on a citation. Its text has the same index in the extraction.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedCitation {
    /// The verdict.
    pub judgement: Judgement,
    /// The five factors.
    pub factors: Factors,
}

/// The result of judging an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedAnswer {
    /// One entry for each extracted citation.
    pub citations: Vec<JudgedCitation>,
    /// One entry for each statement if they are compared with all sources; `None` for one without content.
    pub statements: Vec<Option<StatementSupport>>,
    /// The scores of the whole answer.
    pub scores: MessageScores,
    /// Whether the answer is acceptable.
    pub decision: Decision,
    /// The sources after the turn.
    pub sources_after: Vec<RememberedSource>,
}

/// The context as sources for the resolver. `[1]` resolves only if markers are numbers (`marker_style` `1`).
///
/// # Errors
/// [`Error::SourceLexemes`] if the number of lexeme sets differs from the number of sources.
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
            chunk_id: passage.chunk_id.clone(),
            member_chunk_ids: shown.candidate.member_chunk_ids.clone(),
            title: passage.title.clone(),
            uri: passage.uri.clone(),
            pages: passage.pages.map(pages),
            chars: passage.chars.map(chars),
            version: passage.version,
            locators: grammar
                .locators()
                .and_then(|locators| parse_answer::locator_range(locators, passage)),
            carried: matches!(shown.candidate.origin, Origin::Carried | Origin::Remembered),
            content: passage.content.clone(),
            lexemes,
            hidden: false,
        }
    };
    Ok(context.iter().zip(lexemes).map(source).collect())
}

/// The conversation's markers for the resolver, in a turn with this context.
pub fn known_markers(markers: &[BoundMarker], context: &[ContextSource]) -> Vec<KnownMarker> {
    let known = |bound: &BoundMarker| KnownMarker {
        marker: bound.marker.clone(),
        corpus: bound.corpus.clone(),
        doc_id: bound.doc_id.clone(),
        chunk_id: bound.chunk_id.clone(),
        pages: bound.pages.map(pages),
        replaced: context.iter().any(|shown| replaces(shown, bound)),
    };
    markers.iter().map(known).collect()
}

/// Whether a source of the context has the key that a marker was bound to, but another text: its row was rewritten. A
/// merged text also differs, but it contains the bound text or is contained in it, so it does not count. Neither does
/// another window of the row.
fn replaces(shown: &ContextSource, bound: &BoundMarker) -> bool {
    let passage = &shown.candidate.passage;
    let same_key = (&passage.corpus, &passage.doc_id) == (&bound.corpus, &bound.doc_id)
        && (passage.chunk_id == bound.chunk_id
            || shown.candidate.member_chunk_ids.contains(&bound.chunk_id));
    let another_part = match (passage.chars, bound.chars) {
        (Some(one), Some(other)) => {
            one != other && (passage.window_of.is_some() || one.holds(other) || other.holds(one))
        }
        _ => false,
    };
    same_key && passage.content_hash != bound.content_hash && !another_part
}

/// The documents that have to be looked up before the answer can be judged.
pub fn documents_to_look_up(
    extraction: &Extraction,
    sources: &[Source],
    markers: &[KnownMarker],
) -> Vec<DocumentRequest> {
    reground_citations::document_requests(extraction, sources, markers)
}

/// Judges an answer and computes the memory after the turn.
///
/// # Errors
/// [`Error::ClaimLexemes`] if the number of lexeme sets differs from the number of compared texts.
pub fn judge_answer(input: &EndInput<'_>) -> Result<JudgedAnswer, Error> {
    let evidence = Evidence {
        sources: input.sources,
        known: input.markers,
        named: input.named,
        claims: input.claim_lexemes,
        cues: input.cues,
        rules: input.rules.support,
    };
    let (mut judgements, mut statements) = read_by(&evidence, input)?;
    for (number, other) in input.others.iter().enumerate() {
        let evidence = Evidence {
            sources: other.sources,
            named: other.named,
            claims: other.claim_lexemes,
            cues: other.cues,
            ..evidence
        };
        let (read, supports) = read_by(&evidence, input)?;
        for (support, read) in statements.iter_mut().zip(supports) {
            take_own(support, read, |source| {
                input.read_by.get(source) == Some(&(number + 1))
            });
        }
        for (judgement, read) in judgements.iter_mut().zip(read) {
            let own = |judgement: &Judgement, number: usize| {
                let source = judgement.source?;
                Some(input.read_by.get(source).copied().unwrap_or(0) == number)
            };
            // The judgement so far is the best of the readings before this one.
            let taken = (0..=number).any(|before| own(judgement, before) == Some(true));
            if prefers(own(&read, number + 1), &read, taken, judgement) {
                *judgement = read;
            }
        }
    }
    reground_citations::check_quotes(&mut judgements, input.quotes, input.sources);
    let trace = stages_reached(input.trace);
    let facts: Vec<_> = judgements
        .iter()
        .map(|judgement| facts_of(judgement, input.sources, &trace))
        .collect();
    let (scores, factors) = reground_citations::score(&judgements, &facts, |_| 1.0)?;
    let states = |citation: usize, number: &str| {
        let claim = input.extraction.citations.get(citation);
        let claim = claim.and_then(|citation| input.claim_lexemes.get(citation.claim?));
        claim.is_some_and(|lexemes| lexemes.contains(number))
    };
    let one_sided = reground_citations::is_one_sided(input.conflicts, &judgements, states);
    let policy = &input.rules.policy;
    let decision = reground_citations::decide(&judgements, &scores, one_sided, policy);
    let cited: BTreeSet<_> = judgements
        .iter()
        .filter_map(|judgement| cited_key(judgement, input.context))
        .collect();
    Ok(JudgedAnswer {
        sources_after: after_turn(input.remembered, input.context, &cited, &input.rules.decay),
        citations: judgements
            .into_iter()
            .zip(factors)
            .map(|(judgement, factors)| JudgedCitation { judgement, factors })
            .collect(),
        statements,
        scores,
        decision,
    })
}

/// The verdicts and the supports of the statements by one reading.
fn read_by(
    evidence: &Evidence<'_>,
    input: &EndInput<'_>,
) -> Result<(Vec<Judgement>, Vec<Option<StatementSupport>>), Error> {
    match input.compares_statements {
        true => reground_citations::judge_statements(input.extraction, evidence),
        false => Ok((
            reground_citations::judge(input.extraction, evidence)?,
            Vec::new(),
        )),
    }
}

/// Takes the support by the sources of another reading.
fn take_own(
    support: &mut Option<StatementSupport>,
    read: Option<StatementSupport>,
    is_own: impl Fn(usize) -> bool,
) {
    match (support, read) {
        (Some(support), Some(read)) => {
            support.pair = support.pair.max(read.pair);
            let pairs = support.alone.iter_mut().zip(read.alone).enumerate();
            for (source, (alone, read)) in pairs {
                if is_own(source) {
                    *alone = read;
                }
            }
        }
        (support @ None, read) => *support = read,
        (Some(_), None) => {}
    }
}

/// Whether another reading replaces the judgement on a citation. The reading of the source that the citation refers to
/// is used. If several readings find sources of their own, or none does, the one with more support is used.
fn prefers(own: Option<bool>, read: &Judgement, taken: bool, judgement: &Judgement) -> bool {
    let support = |judgement: &Judgement| judgement.support.unwrap_or(0.0);
    match (own, taken) {
        (Some(true), false) => true,
        (Some(false), _) | (None, true) => false,
        (Some(true), true) | (None, false) => support(read) > support(judgement),
    }
}

/// The stages that each passage passed. A passage can be in the trace twice, as the fresh candidate and as the carried
/// duplicate that was dropped for it; the entry with more stages counts.
fn stages_reached(trace: &[Traced]) -> BTreeMap<&SourceKey, StageFacts> {
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

/// The stages of the passage that a citation refers to; `None` if the turn did not consider it.
fn facts_of(
    judgement: &Judgement,
    sources: &[Source],
    trace: &BTreeMap<&SourceKey, StageFacts>,
) -> Option<StageFacts> {
    let place = judgement.place.as_ref()?;
    let chunk_ids = match judgement.source.and_then(|source| sources.get(source)) {
        Some(source) => std::iter::once(&source.chunk_id)
            .chain(&source.member_chunk_ids)
            .collect(),
        None => Vec::from_iter(&place.chunk_id),
    };
    chunk_ids.into_iter().find_map(|chunk_id| {
        let key = SourceKey {
            corpus: place.corpus.clone(),
            doc_id: place.doc_id.clone(),
            chunk_id: chunk_id.clone(),
        };
        trace.get(&key).copied()
    })
}

/// The source that a citation keeps active: a source of the context, or an earlier one that the answer names by its
/// marker. Whether the citation is valid does not matter to memory.
fn cited_key(judgement: &Judgement, context: &[ContextSource]) -> Option<SourceKey> {
    if let Some(source) = judgement.source.and_then(|source| context.get(source)) {
        return Some(SourceKey::shown(source));
    }
    let place = judgement.place.as_ref()?;
    let chunk_id = place.chunk_id.clone()?;
    Some(SourceKey {
        corpus: place.corpus.clone(),
        doc_id: place.doc_id.clone(),
        chunk_id,
    })
}

/// The characters of a passage for the resolver.
pub fn chars(range: CharRange) -> Range<usize> {
    let number = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
    number(range.start)..number(range.end)
}

fn pages(range: PageRange) -> Interval {
    Interval::new(range.start, range.end)
}

#[cfg(test)]
#[path = "judge_answer_tests.rs"]
mod tests;
