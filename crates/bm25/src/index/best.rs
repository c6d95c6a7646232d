//! The best documents that were found so far, and what is good enough to be one of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Score and number of a document. The number is its place in the order of equals: the tail's first, then segment by
/// segment, in the order in which they are searched.
pub type Hit = (u64, Reverse<u64>);

/// The best so far.
pub struct Best {
    /// The worst on top.
    hits: BinaryHeap<Reverse<Hit>>,
    size: usize,
    /// Those up to this one were given before.
    after: Option<Hit>,
}

impl Best {
    /// None yet, of at most `size`.
    pub fn new(size: usize, after: Option<Hit>) -> Self {
        Self {
            hits: BinaryHeap::new(),
            size,
            after,
        }
    }

    /// A document with less is not good enough. One with as much may be, if its number is lower.
    pub fn enough(&self) -> u64 {
        match self.hits.peek() {
            Some(Reverse((score, _))) if self.hits.len() == self.size => *score,
            _ => 0,
        }
    }

    /// Whether it would be among them.
    pub fn wants(&self, hit: Hit) -> bool {
        self.after.is_none_or(|after| hit < after)
            && (self.hits.len() < self.size
                || self.hits.peek().is_some_and(|Reverse(worst)| hit > *worst))
    }

    /// Takes it, if it is among them.
    pub fn offer(&mut self, hit: Hit) {
        if !self.wants(hit) {
            return;
        }
        if self.hits.len() < self.size {
            self.hits.push(Reverse(hit));
        } else if let Some(mut worst) = self.hits.peek_mut() {
            *worst = Reverse(hit);
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.hits.len()
    }

    /// Those that were found, worst first.
    pub fn worst_first(self) -> Vec<Hit> {
        let best_first = self.hits.into_sorted_vec();
        best_first
            .into_iter()
            .map(|Reverse(hit)| hit)
            .rev()
            .collect()
    }
}
