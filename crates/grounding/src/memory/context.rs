//! The sources of a turn's context, with their facts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::passage::{Candidate, CharRange};

/// A source of a turn's context: what `begin_turn` returns, `prompt_context` prints and `end_turn` judges by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextSource {
    /// Its marker.
    pub marker: String,
    /// Position in the prompt, from 1.
    pub position: u32,
    /// The passage and its scores.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Up to two key bullets chosen for the query (C7).
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// Which retrieval of the turn gave it: 0 for that of its beginning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retrieval: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// An extractive bullet of a source (C7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// The sentence, verbatim.
    pub text: String,
    /// Offsets of the sentence within the passage's text.
    pub chars: CharRange,
}

/// The facts that a turn was given, by marker: the fact sheet that the next turn goes on from.
pub type FactSheet = BTreeMap<String, BTreeSet<String>>;
