//! How the lexical branch searches a corpus.

use reground_grounding::settings::{LexicalSearch, LexicalStatistics, Settings};

use super::corpus_index::{self, LexicalIndex};
use crate::error::Result;
use crate::store::corpora::Corpus;

/// How the passages of a corpus are ranked.
pub enum LexicalStrategy {
    /// Through an index. Document frequencies are those of all its rows, also of rows that the caller may not read.
    Index(LexicalIndex),
    /// By reading all visible passages, for this reason.
    Scan(ScanReason),
}

/// Why all visible passages are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanReason {
    /// The setting `lexical_search` asks for it.
    Setting,
    /// An index contains the current rows only.
    Past,
    /// The corpus has no index.
    NoIndex,
    /// The setting `lexical_statistics` asks for the figures of the visible passages, and others are hidden.
    Statistics,
}

impl LexicalStrategy {
    /// Returns the strategy for a search by the caller.
    ///
    /// The statistics of an index include all rows. If rows are hidden from the caller, the setting `lexical_statistics`
    /// decides whether they may influence scores.
    pub fn of(corpus: &Corpus, settings: &Settings) -> Result<Self> {
        if settings.lexical_search == LexicalSearch::Exact {
            return Ok(Self::Scan(ScanReason::Setting));
        }
        if corpus.past.is_some() {
            return Ok(Self::Scan(ScanReason::Past));
        }
        let statistics = settings.lexical_statistics_of(&corpus.settings);
        Ok(match corpus_index::index(corpus)? {
            None => Self::Scan(ScanReason::NoIndex),
            Some(index) if index.hides_rows && statistics == LexicalStatistics::Visible => {
                Self::Scan(ScanReason::Statistics)
            }
            Some(index) => Self::Index(index),
        })
    }

    /// Whether an index would make searches faster.
    pub fn lacks_index(&self) -> bool {
        matches!(self, Self::Scan(ScanReason::NoIndex))
    }
}
