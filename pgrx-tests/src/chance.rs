//! Pseudorandom numbers that are equal in every run.

/// SplitMix64 (Steele, Lea and Flood 2014): one addition and a finaliser per number.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// Starts a sequence from a seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in `0..bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bits = self.bits() >> 1;
        usize::try_from(bits).unwrap_or(usize::MAX) % bound.max(1)
    }

    /// Returns a number in [−1, 1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Returns true in `percent` of 100 calls on average.
    pub fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}
