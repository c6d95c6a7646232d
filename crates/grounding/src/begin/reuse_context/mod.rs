//! The context of a turn that does not retrieve: the sources of the turn that did so last, as they stand now (D5).
//!
//! They stay in order and keep their markers, as the passages that these are bound to stay the same. What has gone since, or
//! may not be seen by this role, leaves; another text takes the place of the old one with a warning, as for carried sources.
//! Pins come first, as in every context.

use std::collections::{BTreeMap, BTreeSet};

use crate::begin::Gathered;
use crate::begin::carry::{CarriedInput, Effect, carry};
use crate::begin::collapse::collapse;
use crate::begin::relevance::Scale;
use crate::begin::select::strongest_first;
use crate::begin::warnings::Warning;
use crate::memory::ContextSource;
use crate::passage::identity::PassageId;
use crate::passage::{
    Branch, Candidate, Dropped, Hit, Metric, Origin, Passage, RankedList, Reason, Stage,
};
use crate::settings::{PassageOrder, Settings};

/// What was read for a turn that keeps its sources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReuseInput {
    /// The context of the turn that retrieved, in prompt order.
    pub context: Vec<ContextSource>,
    /// The order that it was put in.
    pub order: Option<PassageOrder>,
    /// What the application has handed over to the turns since, in its order.
    pub added: Vec<ContextSource>,
    /// Its passages, members of merged ones each by itself, as they stand now.
    pub passages: BTreeMap<PassageId, Passage>,
    /// Whether a filter is asked for: what the application handed over has no columns, and stays out under one.
    pub filtered: bool,
    /// The pins, with what reread under their keys.
    pub pins: Vec<CarriedInput>,
    /// How the distances of the pins are measured.
    pub metric: Metric,
    /// What the read phase had to do without.
    pub warnings: Vec<Warning>,
}

/// The passages that a context is made of: its sources, or what was merged into them.
pub fn passages_of(context: &[ContextSource]) -> impl Iterator<Item = PassageId> {
    context.iter().flat_map(|source| members(&source.candidate))
}

fn members(candidate: &Candidate) -> impl Iterator<Item = PassageId> {
    let own = &candidate.passage.key;
    let others = candidate.members.iter().filter(move |key| *key != own);
    // The own key first: a merge goes by its first member.
    std::iter::once(own).chain(others).map(|key| PassageId {
        corpus: candidate.passage.corpus.clone(),
        key: key.clone(),
    })
}

/// The kept sources where fresh ones would stand; no reranker is asked.
#[must_use]
pub fn reuse_context(input: ReuseInput, settings: &Settings) -> Gathered {
    let ReuseInput {
        context,
        order,
        added,
        passages,
        filtered,
        pins,
        metric,
        mut warnings,
    } = input;
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    let context = strongest_first(context, order.unwrap_or(settings.passage_order));
    let mut markers = BTreeSet::new();
    for source in context.into_iter().chain(added) {
        // What was handed over to several turns is one source.
        if !markers.insert(source.marker.clone()) {
            continue;
        }
        let reread = read_again(source.candidate, &passages, filtered, settings);
        warnings.extend(reread.changed);
        kept.extend(reread.kept);
        dropped.extend(reread.dropped);
    }
    let effect = Effect {
        carries: false,
        reserved_slots: 0,
        anchors: false,
    };
    let scale = Scale::of(&yardsticks(&pins), metric);
    let memory = carry(&mut kept, &mut Vec::new(), pins, &scale, effect, settings);
    dropped.extend(memory.dropped);
    warnings.extend(memory.warnings);
    Gathered {
        candidates: kept,
        pins: memory.pins,
        carried: Vec::new(),
        effect,
        entities: Vec::new(),
        dropped,
        warnings,
        withdrawn: BTreeSet::new(),
    }
}

/// What has become of a source.
#[derive(Default)]
struct Reread {
    kept: Vec<Candidate>,
    dropped: Vec<Dropped>,
    changed: Option<Warning>,
}

fn read_again(
    source: Candidate,
    passages: &BTreeMap<PassageId, Passage>,
    filtered: bool,
    settings: &Settings,
) -> Reread {
    let mut reread = Reread::default();
    // One without a text was forgotten since.
    if source.passage.is_handed_over() && !filtered && !source.passage.text.is_empty() {
        reread.kept.push(part(&source, source.passage.clone()));
        return reread;
    }
    let mut parts = Vec::new();
    for id in members(&source) {
        let reason = match passages.get(&id) {
            Some(passage) if passage.doc_id == source.passage.doc_id => {
                parts.push(part(&source, passage.clone()));
                continue;
            }
            Some(_) => Reason::Changed,
            None => Reason::Gone,
        };
        let mut candidate = part(&source, source.passage.clone());
        candidate.passage.key.clone_from(&id.key);
        candidate.members = vec![id.key];
        reread.dropped.push(Dropped {
            candidate,
            stage: Stage::Carry,
            reason,
            into: None,
        });
    }
    // What was one stays one, however long merges may be by now.
    let merging = Settings {
        merge_adjacent: true,
        max_merged_tokens: usize::MAX,
        ..settings.clone()
    };
    let (kept, merged) = collapse(parts, &merging);
    reread.dropped.extend(merged);
    let changed = |first: &Candidate| first.passage.hash != source.passage.hash;
    reread.changed =
        kept.first()
            .filter(|first| changed(first))
            .map(|first| Warning::SourceChanged {
                doc_id: first.passage.doc_id.clone(),
                key: first.passage.key.clone(),
            });
    reread.kept = kept;
    reread
}

/// A passage with the relevance that it came in by, and without ranks: this turn asked for none.
fn part(source: &Candidate, passage: Passage) -> Candidate {
    Candidate {
        relevance: source.relevance,
        carry_score: source.carry_score,
        also_in: source.also_in.clone(),
        ..Candidate::bare(passage, Origin::Carried)
    }
}

/// The scores of the pins' passages as lists, to hold them against each other: nothing else was scored.
fn yardsticks(pins: &[CarriedInput]) -> Vec<RankedList> {
    let options = || pins.iter().flat_map(|pin| &pin.options);
    let lexical = options().map(|option| (option.lexical_score, option));
    let vector = options().map(|option| (option.vector_distance, option));
    let list = |branch, hits: Vec<Hit>| RankedList {
        branch,
        weight: 1.0,
        entity: None,
        hits,
    };
    let hit = |(value, option): (Option<f64>, &crate::begin::carry::CarriedOption)| {
        Some(Hit {
            key: option.passage.key.clone(),
            value: value?,
        })
    };
    vec![
        list(Branch::Lexical, lexical.filter_map(hit).collect()),
        list(Branch::Vector, vector.filter_map(hit).collect()),
    ]
}

#[cfg(test)]
mod tests;
