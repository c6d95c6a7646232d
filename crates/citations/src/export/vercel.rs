//! Vercel's AI SDK: a part `text`, then a part for each source: `source-url` for web addresses, otherwise `source-document`.
//!
//! The parts have no positions. Each source has its citations in `providerMetadata`, with offsets in UTF-16 units, as JavaScript counts.

use reground_documents::document_type;
use serde_json::{Value, json};

use super::cited::{Cited, ExportedSource};
use crate::import::{EXTENSION, PositionMap};

pub(super) fn parts(text: &str, cited: &[Cited<'_>]) -> Value {
    let positions = PositionMap::new(text);
    let mut sources: Vec<(&ExportedSource, Vec<Value>)> = Vec::new();
    let mut place_of = std::collections::BTreeMap::new();
    for one in cited {
        let utf16 = positions.span(one.citation.range.clone()).utf16;
        let mut fields = one.citation.fields();
        fields.insert("utf16_start".to_owned(), json!(utf16.start));
        fields.insert("utf16_end".to_owned(), json!(utf16.end));
        let place = *place_of.entry(one.citation.source).or_insert_with(|| {
            sources.push((one.source, Vec::new()));
            sources.len() - 1
        });
        if let Some((_, citations)) = sources.get_mut(place) {
            citations.push(Value::Object(fields));
        }
    }
    let mut parts = vec![json!({"type": "text", "text": text, "state": "done"})];
    parts.extend(
        (1..)
            .zip(sources)
            .map(|(number, (source, citations))| part(number, source, citations)),
    );
    Value::Array(parts)
}

fn part(number: usize, source: &ExportedSource, citations: Vec<Value>) -> Value {
    let mut ours = source.fields();
    ours.insert("citations".to_owned(), Value::Array(citations));
    let metadata = json!({EXTENSION: ours});
    let source_id = source
        .marker
        .clone()
        .unwrap_or_else(|| format!("source-{number}"));
    match source.url() {
        Some(url) => json!({
            "type": "source-url", "sourceId": source_id, "url": url, "title": source.name(), "providerMetadata": metadata,
        }),
        None => json!({
            "type": "source-document", "sourceId": source_id, "mediaType": media_type(source), "title": source.name(),
            "filename": source.doc_id, "providerMetadata": metadata,
        }),
    }
}

/// The media type of a document by its file extension.
fn media_type(source: &ExportedSource) -> &'static str {
    let extension = document_type(source.uri.as_deref(), Some(&source.doc_id));
    match extension.as_deref() {
        Some("pdf") => "application/pdf",
        Some("html" | "htm") => "text/html",
        Some("md" | "markdown") => "text/markdown",
        Some("csv") => "text/csv",
        Some("json") => "application/json",
        Some("docx") => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        Some("xlsx") => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        Some("pptx") => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        _ => "text/plain",
    }
}
