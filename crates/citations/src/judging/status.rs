//! The statuses of a citation and everything that follows from them. The SQL table `citation_statuses` has the same
//! content.

use serde::{Deserialize, Serialize};

/// The result of judging a citation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Names a source that this turn retrieved, or a pinned one.
    ResolvedCurrent,
    /// Names a source carried into the context from an earlier turn.
    ResolvedCarried,
    /// Names a source of the context, but another one contains the content.
    WrongSource,
    /// Names a source of the context that does not contain the content.
    Unsupported,
    /// The content is spread over several sources, and not all of them are cited.
    InsufficientAttribution,
    /// The place exists and contains the content, but was not in the context.
    Unretrieved,
    /// The document has the place, but the content is not there.
    InvalidPage,
    /// A marker of the conversation whose source is not in this turn's context.
    StaleTurn,
    /// A page that the document does not have.
    OutOfBounds,
    /// An id that exists nowhere.
    UnknownId,
    /// A title in prose that fits one source.
    Imprecise,
    /// Meant as a citation, but not readable as one.
    Malformed,
    /// Author and year, or a source that the reader may no longer read.
    Unresolvable,
}

/// The way in which a citation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureMode {
    /// The place does not exist.
    FabricatedCoordinate,
    /// The content belongs to another source.
    CrossTextConflation,
    /// The place is right, but the content is not there.
    ParaphraseAttribution,
}

/// The four outcomes of verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Diagnostic {
    /// Score 1.0.
    ExactContextMatch,
    /// Score 0.3.
    ValidDocInvalidPageOrUnretrieved,
    /// Score 0.0.
    HallucinatedPageExceedsDocumentBounds,
    /// Score 0.0.
    HallucinatedDocumentId,
}

impl Status {
    /// All statuses, in the order of the table.
    pub const ALL: [Self; 13] = [
        Self::ResolvedCurrent,
        Self::ResolvedCarried,
        Self::WrongSource,
        Self::Unsupported,
        Self::InsufficientAttribution,
        Self::Unretrieved,
        Self::InvalidPage,
        Self::StaleTurn,
        Self::OutOfBounds,
        Self::UnknownId,
        Self::Imprecise,
        Self::Malformed,
        Self::Unresolvable,
    ];

    /// The stable name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ResolvedCurrent => "resolved_current",
            Self::ResolvedCarried => "resolved_carried",
            Self::WrongSource => "wrong_source",
            Self::Unsupported => "unsupported",
            Self::InsufficientAttribution => "insufficient_attribution",
            Self::Unretrieved => "unretrieved",
            Self::InvalidPage => "invalid_page",
            Self::StaleTurn => "stale_turn",
            Self::OutOfBounds => "out_of_bounds",
            Self::UnknownId => "unknown_id",
            Self::Imprecise => "imprecise",
            Self::Malformed => "malformed",
            Self::Unresolvable => "unresolvable",
        }
    }

    /// Returns whether the citation holds; `None` if that cannot be decided.
    pub const fn holds(self) -> Option<bool> {
        match self {
            Self::ResolvedCurrent | Self::ResolvedCarried | Self::Imprecise => Some(true),
            Self::Malformed | Self::Unresolvable => None,
            _ => Some(false),
        }
    }

    /// Returns the score of the coordinates, in [0, 1]. `None` is excluded from all means.
    pub const fn score(self) -> Option<f64> {
        match self.diagnostic() {
            Some(Diagnostic::ExactContextMatch) => Some(1.0),
            Some(Diagnostic::ValidDocInvalidPageOrUnretrieved) => Some(0.3),
            Some(
                Diagnostic::HallucinatedPageExceedsDocumentBounds
                | Diagnostic::HallucinatedDocumentId,
            ) => Some(0.0),
            None => None,
        }
    }

    /// Returns the failure mode, if the status is a failure.
    pub const fn mode(self) -> Option<FailureMode> {
        match self {
            Self::WrongSource => Some(FailureMode::CrossTextConflation),
            Self::Unsupported => Some(FailureMode::ParaphraseAttribution),
            Self::OutOfBounds | Self::UnknownId => Some(FailureMode::FabricatedCoordinate),
            _ => None,
        }
    }

    /// Returns the outcome of verification.
    pub const fn diagnostic(self) -> Option<Diagnostic> {
        match self {
            Self::ResolvedCurrent
            | Self::ResolvedCarried
            | Self::WrongSource
            | Self::Unsupported
            | Self::InsufficientAttribution
            | Self::Imprecise => Some(Diagnostic::ExactContextMatch),
            Self::Unretrieved | Self::InvalidPage | Self::StaleTurn => {
                Some(Diagnostic::ValidDocInvalidPageOrUnretrieved)
            }
            Self::OutOfBounds => Some(Diagnostic::HallucinatedPageExceedsDocumentBounds),
            Self::UnknownId => Some(Diagnostic::HallucinatedDocumentId),
            Self::Malformed | Self::Unresolvable => None,
        }
    }

    /// Returns a description for users, the same as `reground.citation_statuses.meaning`.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::ResolvedCurrent => "names a source that this turn brought into the context",
            Self::ResolvedCarried => "names a source carried into the context from an earlier turn",
            Self::WrongSource => {
                "names a source of the context, but another one contains the content"
            }
            Self::Unsupported => "names a source of the context that does not contain the content",
            Self::InsufficientAttribution => {
                "the content spans several sources, not all of them cited"
            }
            Self::Unretrieved => {
                "the place exists and contains the content, but was not in the context"
            }
            Self::InvalidPage => "the place exists, but the content is not there",
            Self::StaleTurn => {
                "names a marker of this conversation whose source is not in the context of this turn"
            }
            Self::OutOfBounds => "names a place that the document does not have",
            Self::UnknownId => "names an id that does not exist",
            Self::Imprecise => "names a source loosely, in prose, and exactly one source fits",
            Self::Malformed => "looks like a citation, but cannot be parsed",
            Self::Unresolvable => {
                "names only author and year, or a source that may no longer be read"
            }
        }
    }
}

impl FailureMode {
    /// The stable name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FabricatedCoordinate => "fabricated_coordinate",
            Self::CrossTextConflation => "cross_text_conflation",
            Self::ParaphraseAttribution => "paraphrase_attribution",
        }
    }
}

impl Diagnostic {
    /// The stable name that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExactContextMatch => "exact_context_match",
            Self::ValidDocInvalidPageOrUnretrieved => "valid_doc_invalid_page_or_unretrieved",
            Self::HallucinatedPageExceedsDocumentBounds => {
                "hallucinated_page_exceeds_document_bounds"
            }
            Self::HallucinatedDocumentId => "hallucinated_document_id",
        }
    }
}
