//! The evidence of a stored citation: where its quote is in the passage and in the document, and the text around it.

use std::ops::Range;

use reground_citations::excerpt;
use reground_documents::PageRange;

use crate::inspect::source_state::RowState;
use crate::memory::ContextSource;
use crate::passage::{Passage, byte_of};

/// Largest number of characters on each side of a quote.
const SIDE: usize = 500;

/// Longest quote, and longest passage of a citation without a quote, in bytes. An answer can have 65,536 citations.
const LONGEST_TEXT: usize = 2000;

/// A stored citation with the texts that may contain its quote.
#[derive(Clone, Debug, Default)]
pub struct CitedText<'a> {
    /// The source in the context of its turn; `None` for a citation of another source.
    pub source: Option<&'a ContextSource>,
    /// The present rows of the cited passage; of a merged passage, those of its parts.
    pub rows: Vec<&'a Passage>,
    /// The stored quote, as [`excerpt`] returns it; `None` without a quote, or if quotes are not stored.
    pub quote: Option<&'a str>,
    /// Characters of the quote in the text of the row.
    pub chars: Option<Range<usize>>,
    /// Hash of the cited text.
    pub content_hash: Option<&'a str>,
    /// Whether the rows were deleted: a readable corpus has none of them.
    pub is_deleted: bool,
}

/// The place of a quote, and the text around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The quote; of a long one its beginning, to which the ranges belong.
    pub quote: Option<String>,
    /// The part of a merged passage that contains the quote.
    pub chunk_id: Option<String>,
    /// Characters in the text of the row.
    pub passage: Option<Range<usize>>,
    /// Characters in the document.
    pub document: Option<Range<usize>>,
    /// Pages of the quote.
    pub pages: Option<PageRange>,
    /// Text before the quote in its paragraph. Without a quote, the passage.
    pub before: Option<String>,
    /// Text after the quote in its paragraph.
    pub after: Option<String>,
    /// State of the rows; `None` if it is not known.
    pub state: Option<RowState>,
    /// Whether no text has confirmed the positions yet.
    unconfirmed: bool,
}

/// A text that may contain the quote.
#[derive(Clone, Copy)]
struct Text<'a> {
    content: &'a str,
    /// First character of the content in the text of the row.
    start: usize,
    /// First character of the content in the document.
    in_document: Option<usize>,
    pages: Option<PageRange>,
}

impl<'a> Text<'a> {
    /// The text of a passage. Offsets that do not fit the text are ignored.
    fn of(passage: &'a Passage) -> Self {
        let length = passage.content.chars().count();
        let in_document = match &passage.window_of {
            Some(row) => row.chars.and_then(|chars| {
                let start = chars.start.checked_add(row.start)? as usize;
                (start + length <= chars.end as usize).then_some(start)
            }),
            None => passage.chars.and_then(|chars| {
                let fits = chars.end.checked_sub(chars.start)? as usize == length;
                fits.then_some(chars.start as usize)
            }),
        };
        Self {
            content: &passage.content,
            start: passage.start_in_row() as usize,
            in_document,
            pages: passage.pages,
        }
    }

    /// Byte range of a range of characters of the row.
    fn bytes(&self, chars: &Range<usize>) -> Option<Range<usize>> {
        let start = chars.start.checked_sub(self.start)?;
        let length = chars.end.checked_sub(chars.start)?;
        let from = byte_of(self.content, start)?;
        let to = from + byte_of(self.content.get(from..)?, length)?;
        Some(from..to)
    }

    /// The pages of a part. The breaks between pages are form feeds; without them, the pages are those of the passage.
    fn pages_of(&self, bytes: &Range<usize>) -> Option<PageRange> {
        let pages = self.pages?;
        let breaks = |text: &str| {
            let last = text.char_indices().next_back().map_or(0, |(at, _)| at);
            let before = text.get(..last).unwrap_or_default();
            u32::try_from(before.matches('\u{c}').count()).unwrap_or(u32::MAX)
        };
        if pages.end - pages.start != breaks(self.content) {
            return Some(pages);
        }
        let start = self.content.get(..bytes.start)?.matches('\u{c}').count();
        let start = pages.start + u32::try_from(start).ok()?;
        let part = self.content.get(bytes.clone())?;
        Some(PageRange::new(start, start + breaks(part)))
    }
}

