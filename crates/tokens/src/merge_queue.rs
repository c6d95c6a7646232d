//! A priority queue of the possible merges of a piece.

use std::collections::BTreeMap;

/// Possible merges, sorted by rank, then from left to right.
///
/// All merges of one rank make the same token, so a merge is identified by its start. Merges that become possible later have a
/// higher rank than the current one, because a token has a higher rank than its parts. So the starts of a rank are sorted once,
/// when the rank becomes current. A piece of megabytes becomes a few long lists that are read in order, while a heap would
/// access memory at random for each merge.
#[derive(Default)]
pub struct MergeQueue {
    waiting: BTreeMap<u32, Vec<usize>>,
    /// The current rank.
    rank: u32,
    /// Starts of the current rank in descending order. The next one is the last.
    starts: Vec<usize>,
    /// Empty lists, kept to reuse their memory.
    spare: Vec<Vec<usize>>,
}

impl MergeQueue {
    /// Adds the merge of this rank at `start`.
    pub fn push(&mut self, rank: u32, start: usize) {
        let spare = &mut self.spare;
        self.waiting
            .entry(rank)
            .or_insert_with(|| spare.pop().unwrap_or_default())
            .push(start);
    }

    /// Removes and returns the next merge: its rank and start.
    pub fn pop(&mut self) -> Option<(u32, usize)> {
        let overtaken = || {
            let lowest = self.waiting.first_key_value();
            lowest.is_some_and(|(&lowest, _)| lowest <= self.rank)
        };
        if self.starts.is_empty() || overtaken() {
            self.next_rank()?;
        }
        self.starts.pop().map(|start| (self.rank, start))
    }

    /// Makes the lowest waiting rank the current one. Returns `None` when the queue is empty.
    fn next_rank(&mut self) -> Option<()> {
        let rest = std::mem::take(&mut self.starts);
        if rest.is_empty() {
            self.spare.push(rest);
        } else {
            // Unreachable for vocabularies whose tokens have higher ranks than their parts.
            self.waiting.entry(self.rank).or_default().extend(rest);
        }
        (self.rank, self.starts) = self.waiting.pop_first()?;
        // The list is nearly sorted, because a piece is read and merged from left to right.
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
        /// Compares with a heap, for any order of merges, including orders that no vocabulary produces.
        #[test]
        fn equals_a_binary_heap(steps in prop::collection::vec(prop::option::of((0u32..6, 0usize..40)), 0..200)) {
            let (mut queue, mut heap) = (MergeQueue::default(), BinaryHeap::new());
            for step in steps {
                match step {
                    Some((rank, start)) => {
                        queue.push(rank, start);
                        heap.push(Reverse((rank, start)));
                    }
                    None => prop_assert_eq!(queue.pop(), heap.pop().map(|Reverse(merge)| merge)),
                }
            }
            while let Some(Reverse(merge)) = heap.pop() {
                prop_assert_eq!(queue.pop(), Some(merge));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
