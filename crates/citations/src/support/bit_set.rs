//! A set of small numbers: which units of a claim, which pairs of them.

/// How many units or pairs of a claim are looked at; a longer claim is no sentence.
pub(crate) const MOST: usize = 256;

/// Numbers below [`MOST`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BitSet([u64; MOST / 64]);

impl BitSet {
    /// Adds a number; one of [`MOST`] or more is none.
    pub fn add(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
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
