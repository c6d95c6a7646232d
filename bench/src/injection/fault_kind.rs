//! The kinds of faults, by the failure modes that the extension names.

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A marker that no passage has.
    UnknownMarker,
    /// A number beyond those of the passages.
    NumberOutOfRange,
    /// The marker of another passage of the context, which does not hold the sentence.
    OtherPassage,
    /// Each marker of a sentence of several facts on another of them.
    Exchanged,
    /// The true marker under a sentence of another conversation.
    ForeignSentence,
    /// The true marker under the sentence with another number.
    ChangedNumber,
    /// The same with its verb denied.
    Denied,
    /// The same with another name.
    SwappedName,
    /// A page that the document does not have, of a document that was shown.
    PageBeyond,
    /// The same of a document of the corpus that was not shown.
    PageElsewhere,
    /// A marker of an earlier turn, which is not in the context.
    Stale,
}

impl FaultKind {
    /// Those that are put into single answers, in the order of the report.
    pub const IN_ANSWERS: [Self; 7] = [
        Self::UnknownMarker,
        Self::NumberOutOfRange,
        Self::OtherPassage,
        Self::ForeignSentence,
        Self::ChangedNumber,
        Self::Denied,
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
            Self::Denied => "negation inserted",
            Self::SwappedName => "name swapped",
            Self::PageBeyond => "page out of bounds, document shown",
            Self::PageElsewhere => "page out of bounds, document not shown",
            Self::Stale => "marker of an earlier turn",
        }
    }

    /// The failure mode that the extension should name; `None` where it has none for it.
    pub fn mode(self) -> Option<&'static str> {
        match self {
            Self::UnknownMarker
            | Self::NumberOutOfRange
            | Self::PageBeyond
            | Self::PageElsewhere => Some("fabricated_coordinate"),
            Self::OtherPassage | Self::Exchanged => Some("cross_text_conflation"),
            Self::ForeignSentence | Self::ChangedNumber | Self::Denied | Self::SwappedName => {
                Some("paraphrase_attribution")
            }
            Self::Stale => None,
        }
    }

    /// How many are injected. The first four are mixed 41 to 32 to 27 by their modes, as the failures were that the modes
    /// were found in; the others come on top.
    pub fn asked(self) -> usize {
        match self {
            Self::UnknownMarker | Self::NumberOutOfRange => 205,
            Self::OtherPassage => 320,
            Self::ForeignSentence => 270,
            _ => 200,
        }
    }
}
