//! The beginning of a turn, as pure functions of the input that was read.
//!
//! [`gather`] runs the stages fuse, collapse, cut and carry. A reranker may follow, in the same statement or much later.
//! [`compose`] then runs rerank (which applies its scores), select, markers and facts. A deferred turn stores the
//! [`Gathered`] value between the two.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::begin::answerability::Features;
use crate::begin::assign_markers::assign_markers;
use crate::begin::carry::{CarriedInput, Effect, carry, eligible, known_passages};
use crate::begin::collapse::{collapse, collapse_near_twins};
use crate::begin::facts::remembered_facts;
use crate::begin::fuse::{SearchResults, fuse};
use crate::begin::relevance::Scale;
use crate::begin::rerank::{RerankLosses, Scored, apply_scores};
use crate::begin::select::{Budget, Pool, PromptParts, select};
use crate::begin::warnings::{Warning, is_large_scan};
use crate::error::GroundingError;
use crate::memory::{BoundMarker, ContextSource, MarkerRegister};
use crate::passage::identity::{KnownPassages, PassageId};
use crate::passage::{Branch, Candidate, Dropped, Origin, RankedList, Reason, Stage};
use crate::query::intent::JudgedIntent;
use crate::query::query_words::QueryWords;
use crate::settings::Settings;

/// Everything that a turn reads before it computes.
#[derive(Clone, Debug, PartialEq)]
pub struct GatherInput {
    /// The results of the search, of all corpora together.
    pub results: SearchResults,
    /// The remembered sources, with the passages that their keys name now.
    pub carried: Vec<CarriedInput>,
    /// Passages that the turn already has, when it searches again.
    pub had: KnownPassages,
    /// The judgement on the query.
    pub judged: JudgedIntent,
    /// The words that choose the window of a long passage.
    pub words: QueryWords,
    /// Words that the question lacks to three, if it is a short follow-up.
    pub missing_words: usize,
}

/// A turn before its rerank. A deferred turn stores it as jsonb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gathered {
    /// The candidates for the reranker: at most `rerank_top`, in fused order.
    pub candidates: Vec<Candidate>,
    /// Pins in pin order. They bypass the reranker.
    pub pins: Vec<Candidate>,
    /// Carried sources, ordered by relevance × carry score. They are added after the rerank.
    pub carried: Vec<Candidate>,
    /// The effect of the intent on carry-over.
    pub effect: Effect,
    /// Members of the comparison.
    pub entities: Vec<String>,
    /// Candidates dropped so far.
    pub dropped: Vec<Dropped>,
    /// Warnings so far.
    pub warnings: Vec<Warning>,
    /// Cited sources of earlier turns, by their facts, the newest first.
    #[serde(default)]
    pub remembered: Vec<ContextSource>,
    /// The words of the query, to shorten a passage to the token budget.
    #[serde(default)]
    pub words: QueryWords,
    /// Whether the corpus seems to have an answer, 0 to 1; `None` if nothing was searched or it cannot be computed.
    #[serde(default)]
    pub answerability: Option<f64>,
    /// Positions, from 0, of candidates that were removed after the list was handed to a reranker.
    #[serde(default)]
    pub withdrawn: BTreeSet<usize>,
}

impl Gathered {
    /// The (corpus, document) pairs that the context may contain, with repetitions.
    pub fn documents(&self) -> impl Iterator<Item = (&str, &str)> {
        let candidates = self.candidates.iter();
        let all = candidates.chain(&self.pins).chain(&self.carried);
        all.map(|candidate| {
            let passage = &candidate.passage;
            (passage.corpus.as_str(), passage.doc_id.as_str())
        })
    }

    /// Removes the candidates of a document as if they had never been found. Returns true if there were any.
    pub fn withdraw(&mut self, corpus: &str, doc_id: &str) -> bool {
        self.withdraw_all(|candidate| {
            candidate.passage.corpus == corpus && candidate.passage.doc_id == doc_id
        })
    }

