//! A citation string in the text of an answer.

use std::ops::Range;

use crate::citation::ParsedCitation;

/// A citation string and what it names.
#[derive(Clone, Debug)]
pub(crate) struct FoundCitation {
    pub bytes: Range<usize>,
    pub parsed: ParsedCitation,
    pub supports: ClaimScope,
}

/// What a citation is said to support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClaimScope {
    /// The sentence that it stands on.
    Sentence,
    /// What its markup encloses, in bytes.
    Enclosed(Range<usize>),
    /// The whole answer.
    Answer,
}
