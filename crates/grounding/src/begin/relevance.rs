//! Relevance to this turn's query in [0, 1], with the same scale for fresh and carried passages.
//!
//! A branch's value is its score (lexical) or the similarity for its distance (vector), divided by the best value in
//! the list. The larger of the branches counts. If a reranker ran, its scores, scaled min–max over its candidates,
//! replace the branches.

use std::collections::BTreeMap;

use crate::passage::{Branch, Candidate, Metric, RankedList};

/// The relevance scale of one turn, from the best fresh candidates of each branch.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    metric: Metric,
    lexical: Option<Span>,
    vector: Option<Span>,
    fresh: BTreeMap<String, f64>,
}

/// Smallest and largest value of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    least: f64,
    most: f64,
}

impl Span {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        values
            .filter(|value| value.is_finite())
            .fold(None, |span: Option<Self>, value| {
                Some(span.map_or(
                    Self {
                        least: value,
                        most: value,
                    },
                    |s| Self {
                        least: s.least.min(value),
                        most: s.most.max(value),
                    },
                ))
            })
    }

    /// Position between smallest and largest value, clamped. If all are equal, 1 for a value that reaches them.
    fn min_max(self, value: f64) -> f64 {
        let width = self.most - self.least;
        if width > 0.0 {
            clamp((value - self.least) / width)
        } else {
            f64::from(u8::from(value >= self.least))
        }
    }

    fn share_of_best(self, value: f64) -> f64 {
        if self.most > 0.0 {
            clamp(value / self.most)
        } else {
            0.0
        }
    }
}

fn clamp(value: f64) -> f64 {
    if value.is_finite() {
        value.clamp(0.0, 1.0)
    } else {
        0.0
    }
}

impl Scale {
    /// The scale from this turn's lists. Passages in a list are scaled by that list. Carried passages are scaled by the
    /// first list of each branch, which is the turn's own query.
    #[must_use]
    pub fn of(lists: &[RankedList], metric: Metric) -> Self {
        let mut scale = Self {
            metric,
            lexical: None,
            vector: None,
            fresh: BTreeMap::new(),
        };
        // Graph edges and earlier turns do not measure relevance to the query.
        let searches = |list: &&RankedList| matches!(list.branch, Branch::Lexical | Branch::Vector);
        let searched = lists.iter().filter(searches);
        for list in searched {
            let values = || {
                list.hits
                    .iter()
                    .map(|hit| value(list.branch, metric, hit.value))
            };
            let Some(span) = Span::of(values()) else {
                continue;
            };
            let own = match list.branch {
                Branch::Vector => &mut scale.vector,
                _ => &mut scale.lexical,
            };
            own.get_or_insert(span);
            for (hit, value) in list.hits.iter().zip(values()) {
                let relevance = scale.scaled(list.branch, span, value);
                let best = scale.fresh.entry(hit.chunk_id.clone()).or_default();
                *best = best.max(relevance);
            }
        }
        scale
    }

    /// Relevance of a passage in this turn's lists; 0 for any other.
    #[must_use]
    pub fn fresh(&self, key: &str) -> f64 {
        self.fresh.get(key).copied().unwrap_or_default()
    }

    /// Relevance of a passage outside the lists, from its BM25 score and its vector distance for the turn's query. 0 if
    /// neither is known or the branch found nothing.
    #[must_use]
    pub fn carried(&self, lexical_score: Option<f64>, vector_distance: Option<f64>) -> f64 {
        let branch = |branch, span: Option<Span>, raw: Option<f64>| match (span, raw) {
            (Some(span), Some(raw)) => self.scaled(branch, span, value(branch, self.metric, raw)),
            _ => 0.0,
        };
        branch(Branch::Lexical, self.lexical, lexical_score).max(branch(
            Branch::Vector,
            self.vector,
            vector_distance,
        ))
    }

    fn scaled(&self, branch: Branch, span: Span, value: f64) -> f64 {
        match (branch, self.metric) {
            (Branch::Vector, Metric::InnerProduct) => span.min_max(value),
            _ => span.share_of_best(value),
        }
    }
}

/// The value of a branch, higher is better: BM25 score; cosine similarity clipped at 0; 1/(1 + d) for Euclidean
/// distance; the inner product.
pub(crate) fn value(branch: Branch, metric: Metric, raw: f64) -> f64 {
    match (branch, metric) {
        (Branch::Lexical | Branch::Graph | Branch::History, _) => raw,
        (Branch::Vector, Metric::Cosine) => (1.0 - raw).max(0.0),
        (Branch::Vector, Metric::L2) => 1.0 / (1.0 + raw.max(0.0)),
        (Branch::Vector, Metric::InnerProduct) => -raw,
    }
}

