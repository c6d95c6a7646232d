//! The sources that a conversation remembers between turns.

use serde::{Deserialize, Serialize};

use super::context::ContextSource;
use crate::passage::{Candidate, Origin};

/// A row of `conversation_sources`: an active source, or a pin on a whole document (`passage` empty).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RememberedSource {
    /// Name of the corpus.
    pub corpus: String,
    /// The document's key.
    pub doc_id: String,
    /// The passage's key; empty for a pin on the whole document.
    pub chunk_id: String,
    /// Carry score in [0, 1]: 1 when active, × `carry_decay` after each ended turn.
    pub carry_score: f64,
    /// Ended turns since it was last active.
    pub inactive_turns: u32,
    /// Whether the user pinned it.
    pub pinned: bool,
    /// Order among the pins, ascending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin_order: Option<i64>,
    /// Whether an answer has cited it.
    pub cited: bool,
    /// Content hash when it was last in a context (hex), to detect a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
}

impl RememberedSource {
    /// Its origin in the context of a later turn.
    #[must_use]
    pub fn origin(&self) -> Origin {
        if self.pinned {
            Origin::Pinned
        } else {
            Origin::Carried
        }
    }
}

/// The key of a stored source: corpus, document, passage.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct SourceKey {
    /// Name of the corpus.
    pub corpus: String,
    /// The document's key.
    pub doc_id: String,
    /// The passage's key; empty for a pin on the whole document.
    pub chunk_id: String,
}

impl SourceKey {
    /// The key under which a source of the context is remembered.
    pub fn shown(source: &ContextSource) -> Self {
        let passage = &source.candidate.passage;
        Self {
            corpus: passage.corpus.clone(),
            doc_id: passage.doc_id.clone(),
            chunk_id: passage.chunk_id.clone(),
        }
    }

    /// The keys of all passages of a candidate: its own, and those merged into it.
    pub fn members(candidate: &Candidate) -> impl Iterator<Item = Self> {
        candidate.members().map(|member| Self {
            corpus: member.corpus,
            doc_id: candidate.passage.doc_id.clone(),
            chunk_id: member.chunk_id,
        })
    }

    /// The key of a remembered source.
    pub fn remembered(source: &RememberedSource) -> Self {
        Self {
            corpus: source.corpus.clone(),
            doc_id: source.doc_id.clone(),
            chunk_id: source.chunk_id.clone(),
        }
    }
}
