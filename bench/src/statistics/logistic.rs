//! Logistic regression with non-negative weights: a larger feature never lowers the probability.

/// Steps of the gradient descent.
const STEPS: usize = 3000;

/// An intercept, and a weight for each feature, standardised to mean 0 and standard deviation 1.
pub struct Logistic<const N: usize> {
    weights: [f64; N],
    intercept: f64,
    means: [f64; N],
    scales: [f64; N],
}

impl<const N: usize> Logistic<N> {
    /// Fits by maximum likelihood, with projected gradient descent from 0.
    pub fn fit(labelled: &[([f64; N], bool)]) -> Self {
        let (means, scales) = spread(labelled);
        let mut model = Self {
            weights: [0.0; N],
            intercept: 0.0,
            means,
            scales,
        };
        let count = labelled.len().max(1) as f64;
        for _ in 0..STEPS {
            let (mut slopes, mut slope) = ([0.0; N], 0.0);
            for (figures, truth) in labelled {
                let excess = 1.0 / (1.0 + (-model.odds(figures)).exp()) - f64::from(*truth);
                slope += excess;
                for n in 0..N {
                    slopes[n] += excess * (figures[n] - means[n]) / scales[n];
                }
            }
            model.intercept -= slope / count;
            for (weight, slope) in model.weights.iter_mut().zip(slopes) {
                *weight = (*weight - slope / count).max(0.0);
            }
        }
        model
    }

    /// Intercept and weights for the features without standardisation.
    pub fn unscaled(&self) -> (f64, [f64; N]) {
        let weights: [f64; N] = std::array::from_fn(|n| self.weights[n] / self.scales[n]);
        let means = weights.iter().zip(self.means);
        let intercept = self.intercept - means.map(|(weight, mean)| weight * mean).sum::<f64>();
        (intercept, weights)
    }

    /// The log-odds of the positive label.
    pub fn odds(&self, figures: &[f64; N]) -> f64 {
        let weighed = |n: usize| self.weights[n] * (figures[n] - self.means[n]) / self.scales[n];
        self.intercept + (0..N).map(weighed).sum::<f64>()
    }
}

/// Mean and standard deviation of each feature; the deviation of a constant feature is 1.
fn spread<const N: usize>(labelled: &[([f64; N], bool)]) -> ([f64; N], [f64; N]) {
    let count = labelled.len().max(1) as f64;
    let mean = |n: usize| labelled.iter().map(|(figures, _)| figures[n]).sum::<f64>() / count;
    let means: [f64; N] = std::array::from_fn(mean);
    let scales = std::array::from_fn(|n| {
        let squares = labelled
            .iter()
            .map(|(figures, _)| (figures[n] - means[n]).powi(2));
        let variance = squares.sum::<f64>() / count;
        if variance > 0.0 { variance.sqrt() } else { 1.0 }
    });
    (means, scales)
}

#[cfg(test)]
mod tests {
    use super::Logistic;

    #[test]
    fn the_fit_maximises_the_likelihood() {
        // The first feature is 0 or 1, so the odds of either value are its share of positives: here 1 of 4 and 3 of 4. The second
        // is constant and far from 0.
        let labelled: Vec<([f64; 2], bool)> = (0..8)
            .map(|n| ([f64::from(n / 4), 90.0], n == 0 || n > 4))
            .collect();
        let model = Logistic::fit(&labelled);
        let odds = 3_f64.ln();
        assert!((model.odds(&[0.0, 90.0]) + odds).abs() < 1e-6);
        assert!((model.odds(&[1.0, 90.0]) - odds).abs() < 1e-6);
        let (intercept, weights) = model.unscaled();
        assert!((intercept + odds).abs() < 1e-6, "{intercept}");
        assert!(
            (weights[0] - 2.0 * odds).abs() < 1e-6 && weights[1] == 0.0,
            "{weights:?}"
        );
    }

    #[test]
    fn no_weight_is_negative() {
        let labelled: Vec<([f64; 1], bool)> = (0..8).map(|n| ([f64::from(n)], n < 4)).collect();
        assert_eq!(Logistic::fit(&labelled).unscaled().1, [0.0]);
    }
}
