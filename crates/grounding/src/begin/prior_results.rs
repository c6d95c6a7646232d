//! Ranks the results of earlier turns together with those of this turn.
//!
//! A passage that an earlier turn found is scored by this turn's query together with that turn's. A BM25 score of more
//! words is a larger number, so it is divided by the best score of these words in the corpus and multiplied by the best
//! score of this turn. A cosine needs no scaling. The better of this score and the score under this turn's query is
//! used for the order. Relevance and trace use only this turn's query.

use std::collections::{BTreeMap, BTreeSet};

use crate::begin::fuse::BranchScores;
use crate::passage::{Branch, Hit, RankedList};

/// The scores of an earlier turn's results under both queries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriorScores {
    /// BM25 scores, by key.
    pub lexical: BTreeMap<String, f64>,
    /// The best score of any passage.
    pub best: Option<f64>,
    /// Vector distances, by key.
    pub distances: BTreeMap<String, f64>,
}

/// The results of earlier turns, to be ranked with those of this turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriorResults {
    /// The list that adds them; `None` if there are none.
    pub list: Option<RankedList>,
    /// Their scores under both queries. They affect only the order, because relevance refers to this turn's own query.
    pub scores: BranchScores,
}

/// Combines the results of earlier turns. `best` is the best BM25 score under this turn's query.
#[must_use]
pub fn integrate(earlier: Vec<PriorScores>, best: Option<f64>) -> PriorResults {
    let mut keys = BTreeSet::new();
    let mut scores = BranchScores::default();
    for turn in earlier {
        let share = best.zip(turn.best).map(|(now, then)| now / then);
        let share = share.filter(|share| share.is_finite());
        for (key, score) in turn.lexical {
            if let Some(score) = share.map(|share| score * share) {
                let better = scores.lexical.entry(key.clone()).or_insert(score);
                *better = better.max(score);
            }
            keys.insert(key);
        }
        for (key, distance) in turn.distances {
            let nearer = scores.distances.entry(key.clone()).or_insert(distance);
            *nearer = nearer.min(distance);
            keys.insert(key);
        }
    }
    let list = (!keys.is_empty()).then(|| RankedList {
        branch: Branch::History,
        weight: 0.0,
        entity: None,
        hits: keys
            .into_iter()
            .map(|chunk_id| Hit {
                chunk_id,
                value: 0.0,
            })
            .collect(),
    });
    PriorResults { list, scores }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, f64)]) -> BTreeMap<String, f64> {
        let owned = |(key, value): &(&str, f64)| ((*key).to_owned(), *value);
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn prior_scores_are_scaled_to_this_turn() {
        let earlier = vec![
            PriorScores {
                lexical: map(&[("a", 4.0), ("b", 4.0), ("c", 8.0)]),
                best: Some(8.0),
                distances: map(&[("a", 0.4), ("c", 0.1)]),
            },
            PriorScores {
                lexical: map(&[("c", 1.0)]),
                best: Some(10.0),
                distances: map(&[("c", 0.3)]),
            },
        ];
        let PriorResults { list, scores } = integrate(earlier, Some(4.0));
        let list = list.unwrap();
        let keys: Vec<&str> = list.hits.iter().map(|hit| hit.chunk_id.as_str()).collect();
        assert_eq!(keys, ["a", "b", "c"]);
        assert_eq!(scores.lexical, map(&[("a", 2.0), ("b", 2.0), ("c", 4.0)]));
        assert_eq!(scores.distances, map(&[("a", 0.4), ("c", 0.1)]));
    }

    #[test]
    fn prior_results_without_scores() {
        assert_eq!(integrate(Vec::new(), Some(1.0)), PriorResults::default());
        let bare = PriorScores {
            lexical: map(&[("a", 2.0)]),
            ..PriorScores::default()
        };
        let found = integrate(vec![bare], None);
        assert!(found.list.is_some());
        assert_eq!(found.scores, BranchScores::default());
    }
}
