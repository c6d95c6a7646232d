//! The weight of a term in a query: its frequency in the query, and its weight as an expansion term.
//!
//! A query may be expanded with terms of the conversation that it continues (historical query expansion, Lin et al. 2021). The
//! weight of an expansion term is on the same scale as the frequency of a term of the query. The number of expansion terms is
//! limited. The selection needs document frequencies, so it happens here, where all ways of ranking meet, and is the same for
//! all of them.

use crate::score::idf;

/// Maximum number of expansion terms that count. The terms that can add most to a score are selected.
pub const MAX_EXPANSION_TERMS: usize = 40;
/// Maximum frequency or expansion weight of a term.
pub const MAX_QUERY_WEIGHT: u32 = 1000;
/// Maximum sum of the weights of a query. A score is at most this sum, and its integer then fits into 63 bits.
const MAX_SUM: f64 = 524_288.0;

/// The weight of a term in a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueryWeight {
    /// Frequency of the term in the query itself.
    pub frequency: u32,
    /// Weight of the term as an expansion term; 0 for none.
    pub expansion: f64,
}

impl QueryWeight {
    /// A term of the query itself.
    #[must_use]
    pub fn own(frequency: u32) -> Self {
        Self {
            frequency,
            expansion: 0.0,
        }
    }

    /// Returns whether an expansion weight is valid: above 0 and at most [`MAX_QUERY_WEIGHT`].
    #[must_use]
    pub fn is_valid_expansion(weight: f64) -> bool {
        weight > 0.0 && weight <= f64::from(MAX_QUERY_WEIGHT)
    }

    fn has_expansion(&self) -> bool {
        Self::is_valid_expansion(self.expansion)
    }
}

/// Returns the weight of each query term, `(frequency + expansion) · idf`. `documents` is the number of documents, and
/// `frequencies` holds the document frequency of each term.
///
/// Only expansion terms that occur in a document count, and at most [`MAX_EXPANSION_TERMS`] of them: those with the largest
/// `expansion · idf`, the earlier ones of equal value. The expansion weight of the others is ignored. A term of weight 0 adds
/// nothing and matches nothing. If the sum of the weights is beyond [`MAX_SUM`], each is limited to its share of it.
#[must_use]
pub fn weights(query_weights: &[QueryWeight], documents: u64, frequencies: &[u64]) -> Vec<f64> {
    let idfs: Vec<f64> = frequencies.iter().map(|&df| idf(documents, df)).collect();
    let mut expansions: Vec<(f64, usize)> = (query_weights.iter().zip(frequencies).zip(&idfs))
        .enumerate()
        .filter(|(_, ((term, df), _))| term.has_expansion() && **df > 0)
        .map(|(at, ((term, _), idf))| (term.expansion * idf, at))
        .collect();
    expansions.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    expansions.truncate(MAX_EXPANSION_TERMS);
    let own = query_weights.iter().zip(&idfs);
    let mut weights: Vec<f64> = own
        .map(|(term, idf)| f64::from(term.frequency) * idf)
        .collect();
    for (more, at) in expansions {
        if let Some(weight) = weights.get_mut(at) {
            *weight += more;
        }
    }
    if weights.iter().sum::<f64>() > MAX_SUM {
        let share = MAX_SUM / weights.len() as f64;
        for weight in &mut weights {
            *weight = weight.min(share);
        }
    }
    weights
}

/// Returns whether a term of this weight counts at all.
#[must_use]
pub fn contributes(weight: f64) -> bool {
    weight > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::score::contribution;
    use proptest::prelude::*;

    #[test]
    fn expansion_weight_is_added_to_frequency() {
        let query_weights = [
            QueryWeight::own(2),
            QueryWeight {
                frequency: 1,
                expansion: 0.5,
            },
            QueryWeight {
                frequency: 0,
                expansion: 0.25,
            },
        ];
        let expected = [2.0 * idf(10, 1), 1.5 * idf(10, 2), 0.25 * idf(10, 3)];
        assert_eq!(weights(&query_weights, 10, &[1, 2, 3]), expected);
        // A term of the query keeps its weight even if no document contains it: a text outside the index may contain it.
        let absent = [2.0 * idf(10, 0), expected[1], 0.0];
        assert_eq!(weights(&query_weights, 10, &[0, 2, 0]), absent);
    }

    #[test]
    fn invalid_expansion_weights_are_ignored() {
        for expansion in [0.0, -1.0, f64::NAN, f64::INFINITY, 1000.5] {
            let query_weight = QueryWeight {
                frequency: 0,
                expansion,
            };
            assert_eq!(weights(&[query_weight], 10, &[1]), [0.0]);
        }
    }

    #[test]
    fn scores_of_heavy_queries_do_not_overflow() {
        for count in [30, 40, 100_000] {
            let heavy = vec![QueryWeight::own(MAX_QUERY_WEIGHT); count];
            let weights = weights(&heavy, 1 << 52, &vec![1; count]);
            let mut scores = weights.iter().map(|&weight| contribution(weight, 1.0));
            let sum = scores.try_fold(0_u64, |sum, score| sum.checked_add(score));
            assert!(sum.is_some(), "{count} words");
        }
    }

    proptest! {
        #[test]
        fn the_best_expansion_terms_count(terms in proptest::collection::vec((0_u32..3, 0.0..2.0_f64, 0_u64..1000), 0..120)) {
            let query_weights: Vec<QueryWeight> = terms.iter().map(|&(frequency, expansion, _)| QueryWeight { frequency, expansion }).collect();
            let frequencies: Vec<u64> = terms.iter().map(|term| term.2).collect();
            let weights = weights(&query_weights, 1000, &frequencies);
            let worth = |at: usize| query_weights[at].expansion * idf(1000, frequencies[at]);
            let is_expansion = |at: usize| query_weights[at].expansion > 0.0 && frequencies[at] > 0;
            let extra = |at: usize| weights[at] - f64::from(query_weights[at].frequency) * idf(1000, frequencies[at]);
            let (counted, left): (Vec<usize>, Vec<usize>) = (0..terms.len()).filter(|&at| is_expansion(at)).partition(|&at| extra(at) > 1e-12);
            prop_assert_eq!(counted.len(), MAX_EXPANSION_TERMS.min(counted.len() + left.len()));
            let least = counted.iter().map(|&at| worth(at)).fold(f64::INFINITY, f64::min);
            prop_assert!(left.iter().all(|&at| worth(at) <= least));
            prop_assert!((0..terms.len()).filter(|&at| frequencies[at] == 0).all(|at| extra(at) == 0.0));
        }
    }
}
