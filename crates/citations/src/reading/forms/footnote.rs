//! Footnotes: `[^1]` in the text, and the note `[^1]: …` at the start of a line.

use std::collections::BTreeMap;
use std::ops::Range;

use reground_interrupt::checked;

use super::{enclosed::in_brackets, named};
use crate::citation::ParsedCitation;
use crate::{Form, Grammar, Position, Reference};

/// Longest label, in bytes.
const MAX_LABEL: usize = 64;
/// Longest note that names a source, in bytes. A longer one is a remark.
const MAX_NOTE: usize = 512;

/// The notes of a text.
#[derive(Debug, Default)]
pub(crate) struct Notes<'a> {
    by_label: BTreeMap<&'a str, &'a str>,
    /// Lines that are notes, ascending.
    pub(crate) lines: Vec<Range<usize>>,
}

impl<'a> Notes<'a> {
    /// Reads all notes in linear time. A text without notes is only searched once.
    pub(crate) fn of(text: &'a str) -> Self {
        let mut notes = Self::default();
        if memchr::memmem::find(text.as_bytes(), b"[^").is_none() {
            return notes;
        }
        let mut start = 0;
        for line in checked(text.split_inclusive('\n')) {
            let bytes = start..start + line.len();
            start = bytes.end;
            let Some(rest) = line.trim_start().strip_prefix("[^") else {
                continue;
            };
            if let Some((inside, note)) = rest.split_once("]:")
                && let Some(label) = label(inside)
            {
                notes.by_label.entry(label).or_insert(note.trim());
                notes.lines.push(bytes);
            }
        }
        notes
    }

    /// Returns the sources that a note names, otherwise its number or label.
    pub(crate) fn read(&self, label: &str, grammar: &Grammar) -> ParsedCitation {
        let noted = self
            .by_label
            .get(label)
            .and_then(|note| references_of_note(note, grammar));
        let references = noted.unwrap_or_else(|| {
            let number = label.parse().ok();
            vec![match number {
                Some(number) => Reference::Ordinal {
                    number,
                    at: Position::default(),
                },
                None => Reference::Id {
                    id: label.to_owned(),
                    at: Position::default(),
                },
            }]
        });
        ParsedCitation {
            references,
            ..ParsedCitation::new(Form::Footnote)
        }
    }
}

/// Parses the label of a footnote: the text after the caret, or between two carets: `^1^`.
pub(crate) fn label(inside: &str) -> Option<&str> {
    let label = inside.trim_end_matches('^');
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    (!label.is_empty() && label.len() <= MAX_LABEL && label.chars().all(fits)).then_some(label)
}

fn references_of_note(note: &str, grammar: &Grammar) -> Option<Vec<Reference>> {
    if note.is_empty() || note.len() > MAX_NOTE {
        return None;
    }
    if let Some(inside) = note.strip_prefix('[').and_then(|n| n.strip_suffix(']'))
        && let Some(read) = in_brackets(inside, false, grammar)
    {
        return Some(read.references);
    }
    if let Some(address) = address(note) {
        return Some(vec![Reference::Document {
            name: address.to_owned(),
            at: Position::default(),
        }]);
    }
    if let Some(read) = named::read(note, &grammar.families) {
        return Some(read.references);
    }
    Some(named::documents(note.trim_end_matches('.')).references)
}

/// Returns the first web address of a note.
fn address(note: &str) -> Option<&str> {
    let start = note.find("https://").or_else(|| note.find("http://"))?;
    let rest = &note[start..];
    let stops =
        |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | ')' | ']' | '，' | '。');
    let end = rest.find(stops).unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches(['.', ',', ';']))
}
