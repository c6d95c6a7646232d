//! The layout of the vocabulary files, shared by the build script that writes them and the code that reads them.
//!
//! `slots.bin` is an open-addressing hash table of [`SLOTS`] little-endian `u32`: 0 is an empty slot, any other value is
//! `fingerprint << RANK_BITS | rank + 1`. `ends.bin` holds, by rank, the end of each token in `bytes.bin` (`u32`).
//! The fingerprint rejects nearly every stranger without touching the other two files.

/// Slots of the hash table: a power of two, so that a mask finds the slot; 38 % of them are taken, so probes are short.
pub const SLOTS: usize = 1 << 19;

/// Bits that hold `rank + 1`; the o200k_base ranks end at 199,997.
pub const RANK_BITS: u32 = 18;

/// Mask of the bits that hold `rank + 1`.
pub const RANK_MASK: u32 = (1 << RANK_BITS) - 1;

/// Longest token of the vocabulary in bytes (the build script checks it): anything longer needs no look-up, which
/// bounds the cost of hashing inside a very long piece.
pub const LONGEST: usize = 128;

/// First slot and fingerprint of a token's bytes.
///
/// A multiply-and-rotate mix over eight bytes at a time. It needs no defence against chosen keys: the table is fixed,
/// and only look-ups happen at run time.
pub fn place(token: &[u8]) -> (usize, u32) {
    const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = (token.len() as u64).wrapping_mul(MIX);
    for chunk in token.chunks(8) {
        let mut word = [0u8; 8];
        for (to, from) in word.iter_mut().zip(chunk) {
            *to = *from;
        }
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(MIX);
    }
    hash ^= hash >> 29;
    hash = hash.wrapping_mul(MIX);
    let slot = (hash >> 40) as usize & (SLOTS - 1);
    (slot, (hash & u64::from(u32::MAX >> RANK_BITS)) as u32)
}
