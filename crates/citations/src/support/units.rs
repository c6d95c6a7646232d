//! The content units of a claim: stems, numbers, and pairs of characters in scripts without spaces.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::bit_set::{BitSet, MOST};
use super::pieces::is_unspaced;
use super::quotations::QuotedSpan;

/// The ids of the units of all claims. Other units of a source are ignored.
#[derive(Default)]
pub(crate) struct Vocabulary {
    ids: HashMap<String, u32>,
    /// How the claims write quantities and times, by the key of the equal ones.
    notations: HashMap<String, Vec<Notation>>,
}

/// A notation of a quantity or a time.
#[derive(PartialEq)]
pub(crate) struct Notation {
    /// The number, or a number of the time.
    pub number: u32,
    /// The measure and its sign; `None` for a time.
    pub measure: Option<(u32, String)>,
}

impl Vocabulary {
    pub fn intern(&mut self, unit: &str) -> u32 {
        if let Some(&id) = self.ids.get(unit) {
            return id;
        }
        let id = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        self.ids.insert(unit.to_owned(), id);
        id
    }

    /// Number of units. The ids are the numbers below it.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn id(&self, unit: &str) -> Option<u32> {
        self.ids.get(unit).copied()
    }

    pub fn add_notation(&mut self, equal: &str, notation: Notation) {
        let known = self.notations.entry(equal.to_owned()).or_default();
        if !known.contains(&notation) {
            known.push(notation);
        }
    }

    /// Returns the notations of a quantity or a time in the claims.
    pub fn notations(&self, equal: &str) -> &[Notation] {
        self.notations.get(equal).map_or(&[], Vec::as_slice)
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
    pub(super) text: &'a str,
    /// Distinct units, at most [`MOST`].
    pub units: Vec<u32>,
    /// Position of the first occurrence of each unit, in bytes; empty for a unit that is only in the lexemes.
    pub(super) first: Vec<Range<usize>>,
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
    /// Returns the index of a unit; [`MOST`] if there are too many.
    pub(super) fn number_of(
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

    /// The text of the claim.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The first position of a unit, in bytes.
    pub fn place(&self, number: usize) -> Option<Range<usize>> {
        self.first.get(number).cloned()
    }

    /// Returns a unit as the claim first writes it.
    pub fn word(&self, number: usize) -> &'a str {
        let bytes = self.first.get(number).cloned();
        let word = bytes.and_then(|bytes| self.text.get(bytes));
        word.unwrap_or_default()
    }
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