    /// Removes candidates as if they had never been found. Returns true if there were any.
    pub fn withdraw_all(&mut self, is_of_it: impl Fn(&Candidate) -> bool) -> bool {
        let is_left = |place: &usize| !self.withdrawn.contains(place);
        let places = (0..).filter(is_left).zip(&self.candidates);
        let taken: BTreeSet<usize> = places
            .filter_map(|(place, candidate)| is_of_it(candidate).then_some(place))
            .collect();
        self.withdrawn.extend(taken);
        let mut withdrawn = false;
        self.remembered.retain(|source| {
            let is_of_it = is_of_it(&source.candidate);
            withdrawn |= is_of_it;
            !is_of_it
        });
        for candidates in [&mut self.candidates, &mut self.pins, &mut self.carried] {
            let before = candidates.len();
            candidates.retain(|candidate| !is_of_it(candidate));
            withdrawn |= candidates.len() < before;
        }
        let before = self.dropped.len();
        self.dropped.retain(|dropped| !is_of_it(&dropped.candidate));
        withdrawn || self.dropped.len() < before
    }
}

/// The context of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Composed {
    /// The sources in prompt order, with markers and facts.
    pub context: Vec<ContextSource>,
    /// Markers bound in this turn, to be appended to the registry.
    pub new_markers: Vec<BoundMarker>,
    /// Every candidate that did not reach the context, with stage and reason.
    pub dropped: Vec<Dropped>,
    /// Warnings of the turn.
    pub warnings: Vec<Warning>,
    /// Whether the corpus seems to have an answer, as in [`Gathered`].
    pub answerability: Option<f64>,
    /// o200k_base tokens of the block of the sources, in its default format.
    pub tokens: usize,
    /// What the reranker received and lost; `None` without a rerank.
    pub rerank: Option<RerankLosses>,
}

/// The first half of a turn: from ranked lists and memory to the candidates for the reranker.
#[must_use]
pub fn gather(input: GatherInput, settings: &Settings) -> Gathered {
    let GatherInput {
        mut results,
        carried,
        had,
        judged,
        words,
        missing_words,
    } = input;
    let mut warnings = branch_warnings(&results, settings);
    let answerability = answerability(&results, missing_words, settings);
    warnings.extend(fit_warning(answerability, settings));
    if !any_search_hit(&results.lists) {
        // Without search hits, the results of earlier turns would rank first.
        results.lists.retain(|list| list.branch != Branch::History);
    }

    let scale = Scale::of(&results.lists, results.metric);
    let mut known = known_passages(&carried);
    known.extend(had);
    let effect = Effect::of(&judged, settings);

    let mut fused = fuse(&results, &known, &scale, settings);
    for candidate in &mut fused.candidates {
        let most = longest_passage(candidate, settings).max(settings.max_merged_tokens);
        candidate.passage.count_tokens(most);
    }
    let (merged, members) = collapse(fused.candidates, settings);
    let (mut candidates, mut beyond) = cut(merged, settings.rerank_top);
    let mut memory = carry(
        &mut candidates,
        &mut beyond,
        carried,
        &scale,
        effect,
        settings,
    );

    candidates = fit_passages(candidates, &words, settings);
    memory.pins = fit_passages(memory.pins, &words, settings);
    memory.carried = fit_passages(memory.carried, &words, settings);
    collapse_near_twins(&mut candidates, &mut memory, &words, settings);

    let mut dropped = [fused.dropped, members].concat();
    dropped.extend(beyond.into_iter().map(below_cut));
    dropped.extend(memory.dropped);
    warnings.extend(memory.warnings);
    Gathered {
        candidates,
        pins: memory.pins,
        carried: memory.carried,
        effect,
        entities: judged.entities,
        dropped,
        warnings,
        remembered: Vec::new(),
        words,
        answerability,
        withdrawn: BTreeSet::new(),
    }
}

