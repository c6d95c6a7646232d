//! Page ranges, and the page boundaries of a text.

use std::{fmt, ops::Range, str::FromStr};

use reground_interrupt::checked;
use serde::{Deserialize, Serialize};

use crate::DocumentError;

/// A closed interval of pages, from 1. `start` ≤ `end` if it was created by [`PageRange::new`] or by parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PageRange {
    /// First page.
    pub start: u32,
    /// Last page (inclusive).
    pub end: u32,
}

impl PageRange {
    /// Creates the interval between two pages, in any order.
    pub fn new(one: u32, other: u32) -> Self {
        Self {
            start: one.min(other),
            end: one.max(other),
        }
    }

    /// Creates the interval of two optional bounds: a single page without `end`, `None` without `start`.
    pub fn of(start: Option<u32>, end: Option<u32>) -> Option<Self> {
        start.map(|start| Self::new(start, end.unwrap_or(start)))
    }

    /// Returns whether the page is in the interval.
    pub fn contains(self, page: u32) -> bool {
        self.start <= page && page <= self.end
    }

    /// Returns the smallest interval that contains both, including the pages between them.
    pub fn union(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

impl fmt::Display for PageRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.start == self.end {
            write!(f, "p. {}", self.start)
        } else {
            write!(f, "pp. {}–{}", self.start, self.end)
        }
    }
}

impl FromStr for PageRange {
    type Err = DocumentError;

    /// Parses `12`, `12–14`, `12-14`, `p. 12`, `pp. 12-14` or `pages 12 - 14`. `14-12` becomes 12–14.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || DocumentError::PageRange(text.chars().take(80).collect());
        let page = |number: &str| match number.trim() {
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().ok().filter(|&page| page > 0)
            }
            _ => None,
        };
        let numbers = text.trim();
        let letters = numbers
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(numbers.len());
        let (prefix, numbers) = numbers.split_at(letters);
        if !["", "p", "pp", "pg", "page", "pages"].contains(&prefix.to_ascii_lowercase().as_str()) {
            return Err(error());
        }
        let numbers = if prefix.is_empty() {
            numbers
        } else {
            numbers.strip_prefix('.').unwrap_or(numbers)
        };
        // Hyphen-minus, hyphen, non-breaking hyphen, figure dash, en dash, em dash, minus sign.
        let dash = [
            '-', '\u{2010}', '\u{2011}', '\u{2012}', '–', '—', '\u{2212}',
        ];
        let (one, other) = numbers.split_once(dash).unwrap_or((numbers, numbers));
        match (page(one), page(other)) {
            (Some(one), Some(other)) => Ok(Self::new(one, other)),
            _ => Err(error()),
        }
    }
}

/// Page boundaries of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageMap {
    /// Start of each page in characters, ascending, the first one 0.
    starts: Vec<usize>,
}

impl PageMap {
    /// Finds pages that are separated by form feeds. A form feed belongs to the page that it ends. `None` if the text has none.
    ///
    /// A form feed at the end of the text starts no further page.
    pub fn from_form_feeds(text: &str) -> Option<Self> {
        let mut starts = vec![0];
        let mut length = 0;
        for character in checked(text.chars()) {
            length += 1;
            if character == '\u{c}' {
                starts.push(length);
            }
        }
        if starts.len() == 1 {
            return None;
        }
        if starts.last() == Some(&length) {
            starts.pop();
        }
        Some(Self { starts })
    }

    /// Creates a map from the character offsets at which pages start.
    ///
    /// # Errors
    /// [`DocumentError::FirstPage`] if the first offset is not 0, [`DocumentError::PageOrder`] if the offsets are not ascending.
    pub fn from_starts(starts: Vec<usize>) -> Result<Self, DocumentError> {
        if starts.first() != Some(&0) {
            return Err(DocumentError::FirstPage);
        }
        if let Some(at) = (1..starts.len()).find(|&at| starts[at] <= starts[at - 1]) {
            return Err(DocumentError::PageOrder {
                page: at + 1,
                start: starts[at],
            });
        }
        Ok(Self { starts })
    }

    /// Returns the number of pages, at least 1.
    pub fn page_count(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }

    /// Returns the page of the character at an offset, or the last page for an offset beyond the text.
    pub fn page_at(&self, character: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|&start| start <= character)).unwrap_or(u32::MAX)
    }

    /// Returns the pages of a half-open range of characters. An empty range is on the page of its start.
    pub fn pages(&self, characters: Range<usize>) -> PageRange {
        let last = characters.end.saturating_sub(1).max(characters.start);
        PageRange::new(self.page_at(characters.start), self.page_at(last))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn page_ranges_are_parsed() {
        for text in [
            "12-14",
            "12–14",
            "14-12",
            "pp. 12-14",
            "pp.12—14",
            "Pages 12 - 14",
            " 12\u{2011}14 ",
        ] {
            assert_eq!(text.parse(), Ok(PageRange { start: 12, end: 14 }), "{text}");
        }
        assert_eq!("p. 7".parse(), Ok(PageRange { start: 7, end: 7 }));
        for text in [
            "",
            "-",
            "12-",
            "-3",
            "0",
            "1-2-3",
            "+4",
            "x 3",
            "p.",
            "99999999999",
            ".3",
            "pp. 1,2",
        ] {
            assert_eq!(
                text.parse::<PageRange>(),
                Err(DocumentError::PageRange(text.to_owned())),
                "{text}"
            );
        }
        assert_eq!(PageRange::new(12, 12).to_string(), "p. 12");
        assert_eq!(PageRange::new(14, 12).to_string(), "pp. 12–14");
    }

    #[test]
    fn page_starts_are_checked() {
        assert_eq!(PageMap::from_starts(vec![]), Err(DocumentError::FirstPage));
        assert_eq!(PageMap::from_starts(vec![1]), Err(DocumentError::FirstPage));
        assert_eq!(
            PageMap::from_starts(vec![0, 5, 5]),
            Err(DocumentError::PageOrder { page: 3, start: 5 })
        );
        assert_eq!(PageMap::from_form_feeds("no page"), None);
        assert_eq!(
            PageMap::from_form_feeds("a\u{c}b\u{c}").map(|map| map.page_count()),
            Some(2)
        );
    }

    proptest! {
        #[test]
        fn printed_page_ranges_are_parsed_back(one in 1u32.., other in 1u32..) {
            let range = PageRange::new(one, other);
            prop_assert_eq!(range.to_string().parse(), Ok(range));
        }

        #[test]
        fn a_union_contains_both_intervals(a in 1u32..20, b in 1u32..20, c in 1u32..20, d in 1u32..20) {
            let (one, other) = (PageRange::new(a, b), PageRange::new(c, d));
            let both: Vec<u32> = (1..20).filter(|&page| one.contains(page) || other.contains(page)).collect();
            let union = one.union(other);
            prop_assert_eq!((Some(&union.start), Some(&union.end)), (both.first(), both.last()));
        }

        #[test]
        fn pages_are_counted_by_form_feeds(text in "[aé字\u{c}]{1,30}", from in 0usize..30, length in 1usize..30) {
            let characters: Vec<char> = text.chars().collect();
            let from = from.min(characters.len() - 1);
            let to = (from + length).min(characters.len());
            let page = |at: usize| 1 + characters[..at].iter().filter(|&&c| c == '\u{c}').count() as u32;
            if let Some(map) = PageMap::from_form_feeds(&text) {
                prop_assert_eq!(map.pages(from..to), PageRange { start: page(from), end: page(to - 1) });
                prop_assert_eq!(map.page_count(), page(characters.len() - 1));
            }
        }
    }
}
