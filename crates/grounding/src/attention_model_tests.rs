//! Published figures with corrected values, and properties of all figures.

use super::*;
use proptest::prelude::*;

/// Compares with a printed figure.
fn rounded(value: f64, places: i32) -> f64 {
    let scale = 10f64.powi(places);
    (value * scale).round() / scale
}

/// The domain of the publication: classical texts.
fn texts() -> AttentionModel {
    AttentionModel::new(0.91, Specificity::Verse.delta()).unwrap()
}

#[test]
fn an_empty_history_has_a_share_of_one() {
    assert_eq!(attribution_share(0, 0), 1.0);
    assert_eq!(attribution_share(0, 5), 0.0);
    assert_eq!(attribution_share(2000, 0), 1.0);
    assert_eq!(attribution_share(1500, 500), 0.75);
}

#[test]
fn the_published_configuration() {
    let model = texts();
    assert_eq!(rounded(model.min_share(0.85).unwrap(), 4), 0.9183);
    let bound = model.history_bound(2000, 0.85).unwrap();
    assert_eq!(rounded(bound, 3), 178.001);
    assert_eq!(model.max_history(2000, 0.85).unwrap(), 178);
    let at = |history| model.predicted_accuracy(attribution_share(2000, history));
    assert!(at(178) >= 0.85 && at(179) < 0.85);
    assert_eq!(rounded(at(180), 4), 0.8494);
}

/// A row of the published numerical examples, with R0 = 2000 and acc(0) = 1.
struct Example {
    specificity: Specificity,
    turn_tokens: f64,
    rate: f64,
    /// At t = 5 and 10, as corrected.
    floor: [f64; 2],
    predicted: [f64; 2],
}

const EXAMPLES: [Example; 3] = [
    Example {
        specificity: Specificity::Verse,
        turn_tokens: 800.0,
        rate: 0.2692,
        floor: [0.2603, 0.0678],
        predicted: [0.4152, 0.2759],
    },
    Example {
        specificity: Specificity::Section,
        turn_tokens: 600.0,
        rate: 0.1312,
        floor: [0.5190, 0.2693],
        predicted: [0.6325, 0.5],
    },
    Example {
        specificity: Specificity::Document,
        turn_tokens: 400.0,
        rate: 0.0365,
        floor: [0.8333, 0.6944],
        predicted: [0.8706, 0.8027],
    },
];

#[test]
fn the_published_numerical_examples() {
    for example in EXAMPLES {
        let model = AttentionModel::new(1.0, example.specificity.delta()).unwrap();
        let growth = Growth {
            source_tokens: 2000.0,
            turn_tokens: example.turn_tokens,
        };
        let at = |value: fn(&AttentionModel, u32, Growth) -> f64| {
            [5, 10].map(|turns| rounded(value(&model, turns, growth), 4))
        };
        assert_eq!(rounded(model.decay_rate(growth), 4), example.rate);
        assert_eq!(at(AttentionModel::accuracy_floor), example.floor);
        assert_eq!(at(AttentionModel::predicted_after), example.predicted);
    }
}

#[test]
fn the_model_is_above_the_floor_as_corrected() {
    let growth = Growth {
        source_tokens: 2000.0,
        turn_tokens: 800.0,
    };
    let ratio = |t| texts().predicted_after(t, growth) / texts().accuracy_floor(t, growth);
    assert_eq!(rounded(ratio(5), 2), 1.60);
    assert_eq!(rounded(ratio(10), 2), 4.07);
    assert_eq!(rounded(ratio(20), 1), 37.6);
}

#[test]
fn an_unreachable_target_is_an_error() {
    for target in [0.91, 0.95, 1.0, 0.0, -0.5, f64::NAN, f64::INFINITY] {
        let error = texts().max_history(2000, target).unwrap_err();
        assert!(
            matches!(error, GroundingError::TargetOutOfReach { .. }),
            "{error}"
        );
        assert_eq!(texts().min_share(target).unwrap_err(), error);
    }
    let error = texts().min_share(0.95).unwrap_err();
    assert_eq!(
        error.to_string(),
        "accuracy_target is 0.95, it must be above 0 and below accuracy_baseline 0.91"
    );
    for (baseline, delta) in [(0.0, 0.8), (1.1, 0.8), (0.9, 0.0), (0.9, f64::NAN)] {
        let error = AttentionModel::new(baseline, delta).unwrap_err();
        assert!(
            matches!(error, GroundingError::OutOfRange { .. }),
            "{error}"
        );
    }
}

#[test]
fn a_history_limit_beyond_u64() {
    let tolerant = AttentionModel::new(1.0, 1e-9).unwrap();
    assert_eq!(tolerant.max_history(2000, 0.5).unwrap(), u64::MAX);
    assert_eq!(tolerant.max_history(0, 0.5).unwrap(), 0);
    // If the bound is a whole number, that many tokens still keep the target.
    let halved = AttentionModel::new(1.0, 1.0).unwrap();
    assert_eq!(halved.max_history(100, 0.5).unwrap(), 100);
}

