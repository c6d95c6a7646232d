//! Gemini and Vertex AI: `groundingMetadata: {"groundingChunks": [{"web": …}], "groundingSupports": [{"segment":
//! {"startIndex": 0, "endIndex": 12, "text": …}, "groundingChunkIndices": [0]}]}`, in camel or snake case.
//!
//! The indices of a segment are UTF-8 bytes from the start of its part, with an exclusive end (reference of `Segment`
//! in the Gemini API). The JSON omits a start of 0.

use serde_json::Value;

use super::position_map::Unit;
use super::reader::{ImportProblem, ImportReader, named, text};
use crate::{Interval, Reference};

pub(super) fn is_this(result: &Value) -> bool {
    !metadata(result).is_empty() || result.get("candidates").is_some()
}

pub(super) fn read(result: &Value, reader: &mut ImportReader<'_>) {
    for (at, metadata) in metadata(result) {
        let chunks = field(metadata, "groundingChunks").and_then(Value::as_array);
        let chunks = chunks.map(Vec::as_slice).unwrap_or_default();
        let supports = field(metadata, "groundingSupports").and_then(Value::as_array);
        for (number, support) in supports.into_iter().flatten().enumerate() {
            let at = format!("{at}/groundingSupports/{number}");
            read_support(&at, support, chunks, reader);
        }
    }
}

/// Returns the metadata of the first candidate that has any, or the value itself.
fn metadata(result: &Value) -> Vec<(&'static str, &Value)> {
    let candidate = result
        .get("candidates")
        .and_then(|c| c.get(0))
        .and_then(|c| field(c, "groundingMetadata"));
    let places = [
        ("/candidates/0/groundingMetadata", candidate),
        ("/groundingMetadata", field(result, "groundingMetadata")),
        (
            "",
            field(result, "groundingSupports")
                .or_else(|| field(result, "groundingChunks"))
                .map(|_| result),
        ),
    ];
    let found = places
        .into_iter()
        .find_map(|(at, value)| Some((at, value?)));
    found.into_iter().collect()
}

/// Returns a field by its camel-case name or the same name in snake case.
fn field<'v>(value: &'v Value, camel: &str) -> Option<&'v Value> {
    value.get(camel).or_else(|| {
        let mut snake = String::with_capacity(camel.len() + 4);
        for c in camel.chars() {
            if c.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(c.to_ascii_lowercase());
        }
        value.get(&snake)
    })
}

fn read_support(at: &str, support: &Value, chunks: &[Value], reader: &mut ImportReader<'_>) {
    let segment = support.get("segment").unwrap_or(&Value::Null);
    let number = |key| field(segment, key).and_then(Value::as_u64);
    let start = if segment.is_object() {
        number("startIndex").or(Some(0))
    } else {
        None
    };
    let bytes = reader.place(
        at,
        Unit::Bytes,
        start,
        number("endIndex"),
        text(segment, "text"),
    );
    let indices = field(support, "groundingChunkIndices").and_then(Value::as_array);
    let mut any = false;
    for index in indices.into_iter().flatten() {
        let chunk = index
            .as_u64()
            .and_then(|index| chunks.get(usize::try_from(index).ok()?));
        if let Some((reference, quote)) = chunk.and_then(source) {
            reader.cite(bytes.clone(), false, reference, quote);
            any = true;
        } else {
            reader.note(at, ImportProblem::NoSource);
        }
    }
    if !any && indices.is_none_or(Vec::is_empty) {
        reader.note(at, ImportProblem::NoSource);
    }
}

fn source(chunk: &Value) -> Option<(Reference, Option<&str>)> {
    let about = chunk
        .get("web")
        .or_else(|| field(chunk, "retrievedContext"))
        .or_else(|| chunk.get("maps"))?;
    let name = text(about, "uri").or_else(|| text(about, "title"))?;
    let span = field(about, "ragChunk").and_then(|rag| field(rag, "pageSpan"));
    let pages = span.and_then(|span| {
        let page = |key| u32::try_from(field(span, key)?.as_u64()?).ok();
        Some(Interval::new(
            page("firstPage")?,
            page("lastPage").or(page("firstPage"))?,
        ))
    });
    Some((named(name, pages), text(about, "text")))
}
