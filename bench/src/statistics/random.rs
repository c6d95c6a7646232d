//! Random numbers that are the same on every machine.

/// SplitMix64 (Steele, Lea and Flood, 2014), with its seed.
pub struct SplitMix(pub u64);

impl SplitMix {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }

    /// One element; `None` of an empty slice.
    pub fn choose<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len().max(1)))
    }

    /// Shuffles (Fisher–Yates, in Durstenfeld's form).
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix;

    #[test]
    fn the_first_numbers_match_the_reference() {
        // From the authors' splitmix64.c with the seed 1234567.
        let mut random = SplitMix(1_234_567);
        let drawn: Vec<usize> = (0..3).map(|_| random.below(1_000_000)).collect();
        let published: [u64; 3] = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(drawn, published.map(|number| (number % 1_000_000) as usize));
    }

    #[test]
    fn shuffling_keeps_all_elements() {
        let mut all: Vec<usize> = (0..50).collect();
        SplitMix(1).shuffle(&mut all);
        assert_ne!(all, (0..50).collect::<Vec<_>>());
        all.sort_unstable();
        assert_eq!(all, (0..50).collect::<Vec<_>>());
        assert_eq!(SplitMix(1).choose::<u8>(&[]), None);
    }
}
