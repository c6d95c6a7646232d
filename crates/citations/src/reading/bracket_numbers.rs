//! Which numbers in brackets are citations.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Numbers in brackets that cite where a source has them: most of them are years, standards and quantities. Smaller ones need no
/// source to be citations, larger ones are none.
pub const LONG_NUMBERS: RangeInclusive<u32> = 1_000..=99_999;

/// Which numbers in brackets are read: those below [`LONG_NUMBERS`], and of these the ones that sources have.
#[derive(Clone, Debug, Default)]
pub(crate) struct BracketNumbers(BTreeSet<u32>);

impl BracketNumbers {
    /// Digits of the longest that can be read.
    pub fn digits(&self) -> usize {
        if self.0.is_empty() { 3 } else { 5 }
    }

    /// Adds the numbers of sources that are long.
    pub fn extend(&mut self, sources: impl IntoIterator<Item = u32>) {
        let long = sources.into_iter().filter(|n| LONG_NUMBERS.contains(n));
        self.0.extend(long);
    }

    /// Whether a number is read.
    pub fn read(&self, number: u32) -> bool {
        number < *LONG_NUMBERS.start() || self.0.contains(&number)
    }
}
