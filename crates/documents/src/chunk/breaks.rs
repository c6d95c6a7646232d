//! Offsets at which chunks should preferably begin and end: between paragraphs, sentences and words.

use std::ops::Range;

use reground_interrupt::checked;

use super::graphemes::Graphemes;
use crate::sentences::is_heading;

/// Offsets in bytes at which a chunk can end and the next one can begin.
pub struct Breaks<'a> {
    text: &'a str,
    /// Sentence ends before a blank line, a form feed or a Markdown heading.
    paragraph_ends: Vec<usize>,
    /// All sentence ends, including those in `paragraph_ends`.
    sentence_ends: Vec<usize>,
    /// Sentence starts.
    sentence_starts: Vec<usize>,
}

impl<'a> Breaks<'a> {
    pub fn new(text: &'a str, sentences: &[Range<usize>], graphemes: &Graphemes) -> Self {
        let mut breaks = Self {
            text,
            paragraph_ends: Vec::new(),
            sentence_ends: Vec::new(),
            sentence_starts: Vec::new(),
        };
        for (at, sentence) in checked(sentences.iter().enumerate()) {
            if graphemes.is_boundary(sentence.start) {
                breaks.sentence_starts.push(sentence.start);
            }
            // A heading stays with the text after it.
            if is_heading(&text[sentence.clone()]) || !graphemes.is_boundary(sentence.end) {
                continue;
            }
            breaks.sentence_ends.push(sentence.end);
            let Some(next) = sentences.get(at + 1) else {
                continue;
            };
            let gap = &text[sentence.end..next.start];
            if gap.contains(['\u{c}', '\u{2029}'])
                || gap.bytes().filter(|&byte| byte == b'\n').count() > 1
                || is_heading(&text[next.clone()])
            {
                breaks.paragraph_ends.push(sentence.end);
            }
        }
        breaks
    }

    /// Returns the best end of a chunk in `min..=max`: the last end of a paragraph, otherwise of a sentence, otherwise of a word.
    pub fn end_within(&self, min: usize, max: usize, graphemes: &Graphemes) -> Option<usize> {
        let last = |ends: &[usize]| {
            let index = ends.partition_point(|&end| end <= max).checked_sub(1)?;
            ends.get(index).copied().filter(|&end| end >= min)
        };
        last(&self.paragraph_ends)
            .or_else(|| last(&self.sentence_ends))
            .or_else(|| {
                let after = self.text[max..].chars().next();
                if after.is_none_or(char::is_whitespace) && graphemes.is_boundary(max) {
                    return Some(max);
                }
                let space = |(offset, c): (usize, char)| c.is_whitespace().then_some(min + offset);
                let mut spaces = self.text[min..max].char_indices().rev().filter_map(space);
                spaces.find(|&space| graphemes.is_boundary(space))
            })
    }

    /// Returns the best start of a chunk in a half-open range: the first start of a sentence, otherwise of a word.
    pub fn start_within(&self, range: Range<usize>, graphemes: &Graphemes) -> Option<usize> {
        let sentence = self
            .sentence_starts
            .partition_point(|&start| start < range.start);
        if let Some(&start) = self
            .sentence_starts
            .get(sentence)
            .filter(|&&start| start < range.end)
        {
            return Some(start);
        }
        let mut before = self.text[..range.start].chars().next_back();
        for (offset, character) in self.text[range.clone()].char_indices() {
            let start = range.start + offset;
            let after_space = before.is_none_or(char::is_whitespace);
            if after_space && !character.is_whitespace() && graphemes.is_boundary(start) {
                return Some(start);
            }
            before = Some(character);
        }
        None
    }
}
