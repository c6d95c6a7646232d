//! Answerability: whether the corpus seems to have an answer to a question, from the lists that the search has anyway.
//!
//! Three features enter a logistic function. The *similarity* is the mean cosine of the first three passages of the
//! vector list. The *agreement* of the branches is the sum of the BM25 scores of the first ten passages of the vector
//! list, as a share of that of the first ten of the lexical list that have a vector: how much of the question's words, weighted by their
//! rarity, the passages nearest in meaning contain. The *missing words* of a short follow-up ("Why?") correct the
//! similarity, which such a question does not reach, whatever the corpus contains.
//!
//! The weights are those of a regularised logistic regression on the turns of MTRAG that humans labelled answerable
//! or unanswerable, with both classes given the same total weight (docs/evaluation.md). So 0.5 is the value at which
//! a question is as typical of one class as of the other. Agreement and missing words do not depend on the embedding
//! model. The similarity does: cosines of another model have another level, and so has its answerability.

use std::collections::{BTreeMap, BTreeSet};

use super::fuse::{BranchScores, SearchResults};
use crate::passage::{Branch, Hit, Metric};
use crate::query::plan::TurnQuery;

/// Passages at the top of the vector list whose similarity counts.
const NEAREST: usize = 3;
/// Passages at the top of both lists whose scores are compared: as many as a context has by default.
const COMPARED: usize = 10;
/// Words from which on a follow-up is not short.
const ENOUGH_WORDS: usize = 3;
/// Value of the logistic function's argument when all features are 0.
const INTERCEPT: f64 = -3.9;
/// Weight of the similarity.
const SIMILARITY: f64 = 3.5;
/// Weight of the agreement.
const AGREEMENT: f64 = 2.6;
/// Weight of each missing word.
const MISSING_WORD: f64 = 0.65;

/// The features of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Features {
    /// Mean cosine of the first three passages of the vector list, −1 to 1.
    pub similarity: f64,
    /// Sum of the BM25 scores of the first ten passages of the vector list, as a share of that of the first ten of the
    /// lexical list that have a vector, 0 to 1; 0 if no passage contains a word of the question.
    pub agreement: f64,
    /// Words that a short follow-up lacks to three, 0 to 3.
    pub missing_words: f64,
}

impl Features {
    /// The features of a search; `None` without a vector list, if no passage of the lexical list has a vector (as after rank
    /// fusion, where the branches have not scored each other's passages), or if the vectors do not have the length 1 that their metric needs.
    #[must_use]
    pub fn of(results: &SearchResults, missing_words: usize) -> Option<Self> {
        let own = |branch: Branch| {
            let mut lists = results.lists.iter();
            lists.find(move |list| list.branch == branch && list.entity.is_none())
        };
        let vector = &own(Branch::Vector)?.hits;
        let lexical: &[Hit] = own(Branch::Lexical).map_or(&[], |list| &list.hits);
        Some(Self {
            similarity: similarity(vector, results.metric)?,
            agreement: agreement(vector, lexical, &results.scores)?,
            missing_words: missing_words.min(ENOUGH_WORDS) as f64,
        })
    }

    /// The answerability, 0 to 1.
    #[must_use]
    pub fn answerability(self) -> f64 {
        let sum = INTERCEPT
            + SIMILARITY * self.similarity
            + AGREEMENT * self.agreement
            + MISSING_WORD * self.missing_words;
        1.0 / (1.0 + (-sum).exp())
    }
}

/// Words that a short follow-up lacks to three; 0 for a first question, and for one that the application rewrote.
#[must_use]
pub fn missing_words(turn_query: &TurnQuery<'_>) -> usize {
    if turn_query.earlier.is_empty() || turn_query.is_rewritten() {
        return 0;
    }
    ENOUGH_WORDS.saturating_sub(turn_query.words.len())
}

fn similarity(vector: &[Hit], metric: Metric) -> Option<f64> {
    let nearest = first(vector, NEAREST);
    let cosines = nearest.iter().map(|hit| cosine(metric, hit.value));
    let cosines: Vec<f64> = cosines.collect::<Option<_>>()?;
    (!cosines.is_empty()).then(|| cosines.iter().sum::<f64>() / cosines.len() as f64)
}

