//! Makes one vector of the hidden states of a text.

/// A way to make one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// The state of the first token.
    First,
    Mean,
    Max,
    /// The sum, divided by the square root of the number of tokens.
    MeanSqrt,
    /// The state of the last token.
    Last,
}

impl Pooling {
    /// Returns the vector of `states`, (tokens, width).
    pub(crate) fn apply(self, states: &[f32], width: usize) -> Vec<f32> {
        let tokens = states.len() / width;
        let sum = |divisor: f32| {
            let mut sum = vec![0_f32; width];
            for row in states.chunks_exact(width) {
                sum.iter_mut().zip(row).for_each(|(all, x)| *all += x);
            }
            sum.iter_mut().for_each(|x| *x /= divisor);
            sum
        };
        match self {
            Self::First => states[..width].to_vec(),
            Self::Last => states[states.len() - width..].to_vec(),
            Self::Mean => sum(tokens as f32),
            Self::MeanSqrt => sum((tokens as f32).sqrt()),
            Self::Max => {
                let mut largest = vec![f32::NEG_INFINITY; width];
                for row in states.chunks_exact(width) {
                    let pairs = largest.iter_mut().zip(row);
                    pairs.for_each(|(all, x)| *all = all.max(*x));
                }
                largest
            }
        }
    }
}

/// Scales a vector to unit length. A vector of zeros remains.
pub(crate) fn normalise(vector: &mut [f32]) {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let scale = 1.0 / norm.max(1e-12);
    vector.iter_mut().for_each(|x| *x *= scale);
}
