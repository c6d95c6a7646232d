//! Anthropic Messages: `content: [{"type": "text", "text": …, "citations": [{"type": "page_location", …}]}]`.
//!
//! A citation supports the text block that contains it. Its offsets are offsets in the source, not in the answer:
//! characters and blocks from 0, pages from 1, with an exclusive end (Anthropic's documentation, "Citations").

use serde_json::Value;

use super::extension::{self, EXTENSION};
use super::reader::{ImportProblem, ImportReader, entries, items, named, positioned, text};
use crate::{Interval, Reference};

/// Largest number of searches for a block that does not follow the previous one. Each search reads the answer.
const MAX_SEARCHES: usize = 64;

pub(super) fn is_this(result: &Value) -> bool {
    let is_block = |block: &Value| {
        matches!(text(block, "type"), Some("text"))
            && block.get("text").is_some_and(Value::is_string)
    };
    let list = result.get("content").unwrap_or(result).as_array();
    list.is_some_and(|list| {
        list.iter()
            .any(|entry| is_block(entry) || is_citation(entry))
    }) || result
        .get("citations")
        .and_then(Value::as_array)
        .is_some_and(|list| list.iter().any(is_citation))
}

fn is_citation(entry: &Value) -> bool {
    let kinds = [
        "char_location",
        "page_location",
        "content_block_location",
        "search_result_location",
        "web_search_result_location",
    ];
    text(entry, "type").is_some_and(|kind| kinds.contains(&kind))
}

pub(super) fn read(result: &Value, reader: &mut ImportReader<'_>) {
    let whole = 0..reader.answer.len();
    // A list of citations without a block is about the whole answer.
    for (at, citation) in items(result).filter(|(_, entry)| is_citation(entry)) {
        cite(&at, citation, whole.clone(), reader);
    }
    if result.get("text").is_none() {
        for (at, citation) in entries(result, "", "citations") {
            cite(&at, citation, whole.clone(), reader);
        }
    }
    let mut blocks = Blocks {
        end: 0,
        searches: 0,
    };
    let single = result.get("text").map(|_| (String::new(), result));
    let listed = items(result).chain(entries(result, "", "content"));
    for (at, block) in single.into_iter().chain(listed) {
        let Some(block_text) = block.get("text").and_then(Value::as_str) else {
            continue;
        };
        let place = blocks.place(block_text, reader.answer);
        for (at, citation) in entries(block, &at, "citations") {
            if place.is_none() {
                reader.note(&at, ImportProblem::OtherText);
            }
            cite(
                &at,
                citation,
                place.clone().unwrap_or(whole.clone()),
                reader,
            );
        }
    }
}

/// Finds the text blocks in the answer, one after the other.
struct Blocks {
    end: usize,
    searches: usize,
}

impl Blocks {
    fn place(&mut self, block_text: &str, answer: &str) -> Option<std::ops::Range<usize>> {
        let rest = &answer[self.end..];
        let start = if rest.starts_with(block_text) {
            0
        } else if self.searches < MAX_SEARCHES {
            self.searches += 1;
            memchr::memmem::find(rest.as_bytes(), block_text.as_bytes())?
        } else {
            return None;
        };
        let place = self.end + start..self.end + start + block_text.len();
        self.end = place.end;
        Some(place)
    }
}

fn cite(at: &str, citation: &Value, place: std::ops::Range<usize>, reader: &mut ImportReader<'_>) {
    if !is_citation(citation) {
        reader.note(at, ImportProblem::UnknownKind);
        return;
    }
    match reference(citation) {
        Some(reference) => reader.cite(place, false, reference, text(citation, "cited_text")),
        None => reader.note(at, ImportProblem::NoSource),
    }
}

fn reference(citation: &Value) -> Option<Reference> {
    if let Some(ours) = citation.get(EXTENSION).and_then(extension::reference) {
        return Some(ours);
    }
    let pages = || {
        let number = |key| u32::try_from(citation.get(key)?.as_u64()?).ok();
        let start = number("start_page_number")?;
        let end = number("end_page_number").map_or(start, |end| end.saturating_sub(1));
        Some(Interval::new(start, end.max(start)))
    };
    let name = |key: &str, pages| text(citation, key).map(|name| named(name, pages));
    let index = |key: &str, pages| {
        let index = citation.get(key)?.as_u64()?;
        Some(positioned(index, pages))
    };
    match text(citation, "type")? {
        "search_result_location" => name("source", None)
            .or_else(|| name("title", None))
            .or_else(|| index("search_result_index", None)),
        "web_search_result_location" => name("url", None).or_else(|| name("title", None)),
        _ => name("document_title", pages()).or_else(|| index("document_index", pages())),
    }
}
