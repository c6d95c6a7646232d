//! The U test against published results, against all orders of small samples, and against the area under the ROC curve.

use proptest::prelude::*;
use reground_metrics::classification::auroc;
use reground_metrics::mann_whitney::{MannWhitney, Method, two_sided};

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs().max(1.0)
}

#[test]
fn equals_published_results() {
    // Ages at diagnosis: the example of scipy's manual.
    let males = [19.0, 22.0, 16.0, 29.0, 24.0];
    let females = [20.0, 11.0, 17.0, 12.0];
    let ages = two_sided(&males, &females).unwrap();
    assert_eq!((ages.statistic, ages.method), (17.0, Method::Exact));
    assert!(close(ages.p_value, 1.0 / 9.0), "{ages:?}");
    assert!(close(ages.effect, 0.85), "{ages:?}");
    // Permeability of the placenta at term and before (Hollander and Wolfe 1973; R's wilcox.test prints 0.1272 one-sided).
    let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    let before = [1.15, 0.88, 0.90, 0.74, 1.21];
    let permeability = two_sided(&term, &before).unwrap();
    assert_eq!(permeability.statistic, 35.0);
    assert!(
        (permeability.p_value / 2.0 - 0.1272).abs() < 5e-5,
        "{permeability:?}"
    );
    // Ozone in New York in May and August 1973, with ties (R's manual of wilcox.test prints W = 127.5, p = 0.0001208).
    let may = [
        41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45,
        115, 37,
    ];
    let august = [
        39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73,
        76, 118, 84, 85,
    ];
    let ozone = two_sided(&may.map(f64::from), &august.map(f64::from)).unwrap();
    assert_eq!((ozone.statistic, ozone.method), (127.5, Method::Asymptotic));
    assert!((ozone.p_value - 0.000_120_8).abs() < 5e-8, "{ozone:?}");
}

#[test]
fn equal_values_are_not_significant() {
    for (first, second) in [(1, 1), (3, 20), (40, 60)] {
        let same = two_sided(&vec![0.5; first], &vec![0.5; second]).unwrap();
        assert_eq!((same.p_value, same.effect), (1.0, 0.5));
    }
    // 0 and −0 are equal.
    let signs = two_sided(&[0.0], &[-0.0]).unwrap();
    assert_eq!((signs.statistic, signs.method), (0.5, Method::Asymptotic));
}

#[test]
fn invalid_samples_have_no_result() {
    assert_eq!(two_sided(&[], &[1.0]), None);
    assert_eq!(two_sided(&[1.0], &[]), None);
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(two_sided(&[1.0, value], &[2.0]), None);
        assert_eq!(two_sided(&[1.0], &[value, 2.0]), None);
    }
}

#[test]
fn is_exact_for_a_small_sample_without_ties() {
    let values = |from: usize, to: usize| (from..to).map(|n| n as f64).collect::<Vec<_>>();
    let method = |first: &[f64], second: &[f64]| two_sided(first, second).unwrap().method;
    assert_eq!(method(&values(0, 8), &values(8, 500)), Method::Exact);
    assert_eq!(method(&values(8, 500), &values(0, 8)), Method::Exact);
    assert_eq!(method(&values(0, 9), &values(9, 18)), Method::Asymptotic);
    assert_eq!(method(&values(0, 8), &values(7, 20)), Method::Asymptotic);
}

/// Computes the p-value by definition, for values without ties: over every way to choose the first sample from both.
fn by_all_orders(first: &[f64], second: &[f64]) -> f64 {
    let pooled = [first, second].concat();
    let middle = first.len() as f64 * second.len() as f64 / 2.0;
    let u = |chosen: u32| -> f64 {
        let is_first = |n: usize| chosen >> n & 1 == 1;
        let pairs = (0..pooled.len()).flat_map(|a| (0..pooled.len()).map(move |b| (a, b)));
        pairs
            .filter(|&(a, b)| is_first(a) && !is_first(b) && pooled[a] > pooled[b])
            .count() as f64
    };
    let far = (u((1 << first.len()) - 1) - middle).abs();
    let orders =
        (0..1_u32 << pooled.len()).filter(|chosen| chosen.count_ones() as usize == first.len());
    let (mut all, mut as_far) = (0.0, 0.0);
    for chosen in orders {
        all += 1.0;
        as_far += f64::from(u8::from((u(chosen) - middle).abs() >= far));
    }
    as_far / all
}

