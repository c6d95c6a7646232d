//! Errors of an index.

use thiserror::Error;

/// The reason why an index cannot be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum IndexError {
    /// The bytes of a page are invalid.
    #[error("block {block} of the index is damaged: {problem}")]
    Corrupt {
        /// Block number of the page.
        block: u32,
        /// Description of the damage.
        problem: &'static str,
    },
    /// The page belongs to another segment now.
    #[error("block {block} of the index was reused while it was read")]
    Reused {
        /// Block number of the page.
        block: u32,
    },
    /// There are more segments, pages or documents than the format allows.
    #[error("the index is full: {problem}")]
    Full {
        /// Description of the limit.
        problem: &'static str,
    },
}

/// Result with an [`IndexError`].
pub type Result<T, E = IndexError> = std::result::Result<T, E>;
