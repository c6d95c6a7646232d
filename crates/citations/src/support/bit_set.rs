//! A set of small numbers, such as the units of a claim.

/// Largest number of units or pairs of a claim that are compared. A longer claim is not a sentence.
pub(crate) const MOST: usize = 256;

/// A set of numbers below [`MOST`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BitSet([u64; MOST / 64]);

impl BitSet {
    /// The numbers below `end`.
    pub fn below(end: usize) -> Self {
        let mut all = Self::default();
        (0..end.min(MOST)).for_each(|number| all.add(number));
        all
    }

    /// Adds a number. Numbers from [`MOST`] on are ignored.
    pub fn add(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }

    pub fn remove(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    pub fn holds(&self, number: usize) -> bool {
        let word = self.0.get(number / 64);
        word.is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn or(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    pub fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    pub fn without(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> {
        (0..MOST).filter(|number| self.holds(*number))
    }

    fn zip(&self, other: &Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|word| {
            with(self.0[word], other.0[word])
        }))
    }
}
