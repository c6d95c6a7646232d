//! A passage of a document, as the corpus holds it at this moment.

use reground_documents::PageRange;
use serde::{Deserialize, Serialize};

/// A half-open range of Unicode scalar offsets into a document's normalised text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CharRange {
    /// First character.
    pub start: u32,
    /// One past the last character.
    pub end: u32,
}

impl CharRange {
    /// The range of two optional bounds; `None` unless both are known.
    #[must_use]
    pub fn of(start: Option<u32>, end: Option<u32>) -> Option<Self> {
        Some(Self {
            start: start?,
            end: end?,
        })
    }

    /// Whether it has all characters of the other.
    #[must_use]
    pub fn holds(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// A passage of a corpus, as it stands in the corpus' relation at this moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// Name of the corpus; empty where the application handed it over.
    pub corpus: String,
    /// The document's key in the application's own terms; the passage's key where no document is mapped.
    pub doc_id: String,
    /// The passage's key in the application's own terms.
    pub key: String,
    /// The document's version, where the corpus keeps versions.
    pub version: Option<i32>,
    /// Position among the passages of its document and version, from 0.
    pub ordinal: Option<i32>,
    /// Pages that the passage stands on.
    pub pages: Option<PageRange>,
    /// Characters that the passage covers.
    pub chars: Option<CharRange>,
    /// The text itself, never altered.
    pub text: String,
    /// SHA-256 of the folded text, lower-case hex (erratum 5).
    pub hash: String,
    /// Exact o200k_base tokens of `text`.
    pub tokens: u32,
    /// Title of the document.
    pub title: Option<String>,
    /// Where a reader finds the document.
    pub uri: Option<String>,
    /// Publication date as the corpus gives it (ISO 8601).
    pub published: Option<String>,
    /// What its row names for it to be read by, where the corpus maps that: a text search configuration or a language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_config: Option<String>,
    /// Whatever else the corpus maps.
    #[serde(default)]
    pub metadata: serde_json::Value,
}

impl Passage {
    /// Whether it is of no corpus: the application handed it over, and it stands nowhere else.
    #[must_use]
    pub fn is_handed_over(&self) -> bool {
        self.corpus.is_empty()
    }

    /// Whether it knows its place in the document (I4's first factor): pages, characters or ordinal.
    #[must_use]
    pub fn has_coordinates(&self) -> bool {
        self.pages.is_some() || self.chars.is_some() || self.ordinal.is_some()
    }
}
