//! Converts passages that the application provides into passages of a turn.

use reground_documents::{
    CallerPassage, MAX_KEY_BYTES, content_hash_hex, exact_hash_hex, key_text,
};

use crate::passage::{CharRange, Passage, structured_locator};

/// Hexadecimal digits of its hash that name a passage without a key: 64 bits.
pub(crate) const KEY_DIGITS: usize = 16;

/// The name of a passage without an id. Without a document it is its own document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Its position, from 1. For passages that are judged at once and not stored.
    Place(u32),
    /// The hash of its text. A stored passage must not have a number as key that could be a key of the corpus. Its
    /// document is its address, if it has one, and it belongs to no corpus unless it names a document.
    Text,
}

/// The passage with its tokens counted. `corpus` is the corpus of its ids, empty for none.
pub(crate) fn caller_passage(mut given: CallerPassage, corpus: &str, naming: Naming) -> Passage {
    let content_hash = content_hash_hex(&given.content);
    let named = given.chunk_id.is_some() || given.doc_id.is_some();
    let chunk_id = given.chunk_id.as_ref().map(key_text);
    let chunk_id = chunk_id.unwrap_or_else(|| match naming {
        Naming::Place(place) => place.to_string(),
        Naming::Text => content_hash.chars().take(KEY_DIGITS).collect(),
    });
    let document = given.doc_id.as_ref().map(key_text);
    let (document, corpus) = match naming {
        Naming::Place(_) => (document, corpus),
        Naming::Text => (
            document.or_else(|| given.uri.as_deref().map(document_name)),
            if named { corpus } else { "" },
        ),
    };
    let metadata: serde_json::Value = given.metadata.take().map(Into::into).unwrap_or_default();
    let range = |at: Option<usize>| at.and_then(|at| u32::try_from(at).ok());
    Passage {
        corpus: corpus.to_owned(),
        doc_id: document.unwrap_or_else(|| chunk_id.clone()),
        version: None,
        ordinal: None,
        pages: given.pages(),
        chars: CharRange::of(range(given.char_start), range(given.char_end)),
        content_hash,
        tokens: match naming {
            // No token budget applies to these passages.
            Naming::Place(_) => 0,
            Naming::Text => {
                u32::try_from(reground_tokens::count(&given.content)).unwrap_or(u32::MAX)
            }
        },
        title: given.title,
        uri: given.uri,
        published: given.published,
        text_config: given.text_config,
        modified: None,
        structured_locator: structured_locator(&metadata),
        metadata,
        window_of: None,
        content: given.content,
        chunk_id,
    }
}

/// The document name for an address: the address itself, or its hash if it is too long for a key.
fn document_name(uri: &str) -> String {
    match uri.len() {
        0..=MAX_KEY_BYTES => uri.to_owned(),
        _ => exact_hash_hex(uri),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn passages(naming: Naming) -> Vec<Passage> {
        let given = CallerPassage::parse_list(&json!([
            {"content": "Cows.", "chunk_id": 7, "doc_id": "farm", "page_start": 3},
            {"content": "Hens.", "doc_id": "farm"},
            {"content": "Pigs.", "uri": "https://pigs.example"},
            {"content": "Bees."}
        ]));
        let given = given.expect("passages").into_iter();
        given
            .map(|given| caller_passage(given, "help", naming))
            .collect()
    }

    #[test]
    fn passages_that_are_not_stored_are_named_by_position() {
        let named = passages(Naming::Place(4));
        let of = |at: usize| (&*named[at].corpus, &*named[at].doc_id, &*named[at].chunk_id);
        assert_eq!(of(0), ("help", "farm", "7"));
        assert_eq!(of(1), ("help", "farm", "4"));
        assert_eq!(of(2), ("help", "4", "4"));
        assert_eq!(named[0].pages.map(|pages| pages.start), Some(3));
    }

    #[test]
    fn stored_passages_are_named_by_their_text() {
        let named = passages(Naming::Text);
        let of = |at: usize| (&*named[at].corpus, &*named[at].doc_id);
        assert_eq!((of(0), &*named[0].chunk_id), (("help", "farm"), "7"));
        assert_eq!(of(1), ("help", "farm"));
        assert_eq!(of(2), ("", "https://pigs.example"));
        assert_eq!(of(3), ("", &*named[3].chunk_id));
        for passage in &named[1..] {
            assert_eq!(passage.chunk_id.len(), KEY_DIGITS);
            assert!(passage.content_hash.starts_with(&passage.chunk_id));
        }
        assert!(named.iter().all(|passage| passage.tokens > 0));
    }
}
