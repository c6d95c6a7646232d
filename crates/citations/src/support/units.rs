//! Reads a claim as a sequence of content units: stems, numbers, and pairs of characters in scripts without spaces.

use reground_interrupt::checked;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::bit_set::{BitSet, MOST};
use super::language::Cues;
use super::pieces::{Piece, is_unspaced};
use super::quotations::{QuotedSpan, quoted_spans};
use super::text_events::{Role, TextEvent, read_events};
use crate::Lexemes;

/// The ids of the units of all claims. Other units of a source are ignored.
#[derive(Default)]
pub(crate) struct Vocabulary(HashMap<String, u32>);

impl Vocabulary {
    fn intern(&mut self, unit: &str) -> u32 {
        if let Some(&id) = self.0.get(unit) {
            return id;
        }
        let id = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.insert(unit.to_owned(), id);
        id
    }

    pub fn id(&self, unit: &str) -> Option<u32> {
        self.0.get(unit).copied()
    }
}

/// A number in a claim and the counted unit.
pub(crate) struct ClaimNumber {
    /// Index of the number's unit in the claim.
    pub unit: usize,
    /// The number in normal form.
    pub text: String,
    /// The unit that follows, and its text in the claim: minutes, `%`.
    pub of: Option<(u32, String)>,
    /// The sign of the measure.
    pub measure: Option<String>,
    /// Whether a small number is spelled out. An answer counts what it lists: *three* types.
    pub spelled: bool,
    /// Whether it names a decade: 1990s.
    pub decade: bool,
}

/// A name in a claim, by its capitals.
pub(crate) struct ClaimName {
    /// Its units.
    pub units: Vec<usize>,
    /// The units of content before and after it.
    pub neighbours: Vec<usize>,
}

/// The units of a claim. Other fields refer to a unit by its index in `units`.
#[derive(Default)]
pub(crate) struct ClaimUnits<'a> {
    text: &'a str,
    /// Distinct units, at most [`MOST`].
    pub units: Vec<u32>,
    /// Position of the first occurrence of each unit, in bytes; empty for a unit that is only in the lexemes.
    first: Vec<Range<usize>>,
    /// Number of units with repetitions.
    pub length: usize,
    /// Distinct pairs of neighbours.
    pub pairs: Vec<(u32, u32)>,
    pub numbers: Vec<ClaimNumber>,
    /// Names: capitalised words in a row.
    pub names: Vec<ClaimName>,
    pub quotes: Vec<QuotedSpan>,
    /// Units that the claim denies.
    pub denied: BitSet,
}

impl<'a> ClaimUnits<'a> {
    /// Reads a claim and adds its units to the vocabulary.
    pub fn read(
        text: &'a str,
        lexemes: &Lexemes,
        cues: &Cues,
        vocabulary: &mut Vocabulary,
    ) -> Self {
        let (mut claim, mut numbered, absorbed) = Self::from_text(text, lexemes, cues, vocabulary);
        // Lexemes without a letter are numbers. Those were read from the text, with their signs and scales.
        let is_rest = |lexeme: &&str| {
            let is_word = lexeme.contains(char::is_alphabetic);
            is_plain(lexeme) && is_word && !absorbed.contains(*lexeme)
        };
        for lexeme in checked(lexemes.iter()).filter(is_rest) {
            let id = vocabulary.intern(lexeme);
            let known = claim.units.len();
            claim.number_of(id, &(0..0), &mut numbered);
            claim.length += claim.units.len() - known;
        }
        claim
    }

    /// Reads a part of a claim with the lexemes of the whole claim.
    pub fn part(
        text: &'a str,
        lexemes: &Lexemes,
        cues: &Cues,
        vocabulary: &mut Vocabulary,
    ) -> Self {
        Self::from_text(text, lexemes, cues, vocabulary).0
    }

