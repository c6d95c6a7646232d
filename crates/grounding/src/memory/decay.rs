//! How a conversation's memory changes when a turn ends.

use std::collections::{BTreeMap, BTreeSet};

use super::context::ContextSource;
use super::source::{RememberedSource, SourceKey};
use crate::passage::Origin;
use crate::settings::CarryActivation;

/// The settings of memory decay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecayRules {
    /// Factor per ended turn, in [0, 1] (`carry_decay`, 0.7).
    pub decay: f64,
    /// Inactive ended turns after which an unpinned source is forgotten (`carry_ttl_turns`, 3).
    pub ttl_turns: u32,
    /// The condition for activity (`carry_activation`).
    pub activation: CarryActivation,
}

/// The sources `before` a turn with the pins of `live`, to judge the turn's answer again without losing pins that the
/// user changed since.
pub fn with_pins_of(
    before: &[RememberedSource],
    live: &[RememberedSource],
) -> Vec<RememberedSource> {
    let pins: BTreeMap<SourceKey, &RememberedSource> = live
        .iter()
        .filter(|source| source.pinned)
        .map(|source| (SourceKey::remembered(source), source))
        .collect();
    let mut sources: BTreeMap<SourceKey, RememberedSource> = before
        .iter()
        .map(|source| (SourceKey::remembered(source), source.clone()))
        .collect();
    for (key, source) in &mut sources {
        let pin = pins.get(key);
        if source.pinned && pin.is_none() {
            // As `unpin` does: the source decays from now on.
            source.inactive_turns = 0;
        }
        source.pinned = pin.is_some();
        source.pin_order = pin.and_then(|pin| pin.pin_order);
    }
    for (key, pin) in pins {
        sources.entry(key).or_insert_with(|| pin.clone());
    }
    sources.into_values().collect()
}

/// The sources in the order of their keys, as [`after_turn`] returns them.
#[must_use]
pub fn sorted_by_key(sources: &[RememberedSource]) -> Vec<RememberedSource> {
    let mut sorted = sources.to_vec();
    sorted.sort_by_cached_key(SourceKey::remembered);
    sorted
}

/// The hash that later shows a change of the source. `None` for a merged source: its hash is of the union, which no
/// single passage has.
fn hash_of(shown: &ContextSource) -> Option<String> {
    (!shown.candidate.is_merged()).then(|| shown.candidate.passage.row_hash().to_owned())
}

/// The sources after a turn that started with `before`, showed `context`, and was answered with citations of `cited`.
///
/// A source is active if it was cited, or (under `context`) if this turn's retrieval put it into the context. Being
/// carried or pinned is not activity. The score of active sources becomes 1, the others age by one turn. Then the score
/// of every unpinned source is multiplied by `decay`. A source last active in turn t has the score `decay`^k in turn
/// t + k and, with a `ttl_turns` of 3, is forgotten in t + 4. A merged source is remembered under its own key. The
/// result is sorted by key, whatever the order of the arguments.
pub fn after_turn(
    before: &[RememberedSource],
    context: &[ContextSource],
    cited: &BTreeSet<SourceKey>,
    rules: &DecayRules,
) -> Vec<RememberedSource> {
    let shown: BTreeMap<SourceKey, &ContextSource> = context
        .iter()
        .map(|source| (SourceKey::shown(source), source))
        .collect();
    let mut memory: BTreeMap<SourceKey, RememberedSource> = before
        .iter()
        .map(|source| (SourceKey::remembered(source), source.clone()))
        .collect();
    let active = |key: &SourceKey| {
        let fresh = || {
            shown
                .get(key)
                .is_some_and(|source| source.candidate.origin == Origin::Fresh)
        };
        cited.contains(key) || (rules.activation == CarryActivation::Context && fresh())
    };
    for (key, source) in &shown {
        // A later turn cannot read it again.
        let handed_over = source.candidate.passage.is_from_caller();
        if !handed_over && active(key) && !memory.contains_key(key) {
            memory.insert(key.clone(), entering(key, source));
        }
    }
    for (key, source) in &mut memory {
        source.cited |= cited.contains(key);
        if let Some(shown) = shown.get(key) {
            source.content_hash = hash_of(shown);
        }
        if active(key) {
            source.carry_score = 1.0;
            source.inactive_turns = 0;
        } else {
            source.inactive_turns = source.inactive_turns.saturating_add(1);
        }
        if !source.pinned {
            source.carry_score *= rules.decay;
        }
    }
    memory
        .into_values()
        .filter(|source| source.pinned || source.inactive_turns < rules.ttl_turns)
        .collect()
}

/// The memory of a source that is new to the conversation.
fn entering(key: &SourceKey, source: &ContextSource) -> RememberedSource {
    RememberedSource {
        corpus: key.corpus.clone(),
        doc_id: key.doc_id.clone(),
        chunk_id: key.chunk_id.clone(),
        carry_score: 1.0,
        inactive_turns: 0,
        pinned: false,
        pin_order: None,
        cited: false,
        content_hash: Some(source.candidate.passage.row_hash().to_owned()),
    }
}

#[cfg(test)]
#[path = "decay_tests.rs"]
pub(crate) mod tests;
