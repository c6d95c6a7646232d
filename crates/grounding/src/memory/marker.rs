//! Markers and the passages that they are bound to.

use reground_documents::PageRange;
use serde::{Deserialize, Serialize};

use super::context::FactSheet;
use crate::passage::CharRange;

/// A row of `conversation_markers`: the permanent binding of a marker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundMarker {
    /// `A1`: letters for the document in order of first use, number for the passage.
    pub marker: String,
    /// Name of the corpus.
    pub corpus: String,
    /// The document's key.
    pub doc_id: String,
    /// The passage's key (of the stronger member after a merge).
    pub chunk_id: String,
    /// The document's version.
    pub version: Option<i32>,
    /// Pages.
    pub pages: Option<PageRange>,
    /// Characters.
    pub chars: Option<CharRange>,
    /// Place of the passage in its document, for readers.
    pub locator: Option<String>,
    /// Content hash (hex).
    pub content_hash: String,
}

/// The markers of a conversation and the facts of its last answered turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarkerRegister {
    /// The bindings, in their order: all of them, or those of the documents in question and the last one.
    pub markers: Vec<BoundMarker>,
    /// The facts of the last answered turn, by marker.
    pub facts: FactSheet,
}
