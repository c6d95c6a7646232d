//! Reads the units of a text in order and detects which of them are denied.

use super::language::Cues;
use super::language::{Quantity, quantity_from_digits, quantity_from_words, time_at};
use super::pieces::{Kind, Piece, pieces};
use crate::Lexemes;
use crate::text::spellings;
use std::ops::Range;

/// Largest number of words from a denying word to the denied one: not to be *found*.
const REACH: usize = 3;

/// A unit at its position.
pub(crate) struct Unit<'a> {
    /// A lexeme, a number in normal form, or one or two characters.
    pub key: &'a str,
    pub piece: Piece,
    pub role: Role,
    /// Whether a word before it denies it.
    pub denied: bool,
    /// A key that equal quantities and times have in all notations; `None` if there is only one notation.
    pub equal: Option<&'a str>,
}

/// The role of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A content word, or characters.
    Content,
    /// A number that states a quantity.
    Number,
    /// A number word that may state no quantity: one of them, a half.
    NumberWord,
    /// The measure of the number before it.
    Measure,
}

/// One step of reading a text.
pub(crate) enum TextEvent<'a> {
    /// A word, and whether it begins a sentence or a line. If it has content, its unit follows.
    Word { capital: bool, opens: bool },
    /// A unit.
    Unit(Unit<'a>),
    /// A lexeme that is no unit, because it is part of a quantity or of a denial.
    Absorbed(&'a str),
    /// A word after the last unit denies it: it grows *not*.
    LastDenied,
}

/// Reads a text in order and calls `each` for every event. A denying word denies the next unit of its sentence within
/// [`REACH`], or else the unit before it.
pub(crate) fn read_events(
    text: &str,
    lexemes: &Lexemes,
    cues: &Cues,
    each: impl FnMut(TextEvent<'_>),
) {
    let mut reader = EventReader {
        text,
        lexemes,
        cues,
        each,
        word: String::new(),
        word_before: String::new(),
        cue_end: 0,
        denial: None,
        quantity_end: 0,
        time: None,
    };
    for piece in pieces(text) {
        reader.piece(piece);
    }
    if reader.denial.is_some() {
        (reader.each)(TextEvent::LastDenied);
    }
}

/// The state of [`read_events`].
struct EventReader<'a, F> {
    text: &'a str,
    lexemes: &'a Lexemes,
    cues: &'a Cues,
    each: F,
    /// The current word in lower case.
    word: String,
    /// The word before it.
    word_before: String,
    /// End of the last cue in a script without spaces.
    cue_end: usize,
    /// Pieces since a denying word whose object has not been found yet.
    denial: Option<usize>,
    /// End of the last quantity, its measure included.
    quantity_end: usize,
    /// Key and end of the last time.
    time: Option<(String, usize)>,
}

impl<F: FnMut(TextEvent<'_>)> EventReader<'_, F> {
    fn piece(&mut self, piece: Piece) {
        self.denial = self.denial.map(|since| since + 1);
        if self
            .denial
            .is_some_and(|since| piece.opens || since > REACH)
        {
            self.denial = None;
            (self.each)(TextEvent::LastDenied);
        }
        match piece.kind {
            // A scale or a measure was reported with its number.
            Kind::Number if piece.bytes.start < self.quantity_end => {}
            Kind::Unspaced if piece.bytes.end <= self.quantity_end => {}
            Kind::Number => self.number(&piece),
            Kind::Unspaced => self.unspaced(piece),
            Kind::Word => self.word(piece),
        }
    }

    fn number(&mut self, piece: &Piece) {
        let (text, lexemes) = (self.text, self.lexemes);
        let is_content = |word: &str| lexemes.stem_of(word).is_some();
        let quantity = quantity_from_digits(text, piece.bytes.clone(), self.cues, is_content);
        let denied = self.denial.take().is_some();
        let is_over = |(_, end): &(String, usize)| *end <= piece.bytes.start;
        if self.time.as_ref().is_none_or(is_over) {
            self.time = time_at(text, piece.bytes.clone());
        }
        let time = self.time.as_ref().map(|(key, _)| key.as_str());
        let found = Found {
            denied,
            role: Role::Number,
            equal: time.map(str::to_owned).or_else(|| quantity.key()),
        };
        self.quantity_end = quantity.report(piece, text, &found, &mut self.each);
        for plain in spellings(&text[piece.bytes.clone()], false) {
            if !quantity.numbers.contains(&plain) {
                (self.each)(TextEvent::Absorbed(&plain));
            }
        }
    }

    fn unspaced(&mut self, piece: Piece) {
        let text = self.text;
        let start = piece.bytes.start;
        // A cue does not deny a pair of characters that it overlaps.
        let denied = start >= self.cue_end && self.denial.take().is_some();
        self.content(&text[piece.bytes.clone()], piece, denied);
        let cue = self.cues.starts(&text[start..]);
        if let Some((len, denies)) = cue.filter(|_| start >= self.cue_end) {
            self.cue_end = start + len;
            self.denial = denies.then_some(0);
        }
    }

    fn word(&mut self, piece: Piece) {
        let (text, lexemes, cues) = (self.text, self.lexemes, self.cues);
        let raw = &text[piece.bytes.clone()];
        let start = piece.bytes.start;
        self.set_word(raw);
        if start >= self.quantity_end
            && cues.numerals().begin_with(&self.word)
            && let Some(quantity) = quantity_from_words(text, start, cues)
        {
            let role = if quantity.is_ambiguous() {
                Role::NumberWord
            } else {
                Role::Number
            };
            // "No one enters" denies `enters`.
            let found = Found {
                denied: role != Role::NumberWord && self.denial.take().is_some(),
                role,
                equal: quantity.key(),
            };
            self.quantity_end = quantity.report(&piece, text, &found, &mut self.each);
        }
        let capital = raw.starts_with(char::is_uppercase);
        (self.each)(TextEvent::Word {
            capital,
            opens: piece.opens,
        });
        let absorbed = start < self.quantity_end
            || (self.denial == Some(1) && extends_denial(&self.word, &text[piece.bytes.end..]));
        if absorbed {
            if let Some(key) = lexemes.stem_of(&self.word) {
                (self.each)(TextEvent::Absorbed(key));
            }
            return;
        }
        let denies = cues.denies(piece.joined.then_some(&self.word_before), &self.word)
            && !is_reply(&piece, text)
            && !cues.is_harmless(&text[start..]);
        if let Some(key) = lexemes.stem_of(&self.word) {
            let denied = !denies && self.denial.take().is_some();
            self.content(key, piece, denied);
        }
        if denies {
            self.denial = Some(0);
        }
    }

    /// Sets the current word; both buffers are reused.
    fn set_word(&mut self, raw: &str) {
        std::mem::swap(&mut self.word, &mut self.word_before);
        self.word.clear();
        if raw.is_ascii() {
            self.word.push_str(raw);
            self.word.make_ascii_lowercase();
        } else {
            self.word.extend(raw.chars().flat_map(char::to_lowercase));
        }
    }

    fn content(&mut self, key: &str, piece: Piece, denied: bool) {
        (self.each)(TextEvent::Unit(Unit {
            key,
            piece,
            role: Role::Content,
            denied,
            equal: None,
        }));
    }
}

/// Returns whether a word after a denying word is part of the denial: *no longer*, *not yet*, *nicht mehr*. In *no
/// longer than* it is part of a comparison.
fn extends_denial(word: &str, rest: &str) -> bool {
    let compares = || {
        let next = rest.trim_start().split(|c: char| !c.is_alphabetic()).next();
        matches!(next, Some("than" | "als"))
    };
    matches!(word, "longer" | "yet" | "mehr") && !compares()
}

/// Returns the start of each unit of a text, in bytes, ascending.
pub(crate) fn unit_starts(text: &str, lexemes: &Lexemes, cues: &Cues) -> Vec<usize> {
    let mut starts = Vec::new();
    read_events(text, lexemes, cues, |event| {
        if let TextEvent::Unit(unit) = event {
            starts.push(unit.piece.bytes.start);
        }
    });
    // A currency sign is read after its number but precedes it in the text.
    starts.sort_unstable();
    starts
}

/// How a quantity is reported.
struct Found {
    denied: bool,
    role: Role,
    equal: Option<String>,
}

impl Quantity {
    /// Reports the numbers, at the position of `piece`, and the measure. Returns the end of the quantity.
    fn report(
        &self,
        piece: &Piece,
        text: &str,
        found: &Found,
        mut each: impl FnMut(TextEvent<'_>),
    ) -> usize {
        for (number, key) in self.numbers.iter().enumerate() {
            each(TextEvent::Unit(Unit {
                key,
                piece: piece.clone(),
                role: found.role,
                denied: found.denied && number == 0,
                equal: found.equal.as_deref(),
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
            equal: found.equal.as_deref(),
        }));
        self.end.max(bytes.end)
    }
}

/// Returns whether a word that could deny is a reply, `No, it does not`, or precedes a number, `No. 5`.
fn is_reply(piece: &Piece, text: &str) -> bool {
    let rest = text[piece.bytes.end..].trim_start_matches(['*', '_', ' ']);
    let replies =
        piece.opens && rest.starts_with([',', ':', ';', '-', '–', '—', '.', '!', '，', '。', '！']);
    let numbered = rest.strip_prefix(['.', 'º', '°']).map(str::trim_start);
    replies || numbered.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::{Cues, TextEvent, read_events, unit_starts};
    use crate::Lexemes;

    /// The units of a text; `!` marks denied ones.
    fn units(text: &str, language: &str) -> Vec<String> {
        let words = text.to_lowercase();
        let words = words.split(|c: char| !c.is_alphanumeric());
        let lexemes = Lexemes::of(text, words.filter(|word| word.len() > 5).map(str::to_owned));
        let mut units: Vec<String> = Vec::new();
        read_events(
            text,
            &lexemes,
            &Cues::built_in(language),
            |event| match event {
                TextEvent::Word { .. } | TextEvent::Absorbed(_) => {}
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
    fn unit_starts_are_ascending() {
        let starts = unit_starts("$5 and $7", &Lexemes::default(), &Cues::built_in("en"));
        assert_eq!(starts, [0, 1, 7, 8]);
    }

    #[test]
    fn denied_units() {
        assert_eq!(
            units("The server doesn't yet support 3.50 plugins.", "en"),
            ["server", "!support", "3.5", "plugins"]
        );
        assert_eq!(
            units("Der Server startet nicht. Neustart 1.234,5", "de"),
            ["server", "!startet", "neustart", "1234.5"]
        );
        assert_eq!(
            units("No, clients do not answer. No. 5 answers.", "en"),
            ["clients", "!answer", "5", "answers"]
        );
        assert_eq!(
            units("Not only clients answer no more than 10 servers", "en"),
            ["clients", "answer", "10", "servers"]
        );
        assert_eq!(
            units("The server no longer supports plugins.", "en"),
            ["server", "!supports", "plugins"]
        );
        assert_eq!(
            units("No one may inspect laboratories.", "en"),
            ["1", "!inspect", "laboratories"]
        );
        assert_eq!(
            units("Der Server startet nicht mehr. Neustart", "de"),
            ["server", "!startet", "neustart"]
        );
        assert_eq!(
            units("It takes no longer than 10 minutes", "en"),
            ["!longer", "10", "min"]
        );
        assert_eq!(units("它不支持", "zh"), ["它不", "不支", "!支持"]);
        assert_eq!(units("它不同意", "zh"), ["它不", "不同", "同意"]);
        assert_eq!(units("It does not support", "simple"), ["support"]);
    }
}
