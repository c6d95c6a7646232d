//! The o200k_base vocabulary as read-only data: maps the bytes of a token to its rank.

pub mod layout;

use layout::{LONGEST, RANK_BITS, RANK_MASK, SLOTS, place};

static SLOT_BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/slots.bin"));
static ENDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ends.bin"));
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bytes.bin"));

/// Returns the rank of a token, or `None` when the bytes are not a token. Lower ranks merge first.
pub fn rank(token: &[u8]) -> Option<u32> {
    if token.is_empty() || token.len() > LONGEST {
        return None;
    }
    let (mut slot, fingerprint) = place(token);
    // The table always has empty slots, so the probe ends.
    loop {
        let entry = word(SLOT_BYTES, slot);
        if entry == 0 {
            return None;
        }
        if entry >> RANK_BITS == fingerprint {
            let rank = (entry & RANK_MASK) - 1;
            if bytes_of(rank) == token {
                return Some(rank);
            }
        }
        slot = (slot + 1) & (SLOTS - 1);
    }
}

/// Returns the length of an existing token in bytes.
pub fn length(rank: u32) -> usize {
    bytes_of(rank).len()
}

/// Returns the bytes of an existing token.
pub fn bytes_of(rank: u32) -> &'static [u8] {
    let rank = rank as usize;
    let start = if rank == 0 { 0 } else { word(ENDS, rank - 1) };
    let end = word(ENDS, rank);
    BYTES.get(start as usize..end as usize).unwrap_or_default()
}

/// Returns the `index`-th little-endian `u32` of a file, or 0 past its end.
fn word(file: &[u8], index: usize) -> u32 {
    file[index * 4..]
        .first_chunk::<4>()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_found_by_its_bytes() {
        let tokens = (ENDS.len() / 4) as u32;
        assert_eq!(tokens, 199_998);
        for known in 0..tokens {
            assert_eq!(rank(bytes_of(known)), Some(known));
        }
    }

    #[test]
    fn unknown_bytes_have_no_rank() {
        assert_eq!(rank(b""), None);
        assert_eq!(rank(b"zqxjzqxj"), None);
        assert_eq!(rank(&[b' '; LONGEST + 1]), None);
    }
}
