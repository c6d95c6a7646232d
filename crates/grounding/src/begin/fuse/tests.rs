use std::collections::BTreeMap;

use super::*;
use crate::begin::relevance::Scale;
use crate::fixtures::{arbitrary_passages, list, passage};
use crate::passage::identity::twins;
use crate::passage::identity::{KnownPassages, PassageId};
use crate::passage::{Branch, Hit, Metric, Origin, Passage, RankedList};
use crate::settings::{Fusion, Settings};
use proptest::prelude::*;

fn table(passages: Vec<Passage>) -> BTreeMap<String, Passage> {
    passages
        .into_iter()
        .map(|p| (p.chunk_id.clone(), p))
        .collect()
}

fn found(lists: &[RankedList], scores: &BranchScores) -> SearchResults {
    SearchResults {
        lists: lists.to_vec(),
        scores: scores.clone(),
        ..SearchResults::default()
    }
}

fn found_passages(
    lists: &[RankedList],
    scores: &BranchScores,
    passages: &BTreeMap<String, Passage>,
) -> SearchResults {
    SearchResults {
        passages: passages.clone(),
        ..found(lists, scores)
    }
}

fn rrf() -> Settings {
    Settings {
        fusion: Fusion::Rrf,
        ..Settings::default()
    }
}

fn run(lists: &[RankedList], passages: &BTreeMap<String, Passage>) -> Fused {
    let (scale, scores) = (Scale::of(lists, Metric::Cosine), BranchScores::default());
    fuse(
        &found_passages(lists, &scores, passages),
        &KnownPassages::new(),
        &scale,
        &rrf(),
    )
}

#[test]
fn ranks_follow_the_formula() {
    let lists = [
        list(Branch::Lexical, &["a", "b"]),
        list(Branch::Vector, &["b", "c"]),
    ];
    let rows = rows(&found(&lists, &BranchScores::default()), &rrf());
    let keys: Vec<_> = rows.iter().map(|r| r.chunk_id.as_str()).collect();
    assert_eq!(keys, ["b", "a", "c"]);
    assert!((rows[0].score - (1.0 / 62.0 + 1.0 / 61.0)).abs() < 1e-15);
    assert_eq!(
        (rows[0].lexical_rank, rows[0].vector_rank),
        (Some(2), Some(1))
    );
    assert_eq!(rows[1].vector_rank, None);
}

#[test]
fn passages_found_only_by_an_edge_have_the_origin_graph() {
    let passages = table(vec![
        passage("d", "a", 0, 0, "found and nominated"),
        passage("e", "b", 0, 0, "found"),
        passage("f", "n", 0, 0, "nominated"),
    ]);
    let lists = [
        list(Branch::Lexical, &["b", "a"]),
        list(Branch::Graph, &["a", "n"]),
    ];
    let of = |settings: &Settings, scores: &BranchScores| {
        let scale = Scale::of(&lists, Metric::Cosine);
        let results = found_passages(&lists, scores, &passages);
        let fused = fuse(&results, &KnownPassages::new(), &scale, settings);
        let rows = fused.candidates.into_iter();
        rows.map(|c| (c.passage.chunk_id.clone(), c))
            .collect::<BTreeMap<_, _>>()
    };
    let ranked = of(&rrf(), &BranchScores::default());
    assert_eq!(
        (ranked["a"].origin, ranked["a"].graph_rank),
        (Origin::Fresh, Some(1))
    );
    assert_eq!(
        (ranked["n"].origin, ranked["n"].graph_rank),
        (Origin::Graph, Some(2))
    );
    assert!((ranked["a"].fused_score - (1.0 / 62.0 + 1.0 / 61.0)).abs() < 1e-15);
    assert!((ranked["n"].fused_score - 1.0 / 62.0).abs() < 1e-15);
    // Its relevance is its score divided by the best in the list: 5 of 20.
    let scores = BranchScores {
        lexical: [("n".to_owned(), 5.0)].into(),
        ..BranchScores::default()
    };
    let weight = |graph_weight| Settings {
        graph_weight,
        ..Settings::default()
    };
    let (lifted, level) = (of(&weight(1.0), &scores), of(&weight(0.0), &scores));
    assert_eq!(lifted["n"].relevance, 0.25);
    // Two deviations are a third of the scale. The second place gets 61 / 62 of that.
    for (key, lift) in [("a", 1.0 / 3.0), ("n", 61.0 / 62.0 / 3.0), ("b", 0.0)] {
        let gain = lifted[key].fused_score - level[key].fused_score;
        assert!((gain - lift).abs() < 1e-12, "{key}: {gain}");
    }
}

