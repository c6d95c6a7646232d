//! Claims and sources as sequences of content units: stems, numbers, pairs of characters of scripts without spaces.

use reground_pulse::along;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use super::bits::{Bits, MOST};
use super::cues::Cues;
use super::quoted::{Folded, Quoted, quoted_spans};
use super::said::{Said, read};
use super::words::{Kind, is_unspaced};
use crate::Lexemes;
use crate::quote::Sentences;

/// Places of one unit in one source that are looked at, as many as a `tsvector` keeps.
const MOST_PLACES: usize = 256;

/// The units of all claims, by number. What no claim holds is of no interest in a source.
#[derive(Default)]
pub(crate) struct Vocabulary(BTreeMap<String, u32>);

impl Vocabulary {
    fn intern(&mut self, unit: &str) -> u32 {
        if let Some(&id) = self.0.get(unit) {
            return id;
        }
        let id = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.insert(unit.to_owned(), id);
        id
    }

    fn id(&self, unit: &str) -> Option<u32> {
        self.0.get(unit).copied()
    }
}

/// A number that a claim gives, and what it counts.
pub(crate) struct Number {
    /// The unit of the claim that it is.
    pub unit: usize,
    /// In one spelling.
    pub text: String,
    /// The unit that follows, and how the claim writes it: minutes, `%`.
    pub of: Option<(u32, String)>,
}

/// What a claim says. The number of a unit is its index among the claim's own.
#[derive(Default)]
pub(crate) struct ClaimUnits<'a> {
    text: &'a str,
    /// Distinct units, at most [`MOST`].
    pub units: Vec<u32>,
    /// Where each first stands, in bytes; nowhere for one that is among the lexemes only.
    first: Vec<Range<usize>>,
    /// Units with their repetitions.
    pub length: usize,
    /// Distinct neighbours.
    pub pairs: Vec<(u32, u32)>,
    pub numbers: Vec<Number>,
    /// Units of words that a capital marks as a name.
    pub names: Vec<usize>,
    pub quotes: Vec<Quoted>,
    /// Units that it denies.
    pub denied: Bits,
}

/// A unit of a claim at its place in a source.
#[derive(Clone, Copy)]
pub(crate) struct Hit {
    pub unit: u32,
    /// Units of content before it.
    pub place: u32,
    /// Whether it is denied there.
    pub denied: bool,
    pub bytes: (usize, usize),
    pub chars: (usize, usize),
}

/// What a source says of what the claims say.
pub(crate) struct SourceUnits<'a> {
    pub text: &'a str,
    /// By unit, then place.
    hits: Vec<Hit>,
    /// Units that are among its lexemes and not in its text: those of its title stand over all of it.
    untied: Vec<u32>,
    /// The first number before each unit, by unit.
    figures: BTreeMap<u32, String>,
    // Of ten sources an answer cites three or four, and few claims quote: made where they are asked for.
    sentences: OnceCell<Sentences>,
    folded: OnceCell<Folded>,
}

impl<'a> ClaimUnits<'a> {
    /// Reads a claim and adds its units to the vocabulary.
    pub fn read(
        text: &'a str,
        lexemes: &Lexemes,
        cues: &Cues,
        vocabulary: &mut Vocabulary,
    ) -> Self {
        let mut numbered = BTreeMap::new();
        let mut claim = Self::said(text, lexemes, cues, vocabulary, &mut numbered);
        for lexeme in along(lexemes.iter()).filter(|lexeme| is_plain(lexeme)) {
            let id = vocabulary.intern(lexeme);
            claim.length += usize::from(claim.number_of(id, &(0..0), &mut numbered).1);
        }
        claim
    }

    /// Reads a part of a claim by the lexemes of the whole.
    pub fn part(
        text: &'a str,
        lexemes: &Lexemes,
        cues: &Cues,
        vocabulary: &mut Vocabulary,
    ) -> Self {
        Self::said(text, lexemes, cues, vocabulary, &mut BTreeMap::new())
    }

    /// Reads what stands in a text itself; `numbered` are its units by number.
    fn said(
        text: &'a str,
        lexemes: &Lexemes,
        cues: &Cues,
        vocabulary: &mut Vocabulary,
        numbered: &mut BTreeMap<u32, usize>,
    ) -> Self {
        let mut claim = Self {
            text,
            ..Self::default()
        };
        let mut last: Option<(u32, usize)> = None;
        let mut pending: Vec<Number> = Vec::new();
        let (mut words, mut capitals) = (0, 0);
        read(text, lexemes, cues, |said| {
            let unit = match said {
                Said::Word { capital } => {
                    words += 1;
                    capitals += usize::from(capital);
                    return;
                }
                Said::LastDenied => {
                    if let Some((_, number)) = last {
                        claim.denied.add(number);
                    }
                    return;
                }
                Said::Unit(unit) => unit,
            };
            let id = vocabulary.intern(unit.key);
            let bytes = &unit.piece.bytes;
            let (number, new) = claim.number_of(id, bytes, numbered);
            claim.length += 1;
            if unit.denied {
                claim.denied.add(number);
            }
            if let Some((last, _)) = last.replace((id, number)) {
                claim.pairs.push((last, id));
            }
            let raw = &text[bytes.clone()];
            if unit.piece.kind == Kind::Number {
                claim.numbers.append(&mut pending);
                let percent = || (vocabulary.intern("%"), "%".to_owned());
                pending.push(Number {
                    unit: number,
                    text: unit.key.to_owned(),
                    of: unit.percent.then(percent),
                });
            } else {
                for mut counted in pending.drain(..) {
                    counted.of = counted.of.or_else(|| Some((id, raw.to_owned())));
                    claim.numbers.push(counted);
                }
            }
            if new && !unit.piece.opens && raw.starts_with(char::is_uppercase) {
                claim.names.push(number);
            }
        });
        claim.numbers.append(&mut pending);
        claim.numbers.retain(|number| number.unit < MOST);
        // Headlines capitalise everything, German its nouns.
        if 2 * capitals >= words {
            claim.names.clear();
        }
        claim.pairs.sort_unstable();
        claim.pairs.dedup();
        claim.pairs.truncate(MOST);
        claim.quotes = quoted_spans(text);
        claim
    }