/// Replaces each passage that is too long by its window.
pub(crate) fn fit_passages(
    candidates: Vec<Candidate>,
    words: &QueryWords,
    settings: &Settings,
) -> Vec<Candidate> {
    let fitted = candidates.into_iter().map(|mut candidate| {
        let most = longest_passage(&candidate, settings);
        candidate.passage = candidate.passage.fitted(words, most);
        candidate
    });
    fitted.collect()
}

/// The tokens above which a candidate gets a window. The size of a merged one is chosen by `max_merged_tokens`, and that
/// of one from the caller by the caller.
fn longest_passage(candidate: &Candidate, settings: &Settings) -> usize {
    if candidate.is_merged() || candidate.passage.is_from_caller() {
        settings.max_tokens
    } else {
        settings.max_tokens.min(settings.max_passage_tokens)
    }
}

/// The answerability of a search. Rank fusion does not score the passages of the other branch.
fn answerability(
    results: &SearchResults,
    missing_words: usize,
    settings: &Settings,
) -> Option<f64> {
    let features = Features::of(results, missing_words);
    let features = features.filter(|_| settings.fusion.by_scores());
    features.map(Features::answerability)
}

fn fit_warning(answerability: Option<f64>, settings: &Settings) -> Option<Warning> {
    let answerability = answerability.filter(|value| *value < settings.min_answerability)?;
    Some(Warning::NothingFits { answerability })
}

/// The second half of a turn: from the candidates and their rerank scores to the context with its markers.
///
/// `scores` has one entry for each of `gathered.candidates`; `None` keeps the fused order. `register` needs to contain
/// only the markers of [`Gathered::documents`] and the marker from which the next one follows.
///
/// # Errors
/// [`GroundingError::RerankLength`] if the number of scores differs from the number of candidates.
pub fn compose(
    gathered: Gathered,
    scores: Option<&[Option<f64>]>,
    register: &MarkerRegister,
    query: &str,
    settings: &Settings,
) -> Result<Composed, GroundingError> {
    let Gathered {
        candidates,
        pins,
        mut carried,
        effect,
        entities,
        mut dropped,
        mut warnings,
        remembered,
        words,
        answerability,
        withdrawn: _,
    } = gathered;

    let ranked = match scores {
        Some(scores) => apply_scores(candidates, scores)?,
        None => Scored {
            candidates,
            ..Scored::default()
        },
    };
    let (rescued, lost) = rescue(ranked.dropped, effect, settings);
    carried.extend(rescued);
    let first = ranked.candidates.first();
    let first = first.map(|first| PassageId::of(&first.passage));
    let pool = Pool {
        pins,
        fresh: ranked.candidates,
        carried,
        entities,
        words,
    };
    let mut parts = PromptParts::new(register, query, settings);
    parts.allow_markers(pool.candidates());
    let budget = Budget {
        tokens: parts.budget(),
        of: &mut |candidate| parts.most_tokens(candidate),
    };
    let selection = select(pool, effect, settings, budget);

    dropped.extend(lost);
    dropped.extend(selection.dropped);
    warnings.extend(ranked.warnings);
    let over_budget = |d: &Dropped| d.reason == Reason::OverTokenBudget;
    if selection.sources.is_empty() && dropped.iter().any(over_budget) {
        warnings.push(Warning::BudgetTooSmall {
            max_tokens: settings.max_tokens,
        });
    } else {
        warnings.extend(first.and_then(|first| first_dropped(first, &dropped)));
    }
    let (mut context, new_markers) =
        assign_markers_and_facts(selection.sources, register, &mut parts, settings);
    let left = parts.tokens_left(&context);
    remembered_facts::append(
        &mut context,
        remembered,
        left,
        settings.marker_style,
        &mut dropped,
    );
    let tokens = parts.block_tokens(&context);
    Ok(Composed {
        context,
        new_markers,
        dropped,
        warnings,
        answerability,
        tokens,
        rerank: ranked.rerank,
    })
}

/// The warning about the candidate that ranked first and is not in the context.
fn first_dropped(first: PassageId, dropped: &[Dropped]) -> Option<Warning> {
    let mut dropped = dropped.iter();
    let dropped = dropped.find(|dropped| {
        dropped.stage == Stage::Context && PassageId::of(&dropped.candidate.passage) == first
    })?;
    Some(Warning::FirstDropped {
        chunk_id: first.chunk_id,
        reason: dropped.reason,
    })
}

