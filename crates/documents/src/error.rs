//! What can be wrong with a document's settings or coordinates.

use thiserror::Error;

/// Errors of this crate. Messages state the fact; what to do is for the caller to say.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DocumentError {
    /// A chunk must hold something.
    #[error("chunk size is 0, the least is 1")]
    EmptyChunk,
    /// A chunk must go beyond the one before it.
    #[error("chunk overlap {overlap} is not less than chunk size {size}")]
    OverlapTooLarge {
        /// The asked overlap, in the settings' unit.
        overlap: u32,
        /// The asked size, in the settings' unit.
        size: u32,
    },
    /// Not a page or a closed interval of pages.
    #[error("\"{0}\" is no page range")]
    PageRange(String),
    /// Page starts are character offsets that begin with 0 and ascend.
    #[error("page {page} starts at {start}, which is not after the start of the page before it")]
    PageOrder {
        /// The page, 1-based.
        page: usize,
        /// Its start, in characters.
        start: usize,
    },
    /// The first page holds the beginning of the text.
    #[error("page 1 does not start at 0")]
    FirstPage,
    /// A unit of chunking that does not exist.
    #[error("\"{0}\" is no unit of chunking")]
    ChunkUnit(String),
    /// A chunk size, overlap or page start that is negative.
    #[error("{0} is negative")]
    Negative(&'static str),
    /// A document has at least one page.
    #[error("a document of {0} pages")]
    PageCount(i32),
    /// A page starts beyond the end of the text.
    #[error("page {page} starts at {start}, beyond the {length} characters of the text")]
    PageBeyondText {
        /// The page, 1-based.
        page: usize,
        /// Its start, in characters.
        start: usize,
        /// The text's length, in characters.
        length: usize,
    },
    /// Passages that are not of the documented shape.
    #[error("passages are not an array of objects with a text: {0}")]
    Passages(String),
    /// A passage whose coordinates cannot be.
    #[error("passage {ordinal} has impossible {coordinates}")]
    Coordinates {
        /// Place among the given passages, from 0.
        ordinal: usize,
        /// Which coordinates.
        coordinates: &'static str,
    },
}

impl DocumentError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::EmptyChunk | Self::OverlapTooLarge { .. } | Self::Negative(_) => {
                "The defaults are a size of 512 and an overlap of 128 tokens."
            }
            Self::ChunkUnit(_) => "One of tokens, characters, sentences.",
            Self::PageCount(_) => "1 or more, or NULL for a document without pages.",
            Self::PageRange(_) => "Write 12 or 12-14.",
            Self::PageOrder { .. } | Self::FirstPage | Self::PageBeyondText { .. } => {
                "page_starts are ascending character offsets into content, the first one 0."
            }
            Self::Passages(_) | Self::Coordinates { .. } => {
                "[{\"text\": \"…\", \"page_start\": 1, \"page_end\": 2, \"char_start\": 0, \"char_end\": 99, \"metadata\": {}}], only text required."
            }
        }
    }
}
