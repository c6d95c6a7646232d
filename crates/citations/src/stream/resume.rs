//! The position at which the next call for a growing answer begins.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::citation::Ruler;
use crate::{MAX_CITATIONS, Span};

/// Where the next call for a growing answer can begin, and what it has to know about the text before. As text, it is a
/// value that a caller keeps from one call to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// Start of the rest, in bytes.
    pub bytes: usize,
    /// The same in characters.
    pub chars: usize,
    /// The same in UTF-16 code units.
    pub utf16: usize,
    /// Number of citations before it.
    pub citations: usize,
    /// Number of citations that were reported as final. Some of them may be in the rest.
    pub settled: usize,
    /// Whether the rest begins in a list of references.
    pub in_list: bool,
}

/// The text is not that of a [`Resume`], or the answer has no such position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a position of this answer")]
pub struct InvalidResume;

impl Resume {
    /// The position after a text.
    pub(super) fn after(text: &str) -> Self {
        let Span { chars, utf16, .. } = Ruler::new(text).span(text.len()..text.len());
        Self {
            bytes: text.len(),
            chars: chars.start,
            utf16: utf16.start,
            ..Self::default()
        }
    }
}

impl fmt::Display for Resume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            bytes,
            chars,
            utf16,
            citations,
            settled,
            in_list,
        } = self;
        let in_list = u8::from(*in_list);
        write!(f, "{bytes}.{chars}.{utf16}.{citations}.{settled}.{in_list}")
    }
}

impl FromStr for Resume {
    type Err = InvalidResume;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers: Result<Vec<u32>, _> = text.split('.').map(str::parse).collect();
        let numbers: Vec<usize> = numbers
            .map_err(|_| InvalidResume)?
            .into_iter()
            .filter_map(|number| usize::try_from(number).ok())
            .collect();
        let &[bytes, chars, utf16, citations, settled, in_list] = numbers.as_slice() else {
            return Err(InvalidResume);
        };
        let fits = chars <= utf16
            && utf16 <= bytes
            && citations <= MAX_CITATIONS
            && settled <= MAX_CITATIONS
            && in_list <= 1;
        let resume = Self {
            bytes,
            chars,
            utf16,
            citations,
            settled,
            in_list: in_list == 1,
        };
        fits.then_some(resume).ok_or(InvalidResume)
    }
}
