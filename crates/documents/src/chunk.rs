//! Chunks with exact coordinates.

mod breaks;
mod graphemes;
mod ruler;
mod settings;
mod windows;

use crate::{DocumentError, PageMap, PageRange, content_hash};
pub use settings::{ChunkSettings, ChunkUnit};
use windows::Windows;

/// A chunk of a document. Ranges are half-open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Position among the document's chunks, from 0.
    pub ordinal: u32,
    /// Start in the document, in Unicode scalar values (PostgreSQL's characters).
    pub char_start: usize,
    /// End in the document, in Unicode scalar values.
    pub char_end: usize,
    /// Start in the document, in UTF-8 bytes.
    pub byte_start: usize,
    /// End in the document, in UTF-8 bytes.
    pub byte_end: usize,
    /// The document's text at the offsets.
    pub text: &'a str,
    /// Exact number of o200k_base tokens, also if the settings use another unit.
    pub tokens: u32,
    /// Pages of the chunk, if the document has pages.
    pub pages: Option<PageRange>,
    /// [`content_hash`] of the text.
    pub hash: [u8; 32],
}

/// Splits a document into chunks.
///
/// - The chunk's text is always the document's text at its offsets.
/// - Every character that is not white space is in a chunk. No chunk consists of white space only.
/// - A chunk is not larger than `size`, except a single character that is. Consecutive chunks share at most `overlap`. Starts
///   and ends ascend.
/// - A chunk ends at the end of a paragraph if there is one in the last part of its size, otherwise of a sentence, otherwise
///   of a word. A Markdown heading stays with the text after it. Chunks do not begin or end with white space.
/// - An extended grapheme cluster is split only when it is larger than `size`.
///
/// Linear in the text for given settings. A chunk costs time proportional to its size, so an overlap just below the size
/// multiplies the cost.
///
/// # Errors
/// The errors of [`ChunkSettings::check`].
pub fn chunk<'a>(
    text: &'a str,
    settings: &ChunkSettings,
    pages: Option<&PageMap>,
) -> Result<Vec<Chunk<'a>>, DocumentError> {
    settings.check()?;
    let windows = Windows::new(text, settings).cut();
    // Starts ascend, so one pass over the text converts bytes to characters.
    let (mut byte, mut character) = (0, 0);
    let chunks = (0u32..).zip(windows).map(|(ordinal, window)| {
        character += text[byte..window.start].chars().count();
        byte = window.start;
        let content = &text[window.clone()];
        let char_end = character + content.chars().count();
        Chunk {
            ordinal,
            char_start: character,
            char_end,
            byte_start: window.start,
            byte_end: window.end,
            text: content,
            tokens: u32::try_from(reground_tokens::count(content)).unwrap_or(u32::MAX),
            pages: pages.map(|map| map.pages(character..char_end)),
            hash: content_hash(content),
        }
    });
    Ok(chunks.collect())
}

/// Returns the storage cost of the overlap: characters stored twice / characters of the document; 0 for an empty document.
///
/// `text_len` is in Unicode scalar values.
pub fn overlap_cost(chunks: &[Chunk<'_>], text_len: usize) -> f64 {
    if text_len == 0 {
        return 0.0;
    }
    let twice: usize = chunks
        .windows(2)
        .map(|pair| pair[0].char_end.saturating_sub(pair[1].char_start))
        .sum();
    twice as f64 / text_len as f64
}
