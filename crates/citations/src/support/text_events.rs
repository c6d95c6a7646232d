//! A text read aloud: its units in order, and which of them it denies.

use super::language::Cues;
use super::language::{Quantity, quantity_from_digits, quantity_from_words};
use super::pieces::{Kind, Piece, pieces};
use crate::Lexemes;
use crate::text::spellings;
use std::ops::Range;

/// How many words after one that denies may come what it denies: not to be *found*.
const REACH: usize = 3;

/// A unit at its place.
pub(crate) struct Unit<'a> {
    /// A lexeme, a number in one spelling, or one or two characters.
    pub key: &'a str,
    pub piece: Piece,
    pub role: Role,
    /// Whether what stands before denies it.
    pub denied: bool,
}

/// What a unit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A word of content, or characters.
    Content,
    /// A number that says how many.
    Number,
    /// One that may say nothing of the kind: one of them, a half.
    MereWord,
    /// What the number before it measures.
    Measure,
}

/// What comes next.
pub(crate) enum TextEvent<'a> {
    /// A word, with or without content; if with, its unit follows.
    Word { capital: bool },
    /// A unit.
    Unit(Unit<'a>),
    /// A lexeme of what was said as part of a number.
    Within(&'a str),
    /// What stands after the last unit denies it: it grows *not*.
    LastDenied,
}

/// Reads a text, in order. A word that denies is taken to deny the next unit of its sentence within reach, or else the one
/// before it.
pub(crate) fn read(
    text: &str,
    lexemes: &Lexemes,
    cues: &Cues,
    mut each: impl FnMut(TextEvent<'_>),
) {
    let mut lower = String::new();
    let mut before = String::new();
    // Where the last cue of a script without spaces ends.
    let mut cued = 0;
    // Words since one that denies, while what it denies is open.
    let mut open: Option<usize> = None;
    // Where the last figure ends, with what it measures.
    let mut figured = 0;
    for piece in pieces(text) {
        let raw = &text[piece.bytes.clone()];
        let start = piece.bytes.start;
        open = open.map(|since| since + 1);
        if open.is_some_and(|since| piece.opens || since > REACH) {
            open = None;
            each(TextEvent::LastDenied);
        }
        let content = |key, denied| {
            TextEvent::Unit(Unit {
                key,
                piece: piece.clone(),
                role: Role::Content,
                denied,
            })
        };
        match piece.kind {
            // What scales a number or is measured by it is said.
            Kind::Number if start < figured => {}
            Kind::Unspaced if piece.bytes.end <= figured => {}
            Kind::Number => {
                let is_content = |word: &str| lexemes.stem_of(word).is_some();
                let figure = quantity_from_digits(text, piece.bytes.clone(), cues, is_content);
                figured =
                    figure.close(&piece, text, open.take().is_some(), Role::Number, &mut each);
                for plain in spellings(raw, false) {
                    if !figure.numbers.contains(&plain) {
                        each(TextEvent::Within(&plain));
                    }
                }
            }
            Kind::Unspaced => {
                // A pair that a cue reaches into is not what the cue denies.
                let denied = start >= cued && open.take().is_some();
                each(content(raw, denied));
                if let Some((len, denies)) = cues.starts(&text[start..]).filter(|_| start >= cued) {
                    cued = start + len;
                    open = denies.then_some(0);
                }
            }
            Kind::Word => {
                std::mem::swap(&mut lower, &mut before);
                lower.clear();
                if raw.is_ascii() {
                    lower.push_str(raw);
                    lower.make_ascii_lowercase();
                } else {
                    lower.extend(raw.chars().flat_map(char::to_lowercase));
                }
                if start >= figured
                    && cues.numerals().begin_with(&lower)
                    && let Some(figure) = quantity_from_words(text, start, cues)
                {
                    let role = if figure.is_mere_word() {
                        Role::MereWord
                    } else {
                        Role::Number
                    };
                    // "No one enters" denies the entering.
                    let denied = role != Role::MereWord && open.take().is_some();
                    figured = figure.close(&piece, text, denied, role, &mut each);
                }
                let capital = raw.starts_with(char::is_uppercase);
                each(TextEvent::Word { capital });
                if start < figured {
                    if let Some(key) = lexemes.stem_of(&lower) {
                        each(TextEvent::Within(key));
                    }
                    continue;
                }
                if open == Some(1) && goes_with_denial(&lower, &text[piece.bytes.end..]) {
                    if let Some(key) = lexemes.stem_of(&lower) {
                        each(TextEvent::Within(key));
                    }
                    continue;
                }
                let denies = cues.denies(piece.joined.then_some(&before), &lower)
                    && !answers(&piece, text)
                    && !cues.is_harmless(&text[start..]);
                if let Some(key) = lexemes.stem_of(&lower) {
                    each(content(key, !denies && open.take().is_some()));
                }
                if denies {
                    open = Some(0);
                }
            }
        }
    }
    if open.is_some() {
        each(TextEvent::LastDenied);
    }
}

/// Whether a word right after one that denies is part of it: *no longer*, *not yet*, *nicht mehr*; but in *no longer than* it
/// compares.
fn goes_with_denial(word: &str, rest: &str) -> bool {
    let compares = || {
        let next = rest.trim_start().split(|c: char| !c.is_alphabetic()).next();
        matches!(next, Some("than" | "als"))
    };
    matches!(word, "longer" | "yet" | "mehr") && !compares()
}

/// Where the units of a text begin, in bytes, ascending.
pub(crate) fn unit_starts(text: &str, lexemes: &Lexemes, cues: &Cues) -> Vec<usize> {
    let mut starts = Vec::new();
    read(text, lexemes, cues, |said| {
        if let TextEvent::Unit(unit) = said {
            starts.push(unit.piece.bytes.start);
        }
    });
    // A currency is said after its number, and stands before it.
    starts.sort_unstable();
    starts
}

impl Quantity {
    /// Says the numbers, which begin with `piece`, and what they measure; gives where all that ends.
    fn close(
        &self,
        piece: &Piece,
        text: &str,
        denied: bool,
        role: Role,
        mut each: impl FnMut(TextEvent<'_>),
    ) -> usize {
        for (number, key) in self.numbers.iter().enumerate() {
            each(TextEvent::Unit(Unit {
                key,
                piece: piece.clone(),
                role,
                denied: denied && number == 0,
            }));
        }
        let Some((of, bytes)) = &self.measure else {
            return self.end;
        };
        let between = |range: Range<usize>| text.get(range).unwrap_or_default().chars().count();
        let first = match piece.bytes.start.checked_sub(bytes.end) {
            Some(_) => piece.chars.start - between(bytes.start..piece.bytes.start),
            None => piece.chars.end + between(piece.bytes.end..bytes.start),
        };
        each(TextEvent::Unit(Unit {
            key: of,
            piece: Piece {
                kind: Kind::Word,
                chars: first..first + between(bytes.clone()),
                bytes: bytes.clone(),
                opens: false,
                joined: false,
            },
            role: Role::Measure,
            denied: false,
        }));
        self.end.max(bytes.end)
    }
}

/// Whether a word that could deny answers instead, `No, it does not`, or numbers something, `No. 5`.
fn answers(piece: &Piece, text: &str) -> bool {
    let rest = text[piece.bytes.end..].trim_start_matches(['*', '_', ' ']);
    let answers =
        piece.opens && rest.starts_with([',', ':', ';', '-', '–', '—', '.', '!', '，', '。', '！']);
    let numbered = rest.strip_prefix(['.', 'º', '°']).map(str::trim_start);
    answers || numbered.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::{Cues, TextEvent, read, unit_starts};
    use crate::Lexemes;

    /// The units, those denied with `!` before them.
    fn said(text: &str, language: &str) -> Vec<String> {
        let words = text.to_lowercase();
        let words = words.split(|c: char| !c.is_alphanumeric());
        let lexemes = Lexemes::of(text, words.filter(|word| word.len() > 5).map(str::to_owned));
        let mut units: Vec<String> = Vec::new();
        read(
            text,
            &lexemes,
            &Cues::built_in(language),
            |said| match said {
                TextEvent::Word { .. } | TextEvent::Within(_) => {}
                TextEvent::Unit(unit) if unit.denied => units.push(format!("!{}", unit.key)),
                TextEvent::Unit(unit) => units.push(unit.key.to_owned()),
                TextEvent::LastDenied => {
                    let last = units.pop();
                    units.extend(last.map(|unit| format!("!{unit}")));
                }
            },
        );
        units
    }

    #[test]
    fn units_begin_where_they_stand() {
        let starts = unit_starts("$5 and $7", &Lexemes::default(), &Cues::built_in("en"));
        assert_eq!(starts, [0, 1, 7, 8]);
    }

    #[test]
    fn what_is_denied() {
        assert_eq!(
            said("The server doesn't yet support 3.50 plugins.", "en"),
            ["server", "!support", "3.5", "plugins"]
        );
        assert_eq!(
            said("Der Server startet nicht. Neustart 1.234,5", "de"),
            ["server", "!startet", "neustart", "1234.5"]
        );
        assert_eq!(
            said("No, clients do not answer. No. 5 answers.", "en"),
            ["clients", "!answer", "5", "answers"]
        );
        assert_eq!(
            said("Not only clients answer no more than 10 servers", "en"),
            ["clients", "answer", "10", "servers"]
        );
        assert_eq!(
            said("The server no longer supports plugins.", "en"),
            ["server", "!supports", "plugins"]
        );
        assert_eq!(
            said("No one may inspect laboratories.", "en"),
            ["1", "!inspect", "laboratories"]
        );
        assert_eq!(
            said("Der Server startet nicht mehr. Neustart", "de"),
            ["server", "!startet", "neustart"]
        );
        assert_eq!(
            said("It takes no longer than 10 minutes", "en"),
            ["!longer", "10", "min"]
        );
        assert_eq!(said("它不支持", "zh"), ["它不", "不支", "!支持"]);
        assert_eq!(said("它不同意", "zh"), ["它不", "不同", "同意"]);
        assert_eq!(said("It does not support", "simple"), ["support"]);
    }
}
