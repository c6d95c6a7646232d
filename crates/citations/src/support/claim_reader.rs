//! Reads a claim: its units, numbers, names, quotations and denials.

use reground_interrupt::checked;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::bit_set::MOST;
use super::language::Cues;
use super::pieces::Piece;
use super::quotations::quoted_spans;
use super::text_events::{Role, TextEvent, Unit, read_events};
use super::units::{ClaimName, ClaimNumber, ClaimUnits, Notation, Vocabulary, is_plain};
use crate::Lexemes;

impl<'a> ClaimUnits<'a> {
    /// Reads a claim and adds its units to the vocabulary.
    pub fn read(
        text: &'a str,
        lexemes: &Lexemes,
        cues: &Cues,
        vocabulary: &mut Vocabulary,
    ) -> Self {
        let mut reader = ClaimReader::of(text, lexemes, cues, vocabulary);
        // Lexemes without a letter are numbers. Those were read from the text, with their signs and scales.
        let absorbed = std::mem::take(&mut reader.absorbed);
        let is_rest = |lexeme: &&str| {
            let is_word = lexeme.contains(char::is_alphabetic);
            is_plain(lexeme) && is_word && !absorbed.contains(*lexeme)
        };
        for lexeme in checked(lexemes.iter()).filter(is_rest) {
            let id = reader.vocabulary.intern(lexeme);
            let known = reader.claim.units.len();
            reader.claim.number_of(id, &(0..0), &mut reader.numbered);
            reader.claim.length += reader.claim.units.len() - known;
        }
        reader.claim
    }

    /// Reads a part of a claim with the lexemes of the whole claim.
    pub fn part(
        text: &'a str,
        lexemes: &Lexemes,
        cues: &Cues,
        vocabulary: &mut Vocabulary,
    ) -> Self {
        ClaimReader::of(text, lexemes, cues, vocabulary).claim
    }
}

/// The state of reading a claim.
struct ClaimReader<'a, 'v> {
    text: &'a str,
    vocabulary: &'v mut Vocabulary,
    claim: ClaimUnits<'a>,
    /// The index of each unit by its id.
    numbered: BTreeMap<u32, usize>,
    /// Lexemes that are part of a quantity or a denial.
    absorbed: BTreeSet<String>,
    /// Id and index of the last unit.
    last: Option<(u32, usize)>,
    /// Numbers whose counted unit has not been read.
    pending: Vec<ClaimNumber>,
    words: usize,
    capitals: usize,
    /// The end of the last name.
    name_end: Option<usize>,
    /// Whether the next unit is the first after a name.
    after_name: bool,
}

impl<'a, 'v> ClaimReader<'a, 'v> {
    fn of(text: &'a str, lexemes: &Lexemes, cues: &Cues, vocabulary: &'v mut Vocabulary) -> Self {
        let mut reader = Self {
            text,
            vocabulary,
            claim: ClaimUnits {
                text,
                ..ClaimUnits::default()
            },
            numbered: BTreeMap::new(),
            absorbed: BTreeSet::new(),
            last: None,
            pending: Vec::new(),
            words: 0,
            capitals: 0,
            name_end: None,
            after_name: false,
        };
        read_events(text, lexemes, cues, |event| reader.event(event));
        let claim = &mut reader.claim;
        claim.numbers.append(&mut reader.pending);
        claim.numbers.retain(|number| number.unit < MOST);
        // Headlines capitalise all words.
        if 2 * reader.capitals >= reader.words || !cues.capitals_mark_names() {
            claim.names.clear();
        }
        claim.pairs.sort_unstable();
        claim.pairs.dedup();
        claim.pairs.truncate(MOST);
        claim.quotes = quoted_spans(text);
        reader
    }

    fn event(&mut self, event: TextEvent<'_>) {
        match event {
            TextEvent::Word { capital, .. } => {
                self.words += 1;
                self.capitals += usize::from(capital);
            }
            TextEvent::Absorbed(lexeme) => {
                self.absorbed.insert(lexeme.to_owned());
            }
            TextEvent::LastDenied => {
                if let Some((_, number)) = self.last {
                    self.claim.denied.add(number);
                }
            }
            TextEvent::Unit(unit) => self.unit(&unit),
        }
    }

