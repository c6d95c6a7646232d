//! What a source says of what the claims say.

use reground_interrupt::checked;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::bit_set::BitSet;
use super::language::Cues;
use super::quotations::FoldedText;
use super::sentences::Sentences;
use super::text_events::{Role, TextEvent, read};
use super::units::{ClaimUnits, Number, Vocabulary, is_plain};
use crate::Lexemes;

/// Places of one unit in one source that are looked at, as many as a `tsvector` keeps.
const MOST_PLACES: usize = 256;

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
    /// What each number measures.
    measures: BTreeMap<u32, Measures>,
    // Of ten sources an answer cites three or four, and few claims quote: made where they are asked for.
    sentences: OnceCell<Sentences>,
    folded: OnceCell<FoldedText>,
}

/// What the places of one number measure.
#[derive(Default)]
struct Measures {
    /// Places where that is not said.
    unsaid: usize,
    /// Signs of what is.
    signs: BTreeSet<String>,
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
        let mut measures: BTreeMap<u32, Measures> = BTreeMap::new();
        let mut number: Option<u32> = None;
        let mut within = BTreeSet::new();
        read(text, lexemes, cues, |said| {
            let unit = match said {
                TextEvent::Word { .. } => return,
                TextEvent::Within(lexeme) => {
                    within.extend(vocabulary.id(lexeme));
                    return;
                }
                TextEvent::LastDenied => {
                    if let Some(last) = hits.last_mut().filter(|_| known) {
                        last.denied = true;
                    }
                    return;
                }
                TextEvent::Unit(unit) => unit,
            };
            let id = vocabulary.id(unit.key);
            known = id.is_some();
            if unit.piece.opens {
                pending = None;
            }
            match unit.role {
                Role::Number | Role::MereWord => {
                    number = id;
                    if let Some(id) = id {
                        measures.entry(id).or_default().unsaid += 1;
                    }
                }
                Role::Measure => {
                    let measures = number.take().and_then(|id| measures.get_mut(&id));
                    if let Some(measures) = measures {
                        measures.unsaid = measures.unsaid.saturating_sub(1);
                        measures.signs.insert(unit.key.to_owned());
                    }
                }
                Role::Content => number = None,
            }
            if unit.role == Role::Number {
                pending = Some(unit.key.to_owned());
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
            measures,
            sentences: OnceCell::new(),
            folded: OnceCell::new(),
        };
        for lexeme in checked(lexemes.iter()).filter(|lexeme| is_plain(lexeme)) {
            let id = vocabulary.id(lexeme);
            let elsewhere = |id: &u32| source.at(*id).is_empty() && !within.contains(id);
            if let Some(id) = id.filter(elsewhere) {
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
    pub fn folded(&self) -> &FoldedText {
        self.folded.get_or_init(|| FoldedText::of(self.text))
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
    pub fn untied_of(&self, claim: &ClaimUnits<'_>) -> BitSet {
        let mut bits = BitSet::default();
        for (number, unit) in claim.units.iter().enumerate() {
            if self.untied.binary_search(unit).is_ok() {
                bits.add(number);
            }
        }
        bits
    }

    /// What else it measures by a number of a claim, where it gives that number for nothing that the claim measures.
    pub fn other_measure(&self, claim: &ClaimUnits<'_>, number: &Number) -> Option<&str> {
        let measure = number.measure.as_ref()?;
        let said = self.measures.get(claim.units.get(number.unit)?)?;
        let other = said.unsaid == 0 && !said.signs.contains(measure);
        other.then(|| said.signs.first().map(String::as_str))?
    }

    /// A number that it gives before a unit.
    pub fn figure(&self, unit: u32) -> Option<&str> {
        self.figures.get(&unit).map(String::as_str)
    }
}
