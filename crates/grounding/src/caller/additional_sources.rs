//! What comes to a turn after it has begun: an agent searches again, or hands over what its tools found.
//!
//! Each retrieval adds to the end of the context and takes nothing away, so what an earlier one returned stays citable. A
//! source that the context has already is shown again under its marker, and not added twice.

use std::collections::BTreeSet;

use reground_documents::GivenPassage;

use crate::begin::{Composed, Gathered, place};
use crate::caller::caller_passages::{Naming, passage};
use crate::error::GroundingError;
use crate::memory::{BoundMarker, ContextSource, MarkerRegister};
use crate::passage::identity::PassageId;
use crate::passage::{Candidate, Dropped, Origin, Reason, Stage};
use crate::settings::Settings;

/// What a further retrieval gives a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct AdditionalSources {
    /// All that it found, in its order, under the markers that they have in the context.
    pub shown: Vec<ContextSource>,
    /// Those that the context did not have, at the positions that they take in it.
    pub added: Vec<ContextSource>,
    /// Markers that were bound.
    pub new_markers: Vec<BoundMarker>,
    /// o200k_base tokens of what was added.
    pub tokens: usize,
}

impl AdditionalSources {
    /// Of what a retrieval found, that which the context does not have.
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
            source.retrieval = retrieval;
            if !had.contains(&*source.marker) {
                position += 1;
                source.position = position;
                added.push(source.clone());
            }
            shown.push(source);
        }
        let tokens = added.iter().map(|source| source.candidate.passage.tokens);
        Self {
            tokens: tokens.map(|tokens| tokens as usize).sum(),
            shown,
            added,
            new_markers,
        }
    }
}

/// Lets a search of an open turn find what its context has: a candidate that is a part of a source is that source, and only
/// the best of several that are.
///
/// The same text in another document is another source, as it has another name, unless the search itself took both for one. So is
/// a passage whose text has changed since: the context has what it was.
/// `scores` are a reranker's, one for each candidate: they stay with theirs.
pub fn match_known_sources(
    gathered: &mut Gathered,
    scores: Option<&mut Vec<Option<f64>>>,
    context: &[ContextSource],
) {
    let candidates = std::mem::take(&mut gathered.candidates);
    let mut had = BTreeSet::new();
    let mut kept = Vec::new();
    for candidate in candidates {
        let stands = |source: &&ContextSource| covers(&source.candidate, &candidate);
        let source = context.iter().find(stands);
        let repeated = source.is_some_and(|source| !had.insert(&*source.marker));
        kept.push(!repeated);
        match source.map(|source| &source.candidate) {
            None => gathered.candidates.push(candidate),
            Some(own) if repeated => gathered.dropped.push(Dropped {
                candidate,
                stage: Stage::Collapse,
                reason: Reason::Merged,
                into: Some(own.passage.key.clone()),
            }),
            Some(own) => gathered.candidates.push(Candidate {
                passage: own.passage.clone(),
                members: own.members.clone(),
                ..candidate
            }),
        }
    }
    if let Some(scores) = scores {
        let mut kept = kept.into_iter();
        scores.retain(|_| kept.next().unwrap_or(true));
    }
}

/// Whether a source holds all that a candidate does, as the candidate has it.
fn covers(source: &Candidate, candidate: &Candidate) -> bool {
    let (own, other) = (&source.passage, &candidate.passage);
    let same_document =
        own.corpus == other.corpus && own.doc_id == other.doc_id && own.version == other.version;
    let same_text = || own.hash == other.hash || own.text.contains(other.text.trim());
    let mut members = candidate.members.iter();
    same_document && members.all(|member| source.members.contains(member)) && same_text()
}

/// A composed search, added to the context of its turn.
#[must_use]
pub fn add_found(
    context: &[ContextSource],
    composed: Composed,
    retrieval: u32,
) -> AdditionalSources {
    AdditionalSources::of(context, composed.context, composed.new_markers, retrieval)
}

/// Passages from outside the corpora as sources of a turn, in their order: results of tools, pages of the web, uploads.
///
/// A passage without a key is named by the hash of its text, one without a document by its address, or else by its key: the
/// same result handed over twice is one source.
///
/// # Errors
/// [`GroundingError::GivenMarker`] for a passage that brings a marker: markers are the conversation's to bind.
pub fn caller_sources(passages: Vec<GivenPassage>) -> Result<Vec<Candidate>, GroundingError> {
    let mut keys = BTreeSet::new();
    let mut candidates = Vec::new();
    for given in passages {
        if let Some(marker) = &given.marker {
            return Err(GroundingError::GivenMarker(marker.clone()));
        }
        let passage = passage(given, "", Naming::Text);
        let (document, key) = (passage.doc_id.clone(), passage.key.clone());
        if keys.insert((document, key, passage.hash.clone())) {
            candidates.push(Candidate::bare(passage, Origin::Added));
        }
    }
    Ok(candidates)
}

/// Passages that were handed over, added to the context of their turn.
#[must_use]
pub fn add_caller_sources(
    context: &[ContextSource],
    candidates: Vec<Candidate>,
    register: &MarkerRegister,
    query: &str,
    settings: &Settings,
    retrieval: u32,
) -> AdditionalSources {
    let (placed, new_markers) = place(candidates, register, query, settings);
    AdditionalSources::of(context, placed, new_markers, retrieval)
}

/// How the trace of a turn takes up that of a further retrieval: each candidate once, as far as any retrieval brought it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceUpdate {
    /// Of the candidates that had left, the places (from 0, among all of the trace) of those that are still to be told of.
    pub still_left: Vec<usize>,
    /// Of what left this retrieval, the places of those that the trace does not know.
    pub newly_left: Vec<usize>,
}

/// Says what of two traces is to be told: `known` are the candidates that the turn's trace has, with whether each left; then
/// come those that were added, and those that left the further retrieval.
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
