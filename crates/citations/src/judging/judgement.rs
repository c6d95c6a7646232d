//! What is said of a citation.

use serde::{Deserialize, Serialize};

use super::status::Status;
use crate::{NamedDocument, Pages, Quote, Source, SupportParts};

/// The verdict on one citation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// What became of it; score, mode and diagnostic follow from this alone.
    pub status: Status,
    /// What it names, where that exists.
    pub place: Option<Place>,
    /// The source of the context that it names, by index.
    pub source: Option<usize>,
    /// How exactly the string names a place of the context, in [0, 1]; `None` where it could not be read.
    pub coordinate_fidelity: Option<f64>,
    /// How far the place supports the claim, in [0, 1]; `None` without a claim, content or place.
    pub support: Option<f64>,
    /// What the support is made of.
    pub parts: Option<SupportParts>,
    /// The sentence at the place that comes nearest to the claim.
    pub quote: Option<Quote>,
    /// The source of the context, not cited for this claim, that supports it best.
    pub best_other: Option<BestOther>,
    /// Whether what it names had to be put right first.
    pub repaired: bool,
    /// What the status leaves open.
    pub detail: Option<Detail>,
}

/// The place that a citation names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Name of the corpus.
    pub corpus: String,
    /// The document's key.
    pub doc_id: String,
    /// The passage's key, where the place is one passage.
    pub passage: Option<String>,
    /// The claimed pages, or else those of the passage.
    pub pages: Option<Pages>,
    /// Title of the document.
    pub title: Option<String>,
    /// Address of the document.
    pub uri: Option<String>,
}

/// A source that would have been the better one to cite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestOther {
    /// Its index in the context.
    pub source: usize,
    /// Its marker.
    pub marker: String,
    /// Its support of the claim, in [0, 1].
    pub support: f64,
}

/// What a status alone does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// I5: valid document, place not in the context.
    Unretrieved,
    /// I5: valid document, the content is not at the place.
    InvalidPage,
    /// The marker belongs to an earlier turn.
    StaleTurn,
    /// The document is named, not the place, or the place cannot be checked.
    DocumentOnly,
    /// Only some of the claimed pages were in the context.
    PagesPartlyInContext,
    /// What the API says that the source says is not in it.
    QuoteNotFound,
    /// Held by the citations of the claim together, not by this one alone.
    HeldJointly,
    /// What is wrong with the string.
    Malformed(crate::Malformed),
}

impl Detail {
    /// The stable text that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unretrieved => "unretrieved",
            Self::InvalidPage => "invalid_page",
            Self::StaleTurn => "stale_turn",
            Self::DocumentOnly => "document_only",
            Self::PagesPartlyInContext => "pages_partly_in_context",
            Self::QuoteNotFound => "quote_not_found",
            Self::HeldJointly => "held_jointly",
            Self::Malformed(why) => why.as_str(),
        }
    }
}

impl Judgement {
    pub(super) fn of(status: Status, place: Option<Place>) -> Self {
        Self {
            status,
            place,
            source: None,
            coordinate_fidelity: None,
            support: None,
            parts: None,
            quote: None,
            best_other: None,
            repaired: false,
            detail: None,
        }
    }
}

impl Place {
    /// The passage of a source, on the pages claimed or its own.
    pub(super) fn of_source(source: &Source, pages: Option<Pages>) -> Self {
        Self {
            corpus: source.corpus.clone(),
            doc_id: source.doc_id.clone(),
            passage: Some(source.passage.clone()),
            pages: pages.or(source.pages),
            title: source.title.clone(),
            uri: source.uri.clone(),
        }
    }

    /// A document, or a passage of it.
    pub(super) fn of_document(
        document: &NamedDocument,
        passage: Option<&String>,
        pages: Option<Pages>,
    ) -> Self {
        Self {
            corpus: document.corpus.clone(),
            doc_id: document.doc_id.clone(),
            passage: passage.cloned(),
            pages,
            title: document.title.clone(),
            uri: document.uri.clone(),
        }
    }
}