#[test]
fn ranks_of_twins_are_added_across_lists() {
    let passages = table(vec![
        passage("d", "a", 0, 0, "same words"),
        passage("e", "b", 0, 0, "same words"),
        passage("d", "c", 5, 500, "something else"),
    ]);
    // Counted separately, c at ranks 2 and 2 would beat a at 1 and b at 1.
    let lists = [
        list(Branch::Lexical, &["a", "c"]),
        list(Branch::Vector, &["b", "c"]),
    ];
    let fused = run(&lists, &passages);
    assert_eq!(fused.candidates[0].passage.chunk_id, "a");
    assert!((fused.candidates[0].fused_score - 2.0 / 61.0).abs() < 1e-15);
    assert_eq!(
        fused.candidates[0].also_in,
        [("e".to_owned(), "b".to_owned())]
    );
    assert_eq!(fused.dropped[0].into.as_deref(), Some("a"));
    assert_eq!(fused.candidates[1].lexical_rank, Some(2));
}

#[test]
fn a_known_twin_represents_its_class() {
    let passages = table(vec![
        passage("d", "a", 0, 0, "same words"),
        passage("e", "b", 0, 0, "same words"),
    ]);
    let lists = [list(Branch::Lexical, &["a", "b"])];
    let known = KnownPassages::from([PassageId {
        corpus: "manual".into(),
        chunk_id: "b".into(),
    }]);
    let scale = Scale::of(&lists, Metric::Cosine);
    let scores = BranchScores::default();
    let fused = fuse(
        &found_passages(&lists, &scores, &passages),
        &known,
        &scale,
        &rrf(),
    );
    assert_eq!(fused.candidates[0].passage.chunk_id, "b");
    assert_eq!(fused.candidates[0].lexical_rank, Some(1));
}

fn arbitrary_lists() -> impl Strategy<Value = (Vec<Passage>, Vec<Vec<usize>>)> {
    arbitrary_passages(16).prop_flat_map(|passages| {
        let n = passages.len();
        (
            Just(passages),
            proptest::collection::vec(proptest::collection::vec(0..n + 2, 0..20), 1..4),
        )
    })
}

proptest! {
    #[test]
    fn fusion_equals_brute_force((passages, orders) in arbitrary_lists()) {
        let lists: Vec<RankedList> = orders.iter().enumerate().map(|(i, order)| {
            let keys: Vec<String> = order.iter().map(|&p| passages.get(p).map_or("gone".into(), |p| p.chunk_id.clone())).collect();
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            RankedList { weight: 1.0 + i as f64, ..list(if i % 2 == 0 { Branch::Lexical } else { Branch::Vector }, &keys) }
        }).collect();
        let passages = table(passages);
        let fused = run(&lists, &passages);

        // Conservation: every passage in a list is a candidate or dropped, once.
        let mut seen: Vec<_> = fused.candidates.iter().map(|c| c.passage.chunk_id.clone())
            .chain(fused.dropped.iter().map(|d| d.candidate.passage.chunk_id.clone())).collect();
        seen.sort();
        let mut named: Vec<_> = lists.iter().flat_map(|l| l.hits.iter().map(|h| h.chunk_id.clone()))
            .filter(|key| passages.contains_key(key)).collect();
        named.sort();
        named.dedup();
        prop_assert_eq!(seen, named);

        // The score of a class is the sum over lists of the best rank of any member.
        for candidate in &fused.candidates {
            let mut class = vec![candidate.passage.chunk_id.clone()];
            class.extend(candidate.also_in.iter().map(|(_, key)| key.clone()));
            for key in &class {
                prop_assert!(key == &class[0] || twins(&passages[key], &candidate.passage));
            }
            let expected: f64 = lists.iter().filter_map(|l| {
                let rank = l.hits.iter().position(|h| class.contains(&h.chunk_id))? + 1;
                Some(l.weight / (60.0 + rank as f64))
            }).sum();
            prop_assert!((candidate.fused_score - expected).abs() < 1e-12);
        }
        for pair in fused.candidates.windows(2) {
            prop_assert!(pair[0].fused_score > pair[1].fused_score
                || (pair[0].fused_score == pair[1].fused_score && pair[0].passage.chunk_id < pair[1].passage.chunk_id));
        }

        // The order of the lists has no effect.
        let reversed: Vec<_> = lists.iter().rev().cloned().collect();
        let again = run(&reversed, &passages);
        let keys = |f: &Fused| f.candidates.iter().map(|c| (c.passage.chunk_id.clone(), c.fused_score)).collect::<Vec<_>>();
        prop_assert_eq!(keys(&fused), keys(&again));
    }
}

