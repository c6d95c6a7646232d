//! Agreement against published examples, values computed by hand, and properties.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared functions of tests"
)]

use proptest::prelude::*;
use reground_metrics::agreement::{ConfusionMatrix, fleiss_kappa, majority};
use reground_metrics::classification;

/// A matrix with these counts.
fn matrix(counts: &[&[u64]]) -> ConfusionMatrix<usize> {
    let categories: Vec<usize> = (0..counts.len()).collect();
    let pairs = counts.iter().enumerate().flat_map(|(i, row)| {
        let cells = row.iter().enumerate();
        cells.flat_map(move |(j, n)| (0..*n).map(move |_| (i, j)))
    });
    ConfusionMatrix::of(&categories, pairs).unwrap()
}

fn close(found: Option<f64>, expected: f64) {
    let off = (found.unwrap() - expected).abs();
    assert!(off < 1e-12, "{found:?} {expected}");
}

#[test]
fn kappa_and_its_error_equal_the_published_example() {
    // Fleiss, Cohen and Everitt 1969, table 1: 200 patients, shares .53 .05 .02 / .11 .14 .05 / .01 .06 .03.
    let diagnoses = matrix(&[&[106, 10, 4], &[22, 28, 10], &[2, 12, 6]]);
    // pₒ = .53 + .14 + .03; pₑ = .60 · .65 + .30 · .25 + .10 · .10.
    let (observed, by_chance) = (0.70, 0.475);
    let kappa = (observed - by_chance) / (1.0 - by_chance);
    close(diagnoses.cohens_kappa(), kappa);
    let interval = diagnoses.kappa_interval(0.95).unwrap();
    let error = (interval.high - interval.mean) / 1.959_963_984_540_054;
    assert!(
        (error * error - 0.002_885).abs() < 5e-7,
        "{}",
        error * error
    );
    assert!((interval.mean - kappa).abs() < 1e-12);
    assert!((interval.high + interval.low - 2.0 * kappa).abs() < 1e-12);
}

/// n · var by the delta method with numerical derivatives, instead of the formula.
fn delta_variance(counts: &[&[u64]]) -> f64 {
    let total: u64 = counts.iter().flat_map(|row| row.iter()).sum();
    let cells: Vec<f64> = counts
        .iter()
        .flat_map(|row| row.iter().map(|n| *n as f64 / total as f64))
        .collect();
    let size = counts.len();
    let kappa = |cells: &[f64]| {
        let observed: f64 = (0..size).map(|i| cells[i * size + i]).sum();
        let row = |i: usize| (0..size).map(|j| cells[i * size + j]).sum::<f64>();
        let column = |j: usize| (0..size).map(|i| cells[i * size + j]).sum::<f64>();
        let by_chance: f64 = (0..size).map(|i| row(i) * column(i)).sum();
        (observed - by_chance) / (1.0 - by_chance)
    };
    let slope = |at: usize| {
        let (mut above, mut below) = (cells.clone(), cells.clone());
        above[at] += 1e-6;
        below[at] -= 1e-6;
        (kappa(&above) - kappa(&below)) / 2e-6
    };
    let slopes: Vec<f64> = (0..cells.len()).map(slope).collect();
    let mean: f64 = cells.iter().zip(&slopes).map(|(p, g)| p * g).sum();
    let square: f64 = cells.iter().zip(&slopes).map(|(p, g)| p * g * g).sum();
    square - mean * mean
}

#[test]
fn f1_of_each_average() {
    // Reference a: 5 of 6 found, b: 2 of 3, c: 0 of 1. Judged a: 6, b: 4, c: 0.
    let m = matrix(&[&[5, 1, 0], &[1, 2, 0], &[0, 1, 0]]);
    let (a, b): (f64, f64) = (2.0 * 5.0 / (6.0 + 6.0), 2.0 * 2.0 / (3.0 + 4.0));
    let by_category = m.by_category();
    assert_eq!(
        by_category.iter().map(|one| one.f1).collect::<Vec<_>>(),
        [a, b, 0.0]
    );
    let one = by_category[1];
    assert_eq!(
        (one.support, one.judged, one.precision, one.recall),
        (3, 4, 0.5, 2.0 / 3.0)
    );
    close(m.macro_f1(), (a + b) / 3.0);
    close(m.weighted_f1(), (6.0 * a + 3.0 * b) / 10.0);
    close(m.accuracy().value(), 0.7);
    // A category that nobody uses is not in the mean.
    close(matrix(&[&[2, 0], &[0, 0]]).macro_f1(), 1.0);
}

