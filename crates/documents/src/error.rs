//! Errors of documents: invalid settings and coordinates.

use thiserror::Error;

/// Errors of this crate. Messages state the fact, and [`DocumentError::hint`] what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DocumentError {
    /// The chunk size is 0.
    #[error("chunk size is 0, the minimum is 1")]
    EmptyChunk,
    /// The overlap is not less than the size.
    #[error("chunk overlap {overlap} is not less than chunk size {size}")]
    OverlapTooLarge {
        /// The overlap, in the settings' unit.
        overlap: u32,
        /// The size, in the settings' unit.
        size: u32,
    },
    /// The text is neither a page nor a closed interval of pages.
    #[error("invalid page range \"{0}\"")]
    PageRange(String),
    /// Page starts are not ascending.
    #[error("page {page} starts at {start}, which is not after the start of the page before it")]
    PageOrder {
        /// The page, from 1.
        page: usize,
        /// Start of the page, in characters.
        start: usize,
    },
    /// The first page does not start at 0.
    #[error("page 1 does not start at 0")]
    FirstPage,
    /// The unit of chunking does not exist.
    #[error("unrecognized chunk unit \"{0}\"")]
    ChunkUnit(String),
    /// A chunk size, overlap or page start is negative.
    #[error("{0} is negative")]
    Negative(&'static str),
    /// The page count is less than 1.
    #[error("page count is {0}, the minimum is 1")]
    PageCount(i32),
    /// A page starts beyond the end of the text.
    #[error("page {page} starts at {start}, beyond the {length} characters of the text")]
    PageBeyondText {
        /// The page, from 1.
        page: usize,
        /// Start of the page, in characters.
        start: usize,
        /// Length of the text, in characters.
        length: usize,
    },
    /// The passages do not have the documented shape.
    #[error("passages are not an array of objects with content: {0}")]
    Passages(String),
    /// A passage has invalid coordinates.
    #[error("passage {ordinal} has invalid {coordinates}")]
    Coordinates {
        /// Position among the passages, from 0.
        ordinal: usize,
        /// The invalid coordinates.
        coordinates: &'static str,
    },
    /// A member of the metadata that has a meaning has another type.
    #[error("{member} in the metadata of passage {ordinal} is not {expected}")]
    Metadata {
        /// Position among the passages, from 0.
        ordinal: usize,
        /// The member.
        member: &'static str,
        /// What it must be.
        expected: &'static str,
    },
}

impl DocumentError {
    /// Returns what to do about the error.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::EmptyChunk | Self::OverlapTooLarge { .. } | Self::Negative(_) => {
                "The defaults are a size of 512 and an overlap of 128 tokens."
            }
            Self::ChunkUnit(_) => "Use tokens, characters or sentences.",
            Self::PageCount(_) => "Use at least 1, or NULL for a document without pages.",
            Self::PageRange(_) => "Write 12 or 12-14.",
            Self::PageOrder { .. } | Self::FirstPage | Self::PageBeyondText { .. } => {
                "page_starts must be ascending character offsets into content. The first must be 0."
            }
            Self::Metadata { .. } => {
                "{\"locator\": \"Genesis 1:1-5\", \"facts\": [\"…\", \"…\"]}. Give data of your own another name."
            }
            Self::Passages(_) | Self::Coordinates { .. } => {
                "[{\"content\": \"…\", \"page_start\": 1, \"page_end\": 2, \"char_start\": 0, \"char_end\": 99, \"metadata\": {}}]. Only content is required."
            }
        }
    }
}
