//! The lexical branch ranks passages by BM25. It uses an index if there is one that the caller may use, and otherwise reads
//! all visible passages.

mod corpus_index;
mod exact;
mod indexed;
mod notice;
mod ranked;
mod strategy;

pub use corpus_index::{
    Difference, create as create_index, create_on as create_index_on, index, indexes_of,
};
pub use notice::notice_scan;
pub use ranked::{Rankings, Search, Wanted};
pub use strategy::LexicalStrategy;

use crate::error::Result;
use crate::retrieve::text_config;
use crate::store::corpora::Corpus;

/// Ranks the passages by BM25 and returns one result per query, in the order of the queries. The first query is the turn's
/// own: it also scores the wanted passages and the hits of the other queries.
pub fn rank(
    corpus: &Corpus,
    search: &Search<'_>,
    wanted: &Wanted,
    strategy: &LexicalStrategy,
) -> Result<Rankings> {
    let configs = text_config::of_corpus(corpus)?;
    let (each, passages_read) = match strategy {
        LexicalStrategy::Index(index) => {
            (indexed::rank(corpus, index, search, &configs, wanted)?, 0)
        }
        LexicalStrategy::Scan(_) => exact::rank(corpus, search, &configs, wanted)?,
    };
    Ok(Rankings {
        each,
        passages_read,
    })
}
