//! The kinds of faults and the failure modes of the extension that they belong to.

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A marker without a passage.
    UnknownMarker,
    /// A number above those of the passages.
    NumberOutOfRange,
    /// The marker of another passage of the context, which does not contain the sentence.
    OtherPassage,
    /// A sentence with several facts whose markers are exchanged.
    Exchanged,
    /// A sentence of another conversation with the true marker.
    ForeignSentence,
    /// The sentence with a changed number and the true marker.
    ChangedNumber,
    /// The sentence with a negated verb and the true marker.
    Negated,
    /// The sentence with another name and the true marker.
    SwappedName,
    /// A page beyond the document, which was shown.
    PageBeyond,
    /// A page beyond a document of the corpus that was not shown.
    PageElsewhere,
    /// The marker of an earlier turn that is not in the context.
    Stale,
}

impl FaultKind {
    /// The kinds that change a single answer, in the order of the report.
    pub const IN_ANSWERS: [Self; 7] = [
        Self::UnknownMarker,
        Self::NumberOutOfRange,
        Self::OtherPassage,
        Self::ForeignSentence,
        Self::ChangedNumber,
        Self::Negated,
        Self::SwappedName,
    ];

    /// Its name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::UnknownMarker => "unknown marker",
            Self::NumberOutOfRange => "number out of range",
            Self::OtherPassage => "marker of another passage",
            Self::Exchanged => "markers of one sentence exchanged",
            Self::ForeignSentence => "invented content",
            Self::ChangedNumber => "number changed",
            Self::Negated => "negation inserted",
            Self::SwappedName => "name swapped",
            Self::PageBeyond => "page out of bounds, document shown",
            Self::PageElsewhere => "page out of bounds, document not shown",
            Self::Stale => "marker of an earlier turn",
        }
    }

    /// The failure mode that the extension should report; `None` if it has none.
    pub fn mode(self) -> Option<&'static str> {
        match self {
            Self::UnknownMarker
            | Self::NumberOutOfRange
            | Self::PageBeyond
            | Self::PageElsewhere => Some("fabricated_coordinate"),
            Self::OtherPassage | Self::Exchanged => Some("cross_text_conflation"),
            Self::ForeignSentence | Self::ChangedNumber | Self::Negated | Self::SwappedName => {
                Some("paraphrase_attribution")
            }
            Self::Stale => None,
        }
    }

    /// Number of injected faults. The first four kinds have the proportions 41 to 32 to 27 by mode, as in the source of the modes;
    /// the others are additional.
    pub fn injections(self) -> usize {
        match self {
            Self::UnknownMarker | Self::NumberOutOfRange => 205,
            Self::OtherPassage => 320,
            Self::ForeignSentence => 270,
            _ => 200,
        }
    }
}
