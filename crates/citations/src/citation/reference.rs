//! What a citation names, before anybody has checked that it exists.

use serde::{Deserialize, Serialize};
use std::fmt;

use super::LocatorRange;

/// A closed interval of pages as an answer claims it: possibly page 0, possibly beyond the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pages {
    /// First page.
    pub start: u32,
    /// Last page, never before `start`.
    pub end: u32,
}

impl Pages {
    /// The interval between two pages, whichever comes first (C5: `14-12` is 12–14).
    pub fn new(a: u32, b: u32) -> Self {
        Self {
            start: a.min(b),
            end: a.max(b),
        }
    }

    /// Number of pages.
    pub fn count(self) -> u64 {
        u64::from(self.end) - u64::from(self.start) + 1
    }

    /// Whether every page of `inner` is in this interval.
    pub fn contains(self, inner: Self) -> bool {
        self.start <= inner.start && inner.end <= self.end
    }

    /// The pages in both.
    pub fn shared_with(self, other: Self) -> Option<Self> {
        let start = self.start.max(other.start);
        let end = self.end.min(other.end);
        (start <= end).then_some(Self { start, end })
    }

    /// Number of pages in any of them, each counted once.
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

    /// Whether the document that has `page_count` pages, counted from 1, lacks one of these.
    pub fn exceed(self, page_count: u32) -> bool {
        self.start == 0 || self.end > page_count
    }
}

/// As a reader writes it: `12` or `12–14`.
impl fmt::Display for Pages {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.start)?;
        if self.end != self.start {
            write!(out, "–{}", self.end)?;
        }
        Ok(())
    }
}

/// What a citation points at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reference {
    /// One of our markers.
    Marker {
        /// The canonical form, `A1`.
        marker: String,
        /// The page the answer adds of its own.
        pages: Option<Pages>,
    },
    /// A number; what it counts depends on what was handed to the model.
    Ordinal {
        /// The number, from 1, whatever the form counts from; one that counts from 1 may say 0.
        number: u32,
        /// The page the answer adds of its own.
        pages: Option<Pages>,
    },
    /// A document by id, title or address.
    Document {
        /// The name, without quotes.
        name: String,
        /// The page the answer claims.
        pages: Option<Pages>,
    },
    /// A document or passage by its id or the first characters of it.
    Id {
        /// The id, as written.
        id: String,
        /// The page the answer claims.
        pages: Option<Pages>,
    },
    /// A result of a tool call: `turn0search3`.
    Result {
        /// The call, from 0.
        turn: u32,
        /// What was called: `search`, `news`, `file`.
        kind: String,
        /// The result, from 1.
        number: u32,
    },
    /// A place of a work, by its structure.
    Locator(LocatorRange),
    /// A document that prose calls by a title or an alias.
    Mention {
        /// What it resolves by.
        name: String,
    },
    /// Author and year, verbatim. No document id follows from it.
    AuthorYear(String),
    /// Plainly meant as a citation, and not readable as one.
    Malformed(Malformed),
}

impl Reference {
    /// The pages that the citation claims.
    pub fn pages(&self) -> Option<Pages> {
        match self {
            Self::Marker { pages, .. }
            | Self::Ordinal { pages, .. }
            | Self::Document { pages, .. }
            | Self::Id { pages, .. } => *pages,
            Self::Result { .. }
            | Self::Locator(_)
            | Self::Mention { .. }
            | Self::AuthorYear(_)
            | Self::Malformed(_) => None,
        }
    }
}

/// What is wrong with a malformed citation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Malformed {
    /// `[A1` with no closing bracket on its line.
    Unclosed,
    /// `[A1,]`.
    TrailingSeparator,
    /// `[A-1]`: letters and number, not joined as a marker joins them.
    BadMarker,
    /// `[A1, 3]`, `[A1: the guide]`: a marker, then something that is none.
    UnexpectedText,
    /// `[5-2]`.
    DescendingRange,
    /// `[1-900]`: longer than any context.
    RangeTooLong,
    /// `[Source: , p. 3]`.
    EmptyName,
}

impl Malformed {
    /// The stable text that is stored and shown.
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
