//! Settings of chunking.

use serde::{Deserialize, Serialize};

use crate::DocumentError;

/// The unit of sizes and overlaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChunkUnit {
    /// o200k_base tokens.
    #[default]
    Tokens,
    /// Unicode scalar values.
    Characters,
    /// Sentences of [`sentence_spans`](crate::sentence_spans). Their length is unbounded, so the length of chunks is, too.
    Sentences,
}

/// Size and overlap of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkSettings {
    /// Maximum size of a chunk, in the unit.
    pub size: u32,
    /// Maximum overlap of two consecutive chunks, in the unit. Less than the size.
    pub overlap: u32,
    /// Unit of size and overlap.
    pub unit: ChunkUnit,
}

impl Default for ChunkSettings {
    /// 512 tokens with an overlap of 128.
    fn default() -> Self {
        Self {
            size: 512,
            overlap: 128,
            unit: ChunkUnit::Tokens,
        }
    }
}

impl ChunkUnit {
    /// Parses `tokens`, `characters` or `sentences`.
    ///
    /// # Errors
    /// [`DocumentError::ChunkUnit`] for any other name.
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
    /// Creates settings from the signed integers of SQL, and checks them.
    ///
    /// # Errors
    /// [`DocumentError::Negative`] for a negative number, and the errors of [`ChunkSettings::check`].
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
    /// [`DocumentError::EmptyChunk`] if the size is 0, [`DocumentError::OverlapTooLarge`] if the overlap is not less than the size.
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
