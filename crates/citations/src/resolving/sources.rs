//! What a citation can name: sources of the context, markers of the conversation, documents of the corpora.

use serde::{Deserialize, Serialize};

use crate::{Bounds, Lexemes, LocatorRange, Pages};

/// A source of this turn's context: what the model was shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Its marker, `A1`.
    pub marker: String,
    /// Its number, only where passages were handed over under numbers.
    pub ordinal: Option<u32>,
    /// Name of the corpus.
    pub corpus: String,
    /// The document's key.
    pub doc_id: String,
    /// The passage's key.
    pub passage: String,
    /// Keys of every passage merged into it; its own key may be among them.
    pub members: Vec<String>,
    /// Title of the document.
    pub title: Option<String>,
    /// Address of the document.
    pub uri: Option<String>,
    /// Pages it stands on.
    pub pages: Option<Pages>,
    /// Places of the corpus' locator schema that it stands on.
    #[serde(default)]
    pub locators: Option<LocatorRange>,
    /// Whether it was carried from an earlier turn.
    pub carried: bool,
    /// Its text, as the context gave it.
    pub text: String,
    /// The content of what the model was shown of it (title included, where the prompt prints titles).
    pub lexemes: Lexemes,
}

/// A marker that the conversation has bound, in this turn or an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownMarker {
    /// The marker, `A1`.
    pub marker: String,
    /// Name of the corpus.
    pub corpus: String,
    /// The document's key.
    pub doc_id: String,
    /// The passage's key.
    pub passage: String,
    /// Pages.
    pub pages: Option<Pages>,
    /// The context has the passage's key with another text: what the marker was bound to is not in it.
    pub replaced: bool,
}

/// A document that has to be looked up before a citation can be judged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DocumentRequest {
    /// Which document.
    pub target: Target,
    /// The pages whose passages are wanted; without them, passages of the whole document.
    pub pages: Option<Pages>,
}

/// How a document is asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// By what the answer calls it: an id, a title or an address.
    Name(String),
    /// By the first characters of its id, or of the id of one of its passages.
    Id(String),
    /// By a place: documents that have the work, with the passages that touch the place.
    Locator(LocatorRange),
    /// By its key.
    Document {
        /// Name of the corpus.
        corpus: String,
        /// The document's key.
        doc_id: String,
    },
}

/// A document that a request found. Several may answer one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedDocument {
    /// The request.
    pub asked: DocumentRequest,
    /// Name of the corpus.
    pub corpus: String,
    /// The document's key.
    pub doc_id: String,
    /// Title.
    pub title: Option<String>,
    /// Address.
    pub uri: Option<String>,
    /// Number of pages, where it has pages.
    pub page_count: Option<u32>,
    /// How far it goes by its locators, where it has any.
    #[serde(default)]
    pub bounds: Option<Bounds>,
    /// Passages at the asked pages or place.
    pub passages: Vec<NamedPassage>,
}

/// A passage of a document that was looked up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedPassage {
    /// The passage's key.
    pub passage: String,
    /// Pages it stands on.
    pub pages: Option<Pages>,
    /// Its text.
    pub text: String,
    /// Its content.
    pub lexemes: Lexemes,
}
