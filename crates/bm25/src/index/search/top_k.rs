//! The best documents found so far, and the score that a better one needs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Score and number of a document. Of equal scores, the lower number is better: first the write buffer, then the segments in
/// search order.
pub type RankKey = (u64, Reverse<u64>);

/// The best documents so far.
pub struct TopK {
    /// Heap with the worst document on top.
    keys: BinaryHeap<Reverse<RankKey>>,
    limit: usize,
    /// Documents up to this one were already returned.
    after: Option<RankKey>,
}

impl TopK {
    /// Creates an empty set of at most `limit` documents.
    pub fn new(limit: usize, after: Option<RankKey>) -> Self {
        Self {
            keys: BinaryHeap::new(),
            limit,
            after,
        }
    }

    /// Minimum score of a document with a number of at least `first` that may still be accepted. Of equal scores, only lower numbers are
    /// accepted.
    pub fn threshold(&self, first: u64) -> u64 {
        match self.keys.peek() {
            Some(Reverse((score, Reverse(worst)))) if self.keys.len() == self.limit => {
                score.saturating_add(u64::from(first > *worst))
            }
            _ => 0,
        }
    }

    /// Returns whether a document would be accepted.
    pub fn accepts(&self, hit: RankKey) -> bool {
        self.after.is_none_or(|after| hit < after)
            && (self.keys.len() < self.limit
                || self.keys.peek().is_some_and(|Reverse(worst)| hit > *worst))
    }

    /// Adds a document if it is accepted.
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

    /// Number of documents.
    pub fn count(&self) -> usize {
        self.keys.len()
    }

    /// Returns the documents, worst first.
    pub fn into_worst_first(self) -> Vec<RankKey> {
        let keys = self.keys.into_iter();
        let mut worst_first: Vec<RankKey> = keys.map(|Reverse(hit)| hit).collect();
        worst_first.sort_unstable();
        worst_first
    }
}
