//! Positions in a text, in bytes, characters and UTF-16 code units.

use reground_interrupt::check_interrupt;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A range of a text in bytes (UTF-8), characters (Unicode scalars, the unit of PostgreSQL) and UTF-16 code units
/// (the unit of browsers). All are half-open and start at 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// UTF-8 bytes.
    pub bytes: Range<usize>,
    /// Unicode scalar values.
    pub chars: Range<usize>,
    /// UTF-16 code units.
    pub utf16: Range<usize>,
}

/// Converts ascending byte ranges of one text in a single pass.
pub(crate) struct Ruler<'a> {
    text: &'a str,
    bytes: usize,
    chars: usize,
    utf16: usize,
}

impl<'a> Ruler<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            bytes: 0,
            chars: 0,
            utf16: 0,
        }
    }

    /// Returns the span of `bytes`. The range must be on character boundaries and must not start before the end of
    /// the previous one.
    pub(crate) fn span(&mut self, bytes: Range<usize>) -> Span {
        let start = self.advance(bytes.start);
        let end = self.advance(bytes.end);
        Span {
            bytes,
            chars: start.0..end.0,
            utf16: start.1..end.1,
        }
    }

    fn advance(&mut self, to: usize) -> (usize, usize) {
        let skipped = self.text.as_bytes().get(self.bytes..to).unwrap_or_default();
        check_interrupt(skipped.len());
        // Every byte that is not a continuation byte starts a scalar. A scalar of four bytes is a surrogate pair.
        let (scalars, pairs) = if skipped.is_ascii() {
            (skipped.len(), 0)
        } else {
            let scalars = count(skipped, |byte| byte & 0xC0 != 0x80);
            (scalars, count(skipped, |byte| byte >= 0xF0))
        };
        self.chars += scalars;
        self.utf16 += scalars + pairs;
        self.bytes = self.bytes.max(to);
        (self.chars, self.utf16)
    }
}

/// Counts the bytes that satisfy `is_such`. The partial sums fit into one byte, so that the compiler adds many at a
/// time.
fn count(bytes: &[u8], is_such: impl Fn(u8) -> bool) -> usize {
    let sums = bytes.chunks(usize::from(u8::MAX)).map(|chunk| {
        let sum: u8 = chunk.iter().map(|byte| u8::from(is_such(*byte))).sum();
        usize::from(sum)
    });
    sums.sum()
}
