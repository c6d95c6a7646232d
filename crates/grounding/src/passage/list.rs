//! The ranked lists that the branches return.

use serde::{Deserialize, Serialize};

/// The source of a ranked list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Branch {
    /// BM25. A hit's value is its score, higher is better.
    Lexical,
    /// pgvector. A hit's value is its distance, lower is better.
    Vector,
    /// The knowledge graph, for nodes that the conversation repeats. A hit's value is the weight of its strongest edge.
    Graph,
    /// The contexts of earlier turns, unordered. A hit has no value.
    History,
}

impl Branch {
    /// The stable name for display.
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

/// The metric of a vector distance (pgvector's three float operators).
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

/// An entry of a ranked list. Lists are sorted best first, and the rank is the position plus one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// Key of the passage; its handle, if a turn searches several corpora.
    pub chunk_id: String,
    /// Score (lexical), distance (vector) or weight (graph).
    pub value: f64,
}

/// Hits of the vector branch by distance, then by key, without those that have no distance: that of a zero vector is NaN, and an
/// overflow is infinite.
#[must_use]
pub fn nearest_first(hits: impl IntoIterator<Item = Hit>) -> Vec<Hit> {
    let hits = hits.into_iter();
    let mut hits: Vec<Hit> = hits.filter(|hit| hit.value.is_finite()).collect();
    hits.sort_by(|one, other| {
        let by_distance = one.value.total_cmp(&other.value);
        by_distance.then_with(|| one.chunk_id.cmp(&other.chunk_id))
    });
    hits
}

/// The result of one branch for one query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedList {
    /// The branch.
    pub branch: Branch,
    /// Weight of the list in the fusion.
    pub weight: f64,
    /// The compared entity of the query, under the intent `compare`.
    pub entity: Option<String>,
    /// Hits, best first.
    pub hits: Vec<Hit>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_equal_ones_by_key() {
        let hit = |chunk_id: &str, value| Hit {
            chunk_id: chunk_id.to_owned(),
            value,
        };
        let found = nearest_first([
            hit("z", 0.5),
            hit("10", 0.25),
            hit("n", f64::NAN),
            hit("9", 0.25),
            hit("far", f64::INFINITY),
            hit("a", -1.0),
        ]);
        let keys: Vec<&str> = found.iter().map(|hit| hit.chunk_id.as_str()).collect();
        assert_eq!(keys, ["a", "10", "9", "z"]);
    }
}
