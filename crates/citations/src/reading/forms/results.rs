//! Results of tool calls: `turn0search0`, alone, after `cite`, and between private-use signs.

use super::cursor::Cursor;
use crate::citation::ParsedCitation;
use crate::{Form, Reference};

/// What a private-use sequence that cites begins with, behind its opening sign.
const KINDS: [&str; 2] = ["cite", "filecite"];
/// Most results of one string. Each of them is listed with the whole string, which must not grow with their number.
const MOST: usize = 64;
/// Between the parts of a private-use sequence.
const PART: char = '\u{E202}';

/// Reads one or more results that stand next, joined, and how many bytes they are.
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

/// Reads what stands between the private-use signs; markup of another kind names nothing.
pub(crate) fn private_use(inside: &str) -> ParsedCitation {
    let mut parts = inside.split(PART);
    let kind = parts.next().unwrap_or_default().trim();
    let mut found = ParsedCitation::new(Form::PrivateUse);
    if !KINDS.contains(&kind) {
        return found;
    }
    for part in parts {
        let mut cursor = Cursor::new(part.trim());
        // Lines of a file follow the file: they say no further one.
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
