//! Draws from the distributions of the simulation.

use crate::statistics::random::SplitMix;

/// Uniform in [0, 1).
pub fn unit(random: &mut SplitMix) -> f64 {
    (random.bits() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns true with this probability.
pub fn happens(share: f64, random: &mut SplitMix) -> bool {
    unit(random) < share
}

/// Standard normal (Box and Muller, 1958).
pub fn normal(random: &mut SplitMix) -> f64 {
    let (radius, angle) = (1.0 - unit(random), unit(random));
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// A count around a mean, with a standard deviation of a fifth of it on top of that of a Poisson distribution.
pub fn count(mean: f64, random: &mut SplitMix) -> usize {
    let mean = mean * (0.2 * normal(random)).exp();
    if mean > 50.0 {
        return (mean + mean.sqrt() * normal(random)).round().max(0.0) as usize;
    }
    let (limit, mut product, mut count) = ((-mean).exp(), unit(random), 0);
    while product > limit {
        product *= unit(random);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_mean_and_the_deviation_of_their_distribution() {
        let mut random = SplitMix(1);
        let normals: Vec<f64> = (0..20_000).map(|_| normal(&mut random)).collect();
        let mean = normals.iter().sum::<f64>() / 20_000.0;
        let square = normals.iter().map(|number| number * number).sum::<f64>() / 20_000.0;
        assert!(
            mean.abs() < 0.03 && (square - 1.0).abs() < 0.05,
            "{mean} {square}"
        );
        for expected in [0.5, 10.0, 200.0] {
            let counts = (0..20_000).map(|_| count(expected, &mut random) as f64);
            // The factor exp(0.2 z) has the mean exp(0.02).
            let mean = counts.sum::<f64>() / 20_000.0 / 0.02_f64.exp();
            assert!((mean / expected - 1.0).abs() < 0.03, "{expected}: {mean}");
        }
    }
}
