//! Byte-pair merging of one piece.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::vocabulary::rank;

/// Stands for "no neighbour" and for "swallowed by the token on its left".
const NONE: usize = usize::MAX;

/// Working memory of the merges, kept from piece to piece.
///
/// The parts of a piece are a doubly linked list over byte positions, the possible merges a heap by (rank, position):
/// n log n whatever the piece, where a scan for the best pair after each merge would be quadratic.
#[derive(Default)]
pub struct Merger {
    /// By the part's start: its end.
    end: Vec<usize>,
    /// By the part's start: the start of the part before it.
    before: Vec<usize>,
    /// (rank, start of the left part, end of the right part). An entry is stale unless both ends still stand.
    pairs: BinaryHeap<Reverse<(u32, usize, usize)>>,
}

impl Merger {
    /// Calls `token_end` with the end of each token of a piece, in bytes from the piece's start, in order.
    pub fn tokens(&mut self, piece: &[u8], mut token_end: impl FnMut(usize)) {
        if piece.len() == 1 || rank(piece).is_some() {
            return token_end(piece.len());
        }
        self.merge(piece);
        let mut start = 0;
        while let Some(&end) = self.end.get(start) {
            token_end(end);
            start = end;
        }
    }

    /// Merges the pair of lowest rank, the leftmost of equals, until no pair is a token.
    fn merge(&mut self, piece: &[u8]) {
        self.end.clear();
        self.end.extend(1..=piece.len());
        self.before.clear();
        self.before.push(NONE);
        self.before.extend(0..piece.len().saturating_sub(1));
        self.pairs.clear();
        for left in 1..piece.len() {
            self.offer(piece, left - 1, left + 1);
        }

        while let Some(Reverse((_, start, end))) = self.pairs.pop() {
            let middle = self.end[start];
            // A swallowed or grown left part, or a grown right part, makes the entry stale.
            if middle == NONE || middle >= end || self.end[middle] != end {
                continue;
            }
            self.end[start] = end;
            self.end[middle] = NONE;
            if end < piece.len() {
                self.before[end] = start;
                self.offer(piece, start, self.end[end]);
            }
            let before = self.before[start];
            if before != NONE {
                self.offer(piece, before, end);
            }
        }
    }

    /// Puts a pair of neighbours, `start..end` together, into the heap if it is a token.
    fn offer(&mut self, piece: &[u8], start: usize, end: usize) {
        if let Some(rank) = rank(&piece[start..end]) {
            self.pairs.push(Reverse((rank, start, end)));
        }
    }
}