    /// The number of a unit, and whether it is new; [`MOST`] for one too many.
    fn number_of(
        &mut self,
        id: u32,
        bytes: &Range<usize>,
        numbered: &mut BTreeMap<u32, usize>,
    ) -> (usize, bool) {
        let next = self.units.len();
        if let Some(&number) = numbered.get(&id) {
            return (number, false);
        }
        if next == MOST {
            return (MOST, false);
        }
        numbered.insert(id, next);
        self.units.push(id);
        self.first.push(bytes.clone());
        (next, true)
    }

    /// A unit as the claim first writes it.
    pub fn word(&self, number: usize) -> &'a str {
        let bytes = self.first.get(number).cloned();
        let word = bytes.and_then(|bytes| self.text.get(bytes));
        word.unwrap_or_default()
    }
}

impl<'a> SourceUnits<'a> {
    /// Reads a source for the claims that made the vocabulary.
    pub fn read(text: &'a str, lexemes: &Lexemes, cues: &Cues, vocabulary: &Vocabulary) -> Self {
        let mut hits: Vec<Hit> = Vec::new();
        let mut figures = BTreeMap::new();
        let mut place = 0_u32;
        let mut pending: Option<String> = None;
        // Whether the last unit is one of the claims'.
        let mut known = false;
        let percent = vocabulary.id("%");
        read(text, lexemes, cues, |said| {
            let unit = match said {
                Said::Word { .. } => return,
                Said::LastDenied => {
                    if let Some(last) = hits.last_mut().filter(|_| known) {
                        last.denied = true;
                    }
                    return;
                }
                Said::Unit(unit) => unit,
            };
            let id = vocabulary.id(unit.key);
            known = id.is_some();
            if unit.piece.opens {
                pending = None;
            }
            if unit.piece.kind == Kind::Number {
                let number = unit.key.to_owned();
                if let Some(percent) = percent.filter(|_| unit.percent) {
                    figures.entry(percent).or_insert(number);
                } else {
                    pending = Some(number);
                }
            } else if let (Some(number), Some(id)) = (pending.take(), id) {
                figures.entry(id).or_insert(number);
            }
            if let Some(id) = id {
                hits.push(Hit {
                    unit: id,
                    place,
                    denied: unit.denied,
                    bytes: (unit.piece.bytes.start, unit.piece.bytes.end),
                    chars: (unit.piece.chars.start, unit.piece.chars.end),
                });
            }
            place = place.saturating_add(1);
        });
        hits.sort_unstable_by_key(|hit| (hit.unit, hit.place));
        let mut source = Self {
            text,
            hits,
            untied: Vec::new(),
            figures,
            sentences: OnceCell::new(),
            folded: OnceCell::new(),
        };
        for lexeme in along(lexemes.iter()).filter(|lexeme| is_plain(lexeme)) {
            let id = vocabulary.id(lexeme);
            if let Some(id) = id.filter(|id| source.at(*id).is_empty()) {
                source.untied.push(id);
            }
        }
        source.untied.sort_unstable();
        source
    }

    /// Its sentences.
    pub fn sentences(&self) -> &Sentences {
        self.sentences.get_or_init(|| Sentences::of(self.text))
    }

    /// Its letters and digits.
    pub fn folded(&self) -> &Folded {
        self.folded.get_or_init(|| Folded::of(self.text))
    }

    /// Where a unit stands, ascending.
    pub fn at(&self, unit: u32) -> &[Hit] {
        let from = self.hits.partition_point(|hit| hit.unit < unit);
        let rest = &self.hits[from..];
        let len = rest.partition_point(|hit| hit.unit == unit);
        &rest[..len.min(MOST_PLACES)]
    }

    /// The hits of a claim's units, by place, each with the unit's number within the claim.
    pub fn hits_of(&self, claim: &ClaimUnits<'_>) -> Vec<(usize, Hit)> {
        let units = claim.units.iter().enumerate();
        let mut hits: Vec<(usize, Hit)> = units
            .flat_map(|(number, unit)| self.at(*unit).iter().map(move |hit| (number, *hit)))
            .collect();
        hits.sort_unstable_by_key(|(_, hit)| hit.place);
        hits
    }

    /// The claim's units that stand over all of the source.
    pub fn untied_of(&self, claim: &ClaimUnits<'_>) -> Bits {
        let mut bits = Bits::default();
        for (number, unit) in claim.units.iter().enumerate() {
            if self.untied.binary_search(unit).is_ok() {
                bits.add(number);
            }
        }
        bits
    }

    /// A number that it gives before a unit.
    pub fn figure(&self, unit: u32) -> Option<&str> {
        self.figures.get(&unit).map(String::as_str)
    }
}

/// Whether a lexeme is one word: the server gives the parts of compounds and addresses besides the whole, takes phrases of
/// scripts without spaces for words, and leaves `15th` in one, whose number is read from the text.
fn is_plain(lexeme: &str) -> bool {
    let number = lexeme.starts_with(|c: char| c.is_ascii_digit());
    !(number && lexeme.contains(char::is_alphabetic))
        && lexeme
            .chars()
            .all(|c| (c.is_alphanumeric() || c == '.') && !is_unspaced(c))
}
