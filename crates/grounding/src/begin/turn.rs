//! The beginning of a turn, computed from what was read and from nothing else (C1–C8).
//!
//! [`gather`]: fuse → collapse → cut → carry. Then a reranker may speak, in the same statement or much later. Then
//! [`compose`]: rerank → select → mark → facts. A deferred turn stores the [`Gathered`] between the two.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::begin::assign_markers::assign_markers;
use crate::begin::carry::{CarriedInput, Effect, carry, eligible, known_passages};
use crate::begin::collapse::collapse;
use crate::begin::facts::extract;
use crate::begin::fuse::{BranchScores, Ranking, fuse};
use crate::begin::relevance::Scale;
use crate::begin::rerank::{Scored, apply_scores};
use crate::begin::select::{Pool, select};
use crate::begin::warnings::Warning;
use crate::error::GroundingError;
use crate::memory::{BoundMarker, ContextSource, MarkerRegister};
use crate::passage::identity::KnownPassages;
use crate::passage::{
    Branch, Candidate, Dropped, Metric, Origin, Passage, RankedList, Reason, Stage,
};
use crate::query::cues::Cues;
use crate::query::intent::Judged;
use crate::settings::Settings;

/// Everything that the read phase of a turn found.
#[derive(Clone, Debug, PartialEq)]
pub struct GatherInput {
    /// The answers of the branches; of each branch the turn's own query first.
    pub lists: Vec<RankedList>,
    /// What both branches say of the passages in them.
    pub scores: BranchScores,
    /// What they say of the results of earlier turns under this query together with the one that found them.
    pub integrated: BranchScores,
    /// The passages that the lists name, by what they name them by.
    pub passages: BTreeMap<String, Passage>,
    /// The remembered sources with what stands under their keys now.
    pub carried: Vec<CarriedInput>,
    /// Passages that the turn has already, where it searches again.
    pub had: KnownPassages,
    /// The judgement on the turn.
    pub judged: Judged,
    /// How the vector lists measure distance.
    pub metric: Metric,
    /// What the read phase had to do without.
    pub warnings: Vec<Warning>,
}

/// A turn before its rerank. A deferred turn stores it as jsonb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gathered {
    /// What a reranker sees: at most `rerank_top`, in fused order.
    pub candidates: Vec<Candidate>,
    /// Pins in pin order; they do not go through the reranker.
    pub pins: Vec<Candidate>,
    /// Carried sources, by relevance × carry score; injected after the rerank.
    pub carried: Vec<Candidate>,
    /// What the intent does to the reserved slots.
    pub effect: Effect,
    /// Members of the comparison.
    pub entities: Vec<String>,
    /// What left so far.
    pub dropped: Vec<Dropped>,
    /// What the turn did without so far.
    pub warnings: Vec<Warning>,
    /// Places that candidates had, from 0, which were taken out since they were handed to a reranker.
    #[serde(default)]
    pub withdrawn: BTreeSet<usize>,
}

impl Gathered {
    /// The documents that a source of the context may be of: (corpus, document), with repetitions.
    pub fn documents(&self) -> impl Iterator<Item = (&str, &str)> {
        let candidates = self.candidates.iter();
        let all = candidates.chain(&self.pins).chain(&self.carried);
        all.map(|candidate| {
            let passage = &candidate.passage;
            (passage.corpus.as_str(), passage.doc_id.as_str())
        })
    }

