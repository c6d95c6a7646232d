//! One pass over the answer: where citations stand.

use std::ops::Range;

use reground_pulse::{Steps, beat};

use crate::extract::MAX_CITATIONS;
use crate::forms::{self, Inside, MAX_INSIDE};
use crate::{Families, Malformed, Reference, skip};

/// Longest address of a Markdown link that is recognised, in bytes.
const MAX_ADDRESS: usize = 2048;

/// A citation string and what it names.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub bytes: Range<usize>,
    pub inside: Inside,
}

/// Every citation string, in order and disjoint, and how many of the things that they name are beyond [`MAX_CITATIONS`] and
/// left out.
///
/// Linear: each bracket looks ahead to the next bracket or the end of its line, at most [`MAX_INSIDE`] bytes, and a
/// look-ahead that another bracket stops is not repeated by it.
pub(crate) fn scan(text: &str, families: &Families) -> (Vec<Found>, usize) {
    let mut scanner = Scanner {
        text,
        families,
        found: Vec::new(),
        listed: 0,
        omitted: 0,
        index_end: None,
        steps: Steps::default(),
    };
    let mut start = 0;
    for hidden in skip::not_prose(text) {
        scanner.prose(start..hidden.start);
        start = hidden.end;
    }
    scanner.prose(start..text.len());
    (scanner.found, scanner.omitted)
}

struct Scanner<'a> {
    text: &'a str,
    families: &'a Families,
    found: Vec<Found>,
    /// Things named by what was found.
    listed: usize,
    /// Things beyond the limit.
    omitted: usize,
    /// Where an array index ended, so that `m[1][2]` is read as two.
    index_end: Option<usize>,
    steps: Steps,
}

impl Scanner<'_> {
    fn prose(&mut self, range: Range<usize>) {
        let bytes = self.text.as_bytes();
        let mut at = range.start;
        while at < range.end {
            self.steps.step();
            at = match Bracket::opening(&bytes[at..]) {
                Some(Bracket::Square { width }) => self.square(at, width, range.end),
                Some(Bracket::Round { width }) => self.round(at, width, range.end),
                None => at + 1,
            };
        }
    }

    /// Reads the square bracket at `open` and returns where to go on.
    fn square(&mut self, open: usize, width: usize, limit: usize) -> usize {
        let bytes = self.text.as_bytes();
        let inner = open + width;
        let Some((close, closing)) = closing(bytes, inner, limit, Shape::Square) else {
            return self.unclosed(open, inner, limit);
        };
        let inside = &self.text[inner..close];
        beat(inside.len());
        let mut span = open..close + closing;
        // `[[1]]`: the outer pair belongs to the citation.
        if bytes[..open].ends_with(b"[") && bytes[span.end..limit].starts_with(b"]") {
            span = open - 1..span.end + 1;
        }
        if let Some(end) = definition(bytes, span.clone(), limit) {
            return end;
        }
        let address = address(bytes, span.end, limit);
        let image = bytes[..span.start].ends_with(b"!");
        let read = forms::in_brackets(inside, width > 1, self.families);
        match (read, address) {
            (_, Some(end)) if image => end,
            (Some(read), Some(end)) if read.is_plain() => self.push(span.start..end, read),
            (_, Some(end)) => end,
            (Some(read), None) if read.is_numeric() && self.is_index(&span) => {
                self.index_end = Some(span.end);
                span.end
            }
            (Some(read), None) => self.push(span, read),
            (None, None) => inner,
        }
    }

    /// A bracket that nothing closes is still a citation if one of our markers follows it.
    fn unclosed(&mut self, open: usize, inner: usize, limit: usize) -> usize {
        let marker = forms::unclosed_marker(&self.text[inner..limit]);
        match marker.filter(|_| self.families.marker) {
            Some(length) => {
                let read = Inside {
                    references: vec![Reference::Malformed(Malformed::Unclosed)],
                    repaired: false,
                };
                self.push(open..inner + length, read)
            }
            None => inner,
        }
    }

    fn round(&mut self, open: usize, width: usize, limit: usize) -> usize {
        let inner = open + width;
        let read = closing(self.text.as_bytes(), inner, limit, Shape::Round).and_then(
            |(close, closing)| {
                let inside = &self.text[inner..close];
                beat(inside.len());
                let read = forms::in_parentheses(inside, self.families)?;
                Some((close + closing, read))
            },
        );
        match read {
            Some((end, read)) => self.push(open..end, read),
            None => inner,
        }
    }

    fn push(&mut self, bytes: Range<usize>, mut inside: Inside) -> usize {
        let end = bytes.end;
        let room = MAX_CITATIONS - self.listed;
        if let Some(beyond) = inside.references.len().checked_sub(room) {
            inside.references.truncate(room);
            inside.references.shrink_to_fit();
            self.omitted += beyond;
        }
        self.listed += inside.references.len();
        self.found.push(Found { bytes, inside });
        end
    }

    /// Whether a bracket with a number is an index into something: `x[1]`, `my_list[0]`, `data[2].name`, `v[1] = 3`.
    ///
    /// `word[1]` is how many write citations, so a plain word before the bracket is not enough.
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
        // Nor is the end of an abbreviation (`e.g[4]`) or of a word in another script a name.
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
enum Bracket {
    Square { width: usize },
    Round { width: usize },
}

impl Bracket {
    fn opening(bytes: &[u8]) -> Option<Self> {
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

    /// The shape and width of a closing bracket.
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

/// Where the bracket closes, and how wide its closing is. A newline, a further bracket of the same shape or a long way stops
/// the search; round brackets also stop at square ones, which are read for themselves.
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

/// One past the `(address)` or `(address "title")` that makes a bracket a Markdown link.
fn address(bytes: &[u8], start: usize, limit: usize) -> Option<usize> {
    if start >= limit || bytes[start] != b'(' {
        return None;
    }
    let mut depth = 0_u32;
    let mut titled = false;
    for at in start..limit.min(start + MAX_ADDRESS) {
        match bytes[at] {
            // Addresses hold at most one pair of their own; deeper nesting would make the look-ahead quadratic.
            b'(' if depth == 2 => return None,
            b'(' => depth += 1,
            b')' if depth == 1 => return (at > start + 1).then_some(at + 1),
            b')' => depth -= 1,
            b'\n' => return None,
            // Only a title may follow a space.
            b' ' if !titled => match bytes.get(at + 1) {
                Some(b'"' | b'\'') => titled = true,
                Some(b')') => {}
                _ => return None,
            },
            _ => {}
        }
    }
    None
}

/// One past the line of a Markdown link definition, `[1]: https://…`, which cites nothing by itself.
fn definition(bytes: &[u8], span: Range<usize>, limit: usize) -> Option<usize> {
    let line_starts = bytes[..span.start]
        .iter()
        .rev()
        .take(4)
        .find(|b| **b != b' ')
        .is_none_or(|b| *b == b'\n');
    let rest = bytes[span.end..limit].strip_prefix(b":")?;
    let target = rest.trim_ascii_start();
    let addresses: [&[u8]; 6] = [b"http", b"www.", b"<", b"/", b"#", b"mailto:"];
    if !line_starts || !addresses.iter().any(|a| target.starts_with(a)) {
        return None;
    }
    let end = bytes[span.end..limit].iter().position(|b| *b == b'\n');
    Some(end.map_or(limit, |n| span.end + n))
}
