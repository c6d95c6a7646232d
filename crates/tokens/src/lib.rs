#![forbid(unsafe_code)]
//! Exact o200k_base token counts.
//!
//! Every PostgreSQL backend is a process of its own. The usual library, `tiktoken-rs`, builds hash maps of the 200,000 tokens on
//! the heap of each process. This takes 42 MB per backend, and a quarter of a second at the first call. In this crate the
//! vocabulary is a hash table (4.3 MB) that the build script writes into the library's read-only data. The operating system maps
//! it once for all backends, and loads only the pages that are used. Each process still needs 1.6 MB for the compiled
//! pre-tokenisation pattern, and at most half a megabyte for the numbers of tokens of the texts that it has counted last.
//!
//! `tiktoken-rs` provides the vocabulary at build time and the expected values of the tests.
//!
//! Special tokens (`<|endoftext|>`) are treated as plain text.

mod merge;
mod merge_queue;
mod pieces;
mod recent;
mod vocabulary;

use merge::Merger;

/// Returns the number of o200k_base tokens of a text.
///
/// Takes O(n log n) time at worst, and linear time on ordinary text.
///
/// ```
/// assert_eq!(reground_tokens::count("hello world"), 2);
/// ```
pub fn count(text: &str) -> usize {
    let key = recent::key(text);
    recent::get(key).unwrap_or_else(|| {
        let mut tokens = 0;
        each_token_end(text, |_| tokens += 1);
        recent::put(key, tokens);
        tokens
    })
}

/// Returns the ends of the tokens, in bytes from the start of the text, strictly ascending. The last one is the text's length.
///
/// A token is a run of *bytes*, so an end can be inside a character (rare scripts and emoji take several tokens per character).
/// Before slicing, round with [`str::floor_char_boundary`] or [`str::ceil_char_boundary`].
///
/// ```
/// assert_eq!(reground_tokens::boundaries("hello world"), [5, 11]);
/// ```
pub fn boundaries(text: &str) -> Vec<usize> {
    let mut ends = Vec::with_capacity(text.len() / 4 + 1);
    each_token_end(text, |end| ends.push(end));
    ends
}

/// Bytes per token that few texts exceed.
const BYTES_PER_TOKEN: usize = 8;

/// The tokens at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// Number of tokens.
    pub tokens: usize,
    /// Bytes of the text that they cover. All of them, unless the text has more tokens.
    pub bytes: usize,
}

/// Returns the first `most` tokens of a text, or all if there are fewer. The rest of the text is not read, except the piece
/// (word, number, run of signs) that the last token belongs to.
///
/// ```
/// let prefix = reground_tokens::prefix("hello world, hello again", 2);
/// assert_eq!((prefix.tokens, prefix.bytes), (2, 11));
/// ```
pub fn prefix(text: &str, most: usize) -> Prefix {
    // A text of many more bytes probably has more tokens, and is not read as a whole.
    let key = (text.len() / BYTES_PER_TOKEN <= most)
        .then(|| recent::key(text))
        .flatten();
    if let Some(tokens) = recent::get(key).filter(|tokens| *tokens <= most) {
        return Prefix {
            tokens,
            bytes: text.len(),
        };
    }
    let mut merger = Merger::default();
    let mut prefix = Prefix {
        tokens: 0,
        bytes: 0,
    };
    let mut start = 0;
    for piece in pieces::pieces(text) {
        if prefix.tokens == most {
            break;
        }
        merger.tokens(piece.as_bytes(), |end| {
            if prefix.tokens < most {
                prefix.tokens += 1;
                prefix.bytes = start + end;
            }
        });
        start += piece.len();
    }
    if prefix.bytes == text.len() {
        recent::put(key, prefix.tokens);
    }
    prefix
}

fn each_token_end(text: &str, mut token_end: impl FnMut(usize)) {
    let mut merger = Merger::default();
    let mut start = 0;
    for piece in pieces::pieces(text) {
        merger.tokens(piece.as_bytes(), |end| token_end(start + end));
        start += piece.len();
    }
}
