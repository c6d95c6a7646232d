//! Citations and their sources, as the shapes need them.

use std::ops::Range;

use serde_json::{Map, Value, json};

/// A source that an answer cites.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportedSource {
    /// Its position among the sources of the turn, from 0.
    pub index: usize,
    /// Its marker; `None` if it was not in the context.
    pub marker: Option<String>,
    /// Name of the corpus; empty for a passage of the application.
    pub corpus: String,
    /// The document.
    pub doc_id: String,
    /// The passage.
    pub chunk_id: Option<String>,
    /// Title of the document.
    pub title: Option<String>,
    /// Address of the document.
    pub uri: Option<String>,
}

/// A citation with a resolved source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportedCitation {
    /// Its id. Later citations of an answer have larger ids.
    pub citation_id: i64,
    /// The supported part of the displayed text, in bytes.
    pub range: Range<usize>,
    /// Index of its source.
    pub source: usize,
    /// The quote of the source.
    pub quote: Option<String>,
    /// Characters of the quote in the document.
    pub document: Option<Range<usize>>,
    /// First and last page of the quote.
    pub pages: Option<(u32, u32)>,
    /// The verdict.
    pub status: String,
    /// Whether the citation holds.
    pub holds: Option<bool>,
}

/// A citation with its source.
#[derive(Clone, Copy)]
pub(super) struct Cited<'a> {
    pub citation: &'a ExportedCitation,
    pub source: &'a ExportedSource,
}

impl ExportedSource {
    /// The title for readers.
    pub(super) fn name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.doc_id)
    }

    /// The address, if a browser can follow it safely: a link of another scheme could contain code.
    pub(super) fn url(&self) -> Option<&str> {
        let is_web = |uri: &&str| {
            let scheme = |scheme: &str| {
                uri.get(..scheme.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            };
            scheme("https://") || scheme("http://")
        };
        self.uri.as_deref().filter(is_web)
    }

    /// The fields of the source that identify it.
    pub(super) fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        let corpus = Some(self.corpus.as_str()).filter(|corpus| !corpus.is_empty());
        let doc_id = Some(self.doc_id.as_str());
        for (key, value) in [
            ("marker", self.marker.as_deref()),
            ("corpus", corpus),
            ("doc_id", doc_id),
            ("chunk_id", self.chunk_id.as_deref()),
        ] {
            if let Some(value) = value {
                fields.insert(key.to_owned(), json!(value));
            }
        }
        fields
    }
}

impl ExportedCitation {
    /// The fields of the citation that the shapes have no place for.
    pub(super) fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("citation_id".to_owned(), json!(self.citation_id));
        fields.insert("status".to_owned(), json!(self.status));
        fields.insert("holds".to_owned(), json!(self.holds));
        if let Some(quote) = &self.quote {
            fields.insert("quote".to_owned(), json!(quote));
        }
        fields
    }
}

impl Cited<'_> {
    /// The object `reground` of a citation.
    pub(super) fn extension(&self) -> Map<String, Value> {
        let mut fields = self.citation.fields();
        fields.extend(self.source.fields());
        fields
    }
}
