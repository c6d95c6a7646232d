//! Finds the citation strings of an answer in one pass.

mod brackets;
mod custom_forms;
mod found;
mod links;
mod numbered_words;
mod private_use;
mod raised;
mod scanner;
mod tags;
mod trailing_list;

use std::ops::Range;

use reground_interrupt::{Block, between, find, one_of};

use crate::Grammar;
use crate::reading::code_spans::non_prose_spans;
use crate::reading::forms::Notes;
use brackets::Bracket;
pub(crate) use found::{ClaimScope, FoundCitation};
use scanner::Scanner;

/// Returns all citation strings, in order and disjoint, and the number of cited sources beyond
/// [`MAX_CITATIONS`](crate::MAX_CITATIONS), which are left out.
///
/// The pass is linear. It skips to the next byte that may begin a citation. The look-ahead of a bracket is bounded:
/// it ends at the next bracket or the end of the line, and a bracket that ends it does not repeat it.
pub(crate) fn scan(text: &str, grammar: &Grammar) -> (Vec<FoundCitation>, usize) {
    let hidden = non_prose_spans(text);
    let notes = Notes::of(text);
    let mut scanner = Scanner {
        text,
        grammar,
        trailing: trailing_list::find(text),
        found: Vec::new(),
        listed: 0,
        omitted: 0,
        index_end: None,
        open: Vec::new(),
        notes,
    };
    let mut start = 0;
    for hidden in &hidden {
        scanner.prose(start..hidden.start);
        start = hidden.end;
    }
    scanner.prose(start..text.len());
    scanner.custom_forms(&hidden);
    (scanner.found, scanner.omitted)
}

/// Finds a byte that may begin a citation, and the end of a word that a number makes a citation: `ref3`, `Source 1`,
/// `turn0search0`.
#[inline]
fn may_cite(block: Block, next: Block) -> Block {
    // The last five are the first bytes of: ¹²³; ① and ⁴; 【 and ㉑; private use; ［ and （.
    let opens = one_of(block, *b"[(<{\xC2\xE2\xE3\xEE\xEF");
    opens | one_of(block, *b"f n") & between(next, b'0', b'9')
}

impl Scanner<'_> {
    fn prose(&mut self, range: Range<usize>) {
        let bytes = &self.text.as_bytes()[..range.end];
        let mut at = range.start;
        let next = |at| find(bytes.get(at..)?, may_cite);
        while let Some(step) = next(at) {
            at += step;
            at = match bytes[at] {
                b'[' | b'(' => self.bracket(at, range.end),
                b'<' => self.tag(at, range.end),
                b'{' => self.braces(at, range.end),
                b'f' | b' ' | b'n' => self.word(at + 1, range.start, range.end),
                _ => self.wide(at, range.end),
            };
        }
    }

    fn bracket(&mut self, at: usize, limit: usize) -> usize {
        match Bracket::opening(&self.text.as_bytes()[at..]) {
            Some(Bracket::Square { width }) => self.square(at, width, limit),
            Some(Bracket::Round { width }) => self.round(at, width, limit),
            None => at + 1,
        }
    }

    /// Reads a character of several bytes.
    fn wide(&mut self, at: usize, limit: usize) -> usize {
        match &self.text.as_bytes()[at..limit] {
            [0xE3, 0x80, 0x90, ..] | [0xEF, 0xBC, 0xBB | 0x88, ..] => self.bracket(at, limit),
            [0xC2, 0xB2 | 0xB3 | 0xB9, ..] | [0xE2, 0x81, 0xB0..=0xB9, ..] => {
                self.superscript(at, limit)
            }
            [0xE2, 0x91, 0xA0..=0xB3, ..] | [0xE3, 0x89 | 0x8A, ..] => self.circled(at, limit),
            [0xEE, 0x88, 0x80, ..] => self.private_use(at, limit),
            _ => at + 2,
        }
    }
}