impl CitedText<'_> {
    /// Locates the quote.
    #[must_use]
    pub fn locate(&self) -> Evidence {
        let found = self.chars.as_ref().and_then(|chars| {
            self.texts().into_iter().find_map(|text| {
                let bytes = text.bytes(chars)?;
                let quote = text.content.get(bytes.clone())?;
                let fits = self.quote.is_none_or(|stored| excerpt(quote) == stored);
                (fits && !quote.is_empty()).then_some((text, bytes, chars))
            })
        });
        let evidence = match found {
            Some((text, bytes, chars)) => self.found(text, bytes, chars),
            None => self.not_found(),
        };
        Evidence {
            state: self.state(),
            ..evidence
        }
    }

    /// The texts that may contain the quote: the whole row if it has the cited text, then the text that was shown.
    fn texts(&self) -> Vec<Text<'_>> {
        let own = self.rows.first().filter(|_| !self.is_merged());
        let own = own.filter(|row| self.quote.is_some() || self.has_cited_text(row) == Some(true));
        let shown = self.source.filter(|source| !source.is_remembered());
        own.map(|row| Text::of(row))
            .into_iter()
            .chain(shown.map(|source| Text::of(&source.candidate.passage)))
            .collect()
    }

    fn found(&self, text: Text<'_>, bytes: Range<usize>, chars: &Range<usize>) -> Evidence {
        let whole = text.content.get(bytes.clone()).unwrap_or_default();
        let quote = beginning(whole);
        let bytes = bytes.start..bytes.start + quote.len();
        let length = quote.chars().count();
        let in_document = text.in_document.map(|start| {
            let start = start + (chars.start - text.start);
            start..start + length
        });
        let (before, after) = around(text.content, &bytes);
        let (chunk_id, passage) = match self.is_merged() {
            false => (None, Some(chars.start..chars.start + length)),
            true => in_document
                .as_ref()
                .and_then(|range| self.part_with(quote, range))
                .unzip(),
        };
        Evidence {
            quote: Some(quote.to_owned()),
            chunk_id,
            passage,
            document: in_document,
            pages: text.pages_of(&bytes),
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
            ..Evidence::default()
        }
    }

    /// The evidence without a text that contains the quote.
    fn not_found(&self) -> Evidence {
        let shown = self.source.map(|source| &source.candidate.passage);
        let passage = shown.or(self.rows.first().copied());
        let pages = passage.and_then(|passage| passage.pages);
        if let Some(quote) = self.quote {
            return Evidence {
                quote: Some(quote.to_owned()),
                // The text of a remembered source is its facts, but its position is that of the passage.
                document: self.chars.as_ref().and_then(|chars| {
                    let passage = shown.filter(|_| quote.chars().count() == chars.len())?;
                    let row = match &passage.window_of {
                        Some(row) => row.chars,
                        None => passage.chars,
                    };
                    let first = row?.start as usize;
                    Some(first + chars.start..first + chars.end)
                }),
                passage: self.chars.clone().filter(|_| !self.is_merged()),
                pages,
                unconfirmed: true,
                ..Evidence::default()
            };
        }
        Evidence {
            before: passage.map(|passage| beginning(&passage.content).to_owned()),
            pages,
            ..Evidence::default()
        }
    }

    fn is_merged(&self) -> bool {
        self.source
            .is_some_and(|source| source.candidate.is_merged())
    }

    /// The row of a merged passage that contains the quote, with its range there.
    fn part_with(&self, quote: &str, document: &Range<usize>) -> Option<(String, Range<usize>)> {
        self.rows.iter().find_map(|row| {
            let text = Text::of(row);
            let start = document.start.checked_sub(text.in_document?)?;
            let range = start..start + document.len();
            let there = text.content.get(text.bytes(&range)?)?;
            (there == quote).then(|| (row.chunk_id.clone(), range))
        })
    }

    /// Whether a row has the cited text; `None` if its hash is not known.
    fn has_cited_text(&self, row: &Passage) -> Option<bool> {
        let hash = match self.source {
            Some(source) => source.candidate.passage.row_hash(),
            None => self.content_hash?,
        };
        Some(hash == row.content_hash)
    }

    fn state(&self) -> Option<RowState> {
        if self.is_deleted {
            return Some(RowState::Deleted);
        }
        self.is_current().map(|is_current| match is_current {
            true => RowState::Current,
            false => RowState::Changed,
        })
    }

    /// Whether the present rows have the cited text; `None` if that is not known.
    fn is_current(&self) -> Option<bool> {
        let source = self.source.filter(|_| self.is_merged());
        let Some(Text {
            content,
            in_document: Some(first),
            ..
        }) = source.map(|source| Text::of(&source.candidate.passage))
        else {
            return self.has_cited_text(self.rows.first()?);
        };
        let members = source.map_or(0, |source| source.candidate.member_chunk_ids.len());
        let part = |row: &&Passage| {
            let chars = row.chars?;
            let from = byte_of(content, (chars.start as usize).checked_sub(first)?)?;
            Some(content.get(from..)?.starts_with(&row.content))
        };
        let current = self.rows.iter().filter(|row| part(row) == Some(true));
        (!self.rows.is_empty()).then(|| current.count() == members)
    }
}

