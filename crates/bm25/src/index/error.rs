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
    /// The page has another owner now.
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

impl IndexError {
    /// The error where no page can be reused meanwhile, so that another owner is damage: under the maintenance lock, and for the first two
    /// pages.
    #[must_use]
    pub fn without_reuse(self) -> Self {
        match self {
            Self::Reused { block } => Self::Corrupt {
                block,
                problem: "it has another owner",
            },
            other => other,
        }
    }
}

/// Result with an [`IndexError`].
pub type Result<T, E = IndexError> = std::result::Result<T, E>;
