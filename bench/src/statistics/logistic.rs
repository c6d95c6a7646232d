//! A logistic model whose weights may not be below 0: more of a figure never counts against it.

/// Steps of the descent.
const STEPS: usize = 3000;

/// A weight for each figure, on figures that have been brought to a mean of 0 and a deviation of 1, and what stands
/// without any.
pub struct Logistic<const N: usize> {
    weights: [f64; N],
    intercept: f64,
    means: [f64; N],
    scales: [f64; N],
}

impl<const N: usize> Logistic<N> {
    /// The model of greatest likelihood, by projected gradient descent from nothing.
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

    /// Intercept and weights, of the figures as they are.
    pub fn unscaled(&self) -> (f64, [f64; N]) {
        let weights: [f64; N] = std::array::from_fn(|n| self.weights[n] / self.scales[n]);
        let means = weights.iter().zip(self.means);
        let intercept = self.intercept - means.map(|(weight, mean)| weight * mean).sum::<f64>();
        (intercept, weights)
    }

    /// The logarithm of the odds that it holds.
    pub fn odds(&self, figures: &[f64; N]) -> f64 {
        let weighed = |n: usize| self.weights[n] * (figures[n] - self.means[n]) / self.scales[n];
        self.intercept + (0..N).map(weighed).sum::<f64>()
    }
}

/// Mean and standard deviation of each figure; 1 for the deviation of one that is always the same.
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
    fn the_fit_is_where_the_likelihood_is_greatest() {
        // Of one figure that is 0 or 1, the odds of either value are its share of truths: 1 of 4 and 3 of 4 here. The
        // second figure is always the same and far from 0.
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
    fn no_weight_is_below_nothing() {
        let labelled: Vec<([f64; 1], bool)> = (0..8).map(|n| ([f64::from(n)], n < 4)).collect();
        assert_eq!(Logistic::fit(&labelled).unscaled().1, [0.0]);
    }
}
