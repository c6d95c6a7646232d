//! What a citation can name: sources of the context, markers of the conversation, documents of the corpora.

use std::ops::Range;

use reground_documents::TextPlace;
use serde::{Deserialize, Serialize};

use crate::{Bounds, Interval, Lexemes, LocatorRange, Position};

/// A source of this turn's context, as the model was shown it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Its marker, `A1`.
    pub marker: String,
    /// The number of the source, if the prompt numbers its passages.
    pub ordinal: Option<u32>,
    /// Name of the corpus.
    pub corpus: String,
    /// Id of the document.
    pub doc_id: String,
    /// Id of the passage.
    pub chunk_id: String,
    /// Ids of all passages that were merged into it. Its own id may be among them.
    pub member_chunk_ids: Vec<String>,
    /// Title of the document.
    pub title: Option<String>,
    /// Address of the document.
    pub uri: Option<String>,
    /// Pages of the passage.
    pub pages: Option<Interval>,
    /// Characters of the passage in its document.
    #[serde(default)]
    pub chars: Option<Range<usize>>,
    /// Version of the document.
    #[serde(default)]
    pub version: Option<i32>,
    /// Places of the passage, by the locator schema of the corpus.
    #[serde(default)]
    pub locators: Option<LocatorRange>,
    /// Whether the source was carried from an earlier turn.
    pub carried: bool,
    /// The text, as shown in the context.
    pub content: String,
    /// The content that the model was shown. It includes the title if the prompt contains titles.
    pub lexemes: Lexemes,
    /// Whether the reader may no longer read it. No citation of it can be judged.
    #[serde(default)]
    pub hidden: bool,
}

impl Source {
    /// The source with its keys only. Nothing of its text, title and place can be compared.
    #[must_use]
    pub fn hide(self) -> Self {
        Self {
            title: None,
            uri: None,
            pages: None,
            chars: None,
            locators: None,
            content: String::new(),
            lexemes: Lexemes::default(),
            hidden: true,
            ..self
        }
    }
}

/// A marker that the conversation bound in this turn or an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownMarker {
    /// The marker, `A1`.
    pub marker: String,
    /// Name of the corpus.
    pub corpus: String,
    /// Id of the document.
    pub doc_id: String,
    /// Id of the passage.
    pub chunk_id: String,
    /// Pages of the passage.
    pub pages: Option<Interval>,
    /// Whether the context contains a different text under the id of the passage. Then the text that the marker is
    /// bound to is not in the context.
    pub replaced: bool,
}

/// A document that must be looked up before a citation can be judged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DocumentRequest {
    /// The document.
    pub target: Target,
    /// The pages whose passages are needed, or all passages; and the paragraphs and lines to find.
    pub at: Position,
}

/// How a document is identified.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// By the name in the answer: an id, a title or an address.
    Name(String),
    /// By a prefix of its id, or of the id of one of its passages.
    Id(String),
    /// By a place: documents with the work, and their passages that overlap the place.
    Locator(LocatorRange),
    /// By its id.
    Document {
        /// Name of the corpus.
        corpus: String,
        /// Id of the document.
        doc_id: String,
    },
}

/// A document that was found for a request. A request may find several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedDocument {
    /// The request.
    pub asked: DocumentRequest,
    /// Name of the corpus.
    pub corpus: String,
    /// Id of the document.
    pub doc_id: String,
    /// Title.
    pub title: Option<String>,
    /// Address.
    pub uri: Option<String>,
    /// Number of pages, if it has pages.
    pub page_count: Option<u32>,
    /// Version of the document, whose text and passages these are.
    #[serde(default)]
    pub version: Option<i32>,
    /// The requested paragraphs or lines, if the text of the document is known.
    #[serde(default)]
    pub place: Option<TextPlace>,
    /// Bounds of its locators, if it has any.
    #[serde(default)]
    pub bounds: Option<Bounds>,
    /// Passages at the requested pages or place.
    pub passages: Vec<NamedPassage>,
}

/// A passage of a document that was looked up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedPassage {
    /// Id of the passage.
    pub chunk_id: String,
    /// Pages of the passage.
    pub pages: Option<Interval>,
    /// Characters of the passage in its document.
    #[serde(default)]
    pub chars: Option<Range<usize>>,
    /// Place of the passage in its document, for readers.
    #[serde(default)]
    pub locator: Option<String>,
    /// Text of the passage.
    pub content: String,
    /// Content of the passage.
    pub lexemes: Lexemes,
}
