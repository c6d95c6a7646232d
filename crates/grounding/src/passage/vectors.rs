//! Functions on embeddings: cosine, and a shift towards other vectors.

/// Cosine of two vectors, in [−1, 1]; `None` if there is no angle: vectors of different dimensions, or of length 0.
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> Option<f64> {
    if a.len() != b.len() {
        return None;
    }
    let dot: f64 = a
        .iter()
        .zip(b)
        .map(|(&x, &y)| f64::from(x) * f64::from(y))
        .sum();
    let cosine = dot / (norm(a) * norm(b));
    cosine.is_finite().then(|| cosine.clamp(-1.0, 1.0))
}

/// A vector shifted towards others: its direction plus each of their directions times a weight, scaled to its own
/// length. Vectors of other dimensions or without a direction are ignored. If none is left, or if they cancel out, the
/// vector is returned unchanged.
#[must_use]
pub fn shifted<'a>(
    vector: &[f32],
    towards: impl IntoIterator<Item = (f64, &'a [f32])>,
) -> Vec<f32> {
    let unturned = || vector.to_vec();
    let Some(mut sum) = direction(vector) else {
        return unturned();
    };
    let mut pulled = false;
    for (weight, other) in towards {
        let alike = other.len() == vector.len() && weight != 0.0;
        let Some(direction) = alike.then(|| direction(other)).flatten() else {
            continue;
        };
        pulled = true;
        for (sum, part) in sum.iter_mut().zip(direction) {
            *sum += weight * part;
        }
    }
    let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
    if !pulled || length <= 0.0 || !length.is_finite() {
        return unturned();
    }
    let scale = norm(vector) / length;
    sum.iter().map(|x| (x * scale) as f32).collect()
}

/// Whether a vector has a direction, that is, a finite length above 0.
#[must_use]
pub fn has_direction(vector: &[f32]) -> bool {
    let length = norm(vector);
    length > 0.0 && length.is_finite()
}

fn direction(vector: &[f32]) -> Option<Vec<f64>> {
    let length = norm(vector);
    has_direction(vector).then(|| vector.iter().map(|&x| f64::from(x) / length).collect())
}

/// Length of a vector.
#[must_use]
pub fn norm(vector: &[f32]) -> f64 {
    vector
        .iter()
        .map(|&x| f64::from(x).powi(2))
        .sum::<f64>()
        .sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cosines_of_known_angles() {
        let cosine = |a: [f32; 2], b: [f32; 2]| cosine(&a, &b).unwrap();
        assert_eq!(cosine([2.0, 0.0], [5.0, 0.0]), 1.0);
        assert_eq!(cosine([1.0, 0.0], [0.0, 3.0]), 0.0);
        assert_eq!(cosine([1.0, 0.0], [-1.0, 0.0]), -1.0);
        assert_eq!(super::cosine(&[1.0], &[1.0, 0.0]), None);
        assert_eq!(super::cosine(&[0.0], &[1.0]), None);
        assert_eq!(super::cosine(&[f32::NAN], &[1.0]), None);
    }

    #[test]
    fn an_equal_weight_shifts_half_way() {
        let other: &[f32] = &[0.0, 9.0];
        let shifted = shifted(&[2.0, 0.0], [(1.0, other)]);
        assert!(shifted.iter().all(|x| (x - 2.0_f32.sqrt()).abs() < 1e-6));
    }

    #[test]
    fn vectors_without_effect_leave_the_vector_unchanged() {
        let none: [(f64, &[f32]); 5] = [
            (0.0, &[0.0, 1.0]),
            (1.0, &[1.0]),
            (1.0, &[0.0, 0.0]),
            (1.0, &[f32::INFINITY, 0.0]),
            (1.0, &[f32::NAN, 0.0]),
        ];
        assert_eq!(shifted(&[0.1, 0.2], none), [0.1, 0.2]);
        let opposite: &[f32] = &[-3.0, 0.0];
        assert_eq!(shifted(&[1.0, 0.0], [(1.0, opposite)]), [1.0, 0.0]);
    }

    proptest! {
        #[test]
        fn shifting_brings_nearer_and_keeps_the_length(
            own in prop::array::uniform4(-3.0f32..3.0),
            other in prop::array::uniform4(-3.0f32..3.0),
            weight in 0.01f64..2.0,
        ) {
            prop_assume!(has_direction(&own) && has_direction(&other));
            let shifted = shifted(&own, [(weight, &other[..])]);
            let before = cosine(&own, &other).unwrap();
            prop_assert!(cosine(&shifted, &other).unwrap() >= before - 1e-6);
            prop_assert!((norm(&shifted) - norm(&own)).abs() < 1e-4);
        }
    }
}
