use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::begin::relevance::Scale;
use crate::fixtures::{list, passage};
use crate::passage::identity::KnownPassages;
use crate::passage::{Branch, Hit, Metric, RankedList};
use crate::settings::{Fusion, Settings};

/// A list of these hits, best first.
fn ranked(branch: Branch, values: &[(&str, f64)]) -> RankedList {
    let hit = |&(key, value): &(&str, f64)| Hit {
        chunk_id: key.to_owned(),
        value,
    };
    RankedList {
        hits: values.iter().map(hit).collect(),
        ..list(branch, &[])
    }
}

fn settings(fusion: Fusion) -> Settings {
    Settings {
        fusion,
        ..Settings::default()
    }
}

fn names(keys: &[&str]) -> BTreeSet<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

/// A question that repeats the title of `title`, which has no vector. The others contain a word of the question.
fn repeated_title() -> SearchResults {
    let lexical = [("title", 20.0), ("a", 6.0), ("b", 5.0), ("c", 4.0)];
    let vector = [("a", 0.5), ("b", 0.6), ("c", 0.62), ("d", 0.7)];
    SearchResults {
        lists: vec![
            ranked(Branch::Lexical, &lexical),
            ranked(Branch::Vector, &vector),
        ],
        without_vector: names(&["title"]),
        ..SearchResults::default()
    }
}

#[test]
fn a_passage_without_a_vector_ranks_first_if_its_words_match_far_better() {
    for fusion in [Fusion::Scores, Fusion::Integrated] {
        let rows = rows(&repeated_title(), &settings(fusion));
        assert_eq!(rows[0].chunk_id, "title", "{fusion:?}");
        assert_eq!(rows[0].vector_distance, None);
    }
}

#[test]
fn four_fifths_of_the_lexical_term_stand_in_for_that_of_the_vector_list() {
    let rows = rows(&repeated_title(), &settings(Fusion::Rrf));
    let score = |key: &str| rows.iter().find(|row| row.chunk_id == key).unwrap().score;
    assert!((score("title") - 1.8 / 61.0).abs() < 1e-15);
    assert!((score("a") - (1.0 / 62.0 + 1.0 / 61.0)).abs() < 1e-15);
    assert!((score("d") - 1.0 / 64.0).abs() < 1e-15);
}

#[test]
fn a_twin_with_a_vector_counts_for_its_class() {
    let passages = [
        ("title", "same"),
        ("a", "same"),
        ("b", "b"),
        ("c", "c"),
        ("d", "d"),
    ];
    let passages = passages.map(|(key, text)| (key.to_owned(), passage(key, key, 0, 0, text)));
    let results = SearchResults {
        passages: passages.into(),
        ..repeated_title()
    };
    let scale = Scale::of(&results.lists, Metric::Cosine);
    let fused = fuse(
        &results,
        &KnownPassages::new(),
        &scale,
        &settings(Fusion::Rrf),
    );
    let first = &fused.candidates[0];
    assert!((first.fused_score - 2.0 / 61.0).abs() < 1e-15);
}

/// Without a vector list, there is nothing to stand in for.
#[test]
fn a_lexical_search_is_unchanged() {
    let mut results = repeated_title();
    results.lists.truncate(1);
    for fusion in [Fusion::Scores, Fusion::Rrf] {
        let marked = rows(&results, &settings(fusion));
        let unmarked = SearchResults {
            without_vector: BTreeSet::new(),
            ..results.clone()
        };
        assert_eq!(marked, rows(&unmarked, &settings(fusion)));
    }
}

/// Hits by ascending `sign` · value.
fn sorted(values: &BTreeMap<String, f64>, sign: f64) -> Vec<(&str, f64)> {
    let mut hits: Vec<(&str, f64)> = values
        .iter()
        .map(|(key, &value)| (key.as_str(), value))
        .collect();
    hits.sort_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
    hits
}

proptest! {
    #[test]
    fn passages_without_vectors_keep_their_lexical_order(
        scores in proptest::collection::btree_map("[a-h]", 0.1..20.0_f64, 1..8),
        distances in proptest::collection::btree_map("[e-p]", 0.0..1.2_f64, 1..8),
        share in 0.0..=1.0_f64, by_rank in any::<bool>(),
    ) {
        let lexical = sorted(&scores, -1.0);
        let without = || scores.keys().filter(|key| !distances.contains_key(*key));
        let fusion = if by_rank { Fusion::Rrf } else { Fusion::Scores };
        let settings = Settings { vector_share: share, ..settings(fusion) };
        let weights = settings.branch_weights();
        let mut results = SearchResults {
            lists: vec![
                RankedList { weight: weights.lexical, ..ranked(Branch::Lexical, &lexical) },
                RankedList { weight: weights.vector, ..ranked(Branch::Vector, &sorted(&distances, 1.0)) },
            ],
            without_vector: without().cloned().collect(),
            ..SearchResults::default()
        };
        let fused = rows(&results, &settings);
        let score = |key: &str| fused.iter().find(|row| row.chunk_id == key).map(|row| row.score);
        let order: Vec<Option<f64>> = lexical.iter().filter(|hit| results.without_vector.contains(hit.0)).map(|hit| score(hit.0)).collect();
        prop_assert!(order.iter().all(Option::is_some));
        for pair in order.windows(2) {
            prop_assert!(pair[0] >= pair[1], "{order:?}");
        }
        // The order of the lists has no effect.
        results.lists.reverse();
        prop_assert_eq!(&fused, &rows(&results, &settings));
        // It names passages without vectors only.
        results.without_vector = without().next().cloned().into_iter().collect();
        let fewer = rows(&results, &settings);
        for row in fused.iter().filter(|row| distances.contains_key(&row.chunk_id)) {
            prop_assert_eq!(fewer.iter().find(|other| other.chunk_id == row.chunk_id), Some(row));
        }
    }
}
