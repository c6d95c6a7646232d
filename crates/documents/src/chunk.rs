//! Chunks with exact coordinates (I2).

mod breaks;
mod graphemes;
mod ruler;
mod windows;

use serde::{Deserialize, Serialize};

use crate::{DocumentError, PageMap, PageRange, content_hash};
use windows::Windows;

/// What sizes and overlaps are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChunkUnit {
    /// o200k_base tokens.
    #[default]
    Tokens,
    /// Unicode scalar values.
    Characters,
    /// Sentences of [`sentence_spans`](crate::sentence_spans). They have no bound in length, so neither have chunks.
    Sentences,
}

/// How a document is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkSettings {
    /// Most of a chunk, in the unit.
    pub size: u32,
    /// Most that two consecutive chunks share, in the unit; less than the size.
    pub overlap: u32,
    /// The unit of both.
    pub unit: ChunkUnit,
}

impl Default for ChunkSettings {
    /// 512 tokens, 128 of them shared (I2).
    fn default() -> Self {
        Self {
            size: 512,
            overlap: 128,
            unit: ChunkUnit::Tokens,
        }
    }
}

impl ChunkUnit {
    /// The unit of that name: `tokens`, `characters` or `sentences`.
    ///
    /// # Errors
    /// For any other name.
    pub fn parse(name: &str) -> Result<Self, DocumentError> {
        match name {
            "tokens" => Ok(Self::Tokens),
            "characters" => Ok(Self::Characters),
            "sentences" => Ok(Self::Sentences),
            other => Err(DocumentError::ChunkUnit(other.to_owned())),
        }
    }
}

impl ChunkSettings {
    /// Settings from signed numbers, as SQL has them, checked.
    ///
    /// # Errors
    /// When one is negative, and those of [`ChunkSettings::check`].
    pub fn new(size: i32, overlap: i32, unit: ChunkUnit) -> Result<Self, DocumentError> {
        let settings = Self {
            size: u32::try_from(size).map_err(|_| DocumentError::Negative("chunk size"))?,
            overlap: u32::try_from(overlap)
                .map_err(|_| DocumentError::Negative("chunk overlap"))?,
            unit,
        };
        settings.check()?;
        Ok(settings)
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// When the size is 0, or the overlap is not less than the size.
    pub fn check(&self) -> Result<(), DocumentError> {
        if self.size == 0 {
            return Err(DocumentError::EmptyChunk);
        }
        if self.overlap >= self.size {
            return Err(DocumentError::OverlapTooLarge {
                overlap: self.overlap,
                size: self.size,
            });
        }
        Ok(())
    }
}

/// A stretch of a document. Ranges are half-open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Place among the document's chunks, from 0.
    pub ordinal: u32,
    /// Start in the document, in Unicode scalar values (what Postgres calls characters).
    pub char_start: usize,
    /// End in the document, in Unicode scalar values.
    pub char_end: usize,
    /// Start in the document, in UTF-8 bytes.
    pub byte_start: usize,
    /// End in the document, in UTF-8 bytes.
    pub byte_end: usize,
    /// The document's text at the offsets.
    pub text: &'a str,
    /// o200k_base tokens of the text, exactly, whatever the unit of the settings.
    pub tokens: u32,
    /// The pages it lies on, where the document has pages.
    pub pages: Option<PageRange>,
    /// [`content_hash`] of the text.
    pub hash: [u8; 32],
}

/// Cuts a document into chunks.
///
/// - The document's text at a chunk's offsets is the chunk, always (I2).
/// - Every character that is not white space is in a chunk; a stretch of white space alone is not a chunk.
/// - No chunk measures more than the size, save one of a single character that does; consecutive chunks share no more
///   than the overlap; starts and ends ascend.
/// - A chunk ends with a paragraph where one ends in the last part of its room, else with a sentence, else with a
///   word; a Markdown heading stays with the text after it. Chunks do not begin or end with white space.
/// - An extended grapheme cluster is broken only when it alone exceeds the size.
///
/// Linear in the text for given settings; a chunk costs its size, so an overlap just below the size multiplies.
///
/// # Errors
/// Those of [`ChunkSettings::check`].
pub fn chunk<'a>(
    text: &'a str,
    settings: &ChunkSettings,
    pages: Option<&PageMap>,
) -> Result<Vec<Chunk<'a>>, DocumentError> {
    settings.check()?;
    let windows = Windows::new(text, settings).cut();
    // Starts ascend, so one pass over the text turns bytes into characters.
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

/// What overlap costs in storage (I2): characters stored twice / characters of the document; 0 for an empty document.
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
