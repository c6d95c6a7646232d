//! One pass over the answer: where citations stand.

mod beyond;
mod brackets;
mod links;
mod private_use;
mod raised;
mod tags;
mod trailing;
mod words;

use std::ops::Range;

use reground_pulse::beat;

use crate::extract::MAX_CITATIONS;
use crate::forms::{Inside, Notes};
use crate::{Family, Form, Grammar, skip};
use brackets::Bracket;
use tags::Open;

/// Bytes that are leapt over at once at most, between two beats.
const LEAP: usize = 4096;

/// A citation string and what it names.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub bytes: Range<usize>,
    pub inside: Inside,
    pub supports: Supports,
}

/// What a citation is said to support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Supports {
    /// The sentence that it stands on.
    Sentence,
    /// What its markup encloses, in bytes.
    Enclosed(Range<usize>),
    /// The whole answer.
    Answer,
}

/// Every citation string, in order and disjoint, and how many of the things that they name are beyond [`MAX_CITATIONS`] and
/// left out.
///
/// Linear: the pass leaps from one byte that may begin a citation to the next. Each bracket looks ahead to the next bracket
/// or the end of its line, a bounded way, and a look-ahead that another bracket stops is not repeated by it.
pub(crate) fn scan(text: &str, grammar: &Grammar) -> (Vec<Found>, usize) {
    let hidden = skip::not_prose(text);
    let notes = Notes::of(text);
    let mut scanner = Scanner {
        text,
        grammar,
        trailing: trailing::list(text),
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
    scanner.beyond(&hidden);
    (scanner.found, scanner.omitted)
}

struct Scanner<'a> {
    text: &'a str,
    grammar: &'a Grammar,
    /// Footnotes.
    notes: Notes<'a>,
    /// The bracket that opens a list for the whole answer.
    trailing: Option<usize>,
    found: Vec<Found>,
    /// Things named by what was found.
    listed: usize,
    /// Things beyond the limit.
    omitted: usize,
    /// Where an array index ended, so that `m[1][2]` is read as two.
    index_end: Option<usize>,
    /// Markup that has not been closed.
    open: Vec<Open>,
}

/// What a byte may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Class {
    /// No citation.
    None,
    /// A bracket of ASCII.
    Bracket,
    /// A tag.
    Tag,
    /// `{{`.
    Brace,
    /// A number behind a word: `ref3`.
    Digit,
    /// A character of more than one byte: a bracket, a circled or raised number, a private-use sign.
    Wide,
}

/// By byte, what it may begin.
static CLASSES: [Class; 256] = {
    let mut classes = [Class::None; 256];
    classes[b'[' as usize] = Class::Bracket;
    classes[b'(' as usize] = Class::Bracket;
    classes[b'<' as usize] = Class::Tag;
    classes[b'{' as usize] = Class::Brace;
    let mut digit = b'0';
    while digit <= b'9' {
        classes[digit as usize] = Class::Digit;
        digit += 1;
    }
    // First bytes of ¹²³; of ① and ⁴; of 【 and ㉑; of private use; of ［ and （.
    classes[0xC2] = Class::Wide;
    classes[0xE2] = Class::Wide;
    classes[0xE3] = Class::Wide;
    classes[0xEE] = Class::Wide;
    classes[0xEF] = Class::Wide;
    classes
};

impl Scanner<'_> {
    fn prose(&mut self, range: Range<usize>) {
        let bytes = self.text.as_bytes();
        let mut at = range.start;
        let mut done = at;
        while at < range.end {
            let leap = &bytes[at..range.end.min(at + LEAP)];
            let Some(step) = leap
                .iter()
                .position(|b| CLASSES[usize::from(*b)] != Class::None)
            else {
                at += leap.len();
                beat(at - done);
                done = at;
                continue;
            };
            at += step;
            at = match CLASSES[usize::from(bytes[at])] {
                Class::None => at + 1,
                Class::Bracket => self.bracket(at, range.end),
                Class::Tag => self.tag(at, range.end),
                Class::Brace => self.braces(at, range.end),
                Class::Digit => self.word(at, range.start, range.end),
                Class::Wide => self.wide(at, range.end),
            };
            if at - done >= LEAP {
                beat(at - done);
                done = at;
            }
        }
    }

    fn bracket(&mut self, at: usize, limit: usize) -> usize {
        match Bracket::opening(&self.text.as_bytes()[at..]) {
            Some(Bracket::Square { width }) => self.square(at, width, limit),
            Some(Bracket::Round { width }) => self.round(at, width, limit),
            None => at + 1,
        }
    }

    /// Reads a character of more than one byte.
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

    fn is_on(&self, family: Family) -> bool {
        self.grammar.families.includes(family)
    }

    fn push(&mut self, bytes: Range<usize>, inside: Inside) -> usize {
        self.push_for(bytes, inside, Supports::Sentence)
    }

    fn push_for(&mut self, bytes: Range<usize>, mut inside: Inside, supports: Supports) -> usize {
        let end = bytes.end;
        let room = MAX_CITATIONS - self.listed;
        if let Some(beyond) = inside.references.len().checked_sub(room) {
            inside.references.truncate(room);
            inside.references.shrink_to_fit();
            self.omitted += beyond;
        }
        self.listed += inside.references.len();
        self.found.push(Found {
            bytes,
            inside,
            supports,
        });
        end
    }

    /// Takes out markup that cites nothing by itself.
    fn push_markup(&mut self, bytes: Range<usize>, form: Form) -> usize {
        self.push(bytes, Inside::new(form))
    }

    /// Where the last citation ended: words before that are taken.
    fn taken(&self) -> usize {
        self.found.last().map_or(0, |found| found.bytes.end)
    }
}
