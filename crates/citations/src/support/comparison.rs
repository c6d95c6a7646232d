//! Compares a claim with a source: which of its units the source contains, and the window with most of them.

use reground_interrupt::check_interrupt;
use std::ops::Range;

use super::bit_set::BitSet;
use super::source::{Hit, SourceUnits};
use super::units::{ClaimName, ClaimUnits};

/// Length of the window, in lengths of the claim. The best of 1, 1.5, 2 and 3 on WiCE and AttributionBench (dev):
/// sources need more words than the claim for the same content.
const WINDOW: usize = 2;

/// Smallest share of the rest of a claim with which missing names and decades are looked for in other forms: the smallest share of any
/// conflict.
const REST_WITH_FORMS: f64 = 0.5;

/// The position of the best window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowPlace {
    /// Index of the text.
    pub text: usize,
    /// The characters, half-open.
    pub chars: (usize, usize),
}

/// The result of comparing a claim with one or several sources. The sets contain indices of the claim's units, pairs
/// and quotations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Comparison {
    /// Units anywhere in the sources.
    pub held: BitSet,
    /// Units in the best window of each source.
    pub window: BitSet,
    /// The best window of all sources.
    pub place: Option<WindowPlace>,
    /// Number of units in that window.
    best: usize,
    /// Units that the best window denies and states.
    pub denied: BitSet,
    pub stated: BitSet,
    /// Whether the sentences of the best window deny anything.
    pub denies: bool,
    /// Pairs of neighbours that are also neighbours in a source.
    pub pairs: BitSet,
    /// Numbers of the claim for which a source has a different number.
    pub rivals: BitSet,
    /// Quotations that a source contains word for word.
    pub quotes: BitSet,
    /// Names and decades that a source has in another form.
    pub forms: BitSet,
}

impl Comparison {
    /// Compares a claim with one source, which has the index `text`.
    pub fn of(claim: &ClaimUnits<'_>, source: &SourceUnits<'_>, text: usize) -> Self {
        let hits = source.hits_of(claim);
        check_interrupt(claim.units.len() + hits.len());
        let unplaced = source.unplaced_of(claim);
        let mut comparison = Self {
            held: unplaced,
            window: unplaced,
            ..Self::default()
        };
        for (number, _) in &hits {
            comparison.held.add(*number);
        }
        if let Some(window) = best_window(&hits, WINDOW * claim.length) {
            let window_hits = &hits[window];
            if let (Some((_, first)), Some((_, last))) = (window_hits.first(), window_hits.last()) {
                comparison.denies = source.denies(first.place, last.place);
            }
            for (number, hit) in window_hits {
                comparison.window.add(*number);
                let side = if hit.denied {
                    &mut comparison.denied
                } else {
                    &mut comparison.stated
                };
                side.add(*number);
            }
            // A currency sign is read after the number that it precedes.
            let starts = window_hits.iter().map(|(_, hit)| hit.chars.0);
            let ends = window_hits.iter().map(|(_, hit)| hit.chars.1);
            if let (Some(start), Some(end)) = (starts.min(), ends.max()) {
                let chars = (start, end);
                comparison.place = Some(WindowPlace { text, chars });
            }
        }
        comparison.best = comparison.window.len();
        for (number, (left, right)) in claim.pairs.iter().enumerate() {
            if are_neighbours(source.at(*left), source.at(*right)) {
                comparison.pairs.add(number);
            }
        }
        for number in &claim.numbers {
            let rival = number
                .of
                .as_ref()
                .and_then(|(of, _)| source.number_before(*of));
            if rival.is_some_and(|rival| rival != number.text) {
                comparison.rivals.add(number.unit);
            }
            // The same number with a different measure is a different number.
            if source.other_measure(claim, number).is_some() {
                let mut other = BitSet::default();
                other.add(number.unit);
                comparison.held = comparison.held.without(&other);
                comparison.window = comparison.window.without(&other);
                comparison.rivals = comparison.rivals.or(&other);
            }
        }
        for (number, quoted) in claim.quotes.iter().enumerate() {
            if source.folded().find(quoted).is_some() {
                comparison.quotes.add(number);
            }
        }
        comparison.forms = comparison.other_forms(claim, source);
        comparison
    }

    /// Returns the missing names and decades that a source has in another form. They are looked for only if enough of the
    /// claim is there for a conflict.
    fn other_forms(&self, claim: &ClaimUnits<'_>, source: &SourceUnits<'_>) -> BitSet {
        let mut forms = BitSet::default();
        if self.rest(claim) < REST_WITH_FORMS {
            return forms;
        }
        let missing = self.missing_names(claim);
        for name in &claim.names {
            let last = name.units.last().filter(|unit| missing.holds(**unit));
            if last.is_some_and(|unit| source.has_form_of(claim.word(*unit))) {
                name.units.iter().for_each(|unit| forms.add(*unit));
            }
        }
        for number in claim.numbers.iter().filter(|number| number.decade) {
            if !self.held.holds(number.unit) && source.has_year_of(&number.text) {
                forms.add(number.unit);
            }
        }
        forms
    }

