//! The units of a source that occur in the claims.

use reground_interrupt::checked;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::bit_set::BitSet;
use super::language::Cues;
use super::quotations::FoldedText;
use super::sentences::Sentences;
use super::text_events::{Role, TextEvent, Unit, read_events};
use super::units::{ClaimNumber, ClaimUnits, Vocabulary, is_plain};
use crate::Lexemes;

/// Largest number of places of one unit in one source, the same as in a `tsvector`.
const MOST_PLACES: usize = 256;

/// An occurrence of a claim's unit in a source.
#[derive(Clone, Copy)]
pub(crate) struct Hit {
    pub unit: u32,
    /// Number of units before it.
    pub place: u32,
    /// Whether it is denied there.
    pub denied: bool,
    pub bytes: (usize, usize),
    pub chars: (usize, usize),
}

/// The units of a source that occur in the claims.
pub(crate) struct SourceUnits<'a> {
    pub text: &'a str,
    /// Sorted by unit, then place.
    hits: Vec<Hit>,
    /// Units in the lexemes of the source but not in its text, such as those of its title. They count as present in
    /// every window.
    unplaced: Vec<u32>,
    /// The first number before each unit.
    numbers_before: BTreeMap<u32, String>,
    /// The measures of each number.
    measures: BTreeMap<u32, Measures>,
    /// Places of the first units of sentences and lines, and places of denied units. Both ascend.
    starts: Vec<u32>,
    denials: Vec<u32>,
    // Computed at the first use: an answer cites three or four of ten sources, and few claims contain quotations.
    sentences: OnceCell<Sentences>,
    folded: OnceCell<FoldedText>,
}

/// The measures of the occurrences of one number.
#[derive(Default)]
struct Measures {
    /// Number of occurrences without a measure.
    without: usize,
    /// The signs of all measures.
    signs: BTreeSet<String>,
}

/// The state of reading a source.
struct SourceReader<'v> {
    vocabulary: &'v Vocabulary,
    hits: Vec<Hit>,
    numbers_before: BTreeMap<u32, String>,
    measures: BTreeMap<u32, Measures>,
    starts: Vec<u32>,
    denials: Vec<u32>,
    /// Whether a sentence has begun since the last unit.
    opens: bool,
    /// Lexemes that are part of a quantity or a denial.
    absorbed: BTreeSet<u32>,
    /// Units read so far.
    place: u32,
    /// A number whose following unit has not been read.
    pending: Option<String>,
    /// The last number, until another unit of content follows.
    number: Option<u32>,
    /// Whether the last unit is in the vocabulary.
    known: bool,
}

impl<'v> SourceReader<'v> {
    fn new(vocabulary: &'v Vocabulary) -> Self {
        Self {
            vocabulary,
            hits: Vec::new(),
            numbers_before: BTreeMap::new(),
            measures: BTreeMap::new(),
            starts: Vec::new(),
            denials: Vec::new(),
            opens: false,
            absorbed: BTreeSet::new(),
            place: 0,
            pending: None,
            number: None,
            known: false,
        }
    }

    fn event(&mut self, event: TextEvent<'_>) {
        match event {
            TextEvent::Word { opens, .. } => self.opens |= opens,
            TextEvent::Absorbed(lexeme) => self.absorbed.extend(self.vocabulary.id(lexeme)),
            TextEvent::LastDenied => {
                self.denials.push(self.place.saturating_sub(1));
                if let Some(last) = self.hits.last_mut().filter(|_| self.known) {
                    last.denied = true;
                }
            }
            TextEvent::Unit(unit) => self.unit(&unit),
        }
    }

    fn unit(&mut self, unit: &Unit<'_>) {
        let id = self.vocabulary.id(unit.key);
        self.known = id.is_some();
        if unit.piece.opens {
            self.pending = None;
        }
        if std::mem::take(&mut self.opens) || unit.piece.opens {
            self.starts.push(self.place);
        }
        if unit.denied {
            self.denials.push(self.place);
        }
        match unit.role {
            Role::Number | Role::NumberWord => {
                self.number = id;
                if let Some(id) = id {
                    self.measures.entry(id).or_default().without += 1;
                }
            }
            Role::Measure => {
                let number = self.number.take();
                if let Some(measures) = number.and_then(|id| self.measures.get_mut(&id)) {
                    measures.without = measures.without.saturating_sub(1);
                    measures.signs.insert(unit.key.to_owned());
                }
            }
            Role::Content => self.number = None,
        }
        if unit.role == Role::Number {
            self.pending = Some(unit.key.to_owned());
        } else if let (Some(number), Some(id)) = (self.pending.take(), id) {
            self.numbers_before.entry(id).or_insert(number);
        }
        let hit = |id| Hit {
            unit: id,
            place: self.place,
            denied: unit.denied,
            bytes: (unit.piece.bytes.start, unit.piece.bytes.end),
            chars: (unit.piece.chars.start, unit.piece.chars.end),
        };
        if let Some(equal) = unit.equal {
            let others = self.vocabulary.notations(equal).iter();
            let others = others.filter_map(|notation| match (unit.role, &notation.measure) {
                (Role::Measure, Some((measure, sign))) => {
                    let measures = self.measures.entry(notation.number).or_default();
                    measures.signs.insert(sign.clone());
                    Some(*measure)
                }
                (Role::Measure, None) | (_, Some(_)) => None,
                (_, None) => Some(notation.number),
            });
            let others = others.filter(|other| Some(*other) != id);
            self.hits.extend(others.map(hit));
        }
        self.hits.extend(id.map(hit));
        self.place = self.place.saturating_add(1);
    }
}

