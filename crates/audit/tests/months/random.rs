//! A seeded generator of the distributions that the simulation needs.

/// A linear congruential generator (Knuth's MMIX) whose state is scrambled.
pub struct Random(u64);

impl Random {
    /// Returns a generator whose numbers do not resemble those of neighbouring seeds.
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x517c_c1b7);
        for _ in 0..8 {
            random.unit();
        }
        random
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns true with this probability.
    pub fn happens(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// Standard normal, as the sum of twelve uniform numbers.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// A count around a mean, with a standard deviation of a fifth of it on top of that of a Poisson distribution.
    pub fn count(&mut self, mean: f64) -> usize {
        let mean = mean * (0.2 * self.normal()).exp();
        if mean > 50.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0) as usize;
        }
        let (limit, mut product, mut count) = ((-mean).exp(), self.unit(), 0);
        while product > limit {
            product *= self.unit();
            count += 1;
        }
        count
    }
}
