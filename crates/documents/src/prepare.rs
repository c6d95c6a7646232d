//! Preparation of documents for storage: normalised text, passages with coordinates, page and character counts, digest.

use reground_interrupt::checked;
use serde::Serialize;
use serde_json::Value;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

use crate::error::DocumentError;
use crate::headings;
use crate::text::hex;
use crate::{
    CallerPassage, ChunkSettings, PageMap, chunk, content_hash_hex, exact_hash_hex, normalise,
    overlap_cost,
};

/// A passage to store.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredPassage {
    /// Position among the document's passages, from 0.
    pub ordinal: usize,
    /// Text of the passage.
    pub content: String,
    /// Exact number of o200k_base tokens.
    pub tokens: usize,
    /// Start in the document's text, in characters, if known.
    pub char_start: Option<usize>,
    /// End in the document's text (exclusive), in characters.
    pub char_end: Option<usize>,
    /// First page, if known.
    pub page_start: Option<u32>,
    /// Last page.
    pub page_end: Option<u32>,
    /// Content hash (hex).
    pub content_hash: String,
    /// Headings above the passage; after [`Prepared::set_headings`], the title of the document and the headings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Metadata of the application.
    pub metadata: Value,
}

/// Digits of the hash of a passage's text that tell a changed text.
const SHORT_HASH: usize = 16;

/// A document to store.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The normalised text; `None` for a document that consists of passages only.
    pub text: Option<String>,
    /// Passages in order.
    pub passages: Vec<StoredPassage>,
    /// Number of pages, if known.
    pub page_count: Option<u32>,
    /// Number of characters of the text, or of all passages together.
    pub char_count: usize,
    /// Characters that are stored twice because chunks overlap, as a share of the text.
    pub overlap_cost: f64,
    /// Version of the document: SHA-256 (hex) of the text, or of the passages with their coordinates.
    pub digest: String,
}

impl Prepared {
    /// Returns the positions of the passages in order: first character, end, first page, last page, and the first 16
    /// hexadecimal digits of the SHA-256 of the text there. They are stored with the document, so that a position that is changed or lost later is found without its text.
    #[must_use]
    pub fn positions(&self) -> Value {
        let positions = self.passages.iter().map(|passage| {
            serde_json::json!([
                passage.char_start,
                passage.char_end,
                passage.page_start,
                passage.page_end,
                exact_hash_hex(&passage.content).get(..SHORT_HASH)
            ])
        });
        Value::Array(positions.collect())
    }

    /// Sets the heading of each passage: the title of the document, then the headings above the passage. They are those of the
    /// Markdown text, or those that the application gave with its passages.
    pub fn set_headings(&mut self, title: Option<&str>, media_type: Option<&str>) {
        let title = title.map(normalise);
        let title = title.as_deref();
        match &self.text {
            Some(text) if headings::has_headings(media_type) => {
                let starts = self
                    .passages
                    .iter()
                    .map(|passage| passage.char_start.unwrap_or(0));
                let paths = headings::paths(text, &starts.collect::<Vec<_>>());
                for (passage, path) in checked(self.passages.iter_mut().zip(&paths)) {
                    passage.heading = headings::join(title, path.iter().map(String::as_str));
                }
            }
            _ => {
                for passage in checked(self.passages.iter_mut()) {
                    passage.heading = headings::join(title, passage.heading.as_deref());
                }
            }
        }
    }
}

/// Prepares a document from its text: normalises it to NFC, finds pages and makes chunks.
///
/// Pages come from `page_starts` (0-based character offsets into `content` before normalisation), otherwise from form feeds.
/// Without either there are no pages. `page_count` may be greater than the number of pages found.
///
/// # Errors
/// Page starts that do not ascend from 0 within the text, a page count below 1, and the errors of [`ChunkSettings::check`].
pub fn from_text(
    content: &str,
    settings: &ChunkSettings,
    page_starts: Option<&[i32]>,
    page_count: Option<i32>,
) -> Result<Prepared, DocumentError> {
    let (text, pages) = match page_starts {
        Some(starts) => {
            let (text, pages) = normalise_pages(content, starts)?;
            (text, Some(pages))
        }
        None => {
            let text = normalise(content).into_owned();
            let pages = PageMap::from_form_feeds(&text);
            (text, pages)
        }
    };
    let char_count = text.chars().count();
    let chunks = chunk(&text, settings, pages.as_ref())?;
    let passages = chunks
        .iter()
        .map(|chunk| StoredPassage {
            ordinal: usize::try_from(chunk.ordinal).unwrap_or(usize::MAX),
            content: chunk.text.to_owned(),
            tokens: usize::try_from(chunk.tokens).unwrap_or(usize::MAX),
            char_start: Some(chunk.char_start),
            char_end: Some(chunk.char_end),
            page_start: chunk.pages.map(|pages| pages.start),
            page_end: chunk.pages.map(|pages| pages.end),
            content_hash: hex(&chunk.hash),
            heading: None,
            metadata: Value::Object(serde_json::Map::new()),
        })
        .collect();
    Ok(Prepared {
        overlap_cost: overlap_cost(&chunks, char_count),
        passages,
        page_count: pages_of(pages.map(|pages| pages.page_count()), page_count)?,
        char_count,
        digest: match page_starts {
            // The same text with other page starts is another version, because the pages of its passages differ.
            Some(starts) => exact_hash_hex(&format!("{text}\u{c}{starts:?}")),
            None => exact_hash_hex(&text),
        },
        text: Some(text),
    })
}