    /// Takes the candidates of a document out, as if they had never been found; true if there were any.
    pub fn withdraw(&mut self, corpus: &str, doc_id: &str) -> bool {
        let is_of_it = |candidate: &Candidate| {
            candidate.passage.corpus == corpus && candidate.passage.doc_id == doc_id
        };
        let is_left = |place: &usize| !self.withdrawn.contains(place);
        let places = (0..).filter(is_left).zip(&self.candidates);
        let taken: BTreeSet<usize> = places
            .filter_map(|(place, candidate)| is_of_it(candidate).then_some(place))
            .collect();
        self.withdrawn.extend(taken);
        let mut withdrawn = false;
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

/// A turn's context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Composed {
    /// The sources in prompt order, with markers and facts.
    pub context: Vec<ContextSource>,
    /// Markers that were bound in this turn, to be appended to the registry.
    pub new_markers: Vec<BoundMarker>,
    /// Every candidate that did not reach the context, with stage and reason.
    pub dropped: Vec<Dropped>,
    /// What the turn did without.
    pub warnings: Vec<Warning>,
    /// o200k_base tokens of the passages' text.
    pub tokens: usize,
}

/// The first half of a turn: from ranked lists and memory to the reranker's candidates.
#[must_use]
pub fn gather(input: GatherInput, settings: &Settings) -> Gathered {
    let GatherInput {
        mut lists,
        scores,
        integrated,
        passages,
        carried,
        had,
        judged,
        metric,
        mut warnings,
    } = input;
    warnings.extend(shortfalls(&lists, settings));
    if !found_any(&lists) {
        // Beside nothing every result of an earlier turn would stand first.
        lists.retain(|list| list.branch != Branch::History);
    }

    let scale = Scale::of(&lists, metric);
    let mut known = known_passages(&carried);
    known.extend(had);
    let effect = Effect::of(&judged, settings);

    let ranking = Ranking {
        lists: &lists,
        scores: &scores,
        integrated: Some(&integrated),
        metric,
    };
    let fused = fuse(ranking, &passages, &known, &scale, settings);
    let (merged, members) = collapse(fused.candidates, settings);
    let (mut candidates, mut beyond) = cut(merged, settings.rerank_top);
    let memory = carry(
        &mut candidates,
        &mut beyond,
        carried,
        &scale,
        effect,
        settings,
    );

    let mut dropped = [fused.dropped, members].concat();
    dropped.extend(beyond.into_iter().map(below_cut));
    dropped.extend(memory.dropped);
    warnings.extend(memory.warnings);
    let (pins, carried) = (memory.pins, memory.carried);
    Gathered {
        candidates,
        pins,
        carried,
        effect,
        entities: judged.entities,
        dropped,
        warnings,
        withdrawn: BTreeSet::new(),
    }
}

/// The second half: from the candidates, and what a reranker said of them, to the context with its markers.
///
/// `scores` has one entry for each of `gathered.candidates`; `None` takes the fused order. `register` need not hold more than
/// what [`Gathered::documents`] have, and the marker that tells the next one.
///
/// # Errors
/// [`GroundingError::RerankLength`] when the scores do not pair up with the candidates.
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
    let pool = Pool {
        pins,
        fresh: ranked.candidates,
        carried,
        entities,
    };
    let selection = select(pool, effect, settings);

    dropped.extend(lost);
    dropped.extend(selection.dropped);
    warnings.extend(ranked.warnings);
    let over_budget = |d: &Dropped| d.reason == Reason::OverTokenBudget;
    if selection.sources.is_empty() && dropped.iter().any(over_budget) {
        warnings.push(Warning::BudgetTooSmall {
            max_tokens: settings.max_tokens,
        });
    }
    let (context, new_markers) = place(selection.sources, register, query, settings);
    Ok(Composed {
        context,
        new_markers,
        dropped,
        warnings,
        tokens: selection.tokens,
    })
}

/// Gives the sources of a context, in their order, markers and facts; with the bindings that are new.
pub(crate) fn place(
    sources: Vec<Candidate>,
    register: &MarkerRegister,
    query: &str,
    settings: &Settings,
) -> (Vec<ContextSource>, Vec<BoundMarker>) {
    let (markers, new) = assign_markers(&sources, &register.markers, settings.marker_style);
    let cues = Cues::built_in();
    let placed = sources.into_iter().zip(markers).zip(1..);
    let context = placed
        .map(|((candidate, marker), position)| ContextSource {
            facts: extract(
                &candidate.passage.text,
                query,
                register.facts.get(&marker),
                settings.facts_per_source,
                cues,
            ),
            marker,
            position,
            candidate,
            retrieval: 0,
        })
        .collect();
    (context, new)
}

/// The candidates that a reranker sees, and those beyond.
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

/// Candidates that the reranker lost although the conversation relies on them: they compete for the reserved slots,
/// so that a reranker cannot take away the document under discussion.
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

/// Whether a search of this turn found anything: what an edge or an earlier turn brings in says nothing of that.
fn found_any(lists: &[RankedList]) -> bool {
    let mut searches = lists
        .iter()
        .filter(|list| matches!(list.branch, Branch::Lexical | Branch::Vector));
    searches.any(|list| !list.hits.is_empty())
}

/// What the branches did not deliver.
///
/// A vector branch ranks every passage that has an embedding. If it returned fewer than asked although the lexical
/// branch found others, then either those have no embedding or its index gave up under the filter: a short branch.
/// A lexical branch returns what matches, so few hits are no fault.
fn shortfalls(lists: &[RankedList], settings: &Settings) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let vector: Vec<&RankedList> = lists
        .iter()
        .filter(|l| l.branch == Branch::Vector)
        .collect();
    if vector.is_empty() && settings.vector_weight > 0.0 {
        warnings.push(Warning::NoEmbedding);
    }
    for list in &vector {
        let found: BTreeSet<&str> = list.hits.iter().map(|hit| hit.key.as_str()).collect();
        let missed = lists
            .iter()
            .filter(|other| other.branch == Branch::Lexical)
            .flat_map(|other| &other.hits)
            .any(|hit| !found.contains(hit.key.as_str()));
        if found.len() < settings.candidates && missed {
            warnings.push(Warning::ShortBranch {
                branch: Branch::Vector,
                returned: found.len(),
                asked: settings.candidates,
            });
        }
    }
    if !found_any(lists) {
        warnings.push(Warning::NothingFound);
    }
    warnings
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
