#![forbid(unsafe_code)]
//! Hashes that prove what was asked, shown and answered (I10), as pure functions.
//!
//! | what | module |
//! |---|---|
//! | one sequence of bytes for one content | [`encoding`] |
//! | the hash of a content that can be erased, and one hash over many | [`tree`] |
//! | a link of a conversation's chain | [`link`] |
//! | what is still as it was | [`verification`] |
//!
//! No randomness and no clock in here: salts and times come from the caller.

pub mod encoding;
pub mod link;
pub mod tree;
pub mod verification;

/// A SHA-256.
pub type Digest = [u8; 32];

/// What makes the hash of a short text unguessable.
pub type Salt = [u8; 16];

/// The first 8 bytes of a hash that is written in hexadecimal: enough to tell a change, a quarter of the room. `None` for
/// what is not the beginning of one.
#[must_use]
pub fn short_hash(hex: &str) -> Option<[u8; 8]> {
    let digits = hex.as_bytes().get(..16)?;
    let mut short = [0; 8];
    for (byte, pair) in short.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair.iter().try_fold(0, |byte, &digit| {
            let value = char::from(digit).to_digit(16)?;
            Some(byte << 4 | u8::try_from(value).ok()?)
        })?;
    }
    Some(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_of_hashes() {
        let hash = "00ff0a1b2c3d4e5f99";
        let bytes = [0x00, 0xff, 0x0a, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f];
        assert_eq!(short_hash(hash), Some(bytes));
        assert_eq!(short_hash(&hash.to_uppercase()), Some(bytes));
        for none in ["", "00ff0a1b2c3d4e5", "00ff0a1b2c3d4e5g", "ääääääää"] {
            assert_eq!(short_hash(none), None, "{none}");
        }
    }
}
