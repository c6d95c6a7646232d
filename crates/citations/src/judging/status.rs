//! The verdicts on a citation, and all that follows from each: the one table that SQL's `citation_statuses` repeats.

use serde::{Deserialize, Serialize};

/// What became of a citation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Names a source that this turn retrieved or that was pinned.
    ResolvedCurrent,
    /// Names a source carried into the context from an earlier turn.
    ResolvedCarried,
    /// Names a source of the context, but the content stands in another one.
    WrongSource,
    /// Names a source of the context that does not hold the content.
    Unsupported,
    /// The content spans several sources of which not all are cited.
    InsufficientAttribution,
    /// The place exists and holds the content, but was not in the context.
    Unretrieved,
    /// The document has the place, and the content is not there.
    InvalidPage,
    /// A marker of the conversation whose source is not in this turn's context.
    StaleTurn,
    /// A page that the document does not have.
    OutOfBounds,
    /// An id that exists nowhere.
    UnknownId,
    /// A mention in prose that fits one source.
    Imprecise,
    /// Meant as a citation, not readable as one.
    Malformed,
    /// Author and year.
    Unresolvable,
}

/// How a citation fails (D8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureMode {
    /// The place was made up.
    FabricatedCoordinate,
    /// The content belongs to another source.
    CrossTextConflation,
    /// The place is right and the content is made up.
    ParaphraseAttribution,
}

/// I5's four outcomes of verification.
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
    /// Every status, in the order of the table.
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

    /// The stable text that is stored and shown.
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

    /// Whether the citation held; `None` where that cannot be said.
    pub const fn holds(self) -> Option<bool> {
        match self {
            Self::ResolvedCurrent | Self::ResolvedCarried | Self::Imprecise => Some(true),
            Self::Malformed | Self::Unresolvable => None,
            _ => Some(false),
        }
    }

    /// I5's score of the coordinates, in [0, 1]; `None` stays outside every mean.
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

    /// D8's failure mode, where the status is one.
    pub const fn mode(self) -> Option<FailureMode> {
        match self {
            Self::WrongSource => Some(FailureMode::CrossTextConflation),
            Self::Unsupported => Some(FailureMode::ParaphraseAttribution),
            Self::OutOfBounds | Self::UnknownId => Some(FailureMode::FabricatedCoordinate),
            _ => None,
        }
    }

    /// I5's diagnostic.
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

    /// A sentence for people.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::ResolvedCurrent => "names a source that this turn brought into the context",
            Self::ResolvedCarried => "names a source carried into the context from an earlier turn",
            Self::WrongSource => "names a source of the context, but another one holds the content",
            Self::Unsupported => "names a source of the context that does not hold the content",
            Self::InsufficientAttribution => {
                "the content spans several sources, not all of them cited"
            }
            Self::Unretrieved => {
                "the place exists and holds the content, but was not in the context"
            }
            Self::InvalidPage => "the document has the place, but the content is not there",
            Self::StaleTurn => {
                "a marker of this conversation whose source is not in this turn's context"
            }
            Self::OutOfBounds => "a place that the document does not have",
            Self::UnknownId => "an id that exists nowhere",
            Self::Imprecise => "a mention in prose that fits one source",
            Self::Malformed => "meant as a citation, but not readable as one",
            Self::Unresolvable => "author and year, from which no document follows",
        }
    }
}

impl FailureMode {
    /// The stable text that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FabricatedCoordinate => "fabricated_coordinate",
            Self::CrossTextConflation => "cross_text_conflation",
            Self::ParaphraseAttribution => "paraphrase_attribution",
        }
    }
}

impl Diagnostic {
    /// I5's text.
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
