//! The sources of a turn's context, with their facts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::passage::{Candidate, CharRange};

/// A source of a turn's context: `begin_turn` returns it, `prompt_context` prints it, and `end_turn` judges citations
/// against it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextSource {
    /// Its marker.
    pub marker: String,
    /// Position in the prompt, from 1.
    pub position: u32,
    /// The passage and its scores.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Up to two key sentences chosen for the query.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// The retrieval of the turn that found it: 0 for the one at its beginning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retrieval_no: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A key sentence extracted from a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// The sentence, verbatim.
    pub text: String,
    /// Offsets of the sentence within the passage's text.
    pub chars: CharRange,
}

/// The facts of a turn, by marker. The next turn starts from this fact sheet.
pub type FactSheet = BTreeMap<String, BTreeSet<String>>;