    /// Returns the words of the names whose last word is not there. *Adams* is enough for *John Adams*.
    pub fn missing_names(&self, claim: &ClaimUnits<'_>) -> BitSet {
        let mut missing = BitSet::default();
        let absent = |name: &&ClaimName| {
            let last = name.units.last();
            last.is_some_and(|unit| !self.held.holds(*unit))
        };
        for unit in claim
            .names
            .iter()
            .filter(absent)
            .flat_map(|name| &name.units)
        {
            missing.add(*unit);
        }
        missing.without(&self.held)
    }

    /// Returns the numbers that are not there.
    pub fn missing_numbers(&self, claim: &ClaimUnits<'_>) -> BitSet {
        let mut missing = BitSet::default();
        for number in &claim.numbers {
            missing.add(number.unit);
        }
        missing.without(&self.held)
    }

    /// Returns the share of the units in the window, among those that are neither missing names nor missing numbers.
    pub fn rest(&self, claim: &ClaimUnits<'_>) -> f64 {
        let missing = self.missing_names(claim).or(&self.missing_numbers(claim));
        match claim.units.len().saturating_sub(missing.len()) {
            0 => 0.0,
            rest => self.window.len() as f64 / rest as f64,
        }
    }

    /// Combines the comparisons with two sources.
    pub fn and(&self, other: &Self) -> Self {
        let better = if other.best > self.best { other } else { self };
        Self {
            held: self.held.or(&other.held),
            window: self.window.or(&other.window),
            pairs: self.pairs.or(&other.pairs),
            rivals: self.rivals.or(&other.rivals),
            quotes: self.quotes.or(&other.quotes),
            forms: self.forms.or(&other.forms),
            denies: self.denies || other.denies,
            ..*better
        }
    }
}

/// Returns the hits in the window of `width` places with the most distinct units. Ties are broken by the shorter,
/// then the earlier window.
fn best_window(hits: &[(usize, Hit)], width: usize) -> Option<Range<usize>> {
    let width = u32::try_from(width.max(1)).unwrap_or(u32::MAX);
    let mut counts = [0_u32; super::bit_set::MOST];
    let mut distinct = 0_usize;
    let mut first = 0;
    let mut best: Option<(usize, u32, Range<usize>)> = None;
    for (at, (number, hit)) in hits.iter().enumerate() {
        counts[*number] += 1;
        distinct += usize::from(counts[*number] == 1);
        // Removes hits that are too far back, and hits whose unit occurs again later in the window.
        while let Some((number, start)) = hits.get(first).filter(|_| first < at) {
            let repeated = counts[*number] > 1;
            if hit.place - start.place < width && !repeated {
                break;
            }
            counts[*number] -= 1;
            distinct -= usize::from(!repeated);
            first += 1;
        }
        let length = hit.place - hits[first].1.place;
        if best
            .as_ref()
            .is_none_or(|(most, shortest, _)| (distinct, *shortest) > (*most, length))
        {
            best = Some((distinct, length, first..at + 1));
        }
    }
    best.map(|(.., window)| window)
}

/// Returns whether a place in `left` directly precedes one in `right`. Both ascend.
fn are_neighbours(left: &[Hit], right: &[Hit]) -> bool {
    let mut right = right.iter().peekable();
    left.iter().any(|hit| {
        let next = hit.place + 1;
        while right.next_if(|hit| hit.place < next).is_some() {}
        right.peek().is_some_and(|hit| hit.place == next)
    })
}

#[cfg(test)]
mod tests {
    use super::{Hit, best_window};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn hits(places: &[(u32, usize)]) -> Vec<(usize, Hit)> {
        let hit = |(place, number): &(u32, usize)| {
            let unit = u32::try_from(*number).unwrap();
            (
                *number,
                Hit {
                    unit,
                    place: *place,
                    denied: false,
                    bytes: (0, 0),
                    chars: (0, 0),
                },
            )
        };
        places.iter().map(hit).collect()
    }

    proptest! {
        #[test]
        fn best_window_equals_an_exhaustive_search(units in prop::collection::vec((1_u32..4, 0_usize..5), 0..30), width in 1_usize..12) {
            let mut place = 0;
            let placed: Vec<(u32, usize)> = units
                .into_iter()
                .map(|(step, number)| { place += step; (place, number) })
                .collect();
            let hits = hits(&placed);
            let distinct = |window: &[(usize, Hit)]| window.iter().map(|(n, _)| *n).collect::<BTreeSet<_>>().len();
            let tried = (0..hits.len()).map(|first| {
                let from = hits[first].1.place;
                let end = hits.partition_point(|(_, hit)| (hit.place as usize) < from as usize + width);
                distinct(&hits[first..end])
            });
            let found = best_window(&hits, width);
            prop_assert_eq!(found.clone().map_or(0, |w| distinct(&hits[w])), tried.max().unwrap_or(0));
            if let Some(window) = found {
                let (first, last) = (hits[window.start].1.place, hits[window.end - 1].1.place);
                prop_assert!(((last - first) as usize) < width);
            }
        }
    }
}