/// Prepares a document from passages that the application has chunked: `[{"content": …, "page_start": …}]`.
///
/// Texts are normalised. An `id` is stored in the metadata.
///
/// # Errors
/// Another shape, a passage without visible text, a range that ends before it starts, page 0.
pub fn from_passages(passages: &Value, page_count: Option<i32>) -> Result<Prepared, DocumentError> {
    let passages: Vec<_> = CallerPassage::parse_list(passages)?
        .into_iter()
        .enumerate()
        .map(|(ordinal, passage)| stored_passage(ordinal, passage))
        .collect();
    let last_page = passages.iter().filter_map(|passage| passage.page_end).max();
    let digest = serde_json::to_string(&passages)
        .map_err(|error| DocumentError::Passages(error.to_string()))?;
    Ok(Prepared {
        text: None,
        page_count: pages_of(last_page, page_count)?,
        char_count: passages
            .iter()
            .map(|passage| passage.content.chars().count())
            .sum(),
        overlap_cost: 0.0,
        digest: exact_hash_hex(&digest),
        passages,
    })
}

fn stored_passage(ordinal: usize, passage: CallerPassage) -> StoredPassage {
    let pages = passage.pages();
    let content = passage.content;
    let mut metadata = passage.metadata.unwrap_or_default();
    if let Some(id) = passage.chunk_id {
        metadata.insert("id".to_owned(), id);
    }
    StoredPassage {
        ordinal,
        tokens: reground_tokens::count(&content),
        content_hash: content_hash_hex(&content),
        content,
        char_start: passage.char_start,
        char_end: passage.char_end,
        page_start: pages.map(|pages| pages.start),
        page_end: pages.map(|pages| pages.end),
        heading: passage
            .heading
            .map(|heading| normalise(&heading).into_owned()),
        metadata: Value::Object(metadata),
    }
}

/// Returns the larger of the number of pages found in the text and the caller's page count.
fn pages_of(found: Option<u32>, counted: Option<i32>) -> Result<Option<u32>, DocumentError> {
    let counted = counted
        .map(|count| match u32::try_from(count) {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(DocumentError::PageCount(count)),
        })
        .transpose()?;
    Ok(found.max(counted))
}

/// Normalises page by page, so that the page starts move with the text.
fn normalise_pages(content: &str, starts: &[i32]) -> Result<(String, PageMap), DocumentError> {
    let starts = starts
        .iter()
        .map(|start| usize::try_from(*start).map_err(|_| DocumentError::Negative("a page start")))
        .collect::<Result<Vec<_>, _>>()?;
    // Rejects starts that do not ascend from 0.
    PageMap::from_starts(starts.clone())?;
    let bytes: Vec<usize> = checked(content.char_indices())
        .map(|(byte, _)| byte)
        .chain([content.len()])
        .collect();
    let length = bytes.len() - 1;
    if let Some(page) = starts.iter().position(|start| *start > length) {
        return Err(DocumentError::PageBeyondText {
            page: page + 1,
            start: starts[page],
            length,
        });
    }
    let cuts: Vec<usize> = starts
        .iter()
        .map(|start| next_boundary(content, bytes[*start]))
        .chain([content.len()])
        .collect();
    let mut text = String::with_capacity(content.len());
    let mut new_starts = Vec::with_capacity(starts.len());
    let mut characters = 0;
    for cut in checked(cuts.windows(2)) {
        let piece = normalise(&content[cut[0]..cut[1]]);
        new_starts.push(characters);
        characters += piece.chars().count();
        text.push_str(&piece);
    }
    Ok((text, PageMap::from_starts(new_starts)?))
}

