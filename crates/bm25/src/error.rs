//! Errors in the input of this crate.

use thiserror::Error;

/// A malformed text search vector, or a parameter outside its range.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum Bm25Error {
    /// The payload ends before the entry table announced by its header.
    #[error("text search vector of {bytes} bytes is too short for {entries} entries")]
    EntryTable {
        /// Length of the payload in bytes.
        bytes: usize,
        /// Number of entries according to the header; it may be negative.
        entries: i64,
    },
    /// The lexeme or the positions of an entry lie outside the string area.
    #[error("entry {entry} of a text search vector points outside its {bytes} bytes of strings")]
    OutOfBounds {
        /// Index of the entry, from 0.
        entry: usize,
        /// Length of the string area in bytes.
        bytes: usize,
    },
    /// BM25's `k1` must be finite and not negative.
    #[error("BM25 k1 must be a finite number of at least 0, not {0}")]
    Saturation(f64),
    /// BM25's `b` must lie in [0, 1].
    #[error("BM25 b must lie between 0 and 1, not {0}")]
    LengthNormalisation(f64),
}
