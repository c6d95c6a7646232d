//! Prefixes of ids: `e41ac2d`.

use std::collections::BTreeSet;

use crate::citation::ParsedCitation;
use crate::{Form, Position, Reference};

/// Parses one short id or a list of them and nothing else.
///
/// Words such as `[warning]` and `[section]` have the same length. So an id must be known, or lower-case hexadecimal
/// with a digit and a letter.
pub(super) fn read(text: &str, known: &BTreeSet<String>) -> Option<ParsedCitation> {
    let mut found = ParsedCitation::new(Form::ShortId);
    for id in text.split(',').map(str::trim) {
        let short = matches!(id.len(), 7 | 8) && id.bytes().all(|b| b.is_ascii_alphanumeric());
        if !short || !(is_hexadecimal(id) || known.contains(id)) {
            return None;
        }
        found.references.push(Reference::Id {
            id: id.to_owned(),
            at: Position::default(),
        });
    }
    Some(found)
}

fn is_hexadecimal(id: &str) -> bool {
    let hexadecimal = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    id.bytes().all(hexadecimal)
        && id.bytes().any(|b| b.is_ascii_digit())
        && id.bytes().any(|b| b.is_ascii_lowercase())
}
