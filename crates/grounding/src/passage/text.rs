//! A passage of a document, as the corpus holds it at this moment.

use std::ops::Range;

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
    /// The range from two optional bounds; `None` unless both are known.
    #[must_use]
    pub fn of(start: Option<u32>, end: Option<u32>) -> Option<Self> {
        Some(Self {
            start: start?,
            end: end?,
        })
    }

    /// Whether it contains the other range.
    #[must_use]
    pub fn holds(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// These characters of a text; `None` if it ends before them.
    pub(crate) fn of_text(self, text: &str) -> Option<&str> {
        let length = self.end.checked_sub(self.start)?;
        let rest = text.get(byte_of(text, self.start as usize)?..)?;
        rest.get(..byte_of(rest, length as usize)?)
    }
}

/// The byte at which a character begins; the length of the text for the one after its last.
pub(crate) fn byte_of(text: &str, character: usize) -> Option<usize> {
    let bytes = text.char_indices().map(|(at, _)| at);
    bytes.chain([text.len()]).nth(character)
}

/// A text of the application on one line, with at most `max_chars` characters.
pub(crate) fn one_line(text: &str, max_chars: usize) -> String {
    // The longest line and as many control characters or spaces are read, not a whole text.
    let start = text.chars().take(max_chars.saturating_mul(2));
    let line: String = start
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(max_chars).collect()
}

/// A passage with its current content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// Name of the corpus; empty if the application provided the passage.
    pub corpus: String,
    /// The document's key in the application; the passage's key if no document is mapped.
    pub doc_id: String,
    /// The passage's key in the application.
    pub chunk_id: String,
    /// The document's version, if the corpus has versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// Position among the passages of its document and version, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<i32>,
    /// Pages of the passage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageRange>,
    /// Characters of the passage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chars: Option<CharRange>,
    /// The text, never altered.
    pub content: String,
    /// SHA-256 of the folded text, lower-case hex.
    pub content_hash: String,
    /// Exact o200k_base tokens of `content`; 0 until [`Passage::count_tokens`] has counted them.
    pub tokens: u32,
    /// Title of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The address of the document for readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Publication date as the corpus gives it (ISO 8601).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The time of the document's last change as the corpus gives it (ISO 8601).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// Its place in the notation of its corpus, for example `Genesis 1:1-5`, on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_locator: Option<String>,
    /// The text search configuration or language of its row, if the corpus maps one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_config: Option<String>,
    /// The other mapped columns of the corpus.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub metadata: serde_json::Value,
    /// The row, if the passage is a window of its text. Text, hash, characters and tokens are then those of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_of: Option<RowText>,
}

/// The text of a row that a passage is a window of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowText {
    /// SHA-256 of the folded text, lower-case hex.
    pub content_hash: String,
    /// First character of the window in the text of the row.
    pub start: u32,
    /// Characters of the row, if the corpus maps them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chars: Option<CharRange>,
}

impl Passage {
    /// Whether the application provided it, so that it belongs to no corpus.
    #[must_use]
    pub fn is_from_caller(&self) -> bool {
        self.corpus.is_empty()
    }

    /// The date of its document: its publication, otherwise its last change.
    #[must_use]
    pub fn date(&self) -> Option<&str> {
        let modified = self.modified.as_deref();
        let day = modified.map(|time| time.split('T').next().unwrap_or(time));
        // A date that was stored as a timestamp has the time 00:00 UTC, which is omitted.
        let published = self.published.as_deref();
        let published = published.map(|time| time.strip_suffix("T00:00:00+00:00").unwrap_or(time));
        published.or(day)
    }

    /// The hash of the text of its row: that of the passage, unless it is a window.
    #[must_use]
    pub fn row_hash(&self) -> &str {
        let row = self.window_of.as_ref();
        row.map_or(&self.content_hash, |row| &row.content_hash)
    }

    /// The first character of the passage in the text of its row: 0, unless it is a window.
    #[must_use]
    pub fn start_in_row(&self) -> u32 {
        self.window_of.as_ref().map_or(0, |row| row.start)
    }

    /// A range of characters of the passage as a range of the text of its row.
    #[must_use]
    pub fn in_row(&self, range: Range<usize>) -> Range<usize> {
        let start = self.start_in_row() as usize;
        range.start.saturating_add(start)..range.end.saturating_add(start)
    }

    /// Whether its position in the document is known: pages, characters or ordinal.
    #[must_use]
    pub fn has_coordinates(&self) -> bool {
        self.pages.is_some() || self.chars.is_some() || self.ordinal.is_some()
    }
}
