//! The lexical branch: passages ranked by BM25, through an index where there is one that may be used, else in one pass.

mod exact;
mod indexed;

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::passage::{Branch, Hit, RankedList};
use reground_grounding::query::plan::SubQuery;
use reground_grounding::settings::LexicalSearch;

use crate::error::Result;
use crate::retrieve::filter::Filter;
use crate::retrieve::text_config;
use crate::store::corpora::Corpus;
use crate::store::sources::Live;

/// Passages whose score is wanted whether or not they come in among the best.
#[derive(Default)]
pub struct Wanted {
    /// Keys of passages.
    pub chunk_ids: BTreeSet<String>,
    /// Keys of documents: all their passages.
    pub doc_ids: BTreeSet<String>,
}

impl Wanted {
    /// What a conversation remembers of a corpus.
    pub fn of(live: &[Live], corpus: &str) -> Self {
        let mut wanted = Self::default();
        for source in live.iter().map(|live| &live.source) {
            if source.corpus != corpus {
                continue;
            }
            if source.chunk_id.is_empty() {
                wanted.doc_ids.insert(source.doc_id.clone());
            } else {
                wanted.chunk_ids.insert(source.chunk_id.clone());
            }
        }
        wanted
    }

    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.chunk_ids.is_empty() && self.doc_ids.is_empty()
    }
}

/// The answer to a query.
#[derive(Default)]
pub struct Ranked {
    /// The best passages by falling score, equal ones by rising key.
    pub hits: Vec<Hit>,
    /// Scores of the wanted passages that have a word of the query, by key; only with the first query.
    pub wanted: BTreeMap<String, f64>,
}

impl Ranked {
    /// As a list to be fused, the answer to `query`.
    pub fn into_list(self, query: &SubQuery) -> RankedList {
        RankedList {
            branch: Branch::Lexical,
            weight: query.weight,
            entity: query.entity.clone(),
            hits: self.hits,
        }
    }
}

pub use indexed::{
    LexicalIndex, create as create_index, create_on as create_index_on, index, indexes_of,
};

/// How the passages of a corpus are ranked.
pub enum LexicalStrategy {
    /// Through an index.
    Index(LexicalIndex),
    /// All visible passages are read.
    Pass {
        /// Only because no index serves the corpus.
        lacks_index: bool,
    },
}

impl LexicalStrategy {
    /// The way that the caller's search takes.
    ///
    /// An index knows of all rows. Where row-level security hides some from the caller, its figures would tell of them, so
    /// the visible ones are read.
    pub fn of(corpus: &Corpus, search: LexicalSearch) -> Result<Self> {
        let pass = |lacks_index| Self::Pass { lacks_index };
        Ok(match search {
            LexicalSearch::Exact => pass(false),
            LexicalSearch::Auto => match indexed::index(corpus)? {
                None => pass(true),
                Some(index) if index.row_security => pass(false),
                Some(index) => Self::Index(index),
            },
        })
    }

    /// Whether an index would make searches faster.
    pub fn lacks_index(&self) -> bool {
        matches!(self, Self::Pass { lacks_index: true })
    }
}

/// Ranks the passages by BM25 for each query; one answer a query, in order. The first is the turn's own: what is wanted, and
/// what the other queries found, is scored by it.
pub fn rank(
    corpus: &Corpus,
    queries: &[SubQuery],
    filter: &Filter,
    wanted: &Wanted,
    way: &LexicalStrategy,
    limit: usize,
) -> Result<Vec<Ranked>> {
    let configs = text_config::of_corpus(corpus)?;
    match way {
        LexicalStrategy::Index(index) => {
            indexed::rank(corpus, index, queries, &configs, filter, wanted, limit)
        }
        LexicalStrategy::Pass { .. } => {
            exact::rank(corpus, queries, &configs, filter, wanted, limit)
        }
    }
}