#[test]
fn partial_and_accurate_are_compared_among_themselves() {
    let verdicts = ["ACCURATE", "PARTIAL", "HALLUCINATED", "UNVERIFIABLE"];
    let pairs = [
        ("ACCURATE", "ACCURATE"),
        ("ACCURATE", "PARTIAL"),
        ("PARTIAL", "PARTIAL"),
        ("PARTIAL", "ACCURATE"),
        ("PARTIAL", "PARTIAL"),
        // Not both of the two.
        ("PARTIAL", "HALLUCINATED"),
        ("UNVERIFIABLE", "ACCURATE"),
        ("HALLUCINATED", "HALLUCINATED"),
    ];
    let m = ConfusionMatrix::of(&verdicts, pairs).unwrap();
    let share = m.disagreement(&"PARTIAL", &"ACCURATE");
    assert_eq!((share.numerator, share.denominator), (2.0, 5));
    assert_eq!(m.disagreement(&"PARTIAL", &"?").value(), None);
    assert_eq!(m.disagreement(&"PARTIAL", &"PARTIAL").value(), Some(0.0));
    assert_eq!(m.total(), 8);
    assert_eq!(
        ConfusionMatrix::of(&verdicts, [("ACCURATE", "accurate")]),
        None
    );
    let json = serde_json::to_value(&m).unwrap();
    assert_eq!(json["counts"][1], serde_json::json!([1, 2, 1, 0]));
}

#[test]
fn kappa_of_one_category_is_undefined() {
    assert_eq!(matrix(&[&[7, 0], &[0, 0]]).cohens_kappa(), None);
    assert_eq!(matrix(&[&[0, 0], &[0, 0]]).cohens_kappa(), None);
    assert_eq!(matrix(&[&[0, 0], &[0, 0]]).weighted_f1(), None);
    // One rater uses one category, the other two: agreement by chance only.
    close(matrix(&[&[4, 3], &[0, 0]]).cohens_kappa(), 0.0);
    assert_eq!(matrix(&[&[4, 3], &[1, 2]]).kappa_interval(1.0), None);
}

#[test]
fn fleiss_kappa_equals_the_published_example() {
    // Ten items, 14 raters, five categories; κ = .210 (the example of the method's article in Wikipedia).
    let items: Vec<Vec<u64>> = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    .map(Vec::from)
    .into();
    let kappa = fleiss_kappa(&items).unwrap();
    assert!((kappa - 0.210).abs() < 5e-4, "{kappa}");
    assert_eq!(fleiss_kappa(&[vec![2, 0], vec![1, 0]]), None);
    assert_eq!(fleiss_kappa(&[vec![1, 0]]), None);
    assert_eq!(fleiss_kappa(&[vec![3, 0], vec![3, 0]]), None);
    assert_eq!(fleiss_kappa(&[]), None);
}

#[test]
fn a_majority_has_more_than_half_of_the_votes() {
    let of = |votes: &str, min_votes| {
        let votes: Vec<char> = votes.chars().collect();
        majority(&votes, min_votes).map(|found| (found.category, found.votes, found.of))
    };
    assert_eq!(of("aab", 2), Some(('a', 2, 3)));
    assert_eq!(of("aba", 2), Some(('a', 2, 3)));
    assert_eq!(of("baa", 2), Some(('a', 2, 3)));
    assert_eq!(of("aa", 2), Some(('a', 2, 2)));
    assert_eq!(of("abc", 2), None);
    assert_eq!(of("ab", 2), None);
    assert_eq!(of("a", 2), None);
    assert_eq!(of("a", 1), Some(('a', 1, 1)));
    // The most votes are not yet a majority.
    assert_eq!(of("aabc", 2), None);
    assert_eq!(of("", 0), None);
}

