//! Adds sources to an open turn: an agent searches again, or provides the results of its tools.
//!
//! Each retrieval appends to the context and removes nothing, so earlier results stay citable. A source that is already
//! in the context is returned under its marker and not added twice.

use std::collections::BTreeSet;

use reground_documents::CallerPassage;

use crate::begin::select::PromptParts;
use crate::begin::{Composed, Gathered, assign_markers_and_facts};
use crate::caller::caller_passages::{Naming, caller_passage};
use crate::error::GroundingError;
use crate::memory::{BoundMarker, ContextSource, MarkerRegister};
use crate::passage::identity::PassageId;
use crate::passage::{Candidate, Dropped, Origin, Reason, Stage};
use crate::settings::Settings;

/// The result of an additional retrieval.
#[derive(Clone, Debug, PartialEq)]
pub struct AdditionalSources {
    /// All sources found, in their order, under their markers in the context.
    pub shown: Vec<ContextSource>,
    /// The new sources, with their positions in the context.
    pub added: Vec<ContextSource>,
    /// New marker bindings.
    pub new_markers: Vec<BoundMarker>,
}

impl AdditionalSources {
    /// The sources of a retrieval, split into known and new ones.
    fn of(
        context: &[ContextSource],
        found: Vec<ContextSource>,
        new_markers: Vec<BoundMarker>,
        retrieval: u32,
    ) -> Self {
        let had: BTreeSet<&str> = context.iter().map(|source| &*source.marker).collect();
        let last = context.iter().map(|source| source.position).max();
        let mut position = last.unwrap_or_default();
        let mut added = Vec::new();
        let mut shown = Vec::new();
        for mut source in found {
            source.retrieval_no = retrieval;
            if !had.contains(&*source.marker) {
                position += 1;
                source.position = position;
                added.push(source.clone());
            }
            shown.push(source);
        }
        Self {
            shown,
            added,
            new_markers,
        }
    }
}

/// Replaces candidates that are part of a source of the context by that source. Of several candidates for one source
/// only the best is kept.
///
/// The same text in another document is another source, unless the search itself took both for twins. A passage whose
/// text has changed is also another source, because the context contains the old text. `scores` are a reranker's, one
/// for each candidate; scores of removed candidates are removed too.
pub fn match_known_sources(
    gathered: &mut Gathered,
    scores: Option<&mut Vec<Option<f64>>>,
    context: &[ContextSource],
) {
    let candidates = std::mem::take(&mut gathered.candidates);
    let mut had = BTreeSet::new();
    let mut kept = Vec::new();
    for candidate in candidates {
        let same = |source: &&ContextSource| {
            !source.is_remembered() && covers(&source.candidate, &candidate)
        };
        let source = context.iter().find(same);
        let repeated = source.is_some_and(|source| !had.insert(&*source.marker));
        kept.push(!repeated);
        match source.map(|source| &source.candidate) {
            None => gathered.candidates.push(candidate),
            Some(own) if repeated => gathered.dropped.push(Dropped {
                candidate,
                stage: Stage::Collapse,
                reason: Reason::Merged,
                into: Some(own.passage.chunk_id.clone()),
            }),
            Some(own) => gathered.candidates.push(Candidate {
                passage: own.passage.clone(),
                member_chunk_ids: own.member_chunk_ids.clone(),
                ..candidate
            }),
        }
    }
    if let Some(scores) = scores {
        let mut kept = kept.into_iter();
        scores.retain(|_| kept.next().unwrap_or(true));
    }
}

/// Whether a source contains everything of a candidate, with the same text.
fn covers(source: &Candidate, candidate: &Candidate) -> bool {
    let (own, other) = (&source.passage, &candidate.passage);
    let same_document =
        own.corpus == other.corpus && own.doc_id == other.doc_id && own.version == other.version;
    let same_text =
        || own.content_hash == other.content_hash || own.content.contains(other.content.trim());
    let mut members = candidate.member_chunk_ids.iter();
    same_document && members.all(|member| source.member_chunk_ids.contains(member)) && same_text()
}

