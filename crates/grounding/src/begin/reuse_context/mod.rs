//! The context of a turn that does not retrieve: the sources of the last turn that did, with their current text.
//!
//! The sources stay in order and keep their markers, because their passages stay the same. A source that was deleted,
//! or that this role may not read, is dropped. A changed text replaces the old one with a warning, as for carried
//! sources. Pins come first, as in every context.

use std::collections::{BTreeMap, BTreeSet};

use crate::begin::carry::{CarriedInput, Effect, carry};
use crate::begin::collapse::collapse;
use crate::begin::relevance::Scale;
use crate::begin::select::strongest_first;
use crate::begin::turn::{Gathered, fit_passages};
use crate::begin::warnings::Warning;
use crate::memory::ContextSource;
use crate::passage::identity::PassageId;
use crate::passage::{
    Branch, Candidate, Dropped, Hit, Metric, Origin, Passage, RankedList, Reason, Stage,
};
use crate::query::query_words::QueryWords;
use crate::settings::{PassageOrder, Settings};

/// The input of a turn that reuses its sources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReuseInput {
    /// The context of the turn that retrieved, in prompt order.
    pub context: Vec<ContextSource>,
    /// The passage order of that context.
    pub order: Option<PassageOrder>,
    /// Sources that the application added to the turns since, in order.
    pub added: Vec<ContextSource>,
    /// The current passages of the context, including each member of merged ones.
    pub passages: BTreeMap<PassageId, Passage>,
    /// Whether a filter applies. Sources that the application added have no columns and are left out under a filter.
    pub filtered: bool,
    /// The pins, with their current passages.
    pub pins: Vec<CarriedInput>,
    /// The metric of the pins' distances.
    pub metric: Metric,
    /// The words that choose the window of a passage whose text has changed.
    pub words: QueryWords,
    /// Warnings of the read phase.
    pub warnings: Vec<Warning>,
}

/// The passages of a context: its sources, or the members of merged ones. Sources that are shown by their facts only
/// are left out.
pub fn passages_of(context: &[ContextSource]) -> impl Iterator<Item = PassageId> {
    let full = context.iter().filter(|source| !source.is_remembered());
    full.flat_map(|source| source.candidate.members())
}

/// The reused sources take the place of fresh candidates. No reranker is called.
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
        words,
        mut warnings,
    } = input;
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    let mut context = context;
    context.retain(|source| !source.is_remembered());
    let context = strongest_first(context, order.unwrap_or(settings.passage_order));
    let mut markers = BTreeSet::new();
    for source in context.into_iter().chain(added) {
        // A source that was added to several turns counts once.
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
    let scale = Scale::of(&score_lists(&pins), metric);
    let memory = carry(&mut kept, &mut Vec::new(), pins, &scale, effect, settings);
    dropped.extend(memory.dropped);
    warnings.extend(memory.warnings);
    Gathered {
        candidates: fit_passages(kept, &words, settings),
        pins: fit_passages(memory.pins, &words, settings),
        carried: Vec::new(),
        effect,
        entities: Vec::new(),
        dropped,
        warnings,
        remembered: Vec::new(),
        words,
        // The turn did not search.
        answerability: None,
        withdrawn: BTreeSet::new(),
    }
}

/// The result of reading a source again.
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
    // A source without text has been erased.
    if source.passage.is_from_caller() && !filtered && !source.passage.content.is_empty() {
        reread.kept.push(reused(&source, source.passage.clone()));
        return reread;
    }
    let mut parts = Vec::new();
    for id in source.members() {
        let reason = match passages.get(&id) {
            Some(passage) if passage.doc_id == source.passage.doc_id => {
                parts.push(reused(&source, passage.clone()));
                continue;
            }
            Some(_) => Reason::Changed,
            None => Reason::Gone,
        };
        let mut candidate = reused(&source, source.passage.clone());
        candidate.passage.chunk_id.clone_from(&id.chunk_id);
        candidate.member_chunk_ids = vec![id.chunk_id];
        reread.dropped.push(Dropped {
            candidate,
            stage: Stage::Carry,
            reason,
            into: None,
        });
    }
    // A merged source stays merged, whatever the present limit of a merge.
    let merging = Settings {
        merge_adjacent: true,
        max_merged_tokens: usize::MAX,
        ..settings.clone()
    };
    let (mut kept, merged) = collapse(parts, &merging);
    reread.dropped.extend(merged);
    let changed = |first: &Candidate| first.passage.row_hash() != source.passage.row_hash();
    reread.changed =
        kept.first()
            .filter(|first| changed(first))
            .map(|first| Warning::SourceChanged {
                doc_id: first.passage.doc_id.clone(),
                chunk_id: first.passage.chunk_id.clone(),
            });
    if let Some(first) = kept.first_mut()
        && !changed(first)
        && let Some(window) = same_window(&first.passage, &source.passage)
    {
        first.passage = window;
    }
    reread.kept = kept;
    reread
}

/// The window of an unchanged row that the source shows. It keeps its marker.
fn same_window(row: &Passage, shown: &Passage) -> Option<Passage> {
    let chars = shown.window_of.as_ref().and(shown.chars)?;
    row.window_at(shown.start_in_row(), chars.end.saturating_sub(chars.start))
}

/// A passage with the relevance of its source and without ranks, because this turn did not search.
fn reused(source: &Candidate, passage: Passage) -> Candidate {
    Candidate {
        relevance: source.relevance,
        carry_score: source.carry_score,
        also_in: source.also_in.clone(),
        ..Candidate::bare(passage, Origin::Carried)
    }
}

/// The scores of the pins' passages as lists, so that they can be compared with each other. Nothing else was scored.
fn score_lists(pins: &[CarriedInput]) -> Vec<RankedList> {
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
            chunk_id: option.passage.chunk_id.clone(),
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
