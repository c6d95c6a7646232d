//! How much a query asks for a term: its own words, and words that it borrows.
//!
//! A query may be expanded by words that are not its own, such as those of the conversation that it continues (historical
//! query expansion, Lin et al. 2021). Each comes with a weight on the scale on which a word of the query's own has 1. Which
//! of them are worth their time is known only with their document frequencies, so it is decided here, where all ways of
//! ranking meet, and all of them decide alike.

use crate::score::idf;

/// Borrowed terms that count at most: those that can add most to a score.
pub const MOST_BORROWED: usize = 40;
/// Most times, or most weight, that a term counts: sums of whole-number scores must not run over.
pub const MOST_ASKED: u32 = 1000;

/// How much a query asks for a term.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Asked {
    /// How often the query itself has it.
    pub frequency: u32,
    /// The weight that it was borrowed with; 0 for none.
    pub borrowed: f64,
}

impl Asked {
    /// A word of the query's own.
    #[must_use]
    pub fn own(frequency: u32) -> Self {
        Self {
            frequency,
            borrowed: 0.0,
        }
    }

    /// A weight that can be borrowed with: above 0, at most [`MOST_ASKED`].
    #[must_use]
    pub fn may_borrow(weight: f64) -> bool {
        weight > 0.0 && weight <= f64::from(MOST_ASKED)
    }

    fn borrows(&self) -> bool {
        Self::may_borrow(self.borrowed)
    }
}

/// The weights of a query's terms, `(frequency + borrowed) · idf`, among `documents` of which `frequencies` have each.
///
/// Of the borrowed terms that any document has, the [`MOST_BORROWED`] count whose `borrowed · idf` is largest, the earlier of
/// equal ones; the others are as if they had not been borrowed. A term that is not asked for weighs 0: it adds nothing and
/// matches nothing.
#[must_use]
pub fn weights(asked: &[Asked], documents: u64, frequencies: &[u64]) -> Vec<f64> {
    let idfs: Vec<f64> = frequencies.iter().map(|&df| idf(documents, df)).collect();
    let mut borrowed: Vec<(f64, usize)> = (asked.iter().zip(frequencies).zip(&idfs))
        .enumerate()
        .filter(|(_, ((term, df), _))| term.borrows() && **df > 0)
        .map(|(at, ((term, _), idf))| (term.borrowed * idf, at))
        .collect();
    borrowed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    borrowed.truncate(MOST_BORROWED);
    let own = asked.iter().zip(&idfs);
    let mut weights: Vec<f64> = own
        .map(|(term, idf)| f64::from(term.frequency) * idf)
        .collect();
    for (more, at) in borrowed {
        if let Some(weight) = weights.get_mut(at) {
            *weight += more;
        }
    }
    weights
}

/// Whether a term of this weight is asked for at all.
#[must_use]
pub fn counts(weight: f64) -> bool {
    weight > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn borrowed_weight_adds_to_the_query_s_own() {
        let asked = [
            Asked::own(2),
            Asked {
                frequency: 1,
                borrowed: 0.5,
            },
            Asked {
                frequency: 0,
                borrowed: 0.25,
            },
        ];
        let expected = [2.0 * idf(10, 1), 1.5 * idf(10, 2), 0.25 * idf(10, 3)];
        assert_eq!(weights(&asked, 10, &[1, 2, 3]), expected);
        // A word that no document has is still one of the query's own: texts that are not in the index may have it.
        let absent = [2.0 * idf(10, 0), expected[1], 0.0];
        assert_eq!(weights(&asked, 10, &[0, 2, 0]), absent);
    }

    #[test]
    fn weights_that_are_none_are_not_borrowed() {
        for borrowed in [0.0, -1.0, f64::NAN, f64::INFINITY, 1000.5] {
            let asked = Asked {
                frequency: 0,
                borrowed,
            };
            assert_eq!(weights(&[asked], 10, &[1]), [0.0]);
        }
    }

    proptest! {
        #[test]
        fn the_best_borrowed_terms_count(terms in proptest::collection::vec((0_u32..3, 0.0..2.0_f64, 0_u64..1000), 0..120)) {
            let asked: Vec<Asked> = terms.iter().map(|&(frequency, borrowed, _)| Asked { frequency, borrowed }).collect();
            let frequencies: Vec<u64> = terms.iter().map(|term| term.2).collect();
            let weights = weights(&asked, 1000, &frequencies);
            let worth = |at: usize| asked[at].borrowed * idf(1000, frequencies[at]);
            let lends = |at: usize| asked[at].borrowed > 0.0 && frequencies[at] > 0;
            let extra = |at: usize| weights[at] - f64::from(asked[at].frequency) * idf(1000, frequencies[at]);
            let (counted, left): (Vec<usize>, Vec<usize>) = (0..terms.len()).filter(|&at| lends(at)).partition(|&at| extra(at) > 1e-12);
            prop_assert_eq!(counted.len(), MOST_BORROWED.min(counted.len() + left.len()));
            let least = counted.iter().map(|&at| worth(at)).fold(f64::INFINITY, f64::min);
            prop_assert!(left.iter().all(|&at| worth(at) <= least));
            prop_assert!((0..terms.len()).filter(|&at| frequencies[at] == 0).all(|at| extra(at) == 0.0));
        }
    }
}
