//! Markers and the passages that they are bound to.

use reground_documents::PageRange;
use serde::{Deserialize, Serialize};

use super::context::FactSheet;
use crate::passage::CharRange;

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
pub struct MarkerRegister {
    /// Their sources, in the order of binding: all of them, or of the documents in question and what tells the next marker.
    pub markers: Vec<BoundMarker>,
    /// The facts that the last answered turn was given of them.
    pub facts: FactSheet,
}