/// The markers of a context that a further source must not get: those of sources that are shown by their facts only.
/// Their passage gets a marker of its own, because two sources of one context never share a marker.
#[must_use]
pub fn taken_markers(context: &[ContextSource]) -> BTreeSet<String> {
    let remembered = context.iter().filter(|source| source.is_remembered());
    remembered.map(|source| source.marker.clone()).collect()
}

/// Adds a composed search to the context of its turn.
#[must_use]
pub fn add_found(
    context: &[ContextSource],
    composed: Composed,
    retrieval: u32,
) -> AdditionalSources {
    AdditionalSources::of(context, composed.context, composed.new_markers, retrieval)
}

/// Passages from outside the corpora as candidates, in their order: tool results, web pages, uploads.
///
/// A passage without a key is named by the hash of its text. A passage without a document is named by its address, or
/// else by its key. The same result given twice is one source.
///
/// # Errors
/// [`GroundingError::GivenMarker`] for a passage with a marker, because the conversation assigns the markers.
pub fn caller_sources(passages: Vec<CallerPassage>) -> Result<Vec<Candidate>, GroundingError> {
    let mut keys = BTreeSet::new();
    let mut candidates = Vec::new();
    for given in passages {
        if let Some(marker) = &given.marker {
            return Err(GroundingError::GivenMarker(marker.clone()));
        }
        let passage = caller_passage(given, "", Naming::Text);
        let (document, key) = (passage.doc_id.clone(), passage.chunk_id.clone());
        if keys.insert((document, key, passage.content_hash.clone())) {
            candidates.push(Candidate::bare(passage, Origin::Added));
        }
    }
    Ok(candidates)
}

/// Adds the caller's passages to the context of their turn.
#[must_use]
pub fn add_caller_sources(
    context: &[ContextSource],
    candidates: Vec<Candidate>,
    register: &MarkerRegister,
    query: &str,
    settings: &Settings,
    retrieval: u32,
) -> AdditionalSources {
    let mut parts = PromptParts::new(register, query, settings);
    let (placed, new_markers) =
        assign_markers_and_facts(candidates, register, &mut parts, settings);
    AdditionalSources::of(context, placed, new_markers, retrieval)
}

/// The changes to a turn's trace after an additional retrieval. Each candidate is in the trace once, at the last stage
/// that it reached in any retrieval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceUpdate {
    /// Positions (from 0) in the old trace of the dropped candidates that stay in it.
    pub still_left: Vec<usize>,
    /// Positions among the candidates that this retrieval dropped, of those that are new to the trace.
    pub newly_left: Vec<usize>,
}

/// Compares the traces. `known` lists the candidates of the turn's trace, with whether each was dropped; `added` and
/// `dropped` are the results of the additional retrieval.
#[must_use]
pub fn trace_update(
    known: &[(PassageId, bool)],
    added: &[ContextSource],
    dropped: &[Dropped],
) -> TraceUpdate {
    let id = |candidate: &Candidate| PassageId::of(&candidate.passage);
    let added: BTreeSet<PassageId> = added.iter().map(|source| id(&source.candidate)).collect();
    let still_left = known
        .iter()
        .enumerate()
        .filter(|(_, (known, left))| *left && !added.contains(known))
        .map(|(place, _)| place)
        .collect();
    let mut told: BTreeSet<PassageId> = known.iter().map(|(known, _)| known.clone()).collect();
    told.extend(added);
    let newly_left = dropped
        .iter()
        .enumerate()
        .filter(|(_, dropped)| told.insert(id(&dropped.candidate)))
        .map(|(place, _)| place)
        .collect();
    TraceUpdate {
        still_left,
        newly_left,
    }
}

#[cfg(test)]
#[path = "additional_sources_tests.rs"]
mod tests;
