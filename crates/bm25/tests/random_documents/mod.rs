//! Documents of random terms, for tests.

use std::collections::BTreeMap;

use reground_bm25::index::terms::Document;

/// Hash of term number `n`. Low numbers are frequent.
pub fn hash(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Next number of a pseudo-random sequence (SplitMix64) that depends only on the seed.
pub fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A document of fewer than `longest` terms.
pub fn document(row: u64, vocabulary: u64, longest: u64, state: &mut u64) -> Document {
    let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
    for _ in 0..random(state) % longest {
        // Approximates a Zipf distribution.
        let rank = vocabulary / (1 + random(state) % vocabulary);
        *counts
            .entry(hash(rank + random(state) % (rank + 1)))
            .or_default() += 1;
    }
    Document {
        row,
        fingerprint: random(state),
        terms: counts.into_iter().collect(),
    }
}