    /// Reads the units of the text. Also returns the index of each unit by its id, and the lexemes that are part of a
    /// quantity or a denial.
    fn from_text(
        text: &'a str,
        lexemes: &Lexemes,
        cues: &Cues,
        vocabulary: &mut Vocabulary,
    ) -> (Self, BTreeMap<u32, usize>, BTreeSet<String>) {
        let mut claim = Self {
            text,
            ..Self::default()
        };
        let (mut numbered, mut absorbed) = (BTreeMap::new(), BTreeSet::new());
        let mut last: Option<(u32, usize)> = None;
        let mut pending: Vec<ClaimNumber> = Vec::new();
        let (mut words, mut capitals) = (0, 0);
        // The end of the last name, and whether the next unit is the first after it.
        let (mut name_end, mut after_name) = (None, false);
        read_events(text, lexemes, cues, |event| {
            let unit = match event {
                TextEvent::Word { capital, .. } => {
                    words += 1;
                    capitals += usize::from(capital);
                    return;
                }
                TextEvent::Absorbed(lexeme) => {
                    absorbed.insert(lexeme.to_owned());
                    return;
                }
                TextEvent::LastDenied => {
                    if let Some((_, number)) = last {
                        claim.denied.add(number);
                    }
                    return;
                }
                TextEvent::Unit(unit) => unit,
            };
            let bytes = &unit.piece.bytes;
            if unit.role == Role::Number && is_list_number(text, bytes) {
                return;
            }
            let id = vocabulary.intern(unit.key);
            let number = claim.number_of(id, bytes, &mut numbered);
            claim.length += 1;
            if unit.denied {
                claim.denied.add(number);
            }
            let before = last.replace((id, number));
            if let Some((last, _)) = before {
                claim.pairs.push((last, id));
            }
            let raw = &text[bytes.clone()];
            if unit.role == Role::Number {
                claim.numbers.append(&mut pending);
                pending.push(ClaimNumber {
                    unit: number,
                    text: unit.key.to_owned(),
                    of: None,
                    measure: None,
                    spelled: is_spelled_count(raw, unit.key),
                    decade: names_decade(&text[bytes.end..]),
                });
            } else {
                for mut counted in pending.drain(..) {
                    counted.of = Some((id, raw.to_owned()));
                    counted.measure = (unit.role == Role::Measure).then(|| unit.key.to_owned());
                    claim.numbers.push(counted);
                }
            }
            if unit.role == Role::Content && is_name(text, &unit.piece) {
                let follows = |end| text.get(end..bytes.start) == Some(" ");
                match claim.names.last_mut() {
                    Some(name) if name_end.is_some_and(follows) => name.units.push(number),
                    _ => claim.names.push(ClaimName {
                        units: vec![number],
                        neighbours: before.map(|(_, number)| number).into_iter().collect(),
                    }),
                }
                name_end = Some(bytes.end);
                after_name = true;
            } else if std::mem::take(&mut after_name) && !unit.piece.opens {
                claim
                    .names
                    .last_mut()
                    .into_iter()
                    .for_each(|name| name.neighbours.push(number));
            }
        });
        claim.numbers.append(&mut pending);
        claim.numbers.retain(|number| number.unit < MOST);
        // Headlines capitalise all words, German capitalises nouns.
        if 2 * capitals >= words {
            claim.names.clear();
        }
        claim.pairs.sort_unstable();
        claim.pairs.dedup();
        claim.pairs.truncate(MOST);
        claim.quotes = quoted_spans(text);
        (claim, numbered, absorbed)
    }

    /// Returns the index of a unit; [`MOST`] if there are too many.
    fn number_of(
        &mut self,
        id: u32,
        bytes: &Range<usize>,
        numbered: &mut BTreeMap<u32, usize>,
    ) -> usize {
        let next = self.units.len();
        if let Some(&number) = numbered.get(&id) {
            return number;
        }
        if next == MOST {
            return MOST;
        }
        numbered.insert(id, next);
        self.units.push(id);
        self.first.push(bytes.clone());
        next
    }

    /// Returns whether a part of the claim can end before a unit: after punctuation or `and`.
    pub fn parts_at(&self, number: usize) -> bool {
        let last = number.checked_sub(1).and_then(|last| self.first.get(last));
        let bytes = last.zip(self.first.get(number));
        let between = bytes.and_then(|(last, next)| self.text.get(last.end..next.start));
        let between = between.unwrap_or_default();
        between.contains([',', ';', ':', '.', '–', '—', '，', '；', '。'])
            || between.split(' ').any(|word| word == "and")
    }

    /// Returns a unit as the claim first writes it.
    pub fn word(&self, number: usize) -> &'a str {
        let bytes = self.first.get(number).cloned();
        let word = bytes.and_then(|bytes| self.text.get(bytes));
        word.unwrap_or_default()
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

/// Returns whether a lexeme is a single word. The server also returns parts of compounds and addresses, and phrases
/// of scripts without spaces. It does not split `15th`, whose number is read from the text.
pub(super) fn is_plain(lexeme: &str) -> bool {
    let number = lexeme.starts_with(|c: char| c.is_ascii_digit());
    !(number && lexeme.contains(char::is_alphabetic))
        && lexeme
            .chars()
            .all(|c| (c.is_alphanumeric() || c == '.') && !is_unspaced(c))
}
