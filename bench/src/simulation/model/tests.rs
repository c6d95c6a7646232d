//! Known parameters are recovered from their predictions, and strategies are ordered as the model requires.

use super::fit::{Measured, growth, linear_drift, saturating_drift};
use super::*;
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

/// The turns of a table with gaps.
const TURNS: [u32; 5] = [1, 3, 5, 7, 10];

fn conversation(growth: f64, drift: Drift) -> Conversation {
    Conversation {
        model: AttentionModel::new(0.912, 0.8).unwrap(),
        growth,
        history_limit: 0.089,
        drift,
    }
}

fn measured(of: impl Fn(u32) -> f64) -> Vec<Measured> {
    let at = |turn| Measured {
        turn,
        value: of(turn),
    };
    TURNS.map(at).into()
}

fn accuracies(conversation: &Conversation, strategy: Strategy) -> Vec<Measured> {
    measured(|turn| conversation.accuracy(strategy, turn).unwrap())
}

fn drifting(conversation: &Conversation) -> Vec<Measured> {
    measured(|turn| {
        let at = |strategy| conversation.accuracy(strategy, turn).unwrap();
        at(Strategy::FirstTurn) / at(Strategy::EveryTurn)
    })
}

#[test]
fn a_turn_equals_hand_computed_values() {
    // Two turns behind: H/R0 = 0.5, so that α = 2/3; compressed to 0.25, α = 0.8; β·d = 0.2.
    let conversation = Conversation {
        model: AttentionModel::new(0.9, 0.5).unwrap(),
        history_limit: 0.25,
        ..conversation(0.25, Drift::Linear { slope: 0.1 })
    };
    let (diluted, compressed, drifted) = (
        0.9 * (2.0f64 / 3.0).sqrt(),
        0.9 * 0.8f64.sqrt(),
        (-0.2f64).exp(),
    );
    let expected = [
        None,
        Some(diluted * drifted),
        Some(diluted),
        Some(diluted),
        Some(compressed * drifted),
        Some(compressed),
    ];
    for (strategy, expected) in Strategy::ALL.into_iter().zip(expected) {
        let accuracy = conversation.accuracy(strategy, 3);
        assert_eq!(accuracy.is_some(), expected.is_some());
        let difference = accuracy.unwrap_or(0.0) - expected.unwrap_or(0.0);
        assert!(difference.abs() < 1e-12, "{strategy:?} {accuracy:?}");
    }
}

#[test]
fn a_fit_without_measurements_has_no_residual() {
    let model = AttentionModel::new(0.9, 0.8).unwrap();
    assert_eq!(growth(&model, &[]).residual, 0.0);
    assert_eq!(linear_drift(&[]).residual, 0.0);
}

#[test]
fn a_bad_fit_has_a_residual() {
    // Accuracies that alternate by 0.1. A falling curve can at best meet their mean.
    let model = AttentionModel::new(0.5, 0.8).unwrap();
    let jumping = measured(|turn| if turn % 4 == 1 { 0.5 } else { 0.3 });
    assert!(growth(&model, &jumping).residual > 0.05);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn growth_is_recovered(truth in 0.001f64..5.0) {
        let conversation = conversation(truth, Drift::Linear { slope: 0.0 });
        let fit = growth(&conversation.model, &accuracies(&conversation, Strategy::EveryTurn));
        prop_assert!((fit.found - truth).abs() < 1e-4 * truth, "{fit:?}");
        prop_assert!(fit.residual < 1e-6, "{fit:?}");
    }

    #[test]
    fn linear_drift_is_recovered(slope in 0.001f64..1.0) {
        let fit = linear_drift(&drifting(&conversation(0.07, Drift::Linear { slope })));
        prop_assert!(fit.residual < 1e-6, "{fit:?}");
        prop_assert!((fit.found.after(1.0) - slope).abs() < 1e-5, "{fit:?}");
    }

    #[test]
    fn saturating_drift_is_recovered(ceiling in 0.2f64..3.0, pace in 1f64..8.0) {
        let truth = Drift::Saturating { ceiling, pace };
        let fit = saturating_drift(&drifting(&conversation(0.07, truth)));
        prop_assert!(fit.residual < 1e-4, "{fit:?}");
        for turns in [1.0, 4.0, 9.0] {
            prop_assert!((fit.found.discount(turns) - truth.discount(turns)).abs() < 1e-3, "{fit:?}");
        }
    }

    #[test]
    fn the_best_fit_is_found(values in proptest::collection::vec(0.1f64..1.0, 5)) {
        // Compared with a grid search.
        let model = AttentionModel::new(1.0, 0.8).unwrap();
        let points: Vec<Measured> = TURNS.into_iter().zip(values).map(|(turn, value)| Measured { turn, value }).collect();
        let residual = |growth: f64| {
            let at = |turn: u32| (1.0 + growth * f64::from(turn - 1)).powf(-0.8);
            let squares = points.iter().map(|point| (point.value - at(point.turn)).powi(2));
            (squares.sum::<f64>() / 5.0).sqrt()
        };
        let by_grid = (0..20_000).map(|step| residual(f64::from(step) / 1000.0)).fold(f64::INFINITY, f64::min);
        let fit = growth(&model, &points);
        prop_assert!((fit.residual - residual(fit.found)).abs() < 1e-9);
        prop_assert!(fit.residual <= by_grid + 1e-6, "{fit:?} {by_grid}");
    }

    #[test]
    fn refresh_and_compression_never_lower_accuracy(growth in 0f64..1.0, ceiling in 0f64..3.0, pace in 0.5f64..20.0, turn in 1u32..30) {
        let conversation = conversation(growth, Drift::Saturating { ceiling, pace });
        let at = |strategy| conversation.accuracy(strategy, turn).unwrap();
        prop_assert!(at(Strategy::FirstTurn) <= at(Strategy::EveryTurn));
        prop_assert!(at(Strategy::FirstTurn) <= at(Strategy::CompressionOnly));
        prop_assert!(at(Strategy::EveryTurn) <= at(Strategy::Reground));
        prop_assert!(at(Strategy::CompressionOnly) <= at(Strategy::Reground));
        prop_assert_eq!(at(Strategy::RefreshOnly), at(Strategy::EveryTurn));
        prop_assert_eq!(conversation.accuracy(Strategy::FirstTurn, 1), Some(0.912));
        // The limit of a compressed history: 0.912 × (1/1.089)^0.8.
        prop_assert!(at(Strategy::Reground) >= 0.8518);
    }
}