/// Two samples of numbers below 40, in any order, with or without ties.
fn samples() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    let sample = || prop::collection::vec((0..40).prop_map(f64::from), 1..30);
    (sample(), sample())
}

fn different(first: usize, second: usize) -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    let all: Vec<f64> = (0..first + second).map(|n| n as f64).collect();
    Just(all)
        .prop_shuffle()
        .prop_map(move |all| (all[..first].to_vec(), all[first..].to_vec()))
}

fn shuffled(sample: &[f64]) -> impl Strategy<Value = Vec<f64>> + use<> {
    Just(sample.to_vec()).prop_shuffle()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn small_samples_equal_the_count_of_all_orders(
        (first, second) in (1..6_usize, 1..6_usize).prop_flat_map(|(m, n)| different(m, n)),
    ) {
        let test = two_sided(&first, &second).unwrap();
        prop_assert_eq!(test.method, Method::Exact);
        let expected = by_all_orders(&first, &second);
        prop_assert!(close(test.p_value, expected), "{:?} {}", test, expected);
    }
}

proptest! {
    #[test]
    fn swapping_the_samples_mirrors_the_result((first, second) in samples()) {
        let one = two_sided(&first, &second).unwrap();
        let other = two_sided(&second, &first).unwrap();
        prop_assert_eq!(one.statistic + other.statistic, (first.len() * second.len()) as f64);
        prop_assert_eq!((one.p_value, one.method), (other.p_value, other.method));
        prop_assert!((0.0..=1.0).contains(&one.p_value) && (0.0..=1.0).contains(&one.effect));
    }

    #[test]
    fn only_the_order_of_the_values_matters(
        ((first, second), again) in samples()
            .prop_flat_map(|(a, b)| ((Just(a.clone()), Just(b.clone())), (shuffled(&a), shuffled(&b)))),
    ) {
        let risen = |sample: &[f64]| sample.iter().map(|v| (v / 9.0).exp() - 1e3).collect::<Vec<_>>();
        let fallen = |sample: &[f64]| sample.iter().map(|v| -v).collect::<Vec<_>>();
        let test = two_sided(&first, &second);
        prop_assert_eq!(two_sided(&again.0, &again.1), test);
        prop_assert_eq!(two_sided(&risen(&first), &risen(&second)), test);
        let MannWhitney { p_value, effect, .. } = test.unwrap();
        let turned = two_sided(&fallen(&first), &fallen(&second)).unwrap();
        prop_assert_eq!(turned.p_value, p_value);
        prop_assert!(close(turned.effect, 1.0 - effect));
    }

    #[test]
    fn the_effect_is_the_area_under_the_roc_curve((first, second) in samples()) {
        let scored: Vec<(f64, bool)> = first.iter().map(|v| (*v, true)).chain(second.iter().map(|v| (*v, false))).collect();
        let effect = two_sided(&first, &second).unwrap().effect;
        prop_assert!(close(effect, auroc(&scored).unwrap()));
    }

    #[test]
    fn increasing_a_sample_increases_its_u((first, second) in samples(), step in 1..9_i32) {
        let moved: Vec<f64> = first.iter().map(|v| v + f64::from(step)).collect();
        let (before, after) = (two_sided(&first, &second).unwrap(), two_sided(&moved, &second).unwrap());
        prop_assert!(after.statistic >= before.statistic);
    }
}
