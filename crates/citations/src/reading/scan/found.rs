//! A citation string in the text of an answer.

use std::ops::Range;

use crate::citation::ParsedCitation;

/// A citation string and its parsed content.
#[derive(Clone, Debug)]
pub(crate) struct FoundCitation {
    pub bytes: Range<usize>,
    pub parsed: ParsedCitation,
    pub scope: ClaimScope,
}

/// The text that a citation supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClaimScope {
    /// The sentence that contains the citation.
    Sentence,
    /// The bytes that its markup encloses.
    Enclosed(Range<usize>),
    /// The whole answer.
    Answer,
}
