//! Classification measures against a count of all pairs, a search over all thresholds, and values computed by hand.

use proptest::prelude::*;
use reground_metrics::classification::{auroc, best_threshold, macro_f1};

fn scored() -> impl Strategy<Value = Vec<(f64, bool)>> {
    let one =
        (0..6_i32, any::<bool>()).prop_map(|(score, positive)| (f64::from(score) / 5.0, positive));
    prop::collection::vec(one, 0..40)
}

/// Computes the area by definition: every positive against every negative.
fn by_pairs(scored: &[(f64, bool)]) -> Option<f64> {
    let (mut wins, mut pairs) = (0.0, 0.0);
    for (positive, _) in scored.iter().filter(|(_, is)| *is) {
        for (negative, _) in scored.iter().filter(|(_, is)| !*is) {
            pairs += 1.0;
            wins += if positive > negative {
                1.0
            } else if positive == negative {
                0.5
            } else {
                0.0
            };
        }
    }
    (pairs > 0.0).then(|| wins / pairs)
}

fn f1_at(scored: &[(f64, bool)], threshold: f64) -> Option<f64> {
    macro_f1(
        scored
            .iter()
            .map(|(score, truth)| (*score >= threshold, *truth)),
    )
}

proptest! {
    #[test]
    fn auroc_equals_the_count_of_pairs(scored in scored()) {
        match (auroc(&scored), by_pairs(&scored)) {
            (Some(ours), Some(counted)) => prop_assert!((ours - counted).abs() < 1e-12),
            (ours, counted) => prop_assert_eq!(ours, counted),
        }
    }

    #[test]
    fn no_threshold_is_better_than_the_best(scored in scored()) {
        let Some(best) = best_threshold(&scored) else {
            prop_assert!(scored.is_empty());
            return Ok(());
        };
        for (threshold, _) in &scored {
            prop_assert!(f1_at(&scored, best) >= f1_at(&scored, *threshold));
        }
    }
}

#[test]
fn values_computed_by_hand() {
    // Positives .9 and .4, negatives .5 and .4: 1 + 1 + 0 + ½ of 4 pairs.
    let scored = [(0.9, true), (0.4, true), (0.5, false), (0.4, false)];
    assert_eq!(auroc(&scored), Some(0.625));
    assert_eq!(auroc(&[(0.0, true), (-0.0, false)]), Some(0.5));
    assert_eq!(auroc(&[(f64::NAN, false), (0.1, true)]), Some(1.0));
    assert_eq!(auroc(&scored[..2]), None);
    // Two positives and one negative are classified correctly, three items wrongly.
    let decided = [
        (true, true),
        (true, true),
        (true, false),
        (false, true),
        (false, true),
        (false, false),
    ];
    let positive = 2.0 * 2.0 / (2.0 * 2.0 + 3.0);
    let negative = 2.0 / (2.0 + 3.0);
    assert_eq!(macro_f1(decided), Some((negative + positive) / 2.0));
    assert_eq!(macro_f1([]), None);
    assert_eq!(macro_f1([(true, true)]), Some(0.5));
}
