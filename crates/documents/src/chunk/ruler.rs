//! Measures text in the unit of the chunk settings.

use std::ops::Range;

use reground_interrupt::checked;

use super::{graphemes::Graphemes, settings::ChunkUnit};

/// Measures parts of one text.
///
/// For tokens, [`Ruler::reach`] and [`Ruler::back`] use the tokens of the whole text, which are computed once. A part of the text
/// can have other tokens at its edges, so these offsets are estimates, and [`Ruler::measure`] counts exactly. For the other
/// units all three are exact.
pub struct Ruler<'a> {
    text: &'a str,
    marks: Marks,
}

enum Marks {
    /// Ends of the whole text's tokens, in bytes.
    Tokens(Vec<usize>),
    Characters,
    /// Starts of the sentences, in bytes.
    Sentences(Vec<usize>),
}

impl<'a> Ruler<'a> {
    pub fn new(
        text: &'a str,
        unit: ChunkUnit,
        sentences: &[Range<usize>],
        graphemes: &Graphemes,
    ) -> Self {
        // A sentence can begin with a combining mark that belongs to the white space before it. They must not be separated.
        let start = |sentence: &Range<usize>| graphemes.floor(sentence.start, 0).unwrap_or(0);
        let marks = match unit {
            ChunkUnit::Tokens => Marks::Tokens(reground_tokens::boundaries(text)),
            ChunkUnit::Characters => Marks::Characters,
            ChunkUnit::Sentences => Marks::Sentences(checked(sentences).map(start).collect()),
        };
        Self { text, marks }
    }

    /// Returns the byte offset `budget` units after `start`, rounded to a character boundary at or after `start`.
    pub fn reach(&self, start: usize, budget: usize) -> usize {
        if budget == 0 {
            return start;
        }
        let length = self.text.len();
        match &self.marks {
            Marks::Tokens(ends) => {
                let first = ends.partition_point(|&end| end <= start);
                let end = ends
                    .get(first.saturating_add(budget - 1))
                    .map_or(length, |&end| end);
                self.text.floor_char_boundary(end).max(start)
            }
            Marks::Characters => self.text[start..]
                .char_indices()
                .nth(budget)
                .map_or(length, |(offset, _)| start + offset),
            Marks::Sentences(starts) => {
                let next = starts.partition_point(|&at| at <= start);
                starts
                    .get(next.saturating_add(budget - 1))
                    .map_or(length, |&at| at)
            }
        }
    }

    /// Returns the byte offset `budget` units before `end`, rounded to a character boundary at or before `end`.
    pub fn back(&self, end: usize, budget: usize) -> usize {
        if budget == 0 {
            return end;
        }
        match &self.marks {
            Marks::Tokens(ends) => {
                let last = ends.partition_point(|&at| at < end);
                let start = match (last + 1).checked_sub(budget) {
                    Some(first) if first > 0 => ends.get(first - 1).map_or(0, |&at| at),
                    _ => 0,
                };
                self.text.ceil_char_boundary(start).min(end)
            }
            Marks::Characters => self.text[..end]
                .char_indices()
                .rev()
                .nth(budget - 1)
                .map_or(0, |(offset, _)| offset),
            Marks::Sentences(starts) => {
                let before = starts.partition_point(|&at| at < end);
                before
                    .checked_sub(budget)
                    .and_then(|first| starts.get(first))
                    .map_or(0, |&at| at)
            }
        }
    }

    /// Returns the exact number of units in a range. For sentences, this is the number of sentences that the range touches.
    pub fn measure(&self, bytes: Range<usize>) -> usize {
        match &self.marks {
            Marks::Tokens(_) => reground_tokens::count(&self.text[bytes]),
            Marks::Characters => self.text[bytes].chars().count(),
            Marks::Sentences(starts) => {
                let begun = starts.partition_point(|&at| at <= bytes.start);
                starts
                    .partition_point(|&at| at < bytes.end)
                    .saturating_sub(begun)
                    + 1
            }
        }
    }
}