/// `scores` has the BM25 scores of passages that the lexical list does not contain, and the distances of those that the
/// vector list does not contain. A passage without a vector cannot be in the vector list, so it says nothing about the
/// agreement. `None` if no passage of the lexical list has a vector.
fn agreement(vector: &[Hit], lexical: &[Hit], scores: &BranchScores) -> Option<f64> {
    let listed: BTreeMap<&str, f64> = lexical
        .iter()
        .map(|hit| (hit.chunk_id.as_str(), hit.value))
        .collect();
    let score = |hit: &Hit| {
        let listed = listed.get(hit.chunk_id.as_str());
        let score = listed.or_else(|| scores.lexical.get(&hit.chunk_id));
        // A passage without a word of the question has no score.
        score.copied().unwrap_or_default()
    };
    let nearest: BTreeSet<&str> = vector.iter().map(|hit| hit.chunk_id.as_str()).collect();
    let embedded = lexical.iter().filter(|hit| {
        nearest.contains(hit.chunk_id.as_str()) || scores.distances.contains_key(&hit.chunk_id)
    });
    let best: Vec<f64> = embedded.map(|hit| hit.value).take(COMPARED).collect();
    if best.is_empty() && !lexical.is_empty() {
        return None;
    }
    let most: f64 = best.iter().sum();
    let found: f64 = first(vector, COMPARED).iter().map(score).sum();
    let share = found / most;
    Some(if most > 0.0 && share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.0
    })
}

fn first(hits: &[Hit], count: usize) -> &[Hit] {
    hits.get(..count).unwrap_or(hits)
}