/// The score by its definition, for keys without twins.
fn standardised(lists: &[RankedList], scores: &BranchScores, share: f64) -> BTreeMap<String, f64> {
    let keys: Vec<&String> = lists
        .iter()
        .flat_map(|l| l.hits.iter().map(|h| &h.chunk_id))
        .collect();
    let keys: BTreeMap<&String, ()> = keys.into_iter().map(|key| (key, ())).collect();
    let column = |value: &dyn Fn(&str) -> Option<f64>| {
        let known: Vec<f64> = keys.keys().filter_map(|key| value(key)).collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let deviation =
            (known.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / known.len() as f64).sqrt();
        keys.keys()
            .map(|key| match value(key) {
                Some(value) if deviation > 0.0 => Some((value - mean) / deviation),
                Some(_) => Some(0.0),
                None => None,
            })
            .collect::<Vec<Option<f64>>>()
    };
    let words = column(&|key| Some(scores.lexical.get(key).copied().unwrap_or(0.0)));
    let vectors = column(&|key| scores.distances.get(key).map(|d| (1.0 - d).max(0.0)));
    keys.keys()
        .zip(words.iter().zip(&vectors))
        .map(|(key, (l, v))| {
            let l = l.unwrap_or_default();
            let v = v.unwrap_or(0.8 * l);
            ((*key).clone(), 0.5 + ((1.0 - share) * l + share * v) / 6.0)
        })
        .collect()
}

proptest! {
    #[test]
    fn scores_are_standardised_over_all_candidates(
        lexical in proptest::collection::btree_map("[a-h]", 0.1..20.0_f64, 1..8),
        distances in proptest::collection::btree_map("[a-h]", 0.0..1.2_f64, 1..8),
        cut in 1_usize..5, share in 0.0..=1.0_f64,
    ) {
        let top = |branch, scores: &BTreeMap<String, f64>, sign: f64| {
            let mut hits: Vec<Hit> = scores.iter().map(|(key, &value)| Hit { chunk_id: key.clone(), value }).collect();
            hits.sort_by(|a, b| (sign * a.value).total_cmp(&(sign * b.value)));
            hits.truncate(cut);
            RankedList { branch, weight: 1.0, entity: None, hits }
        };
        let lists = [top(Branch::Lexical, &lexical, -1.0), top(Branch::Vector, &distances, 1.0)];
        let scores = BranchScores { lexical, distances };
        let settings = Settings { fusion: Fusion::Scores, vector_share: share, ..Settings::default() };
        let expected = standardised(&lists, &scores, share);
        let rows = rows(&found(&lists, &scores), &settings);
        prop_assert_eq!(rows.len(), expected.len());
        for row in &rows {
            prop_assert!((row.score - expected[&row.chunk_id]).abs() < 1e-9, "{} {}", row.score, expected[&row.chunk_id]);
        }
    }
}

