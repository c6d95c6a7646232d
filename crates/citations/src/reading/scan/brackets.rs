//! Square and round brackets, ASCII and full-width.

use std::ops::Range;

use reground_interrupt::check_interrupt;

use super::found::ClaimScope;
use super::links::{address, definition};
use super::scanner::Scanner;
use crate::citation::ParsedCitation;
use crate::reading::forms::{self, MAX_INSIDE};
use crate::{Family, Form, Malformed};

/// Longest text in double braces, in bytes.
const MAX_BRACES: usize = 64;

impl Scanner<'_> {
    /// Reads the square bracket at `open`. Returns the position to continue at.
    pub(super) fn square(&mut self, open: usize, width: usize, limit: usize) -> usize {
        let text = self.text;
        let bytes = text.as_bytes();
        let inner = open + width;
        let Some((close, closing)) = closing(bytes, inner, limit, Shape::Square) else {
            return self.unclosed(open, inner, limit);
        };
        let inside = &text[inner..close];
        check_interrupt(inside.len());
        let mut span = open..close + closing;
        // `[[1]]`: the outer brackets are part of the citation.
        let doubled = bytes[..open].ends_with(b"[")
            && bytes[span.end..limit].starts_with(b"]")
            && self.taken() < open;
        if doubled {
            span = open - 1..span.end + 1;
        }
        if let Some(end) = definition(bytes, span.clone(), limit) {
            return end;
        }
        if let Some(end) = self.anchor(span.clone(), inside, limit) {
            return end;
        }
        if self.trailing == Some(open) && self.is_on(Family::Document) {
            return match forms::trailing_list(inside, self.grammar) {
                Some(read) => self.push_for(span, read, ClaimScope::Answer),
                None => inner,
            };
        }
        let address = address(bytes, span.end, limit);
        if let Some(label) = inside.strip_prefix('^').and_then(forms::footnote_label)
            && self.is_on(Family::Footnote)
        {
            let read = self.notes.read(label, self.grammar);
            return self.push(span, read);
        }
        let image = bytes[..span.start].ends_with(b"!");
        let read = self.inside_brackets(inside, width > 1);
        match (read, address) {
            (_, Some(end)) if image => end,
            (Some(mut read), Some(end)) if read.is_plain() => {
                if read.is_numeric() {
                    read.form = Form::LinkedNumber;
                }
                self.push(span.start..end, read)
            }
            (_, Some(end)) => end,
            (Some(read), None) if read.is_numeric() && self.is_index(&span) => {
                self.index_end = Some(span.end);
                span.end
            }
            (Some(mut read), None) => {
                if doubled && read.is_numeric() {
                    read.form = Form::DoubleBracket;
                }
                self.push(span, read)
            }
            (None, None) => inner,
        }
    }

    fn inside_brackets(&self, inside: &str, foreign: bool) -> Option<ParsedCitation> {
        match forms::single(inside).filter(|_| self.is_on(Family::Raised)) {
            Some(number) => Some(ParsedCitation::number(Form::CircledNumber, number)),
            None => forms::in_brackets(inside, foreign, self.grammar),
        }
    }

    /// An open bracket before a marker is malformed, not prose.
    fn unclosed(&mut self, open: usize, inner: usize, limit: usize) -> usize {
        let marker = forms::unclosed_marker(&self.text[inner..limit]);
        match marker.filter(|_| self.is_on(Family::Marker)) {
            Some(length) => {
                let read = ParsedCitation::malformed(Form::Marker, Malformed::Unclosed);
                self.push(open..inner + length, read)
            }
            None => inner,
        }
    }

    pub(super) fn round(&mut self, open: usize, width: usize, limit: usize) -> usize {
        let text = self.text;
        let inner = open + width;
        let read =
            closing(text.as_bytes(), inner, limit, Shape::Round).and_then(|(close, closing)| {
                let inside = &text[inner..close];
                check_interrupt(inside.len());
                let read = forms::in_parentheses(inside, self.grammar)?;
                Some((close + closing, read))
            });
        match read {
            Some((end, read)) => self.push(open..end, read),
            None => inner,
        }
    }

    /// Reads `{{citation:1}}`.
    pub(super) fn braces(&mut self, open: usize, limit: usize) -> usize {
        let bytes = self.text.as_bytes();
        let inner = open + 2;
        if bytes.get(open + 1) != Some(&b'{') || inner >= limit || !self.is_on(Family::Labelled) {
            return open + 1;
        }
        let window = &bytes[inner..limit.min(inner + MAX_BRACES)];
        let close = window.iter().position(|b| matches!(b, b'{' | b'}' | b'\n'));
        let close = close.filter(|&close| window[close..].starts_with(b"}}"));
        let read = close.and_then(|close| {
            let read = forms::in_braces(&self.text[inner..inner + close])?;
            Some((inner + close + 2, read))
        });
        match read {
            Some((end, read)) => self.push(open..end, read),
            None => open + 1,
        }
    }

    /// Returns whether a bracket with a number is an index: `x[1]`, `my_list[0]`, `data[2].name`, `v[1] = 3`.
    ///
    /// Many texts cite as `word[1]`, so a plain word before the bracket is not enough.
    fn is_index(&self, span: &Range<usize>) -> bool {
        if self.index_end == Some(span.start) {
            return true;
        }
        let before = &self.text[..span.start];
        let name = before
            .bytes()
            .rev()
            .take(64)
            .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
            .count();
        let name = &before[before.len() - name..];
        // The end of an abbreviation (`e.g[4]`) or of a word in another script is not a name.
        let joined = |c: char| c == '.' || c.is_alphabetic();
        if name.is_empty() || before[..before.len() - name.len()].ends_with(joined) {
            return false;
        }
        let after = &self.text.as_bytes()[span.end..];
        let member =
            after.first() == Some(&b'.') && after.get(1).is_some_and(u8::is_ascii_lowercase);
        let assigned = after.starts_with(b" = ") || after.first() == Some(&b'=');
        let variable =
            name.contains('_') || (name.len() == 1 && name.bytes().all(|b| b.is_ascii_lowercase()));
        variable || member || assigned
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Square,
    Round,
}

