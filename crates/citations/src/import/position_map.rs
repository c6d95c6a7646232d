//! Converts positions of a text between units, in any order.

use std::ops::Range;

use reground_interrupt::checked;

use crate::Span;

/// The unit of the offsets of an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Bytes,
    Chars,
    Utf16,
}

/// Distance between two landmarks, in bytes.
const APART: usize = 64;

/// A text with landmarks, so that a lookup does not start at the beginning.
pub(crate) struct PositionMap<'a> {
    text: &'a str,
    landmarks: Vec<Landmark>,
}

#[derive(Clone, Copy)]
struct Landmark {
    bytes: usize,
    chars: usize,
    utf16: usize,
}

impl Landmark {
    fn in_unit(&self, unit: Unit) -> usize {
        match unit {
            Unit::Bytes => self.bytes,
            Unit::Chars => self.chars,
            Unit::Utf16 => self.utf16,
        }
    }

    fn step(&mut self, c: char) {
        self.bytes += c.len_utf8();
        self.chars += 1;
        self.utf16 += c.len_utf16();
    }
}

/// A position in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BytePosition {
    /// The start of the character that contains the position.
    pub floor: usize,
    /// The end of that character if the position is inside one, otherwise the same as `floor`.
    pub ceiling: usize,
    /// Whether the position is beyond the text and was moved to its end.
    pub is_outside: bool,
}

impl BytePosition {
    /// Returns the byte if the position is between two characters of the text.
    pub(super) fn exact(self) -> Option<usize> {
        (self.floor == self.ceiling && !self.is_outside).then_some(self.floor)
    }
}

impl<'a> PositionMap<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut here = Landmark {
            bytes: 0,
            chars: 0,
            utf16: 0,
        };
        let mut landmarks = vec![here];
        let mut last = 0;
        for c in checked(text.chars()) {
            here.step(c);
            if here.bytes - last >= APART {
                landmarks.push(here);
                last = here.bytes;
            }
        }
        Self { text, landmarks }
    }

    /// Returns the byte at a position in `unit`.
    pub(super) fn byte(&self, unit: Unit, position: u64) -> BytePosition {
        let position = usize::try_from(position).unwrap_or(usize::MAX);
        let mut here = self.landmark(unit, position);
        for c in self.text[here.bytes..].chars() {
            if here.in_unit(unit) >= position {
                break;
            }
            let floor = here.bytes;
            here.step(c);
            if here.in_unit(unit) > position {
                return BytePosition {
                    floor,
                    ceiling: here.bytes,
                    is_outside: false,
                };
            }
        }
        let is_outside = here.in_unit(unit) < position;
        BytePosition {
            floor: here.bytes,
            ceiling: here.bytes,
            is_outside,
        }
    }

    /// Returns a byte range on character boundaries in all units.
    pub(crate) fn span(&self, bytes: Range<usize>) -> Span {
        let at = |byte: usize| {
            let mut here = self.landmark(Unit::Bytes, byte);
            for c in self.text[here.bytes..].chars() {
                if here.bytes >= byte {
                    break;
                }
                here.step(c);
            }
            here
        };
        let (start, end) = (at(bytes.start), at(bytes.end));
        Span {
            chars: start.chars..end.chars,
            utf16: start.utf16..end.utf16,
            bytes,
        }
    }

    /// Returns the last landmark that is not beyond a position.
    fn landmark(&self, unit: Unit, position: usize) -> Landmark {
        let after = self
            .landmarks
            .partition_point(|mark| mark.in_unit(unit) <= position);
        self.landmarks[after.saturating_sub(1)]
    }
}
