//! The ranked lists that the branches return.

use serde::{Deserialize, Serialize};

/// What put a passage on a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Branch {
    /// BM25; a hit's value is its score, higher is better.
    Lexical,
    /// pgvector; a hit's value is its distance, lower is better.
    Vector,
    /// The edges of what the conversation keeps naming (C4); a hit's value is the weight of its strongest edge.
    Graph,
    /// What earlier turns were shown (H1), in no order; a hit has no value.
    History,
}

impl Branch {
    /// The stable text that is shown.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Vector => "vector",
            Self::Graph => "graph",
            Self::History => "history",
        }
    }
}

/// How a vector distance is measured (pgvector's three float operators).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// `<=>`, 1 − cosine similarity.
    #[default]
    Cosine,
    /// `<->`, Euclidean distance.
    L2,
    /// `<#>`, the negative inner product.
    InnerProduct,
}

/// One entry of a ranked list, best first; its rank is its position plus one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// Key of the passage; where a turn searches several corpora, its [handle](crate::begin::multi_corpus).
    pub key: String,
    /// Score (lexical), distance (vector) or weight (graph).
    pub value: f64,
}

/// The answer of one branch to one query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedList {
    /// Which branch answered.
    pub branch: Branch,
    /// Weight of the list in the fusion.
    pub weight: f64,
    /// The compared entity that was asked for, under the intent `compare`.
    pub entity: Option<String>,
    /// Hits, best first.
    pub hits: Vec<Hit>,
}