    fn unit(&mut self, unit: &Unit<'_>) {
        let bytes = &unit.piece.bytes;
        if unit.role == Role::Number && is_list_number(self.text, bytes) {
            return;
        }
        let id = self.vocabulary.intern(unit.key);
        let number = self.claim.number_of(id, bytes, &mut self.numbered);
        self.claim.length += 1;
        if unit.denied {
            self.claim.denied.add(number);
        }
        let before = self.last.replace((id, number));
        self.notation(unit, id, before.map(|(before, _)| before));
        if let Some((last, _)) = before {
            self.claim.pairs.push((last, id));
        }
        let raw = &self.text[bytes.clone()];
        if unit.role == Role::Number {
            self.claim.numbers.append(&mut self.pending);
            self.pending.push(ClaimNumber {
                unit: number,
                text: unit.key.to_owned(),
                of: None,
                measure: None,
                spelled: is_spelled_count(raw, unit.key),
                decade: names_decade(&self.text[bytes.end..]),
            });
        } else {
            for mut counted in self.pending.drain(..) {
                counted.of = Some((id, raw.to_owned()));
                counted.measure = (unit.role == Role::Measure).then(|| unit.key.to_owned());
                self.claim.numbers.push(counted);
            }
        }
        self.name(unit, number, before.map(|(_, number)| number));
    }

    /// Adds the notation of a quantity or a time to the vocabulary. The number of a measure is directly before it.
    fn notation(&mut self, unit: &Unit<'_>, id: u32, before: Option<u32>) {
        let Some(equal) = unit.equal else {
            return;
        };
        let notation = match (unit.role, before) {
            (Role::Measure, Some(number)) => Notation {
                number,
                measure: Some((id, unit.key.to_owned())),
            },
            _ => Notation {
                number: id,
                measure: None,
            },
        };
        self.vocabulary.add_notation(equal, notation);
    }

    /// Adds a unit to the names, or to the neighbours of the last name.
    fn name(&mut self, unit: &Unit<'_>, number: usize, before: Option<usize>) {
        let bytes = &unit.piece.bytes;
        let names = &mut self.claim.names;
        if unit.role == Role::Content && is_name(self.text, &unit.piece) {
            let follows = |end| self.text.get(end..bytes.start) == Some(" ");
            match names.last_mut() {
                Some(name) if self.name_end.is_some_and(follows) => name.units.push(number),
                _ => names.push(ClaimName {
                    units: vec![number],
                    neighbours: before.into_iter().collect(),
                }),
            }
            self.name_end = Some(bytes.end);
            self.after_name = true;
        } else if std::mem::take(&mut self.after_name) && !unit.piece.opens {
            let name = names.last_mut().into_iter();
            name.for_each(|name| name.neighbours.push(number));
        }
    }
}

/// Returns whether a number is the number of a list item that begins the text: `2. Subscription`.
fn is_list_number(text: &str, number: &Range<usize>) -> bool {
    let item = text[number.end..].strip_prefix(['.', ')', ':']);
    text[..number.start].trim().is_empty() && item.is_some_and(|rest| rest.starts_with(' '))
}

/// Returns whether the text after a number makes it a decade: 1990*s*.
fn names_decade(after: &str) -> bool {
    let rest = after.strip_prefix('\'').unwrap_or(after).strip_prefix('s');
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// Returns whether a number is a small one in words.
fn is_spelled_count(raw: &str, number: &str) -> bool {
    raw.starts_with(char::is_alphabetic) && number.parse().is_ok_and(|number: u8| number <= 12)
}

/// Returns whether a capital marks a word as a name. At the start of a sentence or of a phrase, it has no meaning.
fn is_name(text: &str, piece: &Piece) -> bool {
    let before = text[..piece.bytes.start].trim_end_matches(['"', '“', '\'', '‘', '*', '_']);
    let phrase = before.trim_end();
    // In parentheses, an abbreviation or its long form repeats the words before them.
    let begins = phrase.ends_with([':', ';', '•', '('])
        || phrase.len() < before.len() && phrase.ends_with(['-', '–', '—', '*', '|']);
    !piece.opens && !begins && text[piece.bytes.clone()].starts_with(char::is_uppercase)
}
