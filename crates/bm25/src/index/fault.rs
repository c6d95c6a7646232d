//! What can be wrong with an index.

use thiserror::Error;

/// Why an index cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// Bytes that no version of this code wrote.
    #[error("block {block} of the index is damaged: {what}")]
    Corrupt {
        /// The page.
        block: u32,
        /// What was wrong.
        what: &'static str,
    },
    /// The page belongs to another segment by now.
    #[error("block {block} of the index was used again while it was read")]
    Moved {
        /// The page.
        block: u32,
    },
    /// More segments, pages or documents than the format can name.
    #[error("the index is full: {what}")]
    Full {
        /// What there is too much of.
        what: &'static str,
    },
}

/// What reading gives.
pub type Result<T, E = Fault> = std::result::Result<T, E>;
