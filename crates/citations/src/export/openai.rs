//! OpenAI Responses: one part `output_text`, with annotations `url_citation` for web addresses and `file_citation` for other documents.
//! Offsets are code points.

use serde_json::{Value, json};

use super::cited::Cited;
use crate::import::{EXTENSION, PositionMap};

pub(super) fn parts(text: &str, cited: &[Cited<'_>]) -> Value {
    let positions = PositionMap::new(text);
    let annotations: Vec<Value> = cited
        .iter()
        .map(|cited| {
            let chars = positions.span(cited.citation.range.clone()).chars;
            annotation(cited, chars.start, chars.end)
        })
        .collect();
    json!([{"type": "output_text", "text": text, "annotations": annotations}])
}

fn annotation(cited: &Cited<'_>, start: usize, end: usize) -> Value {
    let source = cited.source;
    let mut extension = cited.extension();
    match source.url() {
        Some(url) => json!({
            "type": "url_citation", "start_index": start, "end_index": end, "url": url, "title": source.name(), EXTENSION: extension,
        }),
        None => {
            // The shape has only the position at which the reference is displayed.
            extension.insert("start_index".to_owned(), json!(start));
            extension.insert("end_index".to_owned(), json!(end));
            json!({
                "type": "file_citation", "index": end, "file_id": source.doc_id, "filename": source.name(), EXTENSION: extension,
            })
        }
    }
}
