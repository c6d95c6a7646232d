//! Byte-pair merging of one piece.

use reground_interrupt::{CHECK_INTERVAL, Steps, check_interrupt};

use crate::merge_queue::MergeQueue;
use crate::vocabulary::{length, rank};

/// Marks "no neighbour", and parts that were merged into their left neighbour.
const NONE: usize = usize::MAX;

/// Bytes of the longest piece whose merges are found by a scan. Almost all words are shorter, and a scan of so few is faster than
/// a queue.
const SCANNED: usize = 32;

/// Working memory of the merges, reused from piece to piece.
///
/// The parts of a piece are a doubly linked list over byte positions. The possible merges are sorted by (rank, position). So any
/// piece takes O(n log n) time. Searching for the best pair after each merge is quadratic, and only faster for a few bytes (`scan`).
#[derive(Default)]
pub struct Merger {
    /// End of the part that starts at the index.
    end: Vec<usize>,
    /// Start of the part before the part that starts at the index.
    before: Vec<usize>,
    /// Possible merges. An entry is stale unless the two parts of its token still exist at its start.
    queue: MergeQueue,
    steps: Steps,
}

impl Merger {
    /// Calls `token_end` with the end of each token of a piece, in bytes from the piece's start, in order.
    pub fn tokens(&mut self, piece: &[u8], mut token_end: impl FnMut(usize)) {
        // The merges of a long piece report their work themselves.
        check_interrupt(piece.len().min(CHECK_INTERVAL));
        if piece.len() == 1 || rank(piece).is_some() {
            return token_end(piece.len());
        }
        match piece.len() {
            ..=SCANNED => scan(piece, token_end),
            _ => self.merge(piece, token_end),
        }
    }

    /// Merges the pair with the lowest rank (the leftmost of several) until no pair is a token.
    fn merge(&mut self, piece: &[u8], mut token_end: impl FnMut(usize)) {
        self.end.clear();
        self.end.extend(1..=piece.len());
        self.before.clear();
        self.before.push(NONE);
        self.before.extend(0..piece.len().saturating_sub(1));
        for left in 1..piece.len() {
            self.steps.step();
            self.queue_pair(piece, left - 1, left + 1);
        }

        while let Some((rank, start)) = self.queue.pop() {
            self.steps.step();
            let end = start + length(rank);
            let middle = self.end[start];
            // The entry is stale if the left part was merged away or has grown, or the right part has grown.
            if middle == NONE || middle >= end || self.end[middle] != end {
                continue;
            }
            self.end[start] = end;
            self.end[middle] = NONE;
            if end < piece.len() {
                self.before[end] = start;
                self.queue_pair(piece, start, self.end[end]);
            }
            let before = self.before[start];
            if before != NONE {
                self.queue_pair(piece, before, end);
            }
        }

        let mut start = 0;
        while let Some(&end) = self.end.get(start) {
            token_end(end);
            start = end;
        }
    }

    /// Queues the merge of the two neighbours in `start..end` if the result is a token.
    fn queue_pair(&mut self, piece: &[u8], start: usize, end: usize) {
        if let Some(rank) = rank(&piece[start..end]) {
            self.queue.push(rank, start);
        }
    }
}

/// As [`Merger::merge`], for a piece of at most [`SCANNED`] bytes.
fn scan(piece: &[u8], mut token_end: impl FnMut(usize)) {
    // The end of each part, and the rank of its pair with the next part.
    let mut parts: [(usize, Option<u32>); SCANNED] =
        std::array::from_fn(|part| (part + 1, piece.get(part..part + 2).and_then(rank)));
    let mut count = piece.len().min(SCANNED);
    let pair = |parts: &[(usize, Option<u32>)], part: usize| {
        let start = part.checked_sub(1).map_or(0, |before| parts[before].0);
        let (end, _) = parts.get(part + 1)?;
        rank(&piece[start..*end])
    };
    loop {
        let ranks = parts[..count].iter().zip(0..);
        let lowest = ranks
            .filter_map(|((_, rank), part)| Some(((*rank)?, part)))
            .min();
        let Some((_, part)) = lowest else {
            break;
        };
        parts[part].0 = parts[part + 1].0;
        parts.copy_within(part + 2..count, part + 1);
        count -= 1;
        parts[part].1 = pair(&parts[..count], part);
        if let Some(before) = part.checked_sub(1) {
            parts[before].1 = pair(&parts[..count], before);
        }
    }
    for (end, _) in &parts[..count] {
        token_end(*end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vocabulary::bytes_of;

    proptest! {
        #[test]
        fn a_scan_merges_as_the_queue_does(
            piece in prop_oneof![prop::collection::vec(any::<u8>(), 1..=SCANNED), "[ a-eéñ字]{1,10}".prop_map(String::into_bytes)],
        ) {
            let (mut scanned, mut queued) = (Vec::new(), Vec::new());
            scan(&piece, |end| scanned.push(end));
            Merger::default().merge(&piece, |end| queued.push(end));
            prop_assert_eq!(scanned, queued);
        }
    }

    /// [`MergeQueue`] is fast because a token has a higher rank than its two parts.
    #[test]
    fn parts_have_lower_ranks_than_their_token() {
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
