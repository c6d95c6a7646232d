//! Compares two statements of different passages.

use std::collections::BTreeSet;

use super::conflict::ConflictKind;
use super::statement::Statement;
use crate::support::{BitSet, ClaimNumber, ClaimUnits, Comparison};

/// Smallest share of the units of each statement that the other one has, apart from the numbers that differ: for the statement with the
/// larger share, and for the other one, which may say more. Chosen on seed 1 of the generated conflicts and on contexts of three domains.
const SAME: f64 = 0.85;
pub(super) const SAME_OF_OTHER: f64 = 0.6;

/// Two statements, each as a claim with the other one as its source.
pub(super) struct Pair<'s, 'a> {
    one: Side<'s, 'a>,
    other: Side<'s, 'a>,
}

/// A statement and its comparison with the other one.
struct Side<'s, 'a> {
    statement: &'s Statement<'a>,
    /// Its numbers that the other one lacks.
    numbers: BitSet,
    /// Share of its other units that the other one has.
    share: f64,
    /// Neighbouring units of its passage.
    neighbours: &'s BTreeSet<(u32, u32)>,
}

/// A conflict of two statements, with the numbers that differ.
pub(super) struct Found<'s> {
    pub kind: ConflictKind,
    pub numbers: Option<(&'s str, &'s str)>,
}

impl<'s, 'a> Side<'s, 'a> {
    fn of(
        statement: &'s Statement<'a>,
        other: &Statement<'_>,
        neighbours: &'s BTreeSet<(u32, u32)>,
    ) -> Self {
        let claim = &statement.claim;
        let comparison = Comparison::of(claim, &other.source, 0);
        let numbers = comparison.missing_numbers(claim);
        let rest = claim.units.len().saturating_sub(numbers.len());
        Self {
            statement,
            numbers,
            share: match rest {
                0 => 0.0,
                rest => comparison.held.len() as f64 / rest as f64,
            },
            neighbours,
        }
    }

    /// The numbers that the other statement lacks, each once.
    fn missing(&self) -> Vec<&'s ClaimNumber> {
        let mut left = self.numbers;
        let mut is_new = |number: &&ClaimNumber| {
            let is_new = left.holds(number.unit);
            left.remove(number.unit);
            is_new
        };
        let numbers = self.statement.claim.numbers.iter();
        numbers.filter(|number| is_new(number)).collect()
    }

    /// Whether the passage of the other statement has a number of this one beside the same unit. Then it states both values.
    fn is_elsewhere(&self, number: &ClaimNumber, other: &Self) -> bool {
        let Some(&id) = self.statement.claim.units.get(number.unit) else {
            return false;
        };
        let has = |pair: &(u32, u32)| other.neighbours.contains(pair);
        let mut beside = self.statement.beside(number);
        beside.any(|next| has(&(id, next)) || has(&(next, id)))
    }

    fn denied(&self) -> BTreeSet<u32> {
        let claim = &self.statement.claim;
        let units = claim.denied.iter();
        units
            .filter_map(|unit| claim.units.get(unit).copied())
            .collect()
    }
}

impl<'s, 'a> Pair<'s, 'a> {
    /// Compares two statements. The one is that with the larger share, or with fewer numbers that differ.
    pub fn of(statements: [&'s Statement<'a>; 2], neighbours: &'s [BTreeSet<(u32, u32)>]) -> Self {
        let [one, other] = statements;
        let one_side = Side::of(one, other, &neighbours[one.passage]);
        let other_side = Side::of(other, one, &neighbours[other.passage]);
        let shares = one_side.share.total_cmp(&other_side.share).reverse();
        let order = shares.then(one_side.numbers.len().cmp(&other_side.numbers.len()));
        match order.is_le() {
            true => Self {
                one: one_side,
                other: other_side,
            },
            false => Self {
                one: other_side,
                other: one_side,
            },
        }
    }

    /// Returns the conflict, with the number of the first statement of `first` first.
    pub fn conflict(&self, first: usize) -> Option<Found<'s>> {
        if self.one.share < SAME || self.other.share < SAME_OF_OTHER {
            return None;
        }
        let (mine, theirs) = (self.one.missing(), self.other.missing());
        if mine.is_empty() {
            let denies = theirs.is_empty() && self.denies();
            return denies.then_some(Found {
                kind: ConflictKind::Negation,
                numbers: None,
            });
        }
        let pairs = self.matched(&mine, theirs)?;
        let years = pairs
            .iter()
            .filter(|(number, rival)| is_year(number) && is_year(rival));
        let years = years.count();
        // With another year and another number, the statements are about different times.
        if years > 0 && years < pairs.len() {
            return None;
        }
        let (number, rival) = pairs.first()?;
        let numbers = match self.one.statement.passage == first {
            true => (number.text.as_str(), rival.text.as_str()),
            false => (rival.text.as_str(), number.text.as_str()),
        };
        Some(Found {
            kind: match years {
                0 => ConflictKind::Number,
                _ => ConflictKind::Date,
            },
            numbers: Some(numbers),
        })
    }

    /// Finds a rival among the numbers of the other statement for each number of the one; `None` if one has no rival, or if a passage states
    /// both.
    fn matched(
        &self,
        mine: &[&'s ClaimNumber],
        mut theirs: Vec<&'s ClaimNumber>,
    ) -> Option<Vec<(&'s ClaimNumber, &'s ClaimNumber)>> {
        let (one, other) = (self.one.statement, self.other.statement);
        let mut pairs = Vec::with_capacity(mine.len());
        for number in mine {
            let place = theirs
                .iter()
                .position(|rival| self.are_rivals(number, rival))?;
            let rival = theirs.remove(place);
            let counts = one.counts(number) && other.counts(rival);
            let both = self.one.is_elsewhere(number, &self.other)
                || self.other.is_elsewhere(rival, &self.one);
            if !counts || both {
                return None;
            }
            pairs.push((*number, rival));
        }
        Some(pairs)
    }

    /// Whether two numbers count the same: both are years, or have the same measure or the same neighbour.
    fn are_rivals(&self, number: &ClaimNumber, rival: &ClaimNumber) -> bool {
        if number.measure != rival.measure {
            return false;
        }
        let beside: Vec<u32> = self.other.statement.beside(rival).collect();
        number.measure.is_some()
            || (is_year(number) && is_year(rival))
            || self
                .one
                .statement
                .beside(number)
                .any(|id| beside.contains(&id))
    }

    /// Whether one statement denies something that the other states, and the other denies nothing else.
    fn denies(&self) -> bool {
        let (mine, theirs) = (self.one.denied(), self.other.denied());
        let states = |claim: &ClaimUnits<'_>, more: &BTreeSet<u32>, fewer: &BTreeSet<u32>| {
            fewer.is_subset(more) && more.difference(fewer).any(|id| claim.units.contains(id))
        };
        states(&self.other.statement.claim, &mine, &theirs)
            || states(&self.one.statement.claim, &theirs, &mine)
    }
}

/// Whether a number seems to be a year.
fn is_year(number: &ClaimNumber) -> bool {
    let year = number.text.parse().unwrap_or(0_u32);
    number.measure.is_none() && number.text.len() == 4 && (1000..=2100).contains(&year)
}
