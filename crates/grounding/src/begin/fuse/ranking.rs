//! The input and the output of a fusion.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::passage::{Metric, Passage, RankedList};

/// The results of a search: the lists of the branches, with their scores and passages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResults {
    /// The ranked lists. In each branch the turn's own query comes first, in the same order for every corpus.
    pub lists: Vec<RankedList>,
    /// The scores of both branches for the passages in the lists. Not needed for rank fusion.
    pub scores: BranchScores,
    /// The scores of the results of earlier turns under this query together with the query that found them, if these
    /// are ranked too.
    pub integrated: BranchScores,
    /// Passages of the lexical lists that have no vector although vectors were searched, by the name that the lists use.
    /// Needed only for rank fusion. Score fusion knows them by their missing distances.
    pub without_vector: BTreeSet<String>,
    /// The passages in the lists, by the name that the lists use. Not needed for [`rows`](super::rows()).
    pub passages: BTreeMap<String, Passage>,
    /// Dates of the documents in seconds since 1970, by the name that the lists use, for documents that have one. Needed
    /// only with `recency_half_life`.
    pub dates: BTreeMap<String, f64>,
    /// The time from which ages are measured, in seconds since 1970.
    pub time: Option<f64>,
    /// The distance metric of the vector lists.
    pub metric: Metric,
    /// Whether all passages of a corpus were read because it has no lexical index.
    pub lacks_index: bool,
    /// Number of passages that the lexical branch read instead of an index.
    pub passages_read: u64,
    /// Whether the corpus has no column of embeddings; of several corpora, whether none has one.
    pub lacks_embeddings: bool,
}

/// The scores of both branches for passages under the turn's own query, whichever list contains them. Values in a list
/// of the own query need not be repeated here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BranchScores {
    /// BM25 scores, by key. A passage without one contains no word of the query.
    pub lexical: BTreeMap<String, f64>,
    /// Vector distances, by key. A passage without one has no embedding.
    pub distances: BTreeMap<String, f64>,
}

/// A row of a fusion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FusedRow {
    /// Key of the passage in the lists.
    pub chunk_id: String,
    /// The fused score, higher is better. The setting `fusion` selects the method.
    pub score: f64,
    /// Best rank over the lexical lists, from 1.
    pub lexical_rank: Option<u32>,
    /// Score at that rank; else the score under the turn's own query, if known.
    pub lexical_score: Option<f64>,
    /// Best rank over the vector lists, from 1.
    pub vector_rank: Option<u32>,
    /// Distance at that rank; else the distance to the turn's own query, if known.
    pub vector_distance: Option<f64>,
    /// Rank among the graph neighbours, from 1.
    pub graph_rank: Option<u32>,
    /// Factor on the score for the age of the document; `None` if the setting `recency_half_life` is off.
    #[serde(default)]
    pub recency: Option<f64>,
    /// Compared entities whose lists contain it, sorted.
    pub entities: Vec<String>,
}
