//! Results of tool calls: `turn0search0` alone, after `cite`, or between private-use characters.

use super::cursor::Cursor;
use crate::citation::ParsedCitation;
use crate::{Form, Reference};

/// First part of a private-use sequence that cites.
const KINDS: [&str; 2] = ["cite", "filecite"];
/// Largest number of results in one string. Each result is listed with the whole string.
const MOST: usize = 64;
/// The separator in a private-use sequence.
const PART: char = '\u{E202}';

/// Parses one or more adjacent results. Returns their length in bytes.
pub(crate) fn results(text: &str) -> Option<(usize, ParsedCitation)> {
    let mut cursor = Cursor::new(text);
    let mut found = ParsedCitation::new(Form::TurnResult);
    while found.references.len() < MOST
        && let Some(result) = result(&mut cursor)
    {
        found.references.push(result);
    }
    let rest = cursor.rest();
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        || rest.starts_with("turn")
        || KINDS.iter().any(|kind| rest.starts_with(kind));
    (ends && !found.references.is_empty()).then(|| (text.len() - cursor.rest().len(), found))
}

/// Parses the text between the private-use characters. Markup of another kind names no source.
pub(crate) fn private_use(inside: &str) -> ParsedCitation {
    let mut parts = inside.split(PART);
    let kind = parts.next().unwrap_or_default().trim();
    let mut found = ParsedCitation::new(Form::PrivateUse);
    if !KINDS.contains(&kind) {
        return found;
    }
    for part in parts {
        let mut cursor = Cursor::new(part.trim());
        // The line numbers after a file name no further source.
        if let Some(result) = result(&mut cursor) {
            found.references.push(result);
        }
    }
    found
}

fn result(cursor: &mut Cursor<'_>) -> Option<Reference> {
    let mut ahead = *cursor;
    let word = ahead.take_while(|c| c.is_ascii_lowercase());
    if word != "turn" {
        return None;
    }
    let turn = ahead.number(4)?.value;
    let kind = ahead.take_while(|c| c.is_ascii_lowercase());
    if !(3..=16).contains(&kind.len()) {
        return None;
    }
    let written = ahead.number(4)?.value;
    *cursor = ahead;
    Some(Reference::Result {
        turn,
        kind: kind.to_owned(),
        number: Form::TurnResult.counted_from_one(written),
    })
}
