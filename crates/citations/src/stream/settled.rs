//! Finds the settled part of an unfinished answer.

use std::ops::Range;

use reground_interrupt::{Steps, checked};

use super::open_code::{certain, prose};
use super::open_words::open_words;
use crate::Grammar;
use crate::reading::code_spans::non_prose_spans;
use crate::reading::forms::MAX_INSIDE;

/// Longest address of a link, in bytes. Longer ones are not recognised.
const MAX_ADDRESS: usize = 2048;
/// Number of bytes after a bracket that decide whether it is an index: ` = `.
const INDEX_SIGNS: usize = 3;
/// Longest address before which the line of a link definition is searched for, in bytes.
const MAX_WORD: usize = 64;
/// Longest private-use sequence, in bytes.
const MAX_PRIVATE: usize = 1024;
/// Prefixes of the address of a link definition.
const ADDRESSES: [&[u8]; 6] = [b"http", b"www.", b"<", b"/", b"#", b"mailto:"];

/// The end of the certain part of an unfinished text.
pub(super) struct Settled {
    /// Up to here it is certain which text is prose.
    pub known: usize,
    /// Up to here no later text adds, removes or changes a citation.
    pub settled: usize,
    /// The ranges that are not prose so far.
    pub hidden: Vec<Range<usize>>,
}

/// Returns how far `text` is settled. The text between the two positions can still be read in several ways.
pub(super) fn settled(text: &str, grammar: &Grammar) -> Settled {
    let hidden = non_prose_spans(text);
    let known = certain(text, &hidden);
    let bytes = text.as_bytes();
    let sequence = open_private(&bytes[..known], &hidden).unwrap_or(known);
    let from = last_line(&bytes[..known]);
    let bracket = open_bracket(bytes, &hidden, from, sequence).unwrap_or(sequence);
    let prose = prose_start(&hidden, bracket);
    Settled {
        known,
        settled: open_words(&text[..bracket], prose, grammar),
        hidden,
    }
}

/// Returns the start of the prose that contains a position or ends there.
fn prose_start(hidden: &[Range<usize>], at: usize) -> usize {
    let before = hidden.partition_point(|range| range.end <= at);
    before.checked_sub(1).map_or(0, |last| hidden[last].end)
}

/// Returns the first bracket at or after `from` that is open at `known`.
fn open_bracket(bytes: &[u8], hidden: &[Range<usize>], from: usize, known: usize) -> Option<usize> {
    let mut steps = Steps::default();
    for range in prose(hidden, bytes.len()) {
        let tail = Tail {
            bytes: &bytes[..known],
            limit: range.end.min(known),
        };
        for open in range.start.max(from)..tail.limit {
            steps.step();
            if tail.is_open(open) {
                // `[[1]]`: the outer brackets are part of the citation.
                let doubled = bytes[..open].ends_with(b"[");
                return Some(open - usize::from(doubled));
            }
        }
    }
    None
}

/// Returns the start of the unfinished line, or of an earlier line whose link definition has no complete address yet.
fn last_line(bytes: &[u8]) -> usize {
    let line_start = |bytes: &[u8]| {
        let found = checked(bytes.iter().rev()).position(|b| *b == b'\n');
        found.map_or(0, |n| bytes.len() - n)
    };
    let trimmed = bytes.trim_ascii_end();
    let word = trimmed
        .iter()
        .rev()
        .take(MAX_WORD)
        .take_while(|b| !b.is_ascii_whitespace())
        .count();
    let (before, word) = trimmed.split_at(trimmed.len() - word);
    let label = if ADDRESSES.iter().any(|address| address.starts_with(word)) {
        before.trim_ascii_end()
    } else {
        trimmed
    };
    if label.ends_with(b":") {
        line_start(label)
    } else {
        line_start(bytes)
    }
}

/// Returns the start of a private-use sequence that is not closed. It may span lines.
fn open_private(bytes: &[u8], hidden: &[Range<usize>]) -> Option<usize> {
    let prose = prose_start(hidden, bytes.len());
    let from = prose.max(bytes.len().saturating_sub(MAX_PRIVATE + 3));
    let is_sign = |at: &usize| matches!(bytes[*at..], [0xEE, 0x88, 0x80 | 0x81, ..]);
    let last = (from..bytes.len()).rev().find(is_sign)?;
    (bytes[last + 2] == 0x80).then_some(last)
}