/// Assigns markers and facts to the sources of a context, in their order. Also returns the new bindings.
pub(crate) fn assign_markers_and_facts(
    sources: Vec<Candidate>,
    register: &MarkerRegister,
    parts: &mut PromptParts<'_>,
    settings: &Settings,
) -> (Vec<ContextSource>, Vec<BoundMarker>) {
    let (markers, new) = assign_markers(&sources, register, settings.marker_style);
    let placed = sources.into_iter().zip(markers).zip(1..);
    let context = placed
        .map(|((candidate, marker), position)| ContextSource {
            facts: parts.facts(&candidate),
            marker,
            position,
            candidate,
            retrieval_no: 0,
        })
        .collect();
    (context, new)
}

/// The candidates for the reranker, and the rest.
fn cut(mut candidates: Vec<Candidate>, top: usize) -> (Vec<Candidate>, Vec<Candidate>) {
    let beyond = candidates.split_off(candidates.len().min(top));
    (candidates, beyond)
}

fn below_cut(candidate: Candidate) -> Dropped {
    Dropped {
        candidate,
        stage: Stage::Rerank,
        reason: Reason::BelowRerankCut,
        into: None,
    }
}

/// Splits off the candidates that the reranker dropped although the conversation relies on them. They compete for the
/// reserved slots, so that a reranker cannot remove the document under discussion.
fn rescue(
    dropped: Vec<Dropped>,
    effect: Effect,
    settings: &Settings,
) -> (Vec<Candidate>, Vec<Dropped>) {
    let (rescued, lost): (Vec<_>, Vec<_>) = dropped
        .into_iter()
        .partition(|lost| eligible(&lost.candidate, effect, settings));
    let carried = rescued
        .into_iter()
        .map(|lost| Candidate {
            origin: Origin::Carried,
            ..lost.candidate
        })
        .collect();
    (carried, lost)
}

/// Whether a search of this turn found anything. Lists of graph edges and earlier turns do not count.
fn any_search_hit(lists: &[RankedList]) -> bool {
    let mut searches = lists
        .iter()
        .filter(|list| matches!(list.branch, Branch::Lexical | Branch::Vector));
    searches.any(|list| !list.hits.is_empty())
}

/// Warnings about missing or short branches.
///
/// A vector branch ranks every passage with an embedding. If it returned fewer than asked although the lexical branch
/// found others, then those have no embedding or the index stopped early under the filter: a short branch. A lexical
/// branch returns only matches, so few hits are normal.
fn branch_warnings(results: &SearchResults, settings: &Settings) -> Vec<Warning> {
    let lists = &results.lists;
    let mut warnings = Vec::new();
    if results.lacks_index {
        warnings.push(Warning::NoLexicalIndex);
    } else if is_large_scan(results.passages_read) {
        warnings.push(Warning::LexicalScan {
            passages: results.passages_read,
        });
    }
    let vector: Vec<&RankedList> = lists
        .iter()
        .filter(|l| l.branch == Branch::Vector)
        .collect();
    if vector.is_empty() && settings.uses_embeddings() && !results.lacks_embeddings {
        warnings.push(Warning::NoEmbedding);
    }
    for list in &vector {
        let found: BTreeSet<&str> = list.hits.iter().map(|hit| hit.chunk_id.as_str()).collect();
        let missed = lists
            .iter()
            .filter(|other| other.branch == Branch::Lexical)
            .flat_map(|other| &other.hits)
            .any(|hit| !found.contains(hit.chunk_id.as_str()));
        if found.len() < settings.candidates && missed {
            warnings.push(Warning::ShortBranch {
                branch: Branch::Vector,
                returned: found.len(),
                asked: settings.candidates,
            });
        }
    }
    if !any_search_hit(lists) {
        warnings.push(Warning::NothingFound);
    }
    warnings
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
