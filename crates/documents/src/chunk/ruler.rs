//! Lengths in the unit of the settings: how far a budget reaches, and how much a stretch of text measures.

use std::ops::Range;

use reground_interrupt::checked;

use super::{ChunkUnit, graphemes::Graphemes};

/// Measures one text.
///
/// For tokens, [`Ruler::reach`] and [`Ruler::back`] read the tokenisation of the whole text, made once. A stretch of
/// it on its own may come to other tokens at its edges, so they are estimates, and [`Ruler::measure`] counts anew.
/// For the other units all three are exact.
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
        // A sentence may begin with a mark that sits on the white space before it; a cut must not part them.
        let start = |sentence: &Range<usize>| graphemes.floor(sentence.start, 0).unwrap_or(0);
        let marks = match unit {
            ChunkUnit::Tokens => Marks::Tokens(reground_tokens::boundaries(text)),
            ChunkUnit::Characters => Marks::Characters,
            ChunkUnit::Sentences => Marks::Sentences(checked(sentences).map(start).collect()),
        };
        Self { text, marks }
    }

    /// The byte offset that `budget` units from `start` reach, on a character boundary at or after `start`.
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

    /// The byte offset from which `budget` units lead to `end`, on a character boundary at or before `end`.
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

    /// Units in a stretch of text, exactly; of sentences, those of the document that it touches.
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
