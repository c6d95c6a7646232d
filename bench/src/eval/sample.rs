//! The fixed sample: about a quarter of the conversations, chosen by the hash of the id, so it is the same on every machine.

use sha2::{Digest, Sha256};

/// A conversation is in the sample if the first byte of its hash is below this value.
const SHARE: u8 = 64;

/// Whether a conversation is in the sample.
pub fn contains(conversation: &str) -> bool {
    Sha256::digest(conversation)[0] < SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_never_changes() {
        // SHA-256 of "abc" starts with ba (FIPS 180-4), that of the empty text with e3.
        assert!(!contains("abc"));
        assert!(!contains(""));
        assert!(contains(NAMED_BY_THE_STANDARD));
    }

    /// SHA-256 of this message starts with 24 (FIPS 180-4, example B.2).
    const NAMED_BY_THE_STANDARD: &str = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

    #[test]
    fn the_sample_is_about_a_quarter() {
        let count = (0..4000)
            .filter(|n| contains(&format!("conversation {n}")))
            .count();
        // 1000 expected, standard deviation 27.
        assert!((900..=1100).contains(&count), "{count}");
    }
}
