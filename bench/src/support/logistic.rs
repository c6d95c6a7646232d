//! A logistic model whose weights may not be below 0: more of a figure never counts against it.

/// Steps of the descent.
const STEPS: usize = 3000;

/// A weight for each figure, on figures that have been scaled to one deviation, and what stands without any.
pub struct Logistic<const N: usize> {
    weights: [f64; N],
    intercept: f64,
    scales: [f64; N],
}

impl<const N: usize> Logistic<N> {
    /// The model of greatest likelihood, by projected gradient descent from nothing.
    pub fn fit(labelled: &[([f64; N], bool)]) -> Self {
        let scales = deviations(labelled);
        let mut model = Self {
            weights: [0.0; N],
            intercept: 0.0,
            scales,
        };
        let count = labelled.len().max(1) as f64;
        for _ in 0..STEPS {
            let (mut slopes, mut slope) = ([0.0; N], 0.0);
            for (figures, truth) in labelled {
                let excess = 1.0 / (1.0 + (-model.odds(figures)).exp()) - f64::from(*truth);
                slope += excess;
                for n in 0..N {
                    slopes[n] += excess * figures[n] / scales[n];
                }
            }
            model.intercept -= slope / count;
            for (weight, slope) in model.weights.iter_mut().zip(slopes) {
                *weight = (*weight - slope / count).max(0.0);
            }
        }
        model
    }

    /// The logarithm of the odds that it holds.
    pub fn odds(&self, figures: &[f64; N]) -> f64 {
        let weighed = |n: usize| self.weights[n] * figures[n] / self.scales[n];
        self.intercept + (0..N).map(weighed).sum::<f64>()
    }
}

/// The standard deviation of each figure; 1 for one that is always the same.
fn deviations<const N: usize>(labelled: &[([f64; N], bool)]) -> [f64; N] {
    let count = labelled.len().max(1) as f64;
    std::array::from_fn(|n| {
        let of = || labelled.iter().map(|(figures, _)| figures[n]);
        let mean = of().sum::<f64>() / count;
        let variance = of().map(|figure| (figure - mean).powi(2)).sum::<f64>() / count;
        if variance > 0.0 { variance.sqrt() } else { 1.0 }
    })
}
