//! By what an answer is known again when it is given a second time, where its words may not be kept.

use reground_documents::exact_hash_hex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Hashes of what is said under an id of the application: one id stands for one answer with its citations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Of the text, byte for byte: SHA-256 in hexadecimal digits.
    pub answer_hash: String,
    /// Of what the model's API returned beside it, where it did.
    pub citations_hash: Option<String>,
}

impl Fingerprint {
    /// That of an answer.
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
    fn text_and_citations_tell_answers_apart() {
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
