//! Byte-pair merging of one piece.

use reground_interrupt::{CHECK_INTERVAL, Steps, check_interrupt};

use crate::offers::Offers;
use crate::vocabulary::{length, rank};

/// Stands for "no neighbour" and for "swallowed by the token on its left".
const NONE: usize = usize::MAX;

/// Working memory of the merges, kept from piece to piece.
///
/// The parts of a piece are a doubly linked list over byte positions, the possible merges are sorted by (rank,
/// position): n log n whatever the piece, where a scan for the best pair after each merge would be quadratic.
#[derive(Default)]
pub struct Merger {
    /// By the part's start: its end.
    end: Vec<usize>,
    /// By the part's start: the start of the part before it.
    before: Vec<usize>,
    /// An offer is stale unless two parts that make its token still stand at its start.
    offers: Offers,
    steps: Steps,
}

impl Merger {
    /// Calls `token_end` with the end of each token of a piece, in bytes from the piece's start, in order.
    pub fn tokens(&mut self, piece: &[u8], mut token_end: impl FnMut(usize)) {
        // The merges of a long piece are said as they are made.
        check_interrupt(piece.len().min(CHECK_INTERVAL));
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
        for left in 1..piece.len() {
            self.steps.step();
            self.offer(piece, left - 1, left + 1);
        }

        while let Some((rank, start)) = self.offers.pop() {
            self.steps.step();
            let end = start + length(rank);
            let middle = self.end[start];
            // A swallowed or grown left part, or a grown right part, makes the offer stale.
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

    /// Offers to merge two neighbours, `start..end` together, if that makes a token.
    fn offer(&mut self, piece: &[u8], start: usize, end: usize) {
        if let Some(rank) = rank(&piece[start..end]) {
            self.offers.push(rank, start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::bytes_of;

    /// What [`Offers`] relies on to be fast: a token is made of two that came before it.
    #[test]
    fn no_token_is_older_than_its_parts() {
        for made in 0..199_998 {
            let bytes = bytes_of(made);
            let mut ends: Vec<usize> = (1..=bytes.len()).collect();
            while ends.len() > 2 {
                let pair = |at: &usize| {
                    let start = at.checked_sub(1).map_or(0, |before| ends[before]);
                    rank(&bytes[start..ends[at + 1]]).map(|rank| (rank, *at))
                };
                let (_, merged) = (0..ends.len() - 1)
                    .filter_map(|at| pair(&at))
                    .min()
                    .unwrap();
                ends.remove(merged);
            }
            if let [middle, _] = ends[..] {
                let parts = [&bytes[..middle], &bytes[middle..]].map(|part| rank(part).unwrap());
                assert!(parts.iter().all(|&part| part < made), "{bytes:?}");
            }
        }
    }
}
