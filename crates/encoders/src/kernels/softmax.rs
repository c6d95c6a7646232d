//! Softmax of attention scores.

use pulp::Arch;

use super::activation::exp;
use super::reduce::{max, sum};

/// The keys that a query attends to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Band {
    /// Position of the first query of the scores minus that of the first key.
    pub(crate) shift: usize,
    /// Largest distance between a query and its keys.
    pub(crate) reach: usize,
}

/// Replaces scores, (heads, queries, keys), by the softmax of `scale` times the score over the keys in the band. Other keys get 0.
pub(crate) fn scaled_softmax(
    scores: &mut [f32],
    queries: usize,
    keys: usize,
    scale: f32,
    band: Option<Band>,
) {
    Arch::new().dispatch(|| {
        for head in scores.chunks_exact_mut(queries * keys) {
            for (query, row) in head.chunks_exact_mut(keys).enumerate() {
                match band {
                    None => softmax(row, scale),
                    Some(Band { shift, reach }) => {
                        let begin = (query + shift).saturating_sub(reach);
                        let end = (query + shift + reach + 1).min(keys);
                        row[..begin].fill(0.0);
                        row[end..].fill(0.0);
                        softmax(&mut row[begin..end], scale);
                    }
                }
            }
        }
    });
}

#[inline(always)]
fn softmax(row: &mut [f32], scale: f32) {
    let largest = max(row);
    for value in row.iter_mut() {
        *value = exp((*value - largest) * scale);
    }
    let share = 1.0 / sum(row);
    for value in row.iter_mut() {
        *value *= share;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one_inside_the_band() {
        let (queries, keys) = (3, 40);
        let scores: Vec<f32> = (0..queries * keys).map(|i| (i * i % 23) as f32).collect();
        let mut weights = scores.clone();
        let band = Band { shift: 5, reach: 7 };
        scaled_softmax(&mut weights, queries, keys, 0.5, Some(band));
        for query in 0..queries {
            let inside = |key: usize| (query + 5).abs_diff(key) <= 7;
            let row = query * keys..(query + 1) * keys;
            let power = |key: usize| f64::from(scores[query * keys + key] * 0.5).exp();
            let total: f64 = (0..keys).filter(|key| inside(*key)).map(power).sum();
            for (key, weight) in weights[row].iter().enumerate() {
                let expected = if inside(key) { power(key) / total } else { 0.0 };
                assert!(
                    (f64::from(*weight) - expected).abs() < 1e-6,
                    "{query} {key}"
                );
            }
        }
    }
}
