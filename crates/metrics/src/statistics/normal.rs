//! The standard normal distribution.

use std::f64::consts::SQRT_2;

/// Returns the probability of a value above `z`: 1 at −∞, 0 at ∞. Keeps its relative precision in the tail.
pub fn above(z: f64) -> f64 {
    libm::erfc(z / SQRT_2) / 2.0
}

/// Returns the z for which `share` of all values are between −z and z. `share` must be in (0, 1).
///
/// Bisects until no number is left in between. [`above`] is monotonic, so this always converges, and it needs no constants,
/// unlike faster methods.
pub fn central(share: f64) -> f64 {
    let beyond = 1.0 - share;
    // Above 40 the tail probability is below the smallest double.
    let (mut low, mut high) = (0.0, 40.0);
    loop {
        let middle = (low + high) / 2.0;
        if middle <= low || high <= middle {
            return middle;
        }
        if 2.0 * above(middle) > beyond {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_published_tables() {
        for (z, published) in [
            (0.0, 0.5),
            (1.0, 0.158_655_253_931_457_05),
            (-1.0, 0.841_344_746_068_543),
            (3.0, 0.001_349_898_031_630_094_6),
            (f64::NEG_INFINITY, 1.0),
            (f64::INFINITY, 0.0),
        ] {
            assert!((above(z) - published).abs() < 1e-15, "{z}");
        }
        for (share, published) in [
            (0.5, 0.674_489_750_196_081_7),
            (0.9, 1.644_853_626_951_472_2),
            (0.95, 1.959_963_984_540_054),
            (0.99, 2.575_829_303_548_900_4),
        ] {
            assert!((central(share) - published).abs() < 1e-14, "{share}");
        }
    }

    #[test]
    fn extreme_shares_terminate() {
        assert!(central(f64::MIN_POSITIVE) < 1e-15);
        assert!((8.0..9.0).contains(&central(1.0 - f64::EPSILON / 2.0)));
    }
}
