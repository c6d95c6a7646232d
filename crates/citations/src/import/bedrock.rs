//! Amazon Bedrock RetrieveAndGenerate: `citations: [{"generatedResponsePart": {"textResponsePart": {"text": …,
//! "span": {"start": 0, "end": 12}}}, "retrievedReferences": [{"content": {"text": …}, "location": {"s3Location":
//! {"uri": …}}}]}]`.
//!
//! Offsets are characters of the answer from 0. The reference does not document whether the end of a span is
//! exclusive, so the text of the part decides. Without a text the end is exclusive.

use serde_json::Value;

use super::position_map::Unit;
use super::reader::{ImportProblem, ImportReader, entries, items, named, text};
use crate::{Interval, Reference};

/// The key of the page number in the metadata of a passage.
const PAGE: &str = "x-amz-bedrock-kb-document-page-number";

pub(super) fn is_this(result: &Value) -> bool {
    let list = result.get("citations").unwrap_or(result).as_array();
    list.is_some_and(|list| {
        list.iter().any(|c| {
            c.get("generatedResponsePart").is_some() || c.get("retrievedReferences").is_some()
        })
    })
}

pub(super) fn read(result: &Value, reader: &mut ImportReader<'_>) {
    for (at, citation) in items(result).chain(entries(result, "", "citations")) {
        let part = citation
            .pointer("/generatedResponsePart/textResponsePart")
            .unwrap_or(&Value::Null);
        let number = |key| {
            part.get("span")
                .and_then(|span| span.get(key))
                .and_then(Value::as_u64)
        };
        let bytes = reader.place(
            &at,
            Unit::Chars,
            number("start"),
            number("end"),
            text(part, "text"),
        );
        let mut any = false;
        for (_, retrieved) in entries(citation, &at, "retrievedReferences") {
            let quote = retrieved
                .get("content")
                .and_then(|content| text(content, "text"));
            if let Some(reference) = reference(retrieved) {
                reader.cite(bytes.clone(), false, reference, quote);
                any = true;
            }
        }
        if !any {
            reader.note(&at, ImportProblem::NoSource);
        }
    }
}

fn reference(retrieved: &Value) -> Option<Reference> {
    let page = retrieved
        .get("metadata")
        .and_then(|m| m.get(PAGE))
        .and_then(Value::as_f64);
    let pages = page
        .filter(|page| (0.0..=1e9).contains(page))
        .map(|page| Interval::new(page as u32, page as u32));
    // Each kind of store has its own object: `s3Location`, `webLocation`, `customDocumentLocation`, …
    let mut places = retrieved.get("location")?.as_object()?.values();
    places.find_map(|place| {
        let keys = ["uri", "url", "id"];
        keys.into_iter()
            .find_map(|key| text(place, key))
            .map(|name| named(name, pages))
    })
}