#[test]
fn prior_results_are_ordered_by_both_queries_and_traced_by_this_query() {
    let history = RankedList {
        branch: Branch::History,
        ..list(Branch::Lexical, &["old"])
    };
    let mut lists = vec![
        list(Branch::Lexical, &["a", "b"]),
        list(Branch::Vector, &["a", "b"]),
        history,
    ];
    let of = |key: &str, value: f64| BTreeMap::from([(key.to_owned(), value)]);
    let integrated = BranchScores {
        lexical: of("old", 1e3),
        distances: of("old", 0.0),
    };
    let scores = BranchScores {
        lexical: of("old", 0.25),
        distances: of("old", 0.9),
    };
    let settings = Settings {
        fusion: Fusion::Integrated,
        ..Settings::default()
    };
    let order = |lists: &[RankedList], integrated: &BranchScores| {
        let results = SearchResults {
            integrated: integrated.clone(),
            ..found(lists, &scores)
        };
        rows(&results, &settings)
    };
    let first = order(&lists, &integrated).remove(0);
    assert_eq!(first.chunk_id, "old");
    assert_eq!((first.lexical_rank, first.vector_rank), (None, None));
    assert_eq!(
        (first.lexical_score, first.vector_distance),
        (Some(0.25), Some(0.9))
    );
    assert_eq!(
        order(&lists, &BranchScores::default())
            .pop()
            .unwrap()
            .chunk_id,
        "old"
    );
    // Without the list it is not a candidate, even if it has scores.
    lists.pop();
    assert_eq!(order(&lists, &integrated).len(), 2);
}

#[test]
fn both_branches_score_every_passage() {
    let lists = [
        list(Branch::Lexical, &["a", "b"]),
        list(Branch::Vector, &["c", "d"]),
    ];
    // By rank the four are two pairs of equals. c also contains words of the query, d does not.
    let scores = BranchScores {
        lexical: BTreeMap::from([("c".to_owned(), 19.5)]),
        distances: BTreeMap::from([("a".to_owned(), 0.9), ("b".to_owned(), 0.8)]),
    };
    let rows = rows(&found(&lists, &scores), &Settings::default());
    assert_eq!(rows[0].chunk_id, "c");
    assert_eq!(
        (rows[0].lexical_rank, rows[0].lexical_score),
        (None, Some(19.5))
    );
    let alone = [list(Branch::Vector, &["c", "d"])];
    let nothing = BranchScores::default();
    let rows = super::rows(&found(&alone, &nothing), &Settings::default());
    assert_eq!([&rows[0].chunk_id, &rows[1].chunk_id], ["c", "d"]);
    assert!(rows[0].score > 0.5 && rows[1].score < 0.5);
}

#[test]
fn a_share_of_0_or_1_ranks_by_one_branch() {
    let scores = BranchScores {
        lexical: BTreeMap::from([("a".to_owned(), 9.0), ("b".to_owned(), 1.0)]),
        distances: BTreeMap::from([("a".to_owned(), 0.9), ("b".to_owned(), 0.1)]),
    };
    for fusion in [Fusion::Scores, Fusion::Integrated, Fusion::Rrf] {
        for (vector_share, order) in [(0.0, ["a", "b"]), (1.0, ["b", "a"])] {
            let settings = Settings {
                fusion,
                vector_share,
                ..Settings::default()
            };
            let weights = settings.branch_weights();
            let lists = [
                RankedList {
                    weight: weights.lexical,
                    ..list(Branch::Lexical, &["a", "b"])
                },
                RankedList {
                    weight: weights.vector,
                    ..list(Branch::Vector, &["b", "a"])
                },
            ];
            let rows = rows(&found(&lists, &scores), &settings);
            let keys: Vec<&str> = rows.iter().map(|row| row.chunk_id.as_str()).collect();
            assert_eq!(keys, order, "{fusion:?}");
        }
    }
}

#[test]
fn entity_lists_add_passages_without_scores() {
    let entity = RankedList {
        entity: Some("HNSW".into()),
        ..list(Branch::Lexical, &["z"])
    };
    let lists = [list(Branch::Lexical, &["a", "b"]), entity];
    let scores = BranchScores {
        lexical: BTreeMap::from([("z".to_owned(), 1.0)]),
        ..BranchScores::default()
    };
    let rows = rows(&found(&lists, &scores), &Settings::default());
    let keys: Vec<&str> = rows.iter().map(|row| row.chunk_id.as_str()).collect();
    assert_eq!(keys, ["a", "b", "z"]);
    assert_eq!(rows[2].lexical_score, Some(1.0));
}