/// A part of a stored document, in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentPart {
    /// First character.
    pub start: usize,
    /// One past the last character.
    pub end: usize,
}

impl Evidence {
    /// The part of the document that [`Self::check`] needs.
    #[must_use]
    pub fn wanted(&self) -> Option<DocumentPart> {
        // One character more than is shown tells whether the text was cut.
        self.document.as_ref().map(|range| DocumentPart {
            start: range.start.saturating_sub(SIDE + 1),
            end: range.end + SIDE + 1,
        })
    }

    /// Takes the surrounding text from the cited version of the document. If the document has another text there, the position in the
    /// document is removed.
    pub fn check(&mut self, text: &str) {
        let (Some(range), Some(part), Some(quote)) =
            (self.document.clone(), self.wanted(), self.quote.as_deref())
        else {
            return;
        };
        let from = byte_of(text, range.start - part.start);
        let found = from.filter(|from| {
            text.get(*from..)
                .is_some_and(|rest| rest.starts_with(quote))
        });
        match found {
            Some(from) => {
                let (before, after) = around(text, &(from..from + quote.len()));
                (self.before, self.after) = (Some(before.to_owned()), Some(after.to_owned()));
                self.unconfirmed = false;
            }
            None => self.document = None,
        }
    }

    /// The evidence without positions at which no text was found to have the quote.
    #[must_use]
    pub fn confirmed(self) -> Self {
        if !self.unconfirmed {
            return self;
        }
        Self {
            passage: None,
            document: None,
            ..self
        }
    }
}

/// The text before and after a part, within its paragraph and with at most [`SIDE`] whole words' characters on each side.
fn around<'t>(text: &'t str, part: &Range<usize>) -> (&'t str, &'t str) {
    let before = text.get(..part.start).unwrap_or_default();
    let after = text.get(part.end..).unwrap_or_default();
    let cut = before
        .char_indices()
        .rev()
        .nth(SIDE - 1)
        .map_or(0, |(at, _)| at);
    let mut near = &before[cut..];
    if cut > 0 {
        let word = near.find(char::is_whitespace).unwrap_or(0);
        near = near[word..].trim_start();
    }
    let before = &near[last_break(near)..];
    let cut = after
        .char_indices()
        .nth(SIDE)
        .map_or(after.len(), |(at, _)| at);
    let mut near = &after[..cut];
    if cut < after.len() {
        let word = near.rfind(char::is_whitespace).unwrap_or(near.len());
        near = near[..word].trim_end();
    }
    (before, &near[..first_break(near)])
}

/// Position after the last break between paragraphs.
fn last_break(text: &str) -> usize {
    let mut end = 0;
    let mut rest = text;
    while let Some((at, length)) = find_break(rest) {
        end = text.len() - rest.len() + at + length;
        rest = &text[end..];
    }
    end
}

/// Position of the first break between paragraphs; the end of the text without one.
fn first_break(text: &str) -> usize {
    find_break(text).map_or(text.len(), |(at, _)| at)
}

/// The first blank line, form feed or paragraph separator: position and length.
fn find_break(text: &str) -> Option<(usize, usize)> {
    for (at, c) in text.char_indices() {
        match c {
            '\u{c}' | '\u{2029}' => return Some((at, c.len_utf8())),
            '\n' => {
                let rest = &text[at..];
                let blank = rest.len() - rest.trim_start().len();
                let gap = &rest[..blank];
                if gap.matches('\n').count() > 1 || gap.contains(['\u{c}', '\u{2029}']) {
                    return Some((at, blank));
                }
            }
            _ => {}
        }
    }
    None
}

/// The beginning of a text, with at most [`LONGEST_TEXT`] bytes.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_TEXT)]
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
