//! Vercel's AI SDK: parts `source-url` and `source-document` of a `UIMessage`, and `source` of a result.
//!
//! The parts have no position in the text. Those of `answer_parts` have it in `providerMetadata`, in UTF-16 units.

use serde_json::Value;

use super::extension::{self, EXTENSION};
use super::position_map::Unit;
use super::reader::{ImportProblem, ImportReader, entries, items, named, text};
use crate::Reference;

pub(super) fn is_this(result: &Value) -> bool {
    let list = |value: &Value| {
        value
            .as_array()
            .is_some_and(|list| list.iter().any(is_source))
    };
    list(result)
        || ["parts", "content", "sources"]
            .iter()
            .any(|key| result.get(key).is_some_and(list))
}

fn is_source(part: &Value) -> bool {
    match text(part, "type") {
        Some("source-url" | "source-document") => true,
        Some("source") => part.get("sourceType").is_some(),
        _ => false,
    }
}

pub(super) fn read(result: &Value, reader: &mut ImportReader<'_>) {
    let mut found = Vec::new();
    let parts = items(result)
        .chain(entries(result, "", "parts"))
        .chain(entries(result, "", "content"))
        .chain(entries(result, "", "sources"));
    for (at, part) in parts.filter(|(_, part)| is_source(part)) {
        let ours = part
            .get("providerMetadata")
            .and_then(|metadata| metadata.get(EXTENSION));
        let own = ours.and_then(extension::reference);
        let Some(reference) = own.or_else(|| reference(part)) else {
            reader.note(&at, ImportProblem::NoSource);
            continue;
        };
        let before = found.len();
        if let Some(ours) = ours {
            let at = format!("{at}/providerMetadata/{EXTENSION}");
            let citations = entries(ours, &at, "citations");
            found.extend(citations.map(|(at, citation)| (at, reference.clone(), Some(citation))));
        }
        if found.len() == before {
            found.push((at, reference, None));
        }
    }
    // The parts group the citations of a source.
    found.sort_by_key(|(_, _, citation)| {
        let id = citation.and_then(|citation| citation.get("citation_id"));
        id.and_then(Value::as_i64).unwrap_or(i64::MAX)
    });
    for (at, reference, citation) in found {
        let number = |key: &str| citation.and_then(|citation| citation.get(key)?.as_u64());
        let bytes = reader.place(
            &at,
            Unit::Utf16,
            number("utf16_start"),
            number("utf16_end"),
            None,
        );
        reader.cite(
            bytes,
            false,
            reference,
            citation.and_then(|citation| text(citation, "quote")),
        );
    }
}

fn reference(part: &Value) -> Option<Reference> {
    ["url", "filename", "title"]
        .iter()
        .find_map(|key| text(part, key))
        .map(|name| named(name, None))
}