impl<'a> SourceUnits<'a> {
    /// Reads a source for the claims whose units are in the vocabulary.
    pub fn read(text: &'a str, lexemes: &Lexemes, cues: &Cues, vocabulary: &Vocabulary) -> Self {
        let (mut source, absorbed) = Self::read_text(text, lexemes, cues, vocabulary);
        for lexeme in checked(lexemes.iter()).filter(|lexeme| is_plain(lexeme)) {
            let id = vocabulary.id(lexeme);
            let unplaced = |id: &u32| source.at(*id).is_empty() && !absorbed.contains(id);
            if let Some(id) = id.filter(unplaced) {
                source.unplaced.push(id);
            }
        }
        source.unplaced.sort_unstable();
        source
    }

    /// Reads a part of a source with the lexemes of the whole source.
    pub fn part(text: &'a str, lexemes: &Lexemes, cues: &Cues, vocabulary: &Vocabulary) -> Self {
        Self::read_text(text, lexemes, cues, vocabulary).0
    }

    /// Reads a text. Also returns the lexemes that are part of a quantity or a denial.
    fn read_text(
        text: &'a str,
        lexemes: &Lexemes,
        cues: &Cues,
        vocabulary: &Vocabulary,
    ) -> (Self, BTreeSet<u32>) {
        let mut reader = SourceReader::new(vocabulary);
        read_events(text, lexemes, cues, |event| reader.event(event));
        let mut hits = reader.hits;
        hits.sort_unstable_by_key(|hit| (hit.unit, hit.place));
        let source = Self {
            text,
            hits,
            unplaced: Vec::new(),
            numbers_before: reader.numbers_before,
            measures: reader.measures,
            starts: reader.starts,
            denials: reader.denials,
            sentences: OnceCell::new(),
            folded: OnceCell::new(),
        };
        (source, reader.absorbed)
    }

    /// The sentences of the source.
    pub fn sentences(&self) -> &Sentences {
        self.sentences.get_or_init(|| Sentences::of(self.text))
    }

    /// The letters and digits of the source.
    pub fn folded(&self) -> &FoldedText {
        self.folded.get_or_init(|| FoldedText::of(self.text))
    }

    /// Returns the occurrences of a unit, in ascending order.
    pub fn at(&self, unit: u32) -> &[Hit] {
        let from = self.hits.partition_point(|hit| hit.unit < unit);
        let rest = &self.hits[from..];
        let len = rest.partition_point(|hit| hit.unit == unit);
        &rest[..len.min(MOST_PLACES)]
    }

    /// Returns the occurrences of a claim's units by place, each with the index of the unit in the claim.
    pub fn hits_of(&self, claim: &ClaimUnits<'_>) -> Vec<(usize, Hit)> {
        let units = claim.units.iter().enumerate();
        let mut hits: Vec<(usize, Hit)> = units
            .flat_map(|(number, unit)| self.at(*unit).iter().map(move |hit| (number, *hit)))
            .collect();
        hits.sort_unstable_by_key(|(_, hit)| hit.place);
        hits
    }

    /// Returns the claim's units that have no place in the source.
    pub fn unplaced_of(&self, claim: &ClaimUnits<'_>) -> BitSet {
        let mut bits = BitSet::default();
        for (number, unit) in claim.units.iter().enumerate() {
            if self.unplaced.binary_search(unit).is_ok() {
                bits.add(number);
            }
        }
        bits
    }

    /// Returns a measure of a claim's number in the source, if all its occurrences have a measure and none has the
    /// measure of the claim.
    pub fn other_measure(&self, claim: &ClaimUnits<'_>, number: &ClaimNumber) -> Option<&str> {
        let measure = number.measure.as_ref()?;
        let measures = self.measures.get(claim.units.get(number.unit)?)?;
        let other = measures.without == 0 && !measures.signs.contains(measure);
        other.then(|| measures.signs.first().map(String::as_str))?
    }

    /// Returns whether the sentences between two places deny anything.
    pub fn denies(&self, first: u32, last: u32) -> bool {
        let next = self.starts.partition_point(|start| *start <= first);
        let from = next
            .checked_sub(1)
            .map_or(0, |sentence| self.starts[sentence]);
        let end = self.starts.partition_point(|start| *start <= last);
        let end = self.starts.get(end).copied().unwrap_or(u32::MAX);
        let denial = self.denials.partition_point(|denial| *denial < from);
        self.denials.get(denial).is_some_and(|denial| *denial < end)
    }

    /// Returns whether the source has another form of a name: *Germany* for *German*.
    pub fn has_form_of(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        checked(self.text.split(|c: char| !c.is_alphanumeric())).any(|word| {
            word.starts_with(char::is_uppercase) && are_forms(&name, &word.to_lowercase())
        })
    }

    /// Returns whether the source has a year of a decade, which is given by its first year.
    pub fn has_year_of(&self, decade: &str) -> bool {
        let Some(digits) = decade.strip_suffix('0').filter(|digits| digits.len() == 3) else {
            return false;
        };
        let mut years = self.text.match_indices(digits);
        years.any(|(at, _)| {
            let year = self.text[at..].split(|c: char| !c.is_ascii_digit()).next();
            year.is_some_and(|year| year.len() == 4)
        })
    }

    /// Returns the first number before a unit.
    pub fn number_before(&self, unit: u32) -> Option<&str> {
        self.numbers_before.get(&unit).map(String::as_str)
    }
}

/// Returns whether two words have the same beginning and differ in at most three characters at the end.
fn are_forms(left: &str, right: &str) -> bool {
    const ALIKE: usize = 4;
    const ENDING: usize = 3;
    let alike = left.chars().zip(right.chars()).take_while(|(l, r)| l == r);
    let alike = alike.count();
    let ending = |word: &str| word.chars().count() - alike;
    alike >= ALIKE && ending(left) <= ENDING && ending(right) <= ENDING
}
