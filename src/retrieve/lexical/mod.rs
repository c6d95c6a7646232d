//! The lexical branch ranks passages by BM25. It uses an index if there is one that the caller may use, and otherwise reads
//! all visible passages.

mod exact;
mod indexed;
mod ranked;

use reground_grounding::query::plan::SubQuery;
use reground_grounding::settings::LexicalSearch;

pub use indexed::{
    Difference, LexicalIndex, create as create_index, create_on as create_index_on, index,
    indexes_of,
};
pub use ranked::{Ranked, Wanted};

use crate::error::Result;
use crate::retrieve::filter::Filter;
use crate::retrieve::text_config;
use crate::store::corpora::Corpus;

/// How the passages of a corpus are ranked.
pub enum LexicalStrategy {
    /// Through an index.
    Index(LexicalIndex),
    /// By reading all visible passages.
    Scan {
        /// Whether the only reason is that the corpus has no index.
        lacks_index: bool,
    },
}

impl LexicalStrategy {
    /// Returns the strategy for a search by the caller.
    ///
    /// The statistics of an index include all rows. If row-level security hides rows from the caller, the index is not used,
    /// because its scores would reveal words of hidden rows.
    pub fn of(corpus: &Corpus, search: LexicalSearch) -> Result<Self> {
        let scan = |lacks_index| Self::Scan { lacks_index };
        Ok(match search {
            LexicalSearch::Exact => scan(false),
            // An index contains the current rows only.
            LexicalSearch::Auto if corpus.past.is_some() => scan(false),
            LexicalSearch::Auto => match indexed::index(corpus)? {
                None => scan(true),
                Some(index) if index.row_security => scan(false),
                Some(index) => Self::Index(index),
            },
        })
    }

    /// Whether an index would make searches faster.
    pub fn lacks_index(&self) -> bool {
        matches!(self, Self::Scan { lacks_index: true })
    }
}

/// Ranks the passages by BM25 and returns one result per query, in the order of the queries. The first query is the turn's
/// own: it also scores the wanted passages and the hits of the other queries.
pub fn rank(
    corpus: &Corpus,
    queries: &[SubQuery],
    filter: &Filter,
    wanted: &Wanted,
    strategy: &LexicalStrategy,
    limit: usize,
) -> Result<Vec<Ranked>> {
    let configs = text_config::of_corpus(corpus)?;
    match strategy {
        LexicalStrategy::Index(index) => {
            indexed::rank(corpus, index, queries, &configs, filter, wanted, limit)
        }
        LexicalStrategy::Scan { .. } => {
            exact::rank(corpus, queries, &configs, filter, wanted, limit)
        }
    }
}
