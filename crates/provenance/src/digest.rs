//! Digests and salts, and their hexadecimal form.

/// A SHA-256 digest.
pub type Digest = [u8; 32];

/// A salt that makes the hash of a short text unguessable.
pub type Salt = [u8; 16];

/// Returns the bytes as an array. If their number differs, every byte is 0xff: a value that no record matches, unlike the zeros at
/// the start of a chain.
#[must_use]
pub fn to_array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([u8::MAX; N])
}

/// Decodes hexadecimal text. Returns no bytes if it is invalid.
#[must_use]
pub fn decode_hex(hex: &str) -> Vec<u8> {
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

/// Returns the first 8 bytes of a hexadecimal hash, or `None` if they are invalid. They are enough to detect a change, and take a
/// quarter of the space.
#[must_use]
pub fn short_hash(hex: &str) -> Option<[u8; 8]> {
    let bytes = decode_hex(hex.get(..16)?);
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_hashes_are_decoded() {
        let hash = "00ff0a1b2c3d4e5f99";
        let bytes = [0x00, 0xff, 0x0a, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f];
        assert_eq!(short_hash(hash), Some(bytes));
        assert_eq!(short_hash(&hash.to_uppercase()), Some(bytes));
        assert_eq!(to_array::<8>(&decode_hex(&hash[..16])), bytes);
        assert_eq!(to_array::<8>(&decode_hex(hash)), [0xff; 8]);
        for invalid in ["", "00ff0a1b2c3d4e5", "00ff0a1b2c3d4e5g", "ääääääää"] {
            assert_eq!(short_hash(invalid), None, "{invalid}");
        }
    }
}
