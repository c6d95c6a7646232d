//! Conflicts of a claim with sources: most of the claim is there, but with another number, another name, or a denial on
//! one side only.
//!
//! The shares were chosen on seed 1 of the faults put into answers (clapnq and cloud); docs/evaluation.md reports other
//! seeds, generators and texts.

use serde::{Deserialize, Serialize};

use super::bit_set::BitSet;
use super::comparison::Comparison;
use super::units::{ClaimName, ClaimNumber, ClaimUnits};

/// Smallest share of the rest of a claim that is in the window when a missing number is a conflict.
const REST_OF_NUMBER: f64 = 0.5;

/// The same for a missing name. Its neighbours must be in the window too: an addition, `replacing Arianism`, brings its
/// own neighbours.
const REST_OF_NAME: f64 = 0.75;

/// Smallest share of the claim in the window when a denial on one side is a conflict.
const WINDOW_OF_DENIAL: f64 = 0.5;

/// The kind of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conflict {
    /// A number of the claim is missing.
    Number,
    /// A name of the claim is missing.
    Name,
    /// One side denies what the other states.
    Negation,
}

/// The conflicts of a claim with one or several sources. The sets contain indices of the claim's units.
pub(super) struct Conflicts {
    /// Missing numbers.
    pub numbers: BitSet,
    /// Words of missing names.
    pub names: BitSet,
    /// Missing numbers for which a source has a different one.
    pub rivals: BitSet,
    /// Words that one side denies and the other states.
    pub denied: BitSet,
    /// The kinds of conflicts.
    pub kinds: Vec<Conflict>,
}

impl Conflicts {
    pub fn of(claim: &ClaimUnits<'_>, comparison: &Comparison) -> Self {
        let numbers = comparison.missing_numbers(claim);
        let names = comparison.missing_names(claim);
        let rivals = numbers.and(&comparison.rivals);
        let denied = denied(claim, comparison);
        let rest = comparison.rest(claim);
        let differs = |number: &ClaimNumber| {
            numbers.holds(number.unit)
                && !comparison.forms.holds(number.unit)
                && (!number.spelled || rivals.holds(number.unit))
        };
        let replaced = |name: &ClaimName| {
            let mut neighbours = name.neighbours.iter();
            let last = name.units.last();
            last.is_some_and(|unit| names.holds(*unit) && !comparison.forms.holds(*unit))
                && neighbours.all(|unit| comparison.window.holds(*unit))
        };
        let by_number = rest >= REST_OF_NUMBER && claim.numbers.iter().any(differs);
        let by_name = rest >= REST_OF_NAME && claim.names.iter().any(replaced);
        let kinds = [
            (by_number, Conflict::Number),
            (by_name, Conflict::Name),
            (denied.len() > 0, Conflict::Negation),
        ];
        let kinds = kinds.into_iter().filter(|(applies, _)| *applies);
        Self {
            numbers,
            names,
            rivals,
            denied,
            kinds: kinds.map(|(_, kind)| kind).collect(),
        }
    }

    /// Returns the number of missing numbers that lower the support. An answer counts what it lists, so a small number in words lowers
    /// it only if a source has a different one.
    pub fn weighed_numbers(&self, claim: &ClaimUnits<'_>) -> usize {
        let mut counts = BitSet::default();
        for number in claim.numbers.iter().filter(|number| number.spelled) {
            counts.add(number.unit);
        }
        self.numbers.without(&counts.without(&self.rivals)).len()
    }
}

/// Returns the words that one side denies and the other states.
///
/// If both sides deny something, only the word order tells which word is denied, and that is unreliable. If only the claim
/// denies, the sentences of the window need not contain the denied word: *is not accessible* conflicts with *is available*.
fn denied(claim: &ClaimUnits<'_>, comparison: &Comparison) -> BitSet {
    if claim.denied.len() == 0 {
        // A word that the window both denies and states contradicts nothing.
        return comparison.denied.without(&comparison.stated);
    }
    let by_claim = claim
        .denied
        .and(&comparison.stated)
        .without(&comparison.denied);
    let in_window = comparison.window.len() as f64 >= WINDOW_OF_DENIAL * claim.units.len() as f64;
    match comparison.denied.len() {
        0 if !comparison.denies && in_window => claim.denied,
        0 => by_claim,
        _ => BitSet::default(),
    }
}