/// A range of prose in the known part of the text.
struct Tail<'a> {
    /// The known part.
    bytes: &'a [u8],
    /// The end of the prose: hidden text, or the end of the known part.
    limit: usize,
}

impl Tail<'_> {
    /// Returns whether a construct opens here whose end or meaning is undecided.
    fn is_open(&self, open: usize) -> bool {
        let (shape, width) = match self.bytes[open..] {
            [b'[', ..] => (Shape::Square, 1),
            [b'(', ..] => (Shape::Round, 1),
            [b'{', b'{', ..] | [b'{'] => (Shape::Curly, 1),
            // 【 and ［
            [0xE3, 0x80, 0x90, ..] | [0xEF, 0xBC, 0xBB, ..] => (Shape::Square, 3),
            // （
            [0xEF, 0xBC, 0x88, ..] => (Shape::Round, 3),
            _ => return false,
        };
        match self.closing(open + width, shape) {
            Closing::At(end) => self.may_continue(open, end),
            Closing::None => false,
            Closing::NotYet => true,
        }
    }

    /// Finds the closing bracket by the rules of the scanner.
    fn closing(&self, inner: usize, shape: Shape) -> Closing {
        let far = inner + MAX_INSIDE;
        for at in inner..self.limit.min(far) {
            let (stops, closes) = match self.bytes[at..] {
                [b'\n', ..] => return Closing::None,
                [b'[', ..] | [0xE3, 0x80, 0x90, ..] | [0xEF, 0xBC, 0xBB, ..] => {
                    (matches!(shape, Shape::Square | Shape::Round), None)
                }
                [b'(', ..] | [0xEF, 0xBC, 0x88, ..] => (shape == Shape::Round, None),
                [b']', ..] => (false, Some((Shape::Square, 1))),
                [b')', ..] => (false, Some((Shape::Round, 1))),
                [b'}', b'}', ..] => (false, Some((Shape::Curly, 2))),
                [0xE3, 0x80, 0x91, ..] | [0xEF, 0xBC, 0xBD, ..] => {
                    (false, Some((Shape::Square, 3)))
                }
                [0xEF, 0xBC, 0x89, ..] => (false, Some((Shape::Round, 3))),
                _ => (false, None),
            };
            match closes {
                Some((closed, width)) if closed == shape => return Closing::At(at + width),
                _ if stops => return Closing::None,
                _ => {}
            }
        }
        if self.limit == self.bytes.len() && self.limit < far {
            Closing::NotYet
        } else {
            Closing::None
        }
    }

    /// Returns whether later text can still make a closed bracket a link, a link definition, an index or doubled.
    fn may_continue(&self, open: usize, end: usize) -> bool {
        let doubled = self.bytes[..open].ends_with(b"[") && self.bytes[end..].starts_with(b"]");
        let after = &self.bytes[end + usize::from(doubled)..];
        match after.first() {
            _ if after.len() < INDEX_SIGNS => !after.contains(&b'\n') || after.starts_with(b":"),
            Some(b':') => {
                let address = after[1..].trim_ascii_start();
                let begins = |a: &&[u8]| a.len() > address.len() && a.starts_with(address);
                ADDRESSES.iter().any(begins)
            }
            Some(b'(') => is_cut_off_address(after),
            _ => false,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Square,
    Round,
    Curly,
}

enum Closing {
    /// The position after the closing bracket.
    At(usize),
    /// The bracket is not closed.
    None,
    /// Later text decides.
    NotYet,
}

/// Returns whether the end of the text cuts off `(address "title")`.
fn is_cut_off_address(text: &[u8]) -> bool {
    let mut depth = 0_u32;
    let mut titled = false;
    for (at, byte) in text.iter().enumerate().take(MAX_ADDRESS) {
        match byte {
            b'(' if depth == 2 => return false,
            b'(' => depth += 1,
            b')' if depth == 1 => return false,
            b')' => depth -= 1,
            b'\n' => return false,
            b' ' if !titled => match text.get(at + 1) {
                Some(b'"' | b'\'') => titled = true,
                Some(b')') => {}
                Some(_) => return false,
                None => return true,
            },
            _ => {}
        }
    }
    text.len() < MAX_ADDRESS
}
