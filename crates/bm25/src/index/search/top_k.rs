//! The best documents that were found so far, and what is good enough to be one of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Score and number of a document. The number is its place in the order of equals: the tail's first, then segment by
/// segment, in the order in which they are searched.
pub type RankKey = (u64, Reverse<u64>);

/// The best so far.
pub struct TopK {
    /// The worst on top.
    keys: BinaryHeap<Reverse<RankKey>>,
    limit: usize,
    /// Those up to this one were given before.
    after: Option<RankKey>,
}

impl TopK {
    /// None yet, of at most `size`.
    pub fn new(limit: usize, after: Option<RankKey>) -> Self {
        Self {
            keys: BinaryHeap::new(),
            limit,
            after,
        }
    }

    /// A document with less is not good enough. One with as much may be, if its number is lower.
    pub fn threshold(&self) -> u64 {
        match self.keys.peek() {
            Some(Reverse((score, _))) if self.keys.len() == self.limit => *score,
            _ => 0,
        }
    }

    /// Whether it would be among them.
    pub fn accepts(&self, hit: RankKey) -> bool {
        self.after.is_none_or(|after| hit < after)
            && (self.keys.len() < self.limit
                || self.keys.peek().is_some_and(|Reverse(worst)| hit > *worst))
    }

    /// Takes it, if it is among them.
    pub fn offer(&mut self, hit: RankKey) {
        if !self.accepts(hit) {
            return;
        }
        if self.keys.len() < self.limit {
            self.keys.push(Reverse(hit));
        } else if let Some(mut worst) = self.keys.peek_mut() {
            *worst = Reverse(hit);
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.keys.len()
    }

    /// Those that were found, worst first.
    pub fn into_worst_first(self) -> Vec<RankKey> {
        let best_first = self.keys.into_sorted_vec();
        best_first
            .into_iter()
            .map(|Reverse(hit)| hit)
            .rev()
            .collect()
    }
}
