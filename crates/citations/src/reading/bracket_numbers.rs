//! Decides which numbers in brackets are citations.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Numbers in brackets that are citations only if a source has that number, because most of them are years, standards
/// and quantities. Smaller numbers are always read, larger ones never.
pub const LONG_NUMBERS: RangeInclusive<u32> = 1_000..=99_999;

/// The numbers in brackets that are read: those below [`LONG_NUMBERS`], and the numbers of sources in that range.
#[derive(Clone, Debug, Default)]
pub(crate) struct BracketNumbers(BTreeSet<u32>);

impl BracketNumbers {
    /// Largest number of digits.
    pub fn digits(&self) -> usize {
        if self.0.is_empty() { 3 } else { 5 }
    }

    /// Adds the numbers of sources that are in [`LONG_NUMBERS`].
    pub fn extend(&mut self, sources: impl IntoIterator<Item = u32>) {
        let long = sources.into_iter().filter(|n| LONG_NUMBERS.contains(n));
        self.0.extend(long);
    }

    /// Returns whether a number is read.
    pub fn read(&self, number: u32) -> bool {
        number < *LONG_NUMBERS.start() || self.0.contains(&number)
    }
}