/// The cosine for a distance. The other metrics order by cosine only if the vectors have the length 1, so a value that
/// such vectors cannot have gives `None`.
fn cosine(metric: Metric, distance: f64) -> Option<f64> {
    let cosine = match metric {
        Metric::Cosine => 1.0 - distance,
        Metric::L2 => 1.0 - distance * distance / 2.0,
        Metric::InnerProduct => -distance,
    };
    // Sums of single-precision products may exceed 1 a little.
    let possible = (-1.01..=1.01).contains(&cosine);
    possible.then(|| cosine.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::begin::fuse::BranchScores;
    use crate::passage::RankedList;
    use crate::query::intent::PastTurn;

    fn list(branch: Branch, hits: &[(&str, f64)]) -> RankedList {
        let hit = |&(key, value): &(&str, f64)| Hit {
            chunk_id: key.to_owned(),
            value,
        };
        RankedList {
            branch,
            weight: 1.0,
            entity: None,
            hits: hits.iter().map(hit).collect(),
        }
    }

    /// Every passage of the lexical list has a vector.
    fn results(lexical: &[(&str, f64)], vector: &[(&str, f64)]) -> SearchResults {
        let distances = lexical.iter().map(|(key, _)| ((*key).to_owned(), 1.0));
        SearchResults {
            lists: vec![list(Branch::Lexical, lexical), list(Branch::Vector, vector)],
            scores: BranchScores {
                lexical: BTreeMap::from([("x".to_owned(), 1.0)]),
                distances: distances.collect(),
            },
            ..SearchResults::default()
        }
    }

    #[test]
    fn the_features_use_the_first_passages_of_each_list() {
        let lexical = [("a", 8.0), ("b", 6.0), ("c", 4.0), ("d", 2.0)];
        let vector = [("d", 0.25), ("x", 0.5), ("y", 0.75), ("b", 0.75)];
        let features = Features::of(&results(&lexical, &vector), 2).unwrap();
        assert_eq!(features.similarity, 0.5);
        // d and b score 2 and 6 in the list, x scores 1 outside it, y has no word of the question.
        assert_eq!(features.agreement, 9.0 / 20.0);
        assert_eq!(features.missing_words, 2.0);
    }

    #[test]
    fn ten_passages_of_each_list_are_compared() {
        let names: Vec<String> = (0..12).map(|n| format!("passage {n}")).collect();
        let hits = |from: usize, value: f64| -> Vec<(&str, f64)> {
            names[from..]
                .iter()
                .map(|name| (name.as_str(), value))
                .collect()
        };
        let vector: Vec<(&str, f64)> = hits(2, 0.5);
        let features = Features::of(&results(&hits(0, 3.0), &vector), 0).unwrap();
        assert_eq!(features.agreement, 1.0);
        let beyond: Vec<(&str, f64)> = [("nowhere", 0.5); 10]
            .into_iter()
            .chain(hits(0, 0.5))
            .collect();
        let features = Features::of(&results(&hits(0, 3.0), &beyond), 0).unwrap();
        assert_eq!(features.agreement, 0.0);
    }

    #[test]
    fn a_short_list_counts_as_it_is() {
        let features = Features::of(&results(&[("a", 2.0)], &[("a", 0.5)]), 0).unwrap();
        assert_eq!((features.similarity, features.agreement), (0.5, 1.0));
        let nothing = Features::of(&results(&[], &[("a", 0.5)]), 0).unwrap();
        assert_eq!(nothing.agreement, 0.0);
        assert_eq!(Features::of(&results(&[("a", 2.0)], &[]), 0), None);
    }

    #[test]
    fn passages_without_a_vector_have_no_effect() {
        let lexical = [("a", 8.0), ("b", 6.0), ("c", 4.0)];
        let vector = [("b", 0.5)];
        let mut partly = results(&lexical, &vector);
        partly.scores.distances.remove("a");
        let embedded = results(&lexical[1..], &vector);
        assert_eq!(Features::of(&partly, 0), Features::of(&embedded, 0));
        partly.scores.distances.clear();
        assert_eq!(Features::of(&partly, 0).unwrap().agreement, 1.0);
        let apart = results(&lexical, &[("x", 0.5)]);
        let none = SearchResults {
            scores: BranchScores::default(),
            ..apart
        };
        assert_eq!(Features::of(&none, 0), None);
    }

    #[test]
    fn lists_of_compared_entities_do_not_count() {
        let mut results = results(&[("a", 2.0)], &[("a", 0.5)]);
        let entity = RankedList {
            entity: Some("Oslo".into()),
            ..list(Branch::Lexical, &[("b", 90.0)])
        };
        results.lists.insert(0, entity);
        assert_eq!(Features::of(&results, 0).unwrap().agreement, 1.0);
    }

    #[test]
    fn every_metric_gives_the_cosine_of_unit_vectors() {
        // Vectors at an angle of 60 degrees.
        for (metric, distance) in [
            (Metric::Cosine, 0.5),
            (Metric::L2, 1.0),
            (Metric::InnerProduct, -0.5),
        ] {
            assert_eq!(cosine(metric, distance), Some(0.5));
        }
        assert_eq!(cosine(Metric::InnerProduct, -30.0), None);
        assert_eq!(cosine(Metric::L2, 12.0), None);
        assert_eq!(cosine(Metric::Cosine, f64::NAN), None);
    }

    #[test]
    fn only_a_follow_up_is_short() {
        let words = BTreeMap::from([("deduct".to_owned(), 1)]);
        let first = TurnQuery {
            words,
            ..TurnQuery::default()
        };
        assert_eq!(missing_words(&first), 0);
        let later = TurnQuery {
            earlier: vec![PastTurn::default()],
            ..first
        };
        assert_eq!(missing_words(&later), 2);
        let rewritten = TurnQuery {
            rewrite: Some("Which deductions can I claim?"),
            ..later
        };
        assert_eq!(missing_words(&rewritten), 0);
    }

    proptest! {
        #[test]
        fn any_lists_give_a_probability(
            lexical in prop::collection::vec(prop::num::f64::ANY, 0..5),
            vector in prop::collection::vec(prop::num::f64::ANY, 0..5),
            missing in 0..9_usize,
        ) {
            let names = ["a", "b", "x", "y", "z"];
            let named = |values: &[f64]| -> Vec<(&'static str, f64)> {
                names.into_iter().zip(values.iter().copied()).collect()
            };
            let found = Features::of(&results(&named(&lexical), &named(&vector)), missing);
            if let Some(features) = found {
                prop_assert!((0.0..=1.0).contains(&features.answerability()), "{features:?}");
            }
        }

        #[test]
        fn answerability_rises_with_every_feature(
            similarity in -1.0..1.0_f64, agreement in 0.0..1.0_f64, missing in 0.0..3.0_f64, step in 0.01..1.0_f64,
        ) {
            let features = Features { similarity, agreement, missing_words: missing };
            let before = features.answerability();
            for more in [
                Features { similarity: similarity + step, ..features },
                Features { agreement: agreement + step, ..features },
                Features { missing_words: missing + step, ..features },
            ] {
                prop_assert!(more.answerability() > before);
            }
        }
    }
}