/// Returns the first offset from `start` on at which the text can be cut such that both parts normalise as the whole does: not
/// before a combining mark or a trailing Hangul jamo, and not within CRLF.
fn next_boundary(text: &str, start: usize) -> usize {
    if start == 0 {
        return 0;
    }
    let joins = |(at, c): &(usize, char)| {
        canonical_combining_class(*c) != 0
            || ('\u{1160}'..='\u{11ff}').contains(c)
            || is_combining_mark(*c)
            || (*c == '\n' && text[..start + at].ends_with('\r'))
    };
    text[start..]
        .char_indices()
        .find(|position| !joins(position))
        .map_or(text.len(), |(at, _)| start + at)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn page_starts_move_with_the_normalised_text() {
        // "e" + combining acute composes, and CRLF becomes LF: page 2 starts at 4 in the stored text.
        let prepared = from_text(
            "e\u{301}\r\nx\r\ntwo",
            &ChunkSettings::default(),
            Some(&[0, 7]),
            None,
        )
        .unwrap();
        assert_eq!(prepared.text.as_deref(), Some("é\nx\ntwo"));
        assert_eq!(prepared.page_count, Some(2));
        assert_eq!(prepared.passages[0].page_end, Some(2));
    }

    proptest::proptest! {
        #[test]
        fn page_by_page_normalisation_equals_that_of_the_whole_text(
            pages in proptest::collection::vec("[a-cé\u{301}\u{1112}\u{1161}\u{11ab}\r\n ]{1,8}", 1..6)
        ) {
            let content: String = pages.concat();
            let mut starts = vec![0];
            for page in &pages[..pages.len() - 1] {
                starts.push(starts[starts.len() - 1] + i32::try_from(page.chars().count()).unwrap());
            }
            // A page of joining characters only would belong to the previous page. It is rejected, not renumbered.
            if let Ok((text, map)) = normalise_pages(&content, &starts) {
                proptest::prop_assert_eq!(&text, &*normalise(&content));
                proptest::prop_assert_eq!(map.page_count() as usize, pages.len());
            }
        }
    }

    #[test]
    fn page_starts_outside_the_text_are_errors() {
        let settings = ChunkSettings::default();
        for starts in [&[1][..], &[0, 9], &[0, -1], &[0, 2, 2]] {
            assert!(
                from_text("four", &settings, Some(starts), None).is_err(),
                "{starts:?}"
            );
        }
    }

    #[test]
    fn prepared_passages_keep_ids_and_coordinates() {
        let prepared = from_passages(
            &json!([{"content": "one", "chunk_id": 7, "page_start": 2, "char_start": 0, "char_end": 3}, {"content": "two", "extra": true}]),
            Some(9),
        )
        .unwrap();
        assert_eq!(prepared.page_count, Some(9));
        assert_eq!(prepared.passages[0].metadata, json!({"id": 7}));
        assert_eq!(prepared.passages[0].page_end, Some(2));
        assert_eq!(prepared.passages[1].char_start, None);
        assert_eq!(prepared.text, None);
    }

    #[test]
    fn passages_get_the_title_and_their_headings() {
        let headings = |prepared: &Prepared| {
            let all = prepared.passages.iter();
            all.map(|passage| passage.heading.clone())
                .collect::<Vec<_>>()
        };
        let text = "# Pumps\nThe first pump.\n\n## Oil\nChange it yearly.\n\nUse the best oil.";
        let settings = ChunkSettings::new(28, 0, crate::ChunkUnit::Characters).unwrap();
        let prepared = from_text(text, &settings, None, None).unwrap();
        let mut named = prepared.clone();
        named.set_headings(Some("Manual"), None);
        assert_eq!(named.passages.len(), 3);
        let expected = ["Manual", "Manual > Pumps", "Manual > Pumps > Oil"];
        assert_eq!(
            headings(&named),
            expected.map(|heading| Some(heading.to_owned()))
        );
        assert_eq!(named.digest, prepared.digest);
        let mut plain = prepared.clone();
        plain.set_headings(None, Some("text/plain"));
        assert_eq!(headings(&plain), [None, None, None]);
        let given = json!([{"content": "one", "heading": "Part\n1"}, {"content": "two"}]);
        let mut given = from_passages(&given, None).unwrap();
        given.set_headings(Some("Manual"), None);
        assert_eq!(
            headings(&given),
            [
                Some("Manual > Part 1".to_owned()),
                Some("Manual".to_owned())
            ]
        );
    }

    #[test]
    fn malformed_passages_are_errors() {
        for passages in [
            json!({"content": "x"}),
            json!([{"text": "x"}]),
            json!([{"content": " \n"}]),
            json!([{"content": "x", "char_start": 3, "char_end": 3}]),
            json!([{"content": "x", "char_start": 3}]),
            json!([{"content": "x", "page_start": 0}]),
            json!([{"content": "x", "page_end": 2}]),
        ] {
            assert!(from_passages(&passages, None).is_err(), "{passages}");
        }
    }
}
