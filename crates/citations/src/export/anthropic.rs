//! Anthropic Messages: text blocks, each with the citations that support it. Blocks do not overlap, so overlapping ranges become one
//! block.
//!
//! Kinds: `search_result_location` for web addresses, `char_location` with a position in the document, `page_location` with pages,
//! otherwise `content_block_location`.

use std::ops::Range;

use serde_json::{Value, json};

use super::cited::Cited;
use crate::import::EXTENSION;

pub(super) fn parts(text: &str, cited: &[Cited<'_>]) -> Value {
    let mut blocks = Vec::new();
    let mut at = 0;
    for (range, cited) in blocks_of(cited) {
        if at < range.start {
            blocks.push(json!({"type": "text", "text": &text[at..range.start]}));
        }
        at = range.end;
        let citations: Vec<Value> = cited.iter().map(location).collect();
        blocks.push(json!({"type": "text", "text": &text[range], "citations": citations}));
    }
    if at < text.len() || blocks.is_empty() {
        blocks.push(json!({"type": "text", "text": &text[at..]}));
    }
    Value::Array(blocks)
}

/// The ranges of the cited blocks, each with its citations. `cited` is in the order of the text.
fn blocks_of<'a, 'c>(cited: &'a [Cited<'c>]) -> Vec<(Range<usize>, Vec<Cited<'c>>)> {
    let mut blocks: Vec<(Range<usize>, Vec<Cited<'c>>)> = Vec::new();
    for one in cited {
        let range = &one.citation.range;
        match blocks.last_mut() {
            Some((block, together)) if range.start < block.end || *range == *block => {
                block.end = block.end.max(range.end);
                together.push(*one);
            }
            _ => blocks.push((range.clone(), vec![*one])),
        }
    }
    blocks
}

fn location(cited: &Cited<'_>) -> Value {
    let Cited { citation, source } = cited;
    let quote = citation.quote.as_deref().unwrap_or_default();
    let mut location = if let Some(url) = source.url() {
        json!({
            "type": "search_result_location", "source": url, "title": source.title, "search_result_index": source.index,
            "start_block_index": 0, "end_block_index": 1,
        })
    } else if let Some(chars) = &citation.document {
        json!({
            "type": "char_location", "document_index": source.index, "document_title": source.name(),
            "start_char_index": chars.start, "end_char_index": chars.end,
        })
    } else if let Some((first, last)) = citation.pages {
        json!({
            "type": "page_location", "document_index": source.index, "document_title": source.name(),
            "start_page_number": first, "end_page_number": u64::from(last) + 1,
        })
    } else {
        json!({
            "type": "content_block_location", "document_index": source.index, "document_title": source.name(),
            "start_block_index": 0, "end_block_index": 1,
        })
    };
    location["cited_text"] = json!(quote);
    location[EXTENSION] = Value::Object(cited.extension());
    location
}
