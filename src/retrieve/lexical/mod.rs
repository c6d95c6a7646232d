//! The lexical branch ranks passages by BM25. It uses an index if there is one that the caller may use, and otherwise reads
//! all visible passages.

mod exact;
mod indexed;
mod notice;
mod ranked;
mod strategy;

use reground_grounding::query::plan::SubQuery;

pub use indexed::{
    Difference, create as create_index, create_on as create_index_on, index, indexes_of,
};
pub use notice::notice_scan;
pub use ranked::{Rankings, Wanted};
pub use strategy::LexicalStrategy;

use crate::error::Result;
use crate::retrieve::filter::Filter;
use crate::retrieve::text_config;
use crate::store::corpora::Corpus;

/// Ranks the passages by BM25 and returns one result per query, in the order of the queries. The first query is the turn's
/// own: it also scores the wanted passages and the hits of the other queries.
pub fn rank(
    corpus: &Corpus,
    queries: &[SubQuery],
    filter: &Filter,
    wanted: &Wanted,
    strategy: &LexicalStrategy,
    limit: usize,
) -> Result<Rankings> {
    let configs = text_config::of_corpus(corpus)?;
    let (each, passages_read) = match strategy {
        LexicalStrategy::Index(index) => (
            indexed::rank(corpus, index, queries, &configs, filter, wanted, limit)?,
            0,
        ),
        LexicalStrategy::Scan(_) => exact::rank(corpus, queries, &configs, filter, wanted, limit)?,
    };
    Ok(Rankings {
        each,
        passages_read,
    })
}
