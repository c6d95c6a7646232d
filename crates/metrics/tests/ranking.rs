//! Ranking measures against trec_eval, against cases computed by hand, and against brute force.

use std::collections::BTreeMap;

use proptest::prelude::*;
use reground_metrics::ranking::{average_precision, ndcg, precision, recall, reciprocal_rank, run};
use serde::Deserialize;

/// One query with the values that trec_eval computes. `trec_eval.py` generates the file.
#[derive(Deserialize)]
struct Case {
    judged: BTreeMap<String, f64>,
    scored: BTreeMap<String, f64>,
    measured: BTreeMap<String, f64>,
}

#[test]
fn equals_trec_eval() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("trec_eval.json")).unwrap();
    assert_eq!(cases.len(), 50);
    for Case {
        judged,
        scored,
        measured,
    } in cases
    {
        let ranking = run(scored.into_iter().collect());
        let ours = [
            ("ndcg_cut_1", ndcg(&ranking, &judged, 1)),
            ("ndcg_cut_5", ndcg(&ranking, &judged, 5)),
            ("ndcg_cut_10", ndcg(&ranking, &judged, 10)),
            ("recall_5", recall(&ranking, &judged, 5)),
            ("recall_10", recall(&ranking, &judged, 10)),
            ("P_5", precision(&ranking, &judged, 5)),
            ("P_10", precision(&ranking, &judged, 10)),
            ("recip_rank", reciprocal_rank(&ranking, &judged)),
            ("map", average_precision(&ranking, &judged)),
        ];
        assert_eq!(measured.len(), ours.len());
        let judgeable = judged.values().any(|gain| *gain > 0.0);
        for (name, value) in ours {
            assert!(
                judgeable == value.is_some() || name.starts_with("P_"),
                "{name}"
            );
            // For an empty denominator, trec_eval returns 0.
            let value = value.unwrap_or(0.0);
            assert!(
                (value - measured[name]).abs() < 1e-12,
                "{name} {value} {measured:?}"
            );
        }
    }
}

#[test]
fn equals_a_case_computed_by_hand() {
    let gains = BTreeMap::from([("a", 3.0), ("b", 2.0), ("c", 1.0), ("d", 0.0), ("e", -1.0)]);
    let ranking = ["b", "x", "a", "e"];
    // (2/1 + 3/2) / (3/1 + 2/log2 3 + 1/2) = 3.5 / 4.761 859 507 142 915
    let found = ndcg(&ranking, &gains, 3).unwrap();
    assert!((found - 0.735_006_985_138_874_3).abs() < 1e-12, "{found}");
    assert_eq!(recall(&ranking, &gains, 3), Some(2.0 / 3.0));
    assert_eq!(recall(&ranking, &gains, 1), Some(1.0 / 3.0));
    assert_eq!(precision(&ranking, &gains, 4), Some(0.5));
    assert_eq!(precision(&ranking, &gains, 10), Some(0.2));
    assert_eq!(reciprocal_rank(&ranking[1..], &gains), Some(0.5));
    assert_eq!(
        average_precision(&ranking, &gains),
        Some((1.0 + 2.0 / 3.0) / 3.0)
    );
}

#[test]
fn undefined_measures_are_none() {
    let gains = BTreeMap::from([("a", 0.0), ("b", -1.0), ("c", f64::NAN)]);
    assert_eq!(ndcg(&["a"], &gains, 5), None);
    assert_eq!(recall(&["a"], &gains, 5), None);
    assert_eq!(reciprocal_rank(&["a"], &gains), None);
    assert_eq!(average_precision(&["a"], &gains), None);
    assert_eq!(precision(&["a"], &gains, 5), Some(0.0));
    assert_eq!(precision(&["a"], &gains, 0), None);
    let gains = BTreeMap::from([("a", 1.0)]);
    assert_eq!(ndcg(&["a"], &gains, 0), None);
    assert_eq!(ndcg(&[], &gains, 5), Some(0.0));
    for nothing in [ndcg(&["b"], &gains, 5), average_precision(&["b"], &gains)] {
        assert!(nothing.unwrap().is_sign_positive());
    }
    assert_eq!(reciprocal_rank(&["b"], &gains), Some(0.0));
}

#[test]
fn ties_are_sorted_by_falling_id() {
    let scored = vec![
        ("a", 1.0),
        ("c", 1.0 + 1e-9),
        ("n", f64::NAN),
        ("d", 1.0),
        ("z", 2.0),
    ];
    assert_eq!(run(scored), ["z", "d", "c", "a", "n"]);
    assert_eq!(run(vec![("a", 0.0), ("b", -0.0)]), ["b", "a"]);
}

proptest! {
    #[test]
    fn only_the_ideal_order_has_an_ndcg_of_1(
        gains in prop::collection::vec(0_u8..4, 1..6), k in 1_usize..7,
    ) {
        // The greatest DCG over all orders of a few documents must be the denominator of nDCG.
        let judged: BTreeMap<usize, f64> =
            gains.iter().map(|gain| f64::from(*gain)).enumerate().collect();
        let best = permutations(gains.len())
            .into_iter()
            .filter_map(|order| ndcg(&order, &judged, k))
            .max_by(f64::total_cmp);
        match best {
            Some(best) => prop_assert!((best - 1.0).abs() < 1e-12),
            None => prop_assert!(gains.iter().all(|gain| *gain == 0)),
        }
    }

    #[test]
    fn a_repeated_document_counts_once(
        ranking in prop::collection::vec(0_u8..8, 0..12), k in 1_usize..12,
    ) {
        let gains: BTreeMap<u8, f64> = (0..5).map(|document| (document, 1.0)).collect();
        // Replacing the repeats by unjudged documents does not change the value.
        let replaced: Vec<u8> = ranking
            .iter()
            .enumerate()
            .map(|(place, d)| if ranking[..place].contains(d) { 100 + place as u8 } else { *d })
            .collect();
        prop_assert_eq!(ndcg(&ranking, &gains, k), ndcg(&replaced, &gains, k));
        prop_assert_eq!(recall(&ranking, &gains, k), recall(&replaced, &gains, k));
        prop_assert_eq!(average_precision(&ranking, &gains), average_precision(&replaced, &gains));
        prop_assert!(recall(&ranking, &gains, k) <= Some(1.0));
    }
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(count - 1);
    let insert = |order: &Vec<usize>, place| {
        let mut order = order.clone();
        order.insert(place, count - 1);
        order
    };
    shorter
        .iter()
        .flat_map(|order| (0..count).map(move |place| insert(order, place)))
        .collect()
}
