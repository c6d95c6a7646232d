//! The characters of a place that is named by numbers: page 7, paragraph 2, lines 3 to 4.

use std::collections::BTreeMap;
use std::ops::Range;

use reground_interrupt::checked;
use serde::{Deserialize, Serialize};

use crate::PageMap;

/// A place by numbers from 1, as closed intervals. A claimed place may contain 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NumberedPlace {
    /// Pages.
    pub pages: Option<(u32, u32)>,
    /// Paragraphs, of the pages if there are any, otherwise of the text.
    pub paragraphs: Option<(u32, u32)>,
    /// Lines, of the pages if there are any, otherwise of the text.
    pub lines: Option<(u32, u32)>,
}

/// Where a numbered place is in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextPlace {
    /// Its characters.
    Chars(Range<usize>),
    /// The text has no such page, paragraph or line.
    Beyond,
}

/// A text whose parts are found by their numbers. Lines end at newlines, paragraphs at blank lines, pages at form feeds. The parts are
/// read once for all places.
pub struct NumberedText<'a> {
    text: &'a str,
    /// The pages, in bytes; `None` if the text has none.
    pages: Option<Vec<Range<usize>>>,
    /// The parts of the claimed pages, or of the text.
    parts: BTreeMap<Option<(u32, u32)>, Option<Parts>>,
}

/// The parts of a region of a text, in bytes of the region.
struct Parts {
    /// Start of the region, in bytes.
    start: usize,
    paragraphs: Vec<Range<usize>>,
    lines: Vec<Range<usize>>,
}

impl<'a> NumberedText<'a> {
    /// Reads the pages of a text.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let has_pages = PageMap::from_form_feeds(text).is_some();
        Self {
            text,
            pages: has_pages.then(|| pages_of(text)),
            parts: BTreeMap::new(),
        }
    }

    /// Finds a place with lines or paragraphs. If there are lines, the result is that of the lines. `None` if the place has neither, or
    /// has pages and the text has none.
    pub fn place(&mut self, place: &NumberedPlace) -> Option<TextPlace> {
        if place.lines.is_none() && place.paragraphs.is_none() {
            return None;
        }
        let Self { text, pages, parts } = self;
        let region = match place.pages {
            None => Some(0..text.len()),
            Some(numbers) => interval(pages.as_ref()?, numbers),
        };
        let parts = parts.entry(place.pages).or_insert_with(|| {
            let region = region?;
            let within = &text[region.clone()];
            Some(Parts {
                start: region.start,
                paragraphs: paragraphs(within),
                lines: lines(within),
            })
        });
        let Some(parts) = parts else {
            return Some(TextPlace::Beyond);
        };
        let mut found = 0..0;
        let finer = [
            (place.paragraphs, &parts.paragraphs),
            (place.lines, &parts.lines),
        ];
        for (numbers, parts) in finer {
            let Some(numbers) = numbers else {
                continue;
            };
            match interval(parts, numbers) {
                Some(bytes) => found = bytes,
                None => return Some(TextPlace::Beyond),
            }
        }
        let bytes = parts.start + found.start..parts.start + found.end;
        let start = text[..bytes.start].chars().count();
        let length = text[bytes].chars().count();
        Some(TextPlace::Chars(start..start + length))
    }
}

/// Returns the bytes from the first part of an interval to the last; `None` if a part is missing, or the last is before the first.
fn interval(parts: &[Range<usize>], (first, last): (u32, u32)) -> Option<Range<usize>> {
    let part = |number: u32| parts.get(usize::try_from(number.checked_sub(1)?).ok()?);
    let bytes = part(first)?.start..part(last)?.end;
    (bytes.start <= bytes.end).then_some(bytes)
}

fn pages_of(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut pages = Vec::new();
    for page in checked(text.split_inclusive('\u{c}')) {
        pages.push(start..start + page.trim_end_matches('\u{c}').len());
        start += page.len();
    }
    pages
}

fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for line in checked(text.split_inclusive('\n')) {
        lines.push(start..start + line.trim_end_matches(['\n', '\r', '\u{c}']).len());
        start += line.len();
    }
    lines
}

fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let mut paragraphs: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    for line in checked(lines(text)) {
        let blank = text[line.clone()].trim().is_empty();
        match paragraphs.last_mut().filter(|_| open) {
            _ if blank => {}
            Some(paragraph) => paragraph.end = line.end,
            None => paragraphs.push(line),
        }
        open = !blank;
    }
    paragraphs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text_place(text: &str, place: &NumberedPlace) -> Option<TextPlace> {
        NumberedText::new(text).place(place)
    }

    fn found(text: &str, place: NumberedPlace) -> Option<Option<String>> {
        text_place(text, &place).map(|place| match place {
            TextPlace::Beyond => None,
            TextPlace::Chars(chars) => {
                Some(text.chars().take(chars.end).skip(chars.start).collect())
            }
        })
    }

    #[test]
    fn lines_and_paragraphs_of_pages() {
        let text = "Öne\ntwo\n\nthree\n\u{c}four\n \n\nfive\nsix";
        let at = |page: Option<u32>, paragraph: Option<u32>, lines: Option<(u32, u32)>| {
            let pages = page.map(|page| (page, page));
            let paragraphs = paragraph.map(|number| (number, number));
            found(
                text,
                NumberedPlace {
                    pages,
                    paragraphs,
                    lines,
                },
            )
        };
        let is = |text: &str| Some(Some(text.to_owned()));
        assert_eq!(at(Some(1), None, Some((2, 2))), is("two"));
        assert_eq!(at(Some(1), None, Some((1, 2))), is("Öne\ntwo"));
        assert_eq!(at(Some(2), Some(2), None), is("five\nsix"));
        assert_eq!(at(Some(2), Some(2), Some((5, 5))), is("six"));
        assert_eq!(at(None, Some(1), None), is("Öne\ntwo"));
        // The page, the paragraph or the line does not exist.
        for (page, paragraph, lines) in [
            (Some(3), Some(1), None),
            (Some(1), Some(3), None),
            (Some(1), None, Some((4, 5))),
            (Some(2), None, Some((0, 1))),
            (Some(1), None, Some((2, 1))),
            (Some(1), Some(3), Some((1, 1))),
        ] {
            assert_eq!(
                at(page, paragraph, lines),
                Some(None),
                "{page:?} {paragraph:?} {lines:?}"
            );
        }
        assert_eq!(at(Some(1), None, None), None);
        let unpaged = NumberedPlace {
            pages: Some((1, 1)),
            lines: Some((1, 1)),
            paragraphs: None,
        };
        assert_eq!(found("one\ntwo", unpaged), None);
    }

    proptest! {
        #[test]
        fn lines_equal_those_of_the_standard_library(text in "[aé \n]{0,40}", first in 0u32..8, more in 0u32..3) {
            let place = NumberedPlace { lines: Some((first, first + more)), ..NumberedPlace::default() };
            let all: Vec<&str> = text.lines().collect();
            let from = first.checked_sub(1).map(|from| from as usize);
            let expected = from.and_then(|from| all.get(from..=from + more as usize)).map(|lines| lines.join("\n"));
            prop_assert_eq!(found(&text, place), Some(expected));
        }
    }
}