/// An opening bracket and its width in bytes.
pub(super) enum Bracket {
    Square { width: usize },
    Round { width: usize },
}

impl Bracket {
    pub(super) fn opening(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [b'[', ..] => Some(Self::Square { width: 1 }),
            [b'(', ..] => Some(Self::Round { width: 1 }),
            // 【 and ［
            [0xE3, 0x80, 0x90, ..] | [0xEF, 0xBC, 0xBB, ..] => Some(Self::Square { width: 3 }),
            // （
            [0xEF, 0xBC, 0x88, ..] => Some(Self::Round { width: 3 }),
            _ => None,
        }
    }

    /// Returns the shape and width of a closing bracket.
    fn closing(bytes: &[u8]) -> Option<(Shape, usize)> {
        match bytes {
            [b']', ..] => Some((Shape::Square, 1)),
            [b')', ..] => Some((Shape::Round, 1)),
            // 】 and ］
            [0xE3, 0x80, 0x91, ..] | [0xEF, 0xBC, 0xBD, ..] => Some((Shape::Square, 3)),
            // ）
            [0xEF, 0xBC, 0x89, ..] => Some((Shape::Round, 3)),
            _ => None,
        }
    }
}

/// Returns the position and width of the closing bracket. The search ends at a newline, at another opening bracket of
/// the same shape, and after [`MAX_INSIDE`] bytes. For a round bracket it also ends at a square one, which is read
/// separately.
fn closing(bytes: &[u8], start: usize, limit: usize, shape: Shape) -> Option<(usize, usize)> {
    let limit = limit.min(start + MAX_INSIDE);
    for at in start..limit {
        match bytes[at] {
            b'\n' => return None,
            b'[' | b']' | b'(' | b')' | 0xE3 | 0xEF => {}
            _ => continue,
        }
        match Bracket::closing(&bytes[at..]) {
            Some((closes, width)) if closes == shape => return Some((at, width)),
            _ => {}
        }
        match (Bracket::opening(&bytes[at..]), shape) {
            (Some(Bracket::Square { .. }), _) | (Some(Bracket::Round { .. }), Shape::Round) => {
                return None;
            }
            _ => {}
        }
    }
    None
}