fn pairs() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..3_usize, 0..3_usize), 1..60)
}

proptest! {
    #[test]
    fn kappa_is_symmetric_bounded_and_1_for_equality(pairs in pairs(), order in Just([2_usize, 0, 1])) {
        let of = |pairs: Vec<(usize, usize)>| ConfusionMatrix::of(&[0, 1, 2], pairs).unwrap();
        let m = of(pairs.clone());
        let swapped = of(pairs.iter().map(|(a, b)| (*b, *a)).collect());
        let renamed = of(pairs.iter().map(|(a, b)| (order[*a], order[*b])).collect());
        let mut reversed = pairs.clone();
        reversed.reverse();
        prop_assert_eq!(&of(reversed), &m);
        if let Some(kappa) = m.cohens_kappa() {
            prop_assert!((-1.0..=1.0 + 1e-12).contains(&kappa), "{}", kappa);
            for other in [&swapped, &renamed] {
                prop_assert!((kappa - other.cohens_kappa().unwrap()).abs() < 1e-9);
            }
            let interval = m.kappa_interval(0.95).unwrap();
            prop_assert!(-1.0 <= interval.low && interval.low <= kappa && kappa <= interval.high + 1e-12);
            let counts: Vec<&[u64]> = m.counts().iter().map(Vec::as_slice).collect();
            let reach = 1.959_963_984_540_054 * (delta_variance(&counts).max(0.0) / m.total() as f64).sqrt();
            prop_assert!((interval.low - (kappa - reach).max(-1.0)).abs() < 1e-4, "{:?} {}", interval, reach);
        }
        let equal = of(pairs.iter().map(|(a, _)| (*a, *a)).collect());
        let used = pairs.iter().any(|(a, _)| *a != pairs[0].0);
        match equal.cohens_kappa() {
            Some(kappa) => prop_assert!(used && (kappa - 1.0).abs() < 1e-12),
            None => prop_assert!(!used),
        }
        prop_assert!((equal.weighted_f1().unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn two_classes_equal_the_measures_of_a_classifier(pairs in prop::collection::vec(any::<(bool, bool)>(), 1..40)) {
        let m = ConfusionMatrix::of(&[false, true], pairs.clone()).unwrap();
        // The classifier's macro F1 also counts an unused class.
        if m.by_category().iter().all(|one| one.support + one.judged > 0) {
            let expected = classification::macro_f1(pairs.iter().map(|(truth, judged)| (*judged, *truth)));
            prop_assert!((m.macro_f1().unwrap() - expected.unwrap()).abs() < 1e-12);
        }
        let recall: f64 = m.by_category().iter().map(|one| one.support as f64 * one.recall).sum();
        // Weighted recall is accuracy: by this, the published table shows its average.
        prop_assert!((recall / m.total() as f64 - m.accuracy().value().unwrap()).abs() < 1e-12);
        prop_assert!((0.0..=1.0).contains(&m.weighted_f1().unwrap()));
    }

    #[test]
    fn a_majority_is_found_by_counting(votes in prop::collection::vec(0..4_u8, 0..12)) {
        let counted = (0..4).find(|category| 2 * votes.iter().filter(|vote| *vote == category).count() > votes.len());
        prop_assert_eq!(majority(&votes, 0).map(|found| found.category), counted);
    }

    #[test]
    fn fleiss_kappa_of_equal_raters_is_1(categories in prop::collection::vec(0..3_usize, 2..20), raters in 2..5_u64) {
        let items: Vec<Vec<u64>> = categories.iter()
            .map(|category| (0..3).map(|j| if j == *category { raters } else { 0 }).collect())
            .collect();
        match fleiss_kappa(&items) {
            Some(kappa) => prop_assert!((kappa - 1.0).abs() < 1e-12),
            None => prop_assert!(categories.iter().all(|category| *category == categories[0])),
        }
    }
}
