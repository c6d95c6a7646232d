//! Cohere Chat: `citations: [{"start": 7, "end": 12, "text": "world", "document_ids": ["doc_0"]}]` in version 1,
//! `sources: [{"type": "document", "id": …}]` on the message in version 2.
//!
//! Offsets are characters of the answer from 0 with an exclusive end. If they do not match the text of the citation,
//! the text decides. Documents without an id are called `doc_0`, `doc_1`, … in the order in which they were passed to
//! the model.

use serde_json::Value;

use super::position_map::Unit;
use super::reader::{ImportProblem, ImportReader, entries, items, named, positioned, text};
use crate::Reference;

pub(super) fn is_this(result: &Value) -> bool {
    let list = [
        result.get("citations"),
        result.get("message").and_then(|m| m.get("citations")),
        Some(result),
    ];
    let mut lists = list.into_iter().flatten().filter_map(Value::as_array);
    lists.any(|list| {
        list.iter().any(|entry| {
            entry.get("start").is_some()
                && entry.get("end").is_some()
                && (entry.get("document_ids").is_some() || entry.get("sources").is_some())
        })
    })
}

pub(super) fn read(result: &Value, reader: &mut ImportReader<'_>) {
    let message = result.get("message").map(|message| ("/message", message));
    let in_message = message
        .into_iter()
        .flat_map(|(at, message)| entries(message, at, "citations"));
    for (at, citation) in items(result)
        .chain(entries(result, "", "citations"))
        .chain(in_message)
    {
        // Version 2 also has citations within the reasoning of the model.
        if text(citation, "type").is_some_and(|kind| kind != "TEXT_CONTENT") {
            reader.note(&at, ImportProblem::UnknownKind);
            continue;
        }
        let number = |key| citation.get(key).and_then(Value::as_u64);
        let own_text = text(citation, "text");
        let bytes = reader.place(&at, Unit::Chars, number("start"), number("end"), own_text);
        let before = reader.cited.len();
        for (_, id) in entries(citation, &at, "document_ids") {
            if let Some(id) = id.as_str() {
                reader.cite(bytes.clone(), false, reference(id), None);
            }
        }
        for (_, source) in entries(citation, &at, "sources") {
            if let Some(id) = text(source, "id") {
                reader.cite(bytes.clone(), false, reference(id), None);
            }
        }
        if reader.cited.len() == before {
            reader.note(&at, ImportProblem::NoSource);
        }
    }
}

fn reference(id: &str) -> Reference {
    let position = id
        .strip_prefix("doc_")
        .and_then(|number| number.parse().ok());
    match position {
        Some(position) => positioned(position, None),
        None => named(id, None),
    }
}
