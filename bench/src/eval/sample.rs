//! The fixed sample: about a quarter of the conversations, the same on every machine and whatever else the data hold.

use sha2::{Digest, Sha256};

/// First bytes of the hash that belong to the sample, of 256.
const SHARE: u8 = 64;

/// Whether a conversation belongs to it, by its id alone.
pub fn contains(conversation: &str) -> bool {
    Sha256::digest(conversation)[0] < SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn membership_never_changes() {
        // SHA-256 of "abc" begins with ba (FIPS 180-4), that of the empty text with e3.
        assert!(!contains("abc"));
        assert!(!contains(""));
        assert!(contains(NAMED_BY_THE_STANDARD));
    }

    /// SHA-256 of this message begins with 24 (FIPS 180-4, example B.2).
    const NAMED_BY_THE_STANDARD: &str = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

    #[test]
    fn it_is_about_a_quarter() {
        let count = (0..4000)
            .filter(|n| contains(&format!("conversation {n}")))
            .count();
        // 1000 expected, standard deviation 27.
        assert!((900..=1100).contains(&count), "{count}");
    }
}
