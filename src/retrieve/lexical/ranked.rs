//! A search of the lexical branch, the passages that it has to score, and its results.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::passage::{Branch, Hit, RankedList};
use reground_grounding::query::plan::SubQuery;

use crate::retrieve::filter::Filter;
use crate::retrieve::lists::addresses::Addresses;
use crate::store::sources::StoredSource;

/// A search of the lexical branch.
pub struct Search<'a> {
    /// The queries. The first is the turn's own.
    pub queries: &'a [SubQuery],
    pub filter: &'a Filter,
    /// An embedding whose distances from the hits are needed.
    pub embedding: Option<&'a [f32]>,
    /// Number of hits of each query.
    pub limit: usize,
}

/// Passages to score even if they are not among the best.
#[derive(Default)]
pub struct Wanted {
    /// Ids of passages.
    pub chunk_ids: BTreeSet<String>,
    /// Ids of documents, for all their passages.
    pub doc_ids: BTreeSet<String>,
    /// Addresses of passages, as far as they are known.
    pub addresses: Addresses,
}

impl Wanted {
    /// The sources of a corpus that the conversation remembers.
    pub fn of(live: &[StoredSource], corpus: &str) -> Self {
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.chunk_ids.is_empty() && self.doc_ids.is_empty()
    }
}

/// The results of all queries.
pub struct Rankings {
    /// The result of each query, in order.
    pub each: Vec<Ranked>,
    /// Number of passages that were read instead of an index.
    pub passages_read: u64,
}

/// The result of one query.
#[derive(Default)]
pub struct Ranked {
    /// The best passages by descending score, then by id.
    pub hits: Vec<Hit>,
    /// Scores of the wanted passages that contain a word of the query, by id. Empty for all queries but the first.
    pub wanted: BTreeMap<String, f64>,
    /// Distances of the hits from the embedding of the search, as far as they are known.
    pub distances: BTreeMap<String, f64>,
}

impl Ranked {
    /// Returns the list for fusion. `query` is the query of this result.
    pub fn into_list(self, query: &SubQuery) -> RankedList {
        RankedList {
            branch: Branch::Lexical,
            weight: query.weight,
            entity: query.entity.clone(),
            hits: self.hits,
        }
    }
}
