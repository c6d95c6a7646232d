//! The result of judging a citation.

use serde::{Deserialize, Serialize};

use super::status::Status;
use crate::{Interval, NamedDocument, NamedPassage, Quote, Source, SupportParts};

/// The verdict on one citation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The status. It alone determines score, failure mode and diagnostic.
    pub status: Status,
    /// The cited place, if it exists.
    pub place: Option<Place>,
    /// Index of the cited source in the context.
    pub source: Option<usize>,
    /// How exactly the string names a place of the context, in [0, 1]; `None` if it could not be read.
    pub coordinate_fidelity: Option<f64>,
    /// Support of the claim by the place, in [0, 1]; `None` without a claim, content or place.
    pub support: Option<f64>,
    /// The components of the support.
    pub parts: Option<SupportParts>,
    /// For a citation of the answer: the support of its statements. `support` and `parts` are those of the statement with the
    /// highest support.
    pub answer: Option<AnswerSupport>,
    /// The sentence at the place that is nearest to the claim.
    pub quote: Option<Quote>,
    /// The source of the context that supports the claim best among those that are not cited for it.
    pub best_other: Option<BestOther>,
    /// Whether the reference had to be repaired before it could be resolved.
    pub repaired: bool,
    /// Details that the status does not contain.
    pub detail: Option<Detail>,
}

/// The support of the statements of an answer by one source.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerSupport {
    /// Number of statements with content.
    pub statements: usize,
    /// Number of these that the source supports, alone or with the other sources of the same list.
    pub supported: usize,
    /// `supported` over `statements`, in [0, 1].
    pub share: f64,
    /// Mean support by the source alone, in [0, 1].
    pub mean: f64,
}

/// The place that a citation names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Name of the corpus.
    pub corpus: String,
    /// Id of the document.
    pub doc_id: String,
    /// Id of the passage, if the place is one passage.
    pub chunk_id: Option<String>,
    /// The claimed pages, otherwise the pages of the passage.
    pub pages: Option<Interval>,
    /// Place of the passage in its document for readers, if it was looked up.
    pub locator: Option<String>,
    /// Title of the document.
    pub title: Option<String>,
    /// Address of the document.
    pub uri: Option<String>,
}

/// A source that would have been a better choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestOther {
    /// Index in the context.
    pub source: usize,
    /// Its marker.
    pub marker: String,
    /// Its support of the claim, in [0, 1].
    pub support: f64,
}

/// A detail that the status does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// The document is valid, the place is not in the context.
    Unretrieved,
    /// The document is valid, the content is not at the place.
    InvalidPage,
    /// The marker belongs to an earlier turn.
    StaleTurn,
    /// The citation names only the document, or its place cannot be checked.
    DocumentOnly,
    /// Only some of the claimed pages are in the context.
    PagesPartlyInContext,
    /// The quote that the API returned is not in the source.
    QuoteNotFound,
    /// The cited sources support the claim together, this one alone does not.
    HeldJointly,
    /// The reason why the string is malformed.
    Malformed(crate::Malformed),
}

impl Detail {
    /// The stable name that is stored and shown.
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
            answer: None,
            quote: None,
            best_other: None,
            repaired: false,
            detail: None,
        }
    }
}

impl Place {
    /// The passage of a source, with the claimed pages or its own.
    pub(super) fn of_source(source: &Source, pages: Option<Interval>) -> Self {
        Self {
            corpus: source.corpus.clone(),
            doc_id: source.doc_id.clone(),
            chunk_id: Some(source.chunk_id.clone()),
            pages: pages.or(source.pages),
            locator: None,
            title: source.title.clone(),
            uri: source.uri.clone(),
        }
    }

    /// A document, or one of its passages.
    pub(super) fn of_document(
        document: &NamedDocument,
        passage: Option<&NamedPassage>,
        pages: Option<Interval>,
    ) -> Self {
        Self {
            corpus: document.corpus.clone(),
            doc_id: document.doc_id.clone(),
            chunk_id: passage.map(|passage| passage.chunk_id.clone()),
            pages,
            locator: passage.and_then(|passage| passage.locator.clone()),
            title: document.title.clone(),
            uri: document.uri.clone(),
        }
    }
}
