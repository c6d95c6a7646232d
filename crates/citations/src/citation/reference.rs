//! The source that a citation names, before it is resolved.

use serde::{Deserialize, Serialize};
use std::fmt;

use super::LocatorRange;

/// A closed interval of pages, paragraphs or lines. A claimed one may contain 0 or numbers beyond the end of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Interval {
    /// First number.
    pub start: u32,
    /// Last number, not before `start`.
    pub end: u32,
}

impl Interval {
    /// Returns the interval between two numbers in either order (`14-12` is 12–14).
    pub fn new(a: u32, b: u32) -> Self {
        Self {
            start: a.min(b),
            end: a.max(b),
        }
    }

    /// Returns how many numbers it contains.
    pub fn count(self) -> u64 {
        u64::from(self.end) - u64::from(self.start) + 1
    }

    /// Returns whether this interval contains every number of `inner`.
    pub fn contains(self, inner: Self) -> bool {
        self.start <= inner.start && inner.end <= self.end
    }

    /// Returns the numbers that are in both intervals.
    pub fn shared_with(self, other: Self) -> Option<Self> {
        let start = self.start.max(other.start);
        let end = self.end.min(other.end);
        (start <= end).then_some(Self { start, end })
    }

    /// Returns how many distinct numbers all intervals contain.
    pub fn union_count(mut intervals: Vec<Self>) -> u64 {
        intervals.sort_unstable();
        let mut next = 0_u64;
        let mut count = 0;
        for pages in intervals {
            let start = u64::from(pages.start).max(next);
            let end = u64::from(pages.end) + 1;
            count += end.saturating_sub(start);
            next = next.max(end);
        }
        count
    }

    /// Returns whether any of these numbers is not in 1 to `count`.
    pub fn exceed(self, count: u32) -> bool {
        self.start == 0 || self.end > count
    }
}

/// Writes the interval for readers: `12` or `12–14`.
impl fmt::Display for Interval {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.start)?;
        if self.end != self.start {
            write!(out, "–{}", self.end)?;
        }
        Ok(())
    }
}

/// The coordinates that an answer adds to a name: `p. 7, para. 1, lines 2-3`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Position {
    /// Pages.
    pub pages: Option<Interval>,
    /// Paragraphs, of the page if there are pages, otherwise of the document.
    pub paragraphs: Option<Interval>,
    /// Lines, of the page if there are pages, otherwise of the document.
    pub lines: Option<Interval>,
}

impl Position {
    /// Returns whether it names more than pages.
    pub fn is_within_page(self) -> bool {
        self.paragraphs.is_some() || self.lines.is_some()
    }
}

impl From<Option<Interval>> for Position {
    /// A position of pages only.
    fn from(pages: Option<Interval>) -> Self {
        Self {
            pages,
            ..Self::default()
        }
    }
}

/// The source that a citation names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reference {
    /// A reground marker.
    Marker {
        /// The canonical form, `A1`.
        marker: String,
        /// The same as written, if the string also announces a name, as in `Source: Q3`. A document may have it.
        name: Option<String>,
        /// The claimed coordinates.
        at: Position,
    },
    /// A number. The passages that the model was shown decide which source it is.
    Ordinal {
        /// The number. It starts at 1, also for forms that start at 0. A form that starts at 1 may contain 0.
        number: u32,
        /// The claimed coordinates.
        at: Position,
    },
    /// A document by id, title or address.
    Document {
        /// The name, without quotes.
        name: String,
        /// The claimed coordinates.
        at: Position,
    },
    /// A document or passage by its id or a prefix of the id.
    Id {
        /// The id, verbatim.
        id: String,
        /// The claimed coordinates.
        at: Position,
    },
    /// A result of a tool call: `turn0search3`.
    Result {
        /// The tool call, from 0.
        turn: u32,
        /// The kind of tool: `search`, `news`, `file`.
        kind: String,
        /// The result, from 1.
        number: u32,
    },
    /// A place of a work, by its structure.
    Locator(LocatorRange),
    /// A document that the text mentions by a title or an alias.
    Mention {
        /// The name to resolve it by.
        name: String,
    },
    /// Author and year, verbatim. No document id can be derived from it.
    AuthorYear(String),
    /// A string that is clearly meant as a citation but cannot be read.
    Malformed(Malformed),
}

impl Reference {
    /// Returns the claimed coordinates.
    pub fn position(&self) -> Position {
        match self {
            Self::Marker { at, .. }
            | Self::Ordinal { at, .. }
            | Self::Document { at, .. }
            | Self::Id { at, .. } => *at,
            Self::Result { .. }
            | Self::Locator(_)
            | Self::Mention { .. }
            | Self::AuthorYear(_)
            | Self::Malformed(_) => Position::default(),
        }
    }
}

/// The reason why a citation is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Malformed {
    /// `[A1` with no closing bracket on its line.
    Unclosed,
    /// `[A1,]`.
    TrailingSeparator,
    /// `[A-1]`: letters and a number with a hyphen between them.
    BadMarker,
    /// `[A1, 3]`, `[A1: the guide]`: a marker, then something that is not a marker.
    UnexpectedText,
    /// `[5-2]`.
    DescendingRange,
    /// `[1-900]`: longer than any context.
    RangeTooLong,
    /// `[Source: , p. 3]`.
    EmptyName,
}

impl Malformed {
    /// The stable name that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unclosed => "unclosed",
            Self::TrailingSeparator => "trailing_separator",
            Self::BadMarker => "bad_marker",
            Self::UnexpectedText => "unexpected_text",
            Self::DescendingRange => "descending_range",
            Self::RangeTooLong => "range_too_long",
            Self::EmptyName => "empty_name",
        }
    }
}
