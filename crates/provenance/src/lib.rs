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

/// Bytes of a fixed number. Where there are more or fewer, bytes that stand for nothing: all ones, while zeros are what the first
/// link begins with.
#[must_use]
pub fn sized<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([u8::MAX; N])
}

/// The bytes that are written in hexadecimal; none where it is not.
#[must_use]
pub fn bytes_of_hex(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> = pairs
        .map(|pair| {
            let text = std::str::from_utf8(pair)
                .ok()
                .filter(|pair| pair.len() == 2)?;
            u8::from_str_radix(text, 16).ok()
        })
        .collect();
    bytes.unwrap_or_default()
}

/// The first 8 bytes of a hash that is written in hexadecimal: enough to tell a change, a quarter of the room. `None` for
/// what is not the beginning of one.
#[must_use]
pub fn short_hash(hex: &str) -> Option<[u8; 8]> {
    let bytes = bytes_of_hex(hex.get(..16)?);
    bytes.try_into().ok()
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
        assert_eq!(sized::<8>(&bytes_of_hex(&hash[..16])), bytes);
        assert_eq!(sized::<8>(&bytes_of_hex(hash)), [0xff; 8]);
        assert_ne!(sized::<32>(&[]), link::BEGINNING);
        for none in ["", "00ff0a1b2c3d4e5", "00ff0a1b2c3d4e5g", "ääääääää"] {
            assert_eq!(short_hash(none), None, "{none}");
        }
    }
}
