//! Windows of successive documents, and sets of documents within a window.

use crate::index::pages::page::CONTENT_BYTES;

/// Number of documents in a window. All norms of a window are on one page.
pub const WINDOW: usize = CONTENT_BYTES / 2;

const WORDS: usize = WINDOW.div_ceil(64);

/// A set of documents of a window, by position.
pub struct Positions([u64; WORDS]);

impl Positions {
    /// An empty set.
    pub fn new() -> Self {
        Self([0; WORDS])
    }

    /// Adds a position.
    #[inline]
    pub fn insert(&mut self, position: usize) {
        self.0[position / 64] |= 1 << (position % 64);
    }

    /// Whether the set contains a position.
    #[inline]
    pub fn contains(&self, position: usize) -> bool {
        self.0[position / 64] >> (position % 64) & 1 == 1
    }

    /// Returns the positions in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let position = (left != 0).then(|| word * 64 + left.trailing_zeros() as usize);
                left &= left.wrapping_sub(1);
                position
            })
        })
    }

    /// Removes all positions.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn positions_are_a_set(expected in proptest::collection::btree_set(0..WINDOW, 0..200)) {
            let mut positions = Positions::new();
            for &position in &expected {
                positions.insert(position);
            }
            prop_assert_eq!(positions.iter().collect::<BTreeSet<_>>(), expected.clone());
            prop_assert!(positions.iter().is_sorted());
            prop_assert!((0..WINDOW).all(|position| positions.contains(position) == expected.contains(&position)));
            positions.clear();
            prop_assert_eq!(positions.iter().next(), None);
        }
    }
}
