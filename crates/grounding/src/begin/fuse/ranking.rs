//! The input and the output of a fusion.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::passage::{Metric, RankedList};

/// What the branches returned for a query.
#[derive(Clone, Copy, Debug)]
pub struct Ranking<'a> {
    /// Their lists.
    pub lists: &'a [RankedList],
    /// What both branches say of the passages in them; not needed where ranks are fused.
    pub scores: &'a BranchScores,
    /// What they say of the results of earlier turns under this query together with the one that found them, where these are
    /// ranked too.
    pub integrated: Option<&'a BranchScores>,
    /// How the vector lists measure distance.
    pub metric: Metric,
}

/// What both branches say of passages under a turn's own query, whichever list brought them in. What a list of the own query
/// says need not be here again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BranchScores {
    /// BM25 scores, by key; a passage without one has no word of the query.
    pub lexical: BTreeMap<String, f64>,
    /// Vector distances, by key; a passage without one has no embedding.
    pub distances: BTreeMap<String, f64>,
}

/// A row of a fusion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FusedRow {
    /// Key of the passage, as the lists name it.
    pub key: String,
    /// By which it is ordered, higher first; how it comes about is the setting `fusion`.
    pub score: f64,
    /// Best rank over the lexical lists, from 1.
    pub lexical_rank: Option<u32>,
    /// Score at that rank; else that under the turn's own query, where it was looked up.
    pub lexical_score: Option<f64>,
    /// Best rank over the vector lists, from 1.
    pub vector_rank: Option<u32>,
    /// Distance at that rank; else that to the turn's own query, where it was looked up.
    pub vector_distance: Option<f64>,
    /// Rank among the neighbours of the knowledge graph, from 1.
    pub graph_rank: Option<u32>,
    /// Compared entities whose lists hold it, sorted.
    pub entities: Vec<String>,
}
