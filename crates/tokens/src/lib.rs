#![forbid(unsafe_code)]
//! Exact o200k_base token counts.
//!
//! Every Postgres backend is a process of its own. `tiktoken-rs`, the usual library, builds hash maps of the 200,000
//! tokens on the heap of each process: 42 MB that no two backends share, and a quarter of a second at the first call.
//! Here the vocabulary is a hash table laid out by the build script in the library's read-only data (4.3 MB): the
//! operating system maps it once for all backends and reads in only the pages that are touched. What remains per
//! process is the compiled pre-tokenisation pattern, 1.6 MB.
//!
//! `tiktoken-rs` is the source of the vocabulary at build time and the oracle of the tests.
//!
//! Special tokens (`<|endoftext|>`) are read as the plain text that they are in a document.

mod merge;
mod offers;
mod pieces;
mod vocabulary;

use merge::Merger;

/// Number of o200k_base tokens of a text.
///
/// n log n in its length at worst, linear on ordinary text.
///
/// ```
/// assert_eq!(reground_tokens::count("hello world"), 2);
/// ```
pub fn count(text: &str) -> usize {
    let mut tokens = 0;
    each_token_end(text, |_| tokens += 1);
    tokens
}

/// Ends of the tokens of a text, in bytes from its start, strictly ascending; the last one is the text's length.
///
/// A token is a run of *bytes*: an end may lie inside a character (rare scripts and emoji take several tokens a
/// character). Before slicing, snap to a boundary with [`str::floor_char_boundary`] or [`str::ceil_char_boundary`].
///
/// ```
/// assert_eq!(reground_tokens::boundaries("hello world"), [5, 11]);
/// ```
pub fn boundaries(text: &str) -> Vec<usize> {
    let mut ends = Vec::with_capacity(text.len() / 4 + 1);
    each_token_end(text, |end| ends.push(end));
    ends
}

fn each_token_end(text: &str, mut token_end: impl FnMut(usize)) {
    let mut merger = Merger::default();
    let mut start = 0;
    for piece in pieces::pieces(text) {
        merger.tokens(piece.as_bytes(), |end| token_end(start + end));
        start += piece.len();
    }
}
