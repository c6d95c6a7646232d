//! The facts of candidates and the tokens that they add to the block of the sources. Each candidate is read once.

use std::collections::BTreeMap;

use crate::begin::assign_markers::{assign_markers, bound_marker, longest_marker};
use crate::begin::facts::facts_of;
use crate::memory::{ContextSource, Fact, MarkerRegister};
use crate::passage::Candidate;
use crate::prompt::{
    BlockRules, frame_tokens, marker_tokens, most_marker_tokens, remembered_tokens,
    reserved_tokens, source_tokens,
};
use crate::query::cues::Cues;
use crate::settings::Settings;

/// What the block contains of each candidate that was asked about.
pub(crate) struct PromptParts<'a> {
    register: &'a MarkerRegister,
    query: &'a str,
    settings: &'a Settings,
    /// Bytes of the longest marker that a candidate can get.
    marker_bytes: usize,
    known: BTreeMap<CandidateId, PromptPart>,
}

/// Corpus, document, key and hash of the text.
type CandidateId = [String; 4];

/// What the block contains of a candidate.
#[derive(Clone, Default)]
struct PromptPart {
    facts: Vec<Fact>,
    /// Tokens of heading, text and facts, without the markers.
    tokens: usize,
}

impl<'a> PromptParts<'a> {
    /// No part is known yet. `register` needs to contain what [`assign_markers`] needs.
    pub(crate) fn new(
        register: &'a MarkerRegister,
        query: &'a str,
        settings: &'a Settings,
    ) -> Self {
        Self {
            register,
            query,
            settings,
            marker_bytes: 0,
            known: BTreeMap::new(),
        }
    }

    /// Determines how long a marker of these candidates can be, whichever of them are selected.
    pub(crate) fn allow_markers<'c>(&mut self, candidates: impl Iterator<Item = &'c Candidate>) {
        let style = self.settings.marker_style;
        let (markers, _) = assign_markers(candidates, self.register, style);
        self.marker_bytes = longest_marker(&markers);
    }

    /// The most tokens that a source can add to the block.
    pub(crate) fn most_tokens(&mut self, candidate: &Candidate) -> usize {
        let bytes = self.marker_bytes;
        let part = self.part(candidate);
        part.tokens + most_marker_tokens(bytes, part.facts.len())
    }

    /// The most tokens that sources can have in all.
    pub(crate) fn budget(&self) -> usize {
        let rules = BlockRules::from(self.settings);
        let frame = frame_tokens(rules, self.settings.facts_per_source > 0);
        let reserved = reserved_tokens(self.settings);
        self.settings.max_tokens.saturating_sub(frame + reserved)
    }

    /// The facts of a source.
    pub(crate) fn facts(&mut self, candidate: &Candidate) -> Vec<Fact> {
        self.part(candidate).facts.clone()
    }

    /// Tokens of the block of a context; 0 if it is empty.
    pub(crate) fn block_tokens(&mut self, context: &[ContextSource]) -> usize {
        if context.is_empty() {
            return 0;
        }
        let has_facts = context.iter().any(|source| !source.facts.is_empty());
        self.source_tokens(context) + frame_tokens(self.settings.into(), has_facts)
    }

    /// Tokens of the budget that a context leaves for facts of earlier turns.
    pub(crate) fn tokens_left(&mut self, context: &[ContextSource]) -> usize {
        let frame = frame_tokens(self.settings.into(), true) + reserved_tokens(self.settings);
        let used = self.source_tokens(context) + frame;
        self.settings.max_tokens.saturating_sub(used)
    }

    fn source_tokens(&mut self, context: &[ContextSource]) -> usize {
        let style = self.settings.marker_style;
        let tokens = context.iter().map(|source| {
            if source.is_remembered() {
                return remembered_tokens(source, style);
            }
            let part = self.part(&source.candidate);
            part.tokens + marker_tokens(&source.marker, part.facts.len())
        });
        tokens.sum()
    }

    fn part(&mut self, candidate: &Candidate) -> &PromptPart {
        let passage = &candidate.passage;
        let (register, query, settings) = (self.register, self.query, self.settings);
        let id = [
            passage.corpus.clone(),
            passage.doc_id.clone(),
            passage.chunk_id.clone(),
            passage.content_hash.clone(),
        ];
        self.known.entry(id).or_insert_with(|| {
            let marker = bound_marker(passage, &register.markers);
            let facts = facts_of(
                passage,
                query,
                marker.and_then(|marker| register.facts.get(marker)),
                settings.facts_per_source,
                Cues::built_in(),
            );
            let tokens = source_tokens(passage, &facts, settings.marker_style);
            PromptPart { facts, tokens }
        })
    }
}
