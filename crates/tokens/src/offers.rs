//! The merges that a piece offers, in the order in which they are to be made.

use std::collections::BTreeMap;

/// Possible merges: lowest rank first, and of one rank from left to right.
///
/// All merges of one rank make the same token, so a merge is its start; and what a merge makes possible is of higher rank
/// than itself, as no token is older than its parts. So the starts of a rank are sorted once, when its turn comes, and a
/// piece of megabytes is a few long lists that are read in order, where one heap of all its merges would touch memory all
/// over for each of them.
#[derive(Default)]
pub struct Offers {
    waiting: BTreeMap<u32, Vec<usize>>,
    /// The rank whose turn it is.
    rank: u32,
    /// Its starts, the next one last.
    starts: Vec<usize>,
    /// Emptied lists, kept for their room.
    spare: Vec<Vec<usize>>,
}

impl Offers {
    /// Offers the merge of this rank at `start`.
    pub fn push(&mut self, rank: u32, start: usize) {
        let spare = &mut self.spare;
        self.waiting
            .entry(rank)
            .or_insert_with(|| spare.pop().unwrap_or_default())
            .push(start);
    }

    /// Takes the next merge: its rank and start.
    pub fn pop(&mut self) -> Option<(u32, usize)> {
        let overtaken = || {
            let lowest = self.waiting.first_key_value();
            lowest.is_some_and(|(&lowest, _)| lowest <= self.rank)
        };
        if self.starts.is_empty() || overtaken() {
            self.turn()?;
        }
        self.starts.pop().map(|start| (self.rank, start))
    }

    /// Gives its turn to the lowest rank that waits; `None` when none does.
    fn turn(&mut self) -> Option<()> {
        let rest = std::mem::take(&mut self.starts);
        if rest.is_empty() {
            self.spare.push(rest);
        } else {
            // Never with a vocabulary whose tokens are younger than their parts.
            self.waiting.entry(self.rank).or_default().extend(rest);
        }
        (self.rank, self.starts) = self.waiting.pop_first()?;
        // Nearly in order, as a piece is read and merged from left to right.
        self.starts.sort_unstable_by(|a, b| b.cmp(a));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Any order of offers, those too that no vocabulary makes.
        #[test]
        fn a_heap_gives_the_same(steps in prop::collection::vec(prop::option::of((0u32..6, 0usize..40)), 0..200)) {
            let (mut offers, mut heap) = (Offers::default(), BinaryHeap::new());
            for step in steps {
                match step {
                    Some((rank, start)) => {
                        offers.push(rank, start);
                        heap.push(Reverse((rank, start)));
                    }
                    None => prop_assert_eq!(offers.pop(), heap.pop().map(|Reverse(merge)| merge)),
                }
            }
            while let Some(Reverse(merge)) = heap.pop() {
                prop_assert_eq!(offers.pop(), Some(merge));
            }
            prop_assert_eq!(offers.pop(), None);
        }
    }
}
