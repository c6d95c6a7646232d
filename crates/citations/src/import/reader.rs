//! Citations and problems found so far, and functions to read JSON. All APIs use them.

use reground_interrupt::checked;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::Range;

use super::position_map::{PositionMap, Unit};
use crate::{Interval, Reference};

/// A part of the result that could not be read as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportNote {
    /// The entry, as a JSON pointer into the result.
    pub at: String,
    /// The problem.
    pub what: ImportProblem,
}

/// A problem, and how it was handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportProblem {
    /// An offset is beyond the answer, or an end is before its start. It was moved to the nearest valid position.
    OutsideText,
    /// An offset is within a character. It was moved to include the whole character.
    InsideCharacter,
    /// The answer has a different text at the position.
    OtherText,
    /// There is no position. The citation is for the whole answer.
    NoPlace,
    /// There is no source. The entry was skipped.
    NoSource,
    /// The kind of the entry is unknown. The entry was skipped.
    UnknownKind,
}

impl ImportProblem {
    /// A description of the problem and how it was handled.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OutsideText => "position outside the text: moved to the nearest valid position",
            Self::InsideCharacter => "position within a character: moved to include the character",
            Self::OtherText => "the answer has a different text at this position",
            Self::NoPlace => "no position: used for the whole answer",
            Self::NoSource => "no source: skipped",
            Self::UnknownKind => "unknown kind: skipped",
        }
    }
}

/// A citation and its position in the answer.
pub(super) struct ImportedCitation {
    pub bytes: Range<usize>,
    /// Whether the position is a mark in the text and not part of the claim.
    pub is_mark: bool,
    pub reference: Reference,
    pub quote: Option<String>,
}

/// The citations and problems found so far.
pub(super) struct ImportReader<'a> {
    pub answer: &'a str,
    pub positions: PositionMap<'a>,
    pub cited: Vec<ImportedCitation>,
    pub notes: Vec<ImportNote>,
}

impl ImportReader<'_> {
    pub fn note(&mut self, at: &str, what: ImportProblem) {
        self.notes.push(ImportNote {
            at: at.to_owned(),
            what,
        });
    }

    /// Returns the byte range from `start` to `end`, moved into the text if necessary. If the API also returned the
    /// text of the range, a unit in which the position has that text is used instead of `unit`, and the length of
    /// that text instead of `end`.
    pub fn place(
        &mut self,
        at: &str,
        unit: Unit,
        start: Option<u64>,
        end: Option<u64>,
        text_there: Option<&str>,
    ) -> Range<usize> {
        let (Some(start), Some(end)) = (start, end) else {
            self.note(at, ImportProblem::NoPlace);
            return 0..self.answer.len();
        };
        let text_there = text_there.filter(|text_there| !text_there.is_empty());
        if let Some(text_there) = text_there {
            for unit in [unit, Unit::Chars, Unit::Utf16, Unit::Bytes] {
                let from = self.positions.byte(unit, start).exact();
                if let Some(from) = from.filter(|from| self.answer[*from..].starts_with(text_there))
                {
                    return from..from + text_there.len();
                }
            }
            self.note(at, ImportProblem::OtherText);
        }
        let (from, to) = (
            self.positions.byte(unit, start),
            self.positions.byte(unit, end),
        );
        if from.is_outside || to.is_outside || end < start {
            self.note(at, ImportProblem::OutsideText);
        } else if from.floor != from.ceiling || to.floor != to.ceiling {
            self.note(at, ImportProblem::InsideCharacter);
        }
        from.floor..to.ceiling.max(from.floor)
    }

    pub fn cite(
        &mut self,
        bytes: Range<usize>,
        is_mark: bool,
        reference: Reference,
        quote: Option<&str>,
    ) {
        let quote = quote.filter(|quote| !quote.is_empty()).map(str::to_owned);
        self.cited.push(ImportedCitation {
            bytes,
            is_mark,
            reference,
            quote,
        });
    }
}

/// A source by the name that the caller gave it: a marker if it has the form of one, otherwise a document.
pub(super) fn named(name: &str, pages: Option<Interval>) -> Reference {
    let number = name.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let letters = name.len() - number.len();
    let is_number =
        !number.is_empty() && number.len() <= 5 && number.bytes().all(|b| b.is_ascii_digit());
    if (1..=3).contains(&letters) && is_number {
        return Reference::Marker {
            marker: name.to_owned(),
            name: Some(name.to_owned()),
            at: pages.into(),
        };
    }
    Reference::Document {
        name: name.to_owned(),
        at: pages.into(),
    }
}

/// A source by its position, from 0.
pub(super) fn positioned(index: u64, pages: Option<Interval>) -> Reference {
    let number = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
    let at = pages.into();
    Reference::Ordinal { number, at }
}

/// Returns a text by its key, unless it is blank.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value
        .get(key)?
        .as_str()
        .filter(|text| !text.trim().is_empty())
}

/// Returns the entries of a list by its key, each with its JSON pointer.
pub(super) fn entries<'v>(
    value: &'v Value,
    at: &str,
    key: &str,
) -> impl Iterator<Item = (String, &'v Value)> {
    let list = value.get(key).and_then(Value::as_array).map(Vec::as_slice);
    let at = format!("{at}/{key}");
    checked(list.unwrap_or_default())
        .enumerate()
        .map(move |(number, entry)| (format!("{at}/{number}"), entry))
}

/// Returns the entries of a value that is a list.
pub(super) fn items(value: &Value) -> impl Iterator<Item = (String, &Value)> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    checked(list)
        .enumerate()
        .map(|(number, entry)| (format!("/{number}"), entry))
}
