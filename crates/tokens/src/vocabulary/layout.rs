//! Layout of the vocabulary files, shared by the build script that writes them and the code that reads them.
//!
//! `slots.bin` is an open-addressing hash table of [`SLOTS`] little-endian `u32`. 0 is an empty slot; any other value is
//! `fingerprint << RANK_BITS | rank + 1`. `ends.bin` contains the end of each token in `bytes.bin` as `u32`, by rank. The
//! fingerprint rejects nearly all unknown bytes without reading the other two files.

/// Slots of the hash table. A power of two, so that a mask computes the slot. 38 % are used, so probes are short.
pub const SLOTS: usize = 1 << 19;

/// Bits for `rank + 1`. The o200k_base ranks end at 199,997.
pub const RANK_BITS: u32 = 18;

/// Mask of the bits for `rank + 1`.
pub const RANK_MASK: u32 = (1 << RANK_BITS) - 1;

/// Maximum length of a token in bytes (checked by the build script). Longer byte runs need no look-up, which bounds the cost
/// of hashing within a very long piece.
pub const LONGEST: usize = 128;

/// Returns the first slot and the fingerprint of a token's bytes.
///
/// A multiply-and-rotate hash over eight bytes at a time. It need not resist chosen keys: the table is fixed, and only look-ups
/// happen at run time.
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
