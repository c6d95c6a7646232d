//! Documents of random terms, for tests.

use std::collections::BTreeMap;

use reground_bm25::index::terms::{Document, Key, filter_term, textless_term};

/// Hash of word number `n`. Low numbers are frequent.
pub fn hash(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1
}

/// Divisors of the filter columns: the value of column `n` is the remainder of the row.
pub const DIVISORS: [u64; 4] = [2, 89, 997, 6];

/// Key of the index.
pub const KEY: Key = [1, 2];

/// Term of a value of filter column `n`.
pub fn filter(n: usize, value: u64) -> u64 {
    filter_term(KEY, 2 + n as u16, value)
}

/// Whether a row has no text.
pub fn is_textless(row: u64) -> bool {
    row % 53 == 13
}

/// Next number of a pseudo-random sequence (SplitMix64) that depends only on the seed.
pub fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A document of fewer than `longest` words, or without a text, with the values of the filter columns.
pub fn document(row: u64, vocabulary: u64, longest: u64, state: &mut u64) -> Document {
    let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
    for _ in 0..random(state) % longest {
        // Approximates a Zipf distribution.
        let rank = vocabulary / (1 + random(state) % vocabulary);
        *counts
            .entry(hash(rank + random(state) % (rank + 1)))
            .or_default() += 1;
    }
    if is_textless(row) {
        counts = BTreeMap::from([(textless_term(KEY), 1)]);
    }
    for (n, divisor) in DIVISORS.iter().enumerate() {
        counts.insert(filter(n, row % divisor), 1);
    }
    Document {
        row,
        fingerprint: random(state),
        terms: counts.into_iter().collect(),
    }
}