#[test]
fn only_a_share_below_the_minimum_needs_a_refresh() {
    let minimum = texts().min_share(0.85).unwrap();
    assert!(!refresh_is_due(attribution_share(2000, 178), minimum));
    assert!(refresh_is_due(attribution_share(2000, 179), minimum));
    assert!(!refresh_is_due(minimum, minimum));
}

#[test]
fn drift_is_one_minus_the_cosine() {
    assert_eq!(drift(&[1.0, 0.0], &[5.0, 0.0]), Some(0.0));
    assert_eq!(drift(&[1.0, 0.0], &[0.0, 2.0]), Some(1.0));
    assert_eq!(drift(&[1.0, 0.0], &[-1.0, 0.0]), Some(1.0));
    let half = drift(&[1.0, 0.0], &[1.0, 3f32.sqrt()]).unwrap();
    assert_eq!(rounded(half, 6), 0.5);
    assert_eq!(drift(&[1.0], &[1.0, 0.0]), None);
    assert_eq!(drift(&[0.0, 0.0], &[1.0, 0.0]), None);
    assert_eq!(drift(&[], &[]), None);
    assert_eq!(drift(&[f32::NAN], &[1.0]), None);
    assert_eq!(rounded(drift_discount(0.5), 6), 0.960789);
    assert_eq!((drift_discount(0.0), drift_discount(-1.0)), (1.0, 1.0));
    assert_eq!(drift_discount(9.0), drift_discount(1.0));
}

proptest! {
    #[test]
    fn more_history_never_raises_accuracy(
        baseline in 0.01f64..=1.0, delta in 0.01f64..=1.0, sources in 1u64..100_000, history in 0u64..100_000, more in 1u64..100_000,
    ) {
        let model = AttentionModel::new(baseline, delta).unwrap();
        let [less, more] = [history, history + more].map(|history| attribution_share(sources, history));
        prop_assert!(more < less);
        prop_assert!(model.predicted_accuracy(more) <= model.predicted_accuracy(less));
        prop_assert!(model.predicted_accuracy(less) <= baseline);
    }

    #[test]
    fn the_floor_is_below_the_model(
        delta in 0.01f64..=1.0, source_tokens in 1f64..10_000.0, turn_tokens in 0f64..10_000.0, turns in 1u32..100,
    ) {
        let model = AttentionModel::new(0.9, delta).unwrap();
        let growth = Growth { source_tokens, turn_tokens };
        let (predicted, floor) = (model.predicted_after(turns, growth), model.accuracy_floor(turns, growth));
        prop_assert!(floor <= predicted * (1.0 + 1e-12), "{floor} {predicted}");
        prop_assert!(model.accuracy_floor(turns + 1, growth) <= floor);
        prop_assert!(model.predicted_after(turns + 1, growth) <= predicted);
    }

    #[test]
    fn growth_and_share_give_the_same_accuracy(delta in 0.01f64..=1.0, sources in 1u32..10_000, turn in 0u32..10_000, turns in 0u32..50) {
        let model = AttentionModel::new(0.9, delta).unwrap();
        let growth = Growth { source_tokens: f64::from(sources), turn_tokens: f64::from(turn) };
        let share = attribution_share(u64::from(sources), u64::from(turn) * u64::from(turns));
        let (by_turns, by_share) = (model.predicted_after(turns, growth), model.predicted_accuracy(share));
        prop_assert!((by_turns - by_share).abs() < 1e-12);
    }

    #[test]
    fn most_history_is_the_maximum(
        baseline in 0.3f64..=1.0, delta in 0.05f64..=1.0, part in 0.2f64..0.999, sources in 1u64..5_000,
    ) {
        let model = AttentionModel::new(baseline, delta).unwrap();
        let target = baseline * part;
        let maximum = model.max_history(sources, target).unwrap();
        let keeps = |history| model.predicted_accuracy(attribution_share(sources, history)) >= target;
        prop_assert!(keeps(maximum));
        if maximum < u64::MAX {
            prop_assert!(!keeps(maximum + 1));
        }
        let bound = model.history_bound(sources, target).unwrap();
        prop_assert!((maximum as f64 - bound).abs() <= 1.0 + 1e-9 * bound, "{maximum} {bound}");
    }

    #[test]
    fn drift_stays_in_its_range(a in proptest::collection::vec(-1e3f32..1e3, 8), b in proptest::collection::vec(-1e3f32..1e3, 8)) {
        let d = drift(&a, &b);
        prop_assert_eq!(d, drift(&b, &a));
        prop_assert!(d.is_none_or(|d| (0.0..=1.0).contains(&d)));
    }
}
