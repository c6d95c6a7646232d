//! Passages for tests, cut from a generated document so that every offset can be checked.

use proptest::prelude::*;

use crate::passage::{Branch, Candidate, CharRange, Hit, Origin, Passage, RankedList};
use crate::settings::{CarryActivation, Settings};

/// A passage of a document at character `start`.
pub fn passage(doc: &str, key: &str, ordinal: i32, start: u32, text: &str) -> Passage {
    Passage {
        corpus: "manual".into(),
        doc_id: doc.into(),
        chunk_id: key.into(),
        version: Some(1),
        ordinal: Some(ordinal),
        pages: None,
        chars: Some(CharRange {
            start,
            end: start + text.chars().count() as u32,
        }),
        content: text.into(),
        content_hash: reground_documents::content_hash_hex(text),
        tokens: reground_tokens::count(text) as u32,
        title: Some(format!("Title of {doc}")),
        uri: None,
        published: None,
        modified: None,
        structured_locator: None,
        text_config: None,
        metadata: serde_json::Value::Null,
        window_of: None,
    }
}

/// Settings that carry more sources than the defaults: three slots, a threshold of one half, and activity for all
/// sources in the context.
pub fn carry_widely() -> Settings {
    Settings {
        reserved_slots: 3,
        carry_threshold: 0.5,
        carry_activation: CarryActivation::Context,
        ..Settings::default()
    }
}

/// A passage as a fresh candidate.
pub fn candidate(passage: Passage, fused: f64) -> Candidate {
    Candidate {
        fused_score: fused,
        relevance: fused,
        ..Candidate::bare(passage, Origin::Fresh)
    }
}

/// A list of keys with descending scores.
pub fn list(branch: Branch, keys: &[&str]) -> RankedList {
    let hits = keys
        .iter()
        .enumerate()
        .map(|(i, key)| Hit {
            chunk_id: (*key).into(),
            value: match branch {
                Branch::Lexical => 20.0 - i as f64,
                Branch::Vector => 0.2 + 0.01 * i as f64,
                Branch::Graph | Branch::History => 1.0,
            },
        })
        .collect();
    RankedList {
        branch,
        weight: 1.0,
        entity: None,
        hits,
    }
}

/// A document of `words` generated words.
pub fn document(name: usize, words: usize) -> String {
    (0..words)
        .map(|i| format!("d{name}w{} ", (i * 7919 + name) % 997))
        .collect()
}

/// Passages cut from three documents, as windows of equal length and varying overlap. Some are copied to another key
/// and document. Keys are unique.
pub fn arbitrary_passages(most: usize) -> impl Strategy<Value = Vec<Passage>> {
    proptest::collection::vec((0usize..3, 0usize..12, 0usize..5, any::<bool>()), 1..=most).prop_map(
        |cuts| {
            cuts.into_iter()
                .enumerate()
                .map(|(key, (doc, place, shift, copied))| {
                    let text = document(doc, 400);
                    let start = place * 40 + shift;
                    let slice: String = text.chars().skip(start).take(60).collect();
                    let owner = if copied {
                        format!("copy{doc}")
                    } else {
                        format!("doc{doc}")
                    };
                    passage(
                        &owner,
                        &format!("k{key:02}"),
                        place as i32,
                        start as u32,
                        &slice,
                    )
                })
                .collect()
        },
    )
}
