//! Confidence interval of a proportion.

use super::interval::Interval;
use super::normal;

/// Wilson's score interval of a proportion (Wilson, "Probable inference, the law of succession, and statistical inference",
/// 1927), without continuity correction, at a `confidence` such as 0.95. The interval's mean is the observed share.
///
/// The interval is valid for few trials and for shares of 0 and 1, where mean ± standard error is not. Equal to
/// `scipy.stats.binomtest(successes, trials).proportion_ci(confidence, method="wilson")`.
///
/// `None` without trials, with more successes than trials, or unless 0 < `confidence` < 1.
pub fn wilson(successes: u64, trials: u64, confidence: f64) -> Option<Interval> {
    if trials == 0 || successes > trials || !(0.0 < confidence && confidence < 1.0) {
        return None;
    }
    let n = trials as f64;
    let share = successes as f64 / n;
    let mut interval = score_interval(share, n, normal::central(confidence));
    // For 0 or all successes a bound is exactly 0 or 1, which rounding would miss.
    if successes == 0 {
        interval.low = 0.0;
    }
    if successes == trials {
        interval.high = 1.0;
    }
    Some(interval)
}

/// Wilson's interval of an observed share, for a number of trials that need not be whole: an effective sample size.
pub(crate) fn score_interval(share: f64, trials: f64, z: f64) -> Interval {
    let centre = share + z * z / (2.0 * trials);
    let reach = z * ((share * (1.0 - share) + z * z / (4.0 * trials)) / trials).sqrt();
    let scale = 1.0 + z * z / trials;
    Interval {
        mean: share,
        low: ((centre - reach) / scale).max(0.0),
        high: ((centre + reach) / scale).min(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equals_published_intervals() {
        // Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3.
        for (successes, trials, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let found = wilson(successes, trials, 0.95).unwrap();
            assert!((found.low - low).abs() < 5e-5, "{found:?}");
            assert!((found.high - high).abs() < 5e-5, "{found:?}");
        }
    }

    #[test]
    fn invalid_input_has_no_interval() {
        assert_eq!(wilson(0, 0, 0.95), None);
        assert_eq!(wilson(2, 1, 0.95), None);
        for confidence in [0.0, 1.0, -0.5, f64::NAN] {
            assert_eq!(wilson(1, 2, confidence), None);
        }
    }

    proptest! {
        #[test]
        fn bounds_are_z_standard_errors_from_the_share(
            (successes, trials) in (1..1_000_000_u64).prop_flat_map(|n| (0..=n, Just(n))), confidence in 0.5..0.999_f64,
        ) {
            let Interval { mean, low, high } = wilson(successes, trials, confidence).unwrap();
            prop_assert!(0.0 <= low && low <= mean && mean <= high && high <= 1.0);
            // By definition, the share is z standard errors (of the bound) away from the bound.
            let z = normal::central(confidence);
            for bound in [low, high].into_iter().filter(|bound| 0.0 < *bound && *bound < 1.0) {
                let error = (bound * (1.0 - bound) / trials as f64).sqrt();
                prop_assert!(((mean - bound).abs() / error / z - 1.0).abs() < 1e-6, "{} {}", bound, mean);
            }
        }

        #[test]
        fn failures_mirror_successes((successes, trials) in (1..500_u64).prop_flat_map(|n| (0..=n, Just(n)))) {
            let one = wilson(successes, trials, 0.95).unwrap();
            let other = wilson(trials - successes, trials, 0.95).unwrap();
            prop_assert!((one.low + other.high - 1.0).abs() < 1e-12);
        }
    }
}
