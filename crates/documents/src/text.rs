//! Normalisation of stored text, and hashes that detect duplicates and changes.

use std::borrow::Cow;

use reground_interrupt::{CHECK_INTERVAL, check_interrupt, checked};
use sha2::{Digest, Sha256};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Normalises a text as it is stored: NFC, line ends as LF, no leading byte order mark. All offsets refer to this form.
///
/// Idempotent. Returns the text without a copy when it is normalised already. NUL characters, which PostgreSQL text cannot
/// contain, are kept; callers reject them.
pub fn normalise(text: &str) -> Cow<'_, str> {
    let text = text.trim_start_matches('\u{feff}');
    let composed = compose(text);
    if composed.contains('\r') {
        return Cow::Owned(composed.replace("\r\n", "\n").replace('\r', "\n"));
    }
    composed
}

/// Returns the text in NFC, without a copy when it is in NFC already.
fn compose(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(checked(text.chars())) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(checked(text.chars()).nfc().collect()),
    }
}

/// Returns [`content_hash`] in lower-case hexadecimal, as tables store it.
pub fn content_hash_hex(text: &str) -> String {
    hex(&content_hash(text))
}

/// Returns the SHA-256 of the bytes of a text in lower-case hexadecimal. Texts with equal hashes have equal offsets.
///
/// Checks no interrupts. Hashing 10 MB takes less than a tenth of a second.
pub fn exact_hash_hex(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Returns bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of the text in NFC with collapsed white space: each run becomes one space, none at the ends (erratum 5).
pub fn content_hash(text: &str) -> [u8; 32] {
    let composed = compose(text);
    let mut hash = Sha256::new();
    for (index, word) in composed.split_whitespace().enumerate() {
        if index > 0 {
            hash.update(b" ");
        }
        hash.update(word.as_bytes());
        check_interrupt(word.len().min(CHECK_INTERVAL));
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::is_nfc;

    use super::*;

    #[test]
    fn line_ends_and_combining_marks_are_normalised() {
        assert_eq!(normalise("\u{feff}e\u{301}\r\na\rb\n"), "é\na\nb\n");
        assert!(matches!(normalise("plain\ntext"), Cow::Borrowed(_)));
    }

    /// Compares with the published SHA-256 of "abc" (FIPS 180-2, appendix B.1).
    #[test]
    fn equals_the_published_digest() {
        let hex: String = content_hash(" abc\n")
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(
            hex,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn duplicates_have_equal_hashes() {
        assert_eq!(
            content_hash("  caf\u{e9}\n\tau lait "),
            content_hash("cafe\u{301} au lait")
        );
        assert_ne!(content_hash("a b"), content_hash("ab"));
    }

    proptest! {
        #[test]
        fn normalisation_is_idempotent(text in any::<String>()) {
            let once = normalise(&text).into_owned();
            prop_assert!(is_nfc(&once));
            prop_assert!(!once.contains('\r'));
            prop_assert_eq!(normalise(&once), once.as_str());
            prop_assert_eq!(content_hash(&once), content_hash(text.trim_start_matches('\u{feff}')));
        }
    }
}
