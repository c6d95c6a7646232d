//! Daggers: `12†source`, `4:0†source`, `85†L261-269`, `3†report.pdf`.

use super::cursor::Cursor;
use crate::citation::ParsedCitation;
use crate::{Form, Position, Reference};

/// Longest name after a dagger, in bytes.
const MAX_NAME: usize = 200;

/// Parses one citation with a dagger and nothing else.
pub(super) fn read(text: &str) -> Option<ParsedCitation> {
    let (number, what) = text.split_once('†')?;
    let mut cursor = Cursor::new(number.trim());
    let first = cursor.number(5)?.value;
    if cursor.one_of(&[':']).is_some() {
        // The first number is a message of the thread, the second one of its sources.
        let second = cursor.number(5)?.value;
        return cursor
            .at_end()
            .then(|| ParsedCitation::number(Form::DaggerPair, second));
    }
    if !cursor.at_end() || what.len() > MAX_NAME {
        return None;
    }
    let what = what.trim();
    // A file name identifies the source better than its number.
    let named = what.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=5).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    if named {
        let name = what.to_owned();
        return Some(ParsedCitation::one(
            Form::Dagger,
            Reference::Document {
                name,
                at: Position::default(),
            },
        ));
    }
    Some(ParsedCitation::number(Form::Dagger, first))
}
