//! The probability for a similarity: a logistic function, fitted on the cases of AttributionBench (dev) that are not in the sample.

use crate::statistics::logistic::Logistic;

/// Probability from which a claim is accurate, and from which it is partially supported, as in `crates/models/src/judge/classifier.rs`.
const THRESHOLDS: [f64; 2] = [0.5, 0.25];

/// The map from similarity to probability. It never decreases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    intercept: f64,
    slope: f64,
}

impl Calibration {
    /// Fits by maximum likelihood on pairs of similarity and label.
    pub fn fit(labelled: &[([f64; 1], bool)]) -> Self {
        let (intercept, [slope]) = Logistic::fit(labelled).unscaled();
        Self { intercept, slope }
    }

    /// The probability that the passage supports the claim.
    pub fn probability(self, similarity: f64) -> f64 {
        1.0 / (1.0 + (-self.intercept - self.slope * similarity).exp())
    }

    /// The similarities from which a claim is accurate, and partially supported.
    pub fn thresholds(self) -> [f64; 2] {
        THRESHOLDS.map(|p| ((p / (1.0 - p)).ln() - self.intercept) / self.slope)
    }
}

#[cfg(test)]
mod tests {
    use super::Calibration;

    #[test]
    fn the_fit_follows_the_labels() {
        // Of 100 pairs each, 20 of similarity 0 and 80 of similarity 1 are supported.
        let labelled: Vec<([f64; 1], bool)> = (0..200)
            .map(|n| {
                (
                    [f64::from(n / 100)],
                    n % 100 < if n < 100 { 20 } else { 80 },
                )
            })
            .collect();
        let fitted = Calibration::fit(&labelled);
        assert!((fitted.probability(0.0) - 0.2).abs() < 1e-3);
        assert!((fitted.probability(1.0) - 0.8).abs() < 1e-3);
        let [accurate, partial] = fitted.thresholds();
        assert!((accurate - 0.5).abs() < 1e-3);
        assert!((fitted.probability(partial) - 0.25).abs() < 1e-9);
    }
}
