//! Layer normalisation, with the addition before it.

use pulp::Arch;

use super::reduce::{fold, sum};

/// Parameters of a layer normalisation.
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    /// Empty for none.
    pub(crate) bias: Vec<f32>,
    pub(crate) epsilon: f32,
}

impl Norm {
    /// Normalises each row.
    pub(crate) fn apply(&self, values: &mut [f32]) {
        Arch::new().dispatch(|| {
            for row in values.chunks_exact_mut(self.weight.len()) {
                self.row(row);
            }
        });
    }

    /// Normalises the sum of each row, the row of `residual` and `bias`, which may be empty.
    pub(crate) fn add(&self, values: &mut [f32], residual: &[f32], bias: &[f32]) {
        let width = self.weight.len();
        Arch::new().dispatch(|| {
            for (row, residual) in values
                .chunks_exact_mut(width)
                .zip(residual.chunks_exact(width))
            {
                for (value, other) in row.iter_mut().zip(residual) {
                    *value += other;
                }
                for (value, bias) in row.iter_mut().zip(bias) {
                    *value += bias;
                }
                self.row(row);
            }
        });
    }

    #[inline(always)]
    fn row(&self, row: &mut [f32]) {
        let count = row.len() as f32;
        let mean = sum(row) / count;
        let square = |all: f32, x: f32| all + (x - mean) * (x - mean);
        let variance = fold(row, 0.0, square, |a, b| a + b) / count;
        let scale = 1.0 / (variance + self.epsilon).sqrt();
        for (value, weight) in row.iter_mut().zip(&self.weight) {
            *value = (*value - mean) * scale * weight;
        }
        for (value, bias) in row.iter_mut().zip(&self.bias) {
            *value += bias;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_get_mean_and_deviation_of_the_parameters() {
        let norm = Norm {
            weight: vec![2.0; 20],
            bias: vec![1.0; 20],
            epsilon: 1e-12,
        };
        let mut values: Vec<f32> = (0..40).map(|i| (i * i % 17) as f32).collect();
        let before = values.clone();
        norm.add(&mut values, &before, &[3.0; 20]);
        for (row, before) in values.chunks(20).zip(before.chunks(20)) {
            let mean = before.iter().sum::<f32>() / 20.0;
            let deviation = (before.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / 20.0).sqrt();
            for (value, x) in row.iter().zip(before) {
                assert!((value - (2.0 * (x - mean) / deviation + 1.0)).abs() < 1e-5);
            }
        }
    }
}
