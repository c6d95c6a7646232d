//! Length of the longest common subsequence.

use std::collections::BTreeMap;

use reground_interrupt::check_interrupt;

/// Returns the length of the longest common subsequence.
///
/// Bit-parallel (Hyyrö, "Bit-parallel LCS-length computation revisited", 2004): a row of the usual table is stored in
/// `first.len()` bits. Takes O(first · second / 64) time and memory proportional to `first`.
pub fn length<T: Ord>(first: &[T], second: &[T]) -> usize {
    let positions = positions(first);
    // A set bit means that the row's value equals that of its left neighbour. Initially all bits are set.
    let mut row = vec![u64::MAX; first.len().div_ceil(64)];
    for item in second {
        let Some(masks) = positions.get(item) else {
            check_interrupt(1);
            continue;
        };
        let mut masks = masks.iter().peekable();
        let (from, _) = masks.peek().copied().copied().unwrap_or_default();
        check_interrupt(row.len() - from);
        let mut carry = false;
        for (word, bits) in row.iter_mut().enumerate().skip(from) {
            let mask = masks
                .next_if(|(at, _)| *at == word)
                .map_or(0, |(_, mask)| *mask);
            let matched = *bits & mask;
            let (sum, over) = bits.overflowing_add(matched);
            let (sum, over_too) = sum.overflowing_add(u64::from(carry));
            carry = over || over_too;
            *bits = sum | (*bits & !mask);
        }
    }
    // Bits beyond the end of `first` match nothing. A carry may pass through them, and they are set again.
    row.iter().map(|bits| bits.count_zeros() as usize).sum()
}

/// Returns a bit mask of each item's positions, split into 64-bit words. Words without bits are left out.
fn positions<T: Ord>(items: &[T]) -> BTreeMap<&T, Vec<(usize, u64)>> {
    let mut positions: BTreeMap<&T, Vec<(usize, u64)>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        check_interrupt(1);
        let (word, bit) = (at / 64, 1 << (at % 64));
        let masks = positions.entry(item).or_default();
        match masks.last_mut() {
            Some((last, mask)) if *last == word => *mask |= bit,
            _ => masks.push((word, bit)),
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computes the same length with the dynamic-programming table, row by row.
    fn by_table(first: &[u8], second: &[u8]) -> usize {
        let mut row = vec![0; first.len() + 1];
        for b in second {
            let mut diagonal = 0;
            for (at, a) in first.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if a == b {
                    diagonal + 1
                } else {
                    above.max(row[at])
                };
                diagonal = above;
            }
        }
        row[first.len()]
    }

    #[test]
    fn lengths_of_known_examples() {
        assert_eq!(length(b"", b""), 0);
        assert_eq!(length(b"a", b""), 0);
        assert_eq!(length(b"ABCBDAB", b"BDCABA"), 4);
        assert_eq!(length(b"XMJYAUZ", b"MZJAWXU"), 4);
        for size in [63, 64, 65, 128, 200] {
            assert_eq!(length(&vec![b'x'; size], &vec![b'x'; size]), size);
            assert_eq!(length(&vec![b'x'; size], &[b'x'; 70]), size.min(70));
        }
    }

    fn items() -> impl Strategy<Value = Vec<u8>> {
        (1..8_u8).prop_flat_map(|kinds| prop::collection::vec(0..kinds, 0..300))
    }

    proptest! {
        #[test]
        fn equals_the_dynamic_programming_table(first in items(), second in items()) {
            prop_assert_eq!(length(&first, &second), by_table(&first, &second));
        }
    }
}
