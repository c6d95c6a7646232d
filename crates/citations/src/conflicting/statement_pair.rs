//! Compares two statements of different passages.

use std::collections::BTreeSet;

use reground_interrupt::check_interrupt;

use super::passage_statement::PassageStatement;
use super::source_conflict::SourceConflictKind;
use crate::support::{BitSet, ClaimNumber, ClaimUnits, Comparison};

/// Two sentences make the same statement if at least this share of the units of one is in the other, not counting numbers that differ.
/// Chosen on numbers and denials changed in copies, in answers and in generated facts (seed 1), and on contexts of three domains.
const SAME: f64 = 0.85;

/// The share of the other sentence, which may say more. Chosen likewise.
pub(super) const SAME_OF_OTHER: f64 = 0.6;

/// Two statements, each compared with the other one as its source.
pub(super) struct StatementPair<'s, 'a> {
    one: ComparedStatement<'s, 'a>,
    other: ComparedStatement<'s, 'a>,
}

/// One statement of a pair, compared with the other one.
struct ComparedStatement<'s, 'a> {
    statement: &'s PassageStatement<'a>,
    /// Its numbers that the other one lacks.
    numbers: BitSet,
    /// Share of its other units that the other one has.
    share: f64,
    /// Neighbouring units of its passage.
    neighbours: &'s BTreeSet<(u32, u32)>,
}

/// How two sentences are related.
pub(super) enum Relation<'s> {
    /// They say different things.
    Other,
    /// They make the same statement.
    Agreement,
    /// They contradict each other, with the numbers that differ.
    Conflict(SourceConflictKind, Option<(&'s str, &'s str)>),
}

impl<'s, 'a> ComparedStatement<'s, 'a> {
    fn of(
        statement: &'s PassageStatement<'a>,
        other: &PassageStatement<'_>,
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

    /// Returns whether the other passage also has a number of this statement with the same unit. It then contains both values.
    fn is_in_passage_of(&self, number: &ClaimNumber, other: &Self) -> bool {
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

impl<'s, 'a> StatementPair<'s, 'a> {
    /// Compares two statements. `one` is the statement with the larger share; in case of a tie, the one with fewer numbers that differ.
    pub fn of(
        statements: [&'s PassageStatement<'a>; 2],
        neighbours: &'s [BTreeSet<(u32, u32)>],
    ) -> Self {
        let [one, other] = statements;
        let one_side = ComparedStatement::of(one, other, &neighbours[one.passage]);
        let other_side = ComparedStatement::of(other, one, &neighbours[other.passage]);
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

    /// Returns the relation. Of two numbers, that of the passage `first` comes first.
    pub fn relation(&self, first: usize) -> Relation<'s> {
        if self.one.share < SAME || self.other.share < SAME_OF_OTHER {
            return Relation::Other;
        }
        let (mine, theirs) = (self.one.missing(), self.other.missing());
        if mine.is_empty() {
            return match self.denies() {
                false => Relation::Agreement,
                true if theirs.is_empty() => Relation::Conflict(SourceConflictKind::Negation, None),
                true => Relation::Other,
            };
        }
        check_interrupt(mine.len() * theirs.len());
        let Some(mut pairs) = self.matched(&mine, theirs) else {
            return Relation::Other;
        };
        let years = pairs
            .iter()
            .filter(|(number, rival)| self.are_years(number, rival));
        let years = years.count();
        // With another year and another number, the statements are about different times.
        if years > 0 && years < pairs.len() {
            return Relation::Other;
        }
        let is_first = self.one.statement.passage == first;
        pairs.sort_by_key(|(number, rival)| if is_first { number.unit } else { rival.unit });
        let kind = match years {
            0 => SourceConflictKind::Number,
            _ => SourceConflictKind::Date,
        };
        let numbers = pairs.first().map(|(number, rival)| match is_first {
            true => (number.text.as_str(), rival.text.as_str()),
            false => (rival.text.as_str(), number.text.as_str()),
        });
        Relation::Conflict(kind, numbers)
    }

    /// Pairs each number of `one` with a number of `other` for the same things; `None` if that is not possible, or if a passage states both.
    fn matched(
        &self,
        mine: &[&'s ClaimNumber],
        mut theirs: Vec<&'s ClaimNumber>,
    ) -> Option<Vec<(&'s ClaimNumber, &'s ClaimNumber)>> {
        let (one, other) = (self.one.statement, self.other.statement);
        let mut pairs = Vec::with_capacity(mine.len());
        for number in mine {
            let mut places = 0..theirs.len();
            let counted = |place: &usize| self.count_the_same(number, theirs[*place]);
            let place = places.clone().find(counted).or_else(|| {
                places.find(|place| self.are_beside_the_same(number, theirs[*place]))
            })?;
            let rival = theirs.remove(place);
            let counts = one.counts(number) && other.counts(rival);
            let both = self.one.is_in_passage_of(number, &self.other)
                || self.other.is_in_passage_of(rival, &self.one);
            if !counts || both {
                return None;
            }
            pairs.push((*number, rival));
        }
        Some(pairs)
    }

    /// Returns whether two numbers are years, have the same measure, or count the same unit.
    fn count_the_same(&self, number: &ClaimNumber, rival: &ClaimNumber) -> bool {
        let counts = |number: &ClaimNumber| number.of.as_ref().map(|(unit, _)| *unit);
        number.measure == rival.measure
            && number.decade == rival.decade
            && (number.measure.is_some()
                || self.are_years(number, rival)
                || (counts(number).is_some() && counts(number) == counts(rival)))
    }

    /// Returns whether two numbers have a common neighbour. False if the other statement has the counted unit of one elsewhere: *300 ships and
    /// visitors* is no number of visitors.
    fn are_beside_the_same(&self, number: &ClaimNumber, rival: &ClaimNumber) -> bool {
        let (one, other) = (self.one.statement, self.other.statement);
        let is_elsewhere = |number: &ClaimNumber, statement: &PassageStatement<'_>| {
            let counted = number.of.as_ref();
            counted.is_some_and(|(unit, _)| statement.claim.units.contains(unit))
        };
        let beside: Vec<u32> = other.beside(rival).collect();
        number.measure == rival.measure
            && number.decade == rival.decade
            && !is_elsewhere(number, other)
            && !is_elsewhere(rival, one)
            && one.beside(number).any(|id| beside.contains(&id))
    }

    fn are_years(&self, number: &ClaimNumber, rival: &ClaimNumber) -> bool {
        self.one.statement.is_year(number) && self.other.statement.is_year(rival)
    }

    /// Returns whether one statement denies all that the other denies, and something that the other states.
    fn denies(&self) -> bool {
        let (mine, theirs) = (self.one.denied(), self.other.denied());
        let states = |claim: &ClaimUnits<'_>, more: &BTreeSet<u32>, fewer: &BTreeSet<u32>| {
            fewer.is_subset(more) && more.difference(fewer).any(|id| claim.units.contains(id))
        };
        states(&self.other.statement.claim, &mine, &theirs)
            || states(&self.one.statement.claim, &theirs, &mine)
    }
}
