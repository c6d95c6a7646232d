//! OpenAI: `annotations` of Chat (`choices[].message`), Responses (`output[].content[]`) and Assistants
//! (`content[].text`): `url_citation`, `file_citation`, `container_file_citation`, `file_path`.
//!
//! Offsets are characters, but the reference does not define whether these are code points or UTF-16 units. So the
//! text of the annotation decides if there is one, then the address of a link if the answer contains it; otherwise
//! code points are used. A `file_citation` of Responses has only an `index`. The reference describes it as the index
//! of the file in a list, but it is the position in the text (openai-python, pull request 2751).

use serde_json::Value;

use super::extension::{self, EXTENSION};
use super::position_map::Unit;
use super::reader::{ImportProblem, ImportReader, entries, items, named, text};
use crate::{Position, Reference};

const KINDS: [&str; 4] = [
    "url_citation",
    "file_citation",
    "container_file_citation",
    "file_path",
];

pub(super) fn is_this(result: &Value) -> bool {
    let envelope = ["choices", "output", "annotations"];
    let block = |entry: &Value| {
        text(entry, "type") == Some("output_text")
            || entry.pointer("/text/annotations").is_some()
            || entry.get("annotations").is_some()
    };
    let blocks = result.get("content").and_then(Value::as_array);
    envelope
        .iter()
        .any(|key| result.get(key).is_some_and(Value::is_array))
        || blocks.is_some_and(|blocks| blocks.iter().any(block))
        || result.pointer("/message/annotations").is_some()
        || result.as_array().is_some_and(|list| {
            list.iter()
                .any(|entry| is_annotation(entry) || block(entry))
        })
}

fn is_annotation(entry: &Value) -> bool {
    text(entry, "type").is_some_and(|kind| KINDS.contains(&kind))
}

pub(super) fn read(result: &Value, reader: &mut ImportReader<'_>) {
    for (at, annotation) in items(result).filter(|(_, entry)| is_annotation(entry)) {
        cite(&at, annotation, 0, reader);
    }
    for (at, message) in holders(result) {
        annotations(&at, message, 0, reader);
        // Offsets start at the start of their part. Parts follow one another in the answer.
        let mut start = 0;
        for (at, part) in entries(message, &at, "content") {
            let inner = part.get("text").filter(|text| text.is_object());
            let holder = inner.unwrap_or(part);
            let own_text = text(holder, "value").or_else(|| text(holder, "text"));
            let at = if inner.is_some() {
                format!("{at}/text")
            } else {
                at
            };
            annotations(&at, holder, start, reader);
            let rest = reader.answer.get(start..).unwrap_or_default();
            start += own_text
                .filter(|own_text| rest.starts_with(own_text))
                .map_or(0, str::len);
        }
    }
}

/// Returns the values that may contain annotations or parts: the value itself, the first choice, the items of an
/// output.
fn holders(result: &Value) -> Vec<(String, &Value)> {
    let mut holders = vec![(String::new(), result)];
    if let Some(message) = result.get("message") {
        holders.push(("/message".to_owned(), message));
    }
    if let Some(message) = result.pointer("/choices/0/message") {
        holders.push(("/choices/0/message".to_owned(), message));
    }
    holders.extend(entries(result, "", "output"));
    holders.extend(
        items(result).filter(|(_, entry)| {
            entry.get("annotations").is_some() || entry.get("content").is_some()
        }),
    );
    holders
}

fn annotations(at: &str, holder: &Value, from: usize, reader: &mut ImportReader<'_>) {
    for (at, annotation) in entries(holder, at, "annotations") {
        cite(&at, annotation, from, reader);
    }
}

fn cite(at: &str, annotation: &Value, from: usize, reader: &mut ImportReader<'_>) {
    let Some(kind) = text(annotation, "type").filter(|kind| KINDS.contains(kind)) else {
        reader.note(at, ImportProblem::UnknownKind);
        return;
    };
    // Chat and Assistants put the fields of the source under the name of the kind.
    let about = annotation
        .get(kind)
        .filter(|about| about.is_object())
        .unwrap_or(annotation);
    let ours = annotation.get(EXTENSION);
    let Some(reference) = ours
        .and_then(extension::reference)
        .or_else(|| reference(about))
    else {
        reader.note(at, ImportProblem::NoSource);
        return;
    };
    let number = |key: &str| {
        annotation
            .get(key)
            .or_else(|| about.get(key))
            .or_else(|| ours?.get(key))
            .and_then(Value::as_u64)
    };
    let point = number("index");
    let (start, end) = (
        number("start_index").or(point),
        number("end_index").or(point),
    );
    let own_text = text(annotation, "text");
    let url = text(about, "url").filter(|_| ours.is_none());
    let unit = unit(reader, from, start, end, url);
    let base = reader.positions.span(0..from);
    let shift = |n: Option<u64>| {
        let base = match unit {
            Unit::Bytes => base.bytes.end,
            Unit::Chars => base.chars.end,
            Unit::Utf16 => base.utf16.end,
        };
        n.map(|n| n.saturating_add(base as u64))
    };
    let bytes = reader.place(at, unit, shift(start), shift(end), own_text);
    let cited = reader.answer.get(bytes.clone()).unwrap_or_default();
    let is_mark = start.is_some() && ours.is_none() && (own_text.is_some() || is_mark(cited));
    let quote = text(about, "quote").or_else(|| text(ours?, "quote"));
    reader.cite(bytes, is_mark, reference, quote);
}

/// Whether the text at a position is a mark, not the supported text.
pub(crate) fn is_mark(cited: &str) -> bool {
    cited.starts_with(['[', '(', '【']) || cited.contains("](") || cited.starts_with("http")
}

/// Returns the unit in which the range contains the address.
fn unit(
    reader: &ImportReader<'_>,
    from: usize,
    start: Option<u64>,
    end: Option<u64>,
    url: Option<&str>,
) -> Unit {
    let (Some(start), Some(end), Some(url)) = (start, end, url) else {
        return Unit::Chars;
    };
    let base = reader.positions.span(0..from);
    let holds = |unit: Unit, base: usize| {
        let at = |n: u64| {
            reader
                .positions
                .byte(unit, n.saturating_add(base as u64))
                .exact()
        };
        let cited = at(start)
            .zip(at(end))
            .and_then(|(start, end)| reader.answer.get(start..end));
        cited.is_some_and(|cited| {
            cited.starts_with(['[', '(']) && cited.ends_with(')') && cited.contains(url)
        })
    };
    if !holds(Unit::Chars, base.chars.end) && holds(Unit::Utf16, base.utf16.end) {
        Unit::Utf16
    } else {
        Unit::Chars
    }
}

fn reference(about: &Value) -> Option<Reference> {
    let name = text(about, "url").or_else(|| text(about, "filename"));
    if let Some(name) = name {
        return Some(named(name, None));
    }
    let id = text(about, "file_id")?.to_owned();
    Some(Reference::Id {
        id,
        at: Position::default(),
    })
}