/// Replaces the relevance of the reranked candidates by their rerank score, scaled min–max. If all are equal, the
/// relevance is 1.
pub fn from_rerank(candidates: &mut [Candidate]) {
    let Some(span) = Span::of(candidates.iter().filter_map(|c| c.rerank_score)) else {
        return;
    };
    for candidate in candidates {
        if let Some(score) = candidate.rerank_score {
            candidate.relevance = span.min_max(score);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{candidate, passage};
    use crate::passage::Hit;
    use proptest::prelude::*;

    fn lists(branch: Branch, values: &[f64]) -> Vec<RankedList> {
        let hits = values
            .iter()
            .enumerate()
            .map(|(i, &value)| Hit {
                chunk_id: i.to_string(),
                value,
            })
            .collect();
        vec![RankedList {
            branch,
            weight: 1.0,
            entity: None,
            hits,
        }]
    }

    #[test]
    fn each_metric_has_its_own_scale() {
        let scale = Scale::of(&lists(Branch::Lexical, &[8.0, 4.0]), Metric::Cosine);
        assert_eq!(
            (scale.fresh("0"), scale.fresh("1"), scale.fresh("2")),
            (1.0, 0.5, 0.0)
        );
        assert_eq!(
            scale.carried(Some(2.0), Some(0.0)),
            0.25,
            "no vector list to hold the distance against"
        );

        let cosine = Scale::of(&lists(Branch::Vector, &[0.2, 0.6, 1.3]), Metric::Cosine);
        assert!((cosine.fresh("1") - 0.5).abs() < 1e-12);
        assert_eq!(cosine.fresh("2"), 0.0);
        assert_eq!(cosine.carried(None, Some(0.0)), 1.0, "clamped");

        let l2 = Scale::of(&lists(Branch::Vector, &[1.0, 3.0]), Metric::L2);
        assert!((l2.fresh("1") - 0.5).abs() < 1e-12);

        let inner = Scale::of(
            &lists(Branch::Vector, &[-9.0, -5.0, -1.0]),
            Metric::InnerProduct,
        );
        assert_eq!(
            (inner.fresh("0"), inner.fresh("1"), inner.fresh("2")),
            (1.0, 0.5, 0.0)
        );
        let equal = Scale::of(&lists(Branch::Vector, &[-3.0, -3.0]), Metric::InnerProduct);
        assert_eq!(
            (equal.fresh("1"), equal.carried(None, Some(-2.0))),
            (1.0, 0.0)
        );
    }

    #[test]
    fn the_larger_branch_counts() {
        let mut both = lists(Branch::Lexical, &[10.0, 1.0]);
        both.extend(lists(Branch::Vector, &[0.9, 0.1]));
        let scale = Scale::of(&both, Metric::Cosine);
        assert_eq!((scale.fresh("0"), scale.fresh("1")), (1.0, 1.0));
    }

    #[test]
    fn rerank_scores_are_scaled_over_the_candidates() {
        let mut candidates: Vec<_> = [-4.0, 0.0, 4.0]
            .iter()
            .map(|_| candidate(passage("d", "a", 0, 0, "x"), 0.1))
            .collect();
        for (c, score) in candidates.iter_mut().zip([Some(-4.0), None, Some(4.0)]) {
            c.rerank_score = score;
        }
        from_rerank(&mut candidates);
        assert_eq!(
            candidates.iter().map(|c| c.relevance).collect::<Vec<_>>(),
            [0.0, 0.1, 1.0]
        );
        candidates
            .iter_mut()
            .for_each(|c| c.rerank_score = Some(0.3));
        from_rerank(&mut candidates);
        assert!(candidates.iter().all(|c| c.relevance == 1.0));
    }

    proptest! {
        #[test]
        fn relevance_is_always_within_bounds(values in proptest::collection::vec(proptest::num::f64::ANY, 0..20), probe in proptest::num::f64::ANY) {
            for metric in [Metric::Cosine, Metric::L2, Metric::InnerProduct] {
                for branch in [Branch::Lexical, Branch::Vector] {
                    let scale = Scale::of(&lists(branch, &values), metric);
                    for i in 0..values.len() {
                        prop_assert!((0.0..=1.0).contains(&scale.fresh(&i.to_string())));
                    }
                    prop_assert!((0.0..=1.0).contains(&scale.carried(Some(probe), Some(probe))));
                }
            }
        }
    }
}
