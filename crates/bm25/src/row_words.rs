//! The words of a row, as the one-pass ranking needs them.

use std::collections::HashMap;

use crate::tsvector::TsVector;

/// Length of a row, and how often it contains a lexeme.
pub trait RowWords {
    /// Number of words, weighted.
    fn length(&self) -> u32;

    /// Number of occurrences of a lexeme, weighted; 0 if it is absent.
    fn frequency(&self, lexeme: &[u8]) -> u32;
}

impl RowWords for TsVector<'_> {
    fn length(&self) -> u32 {
        self.length()
    }

    fn frequency(&self, lexeme: &[u8]) -> u32 {
        self.frequency(lexeme)
    }
}

/// Counts the lexemes of queries in one row after the other, while its text is read. Other lexemes count in the length only.
#[derive(Debug, Clone, Default)]
pub struct WordCounter {
    length: u32,
    counts: HashMap<Box<[u8]>, u32>,
}

impl WordCounter {
    /// A counter for these lexemes.
    pub fn new<'a>(lexemes: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self {
            length: 0,
            counts: lexemes
                .into_iter()
                .map(|lexeme| (lexeme.into(), 0))
                .collect(),
        }
    }

    /// Begins the next row.
    pub fn clear(&mut self) {
        self.length = 0;
        for count in self.counts.values_mut() {
            *count = 0;
        }
    }

    /// Adds an occurrence of a lexeme, which counts `weight` times.
    pub fn add(&mut self, lexeme: &[u8], weight: u8) {
        self.length = self.length.saturating_add(weight.into());
        if let Some(count) = self.counts.get_mut(lexeme) {
            *count = count.saturating_add(weight.into());
        }
    }
}

impl RowWords for WordCounter {
    fn length(&self) -> u32 {
        self.length
    }

    fn frequency(&self, lexeme: &[u8]) -> u32 {
        self.counts.get(lexeme).copied().unwrap_or_default()
    }
}
