//! Hashes that identify a repeated answer, also where its text may not be stored.

use reground_documents::exact_hash_hex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The hashes of an answer with its citations. One id of the application stands for one fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// SHA-256 of the exact text, in hexadecimal.
    pub answer_hash: String,
    /// Hash of the citations that the model's API returned, if any.
    pub citations_hash: Option<String>,
}

impl Fingerprint {
    /// The fingerprint of an answer.
    #[must_use]
    pub fn of(answer: &str, citations: Option<&Value>) -> Self {
        Self {
            answer_hash: exact_hash_hex(answer),
            citations_hash: citations.map(|citations| exact_hash_hex(&citations.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fingerprints_differ_by_text_and_citations() {
        let cited = Fingerprint::of("Yes.", Some(&json!([{"n": 1}])));
        assert_eq!(cited, Fingerprint::of("Yes.", Some(&json!([{"n": 1}]))));
        for other in [
            Fingerprint::of("Yes. ", Some(&json!([{"n": 1}]))),
            Fingerprint::of("Yes.", Some(&json!([{"n": 2}]))),
            Fingerprint::of("Yes.", Some(&json!([]))),
            Fingerprint::of("Yes.", None),
        ] {
            assert_ne!(cited, other);
        }
    }
}
