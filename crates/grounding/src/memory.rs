//! What a conversation remembers between turns: its sources and its markers.

use reground_documents::PageRange;
use serde::{Deserialize, Serialize};

use crate::facts::FactSheet;
use crate::passage::{CharRange, Origin};

/// A row of `conversation_sources`: a live source, or a document-level pin (`passage` empty).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RememberedSource {
    /// Name of the corpus.
    pub corpus: String,
    /// The document's key.
    pub doc_id: String,
    /// The passage's key; empty for a pin on the whole document.
    pub passage: String,
    /// Memory in [0, 1]: 1 when active, × `carry_decay` after each ended turn (C3).
    pub carry_score: f64,
    /// Ended turns since it was last active.
    pub inactive_turns: u32,
    /// Whether the user pinned it.
    pub pinned: bool,
    /// Order among the pins, ascending.
    pub pin_order: Option<i64>,
    /// Whether an answer has cited it.
    pub cited: bool,
    /// Content hash when it was last in a context (hex), to notice a change.
    pub hash: Option<String>,
}

impl RememberedSource {
    /// What it is in the context of a later turn.
    #[must_use]
    pub fn origin(&self) -> Origin {
        if self.pinned {
            Origin::Pinned
        } else {
            Origin::Carried
        }
    }
}

/// A row of `conversation_markers`: what a marker is bound to, forever.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundMarker {
    /// `A1`: letters for the document in order of first use, number for the passage.
    pub marker: String,
    /// Name of the corpus.
    pub corpus: String,
    /// The document's key.
    pub doc_id: String,
    /// The passage's key (of the stronger member after a merge).
    pub passage: String,
    /// The document's version.
    pub version: Option<i32>,
    /// Pages.
    pub pages: Option<PageRange>,
    /// Characters.
    pub chars: Option<CharRange>,
    /// Content hash (hex).
    pub hash: String,
}

/// What a conversation has bound to its markers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Register {
    /// Their sources, in the order of binding: all of them, or of the documents in question and what tells the next marker.
    pub markers: Vec<BoundMarker>,
    /// The facts that the last answered turn was given of them.
    pub facts: FactSheet,
}

/// A source of a turn's context: what `begin_turn` returns, `prompt_context` prints and `end_turn` judges by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextSource {
    /// Its marker.
    pub marker: String,
    /// Position in the prompt, from 1.
    pub position: u32,
    /// The passage and its scores.
    #[serde(flatten)]
    pub candidate: crate::passage::Candidate,
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
