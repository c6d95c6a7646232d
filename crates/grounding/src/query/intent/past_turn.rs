//! The data on an earlier turn from which the intent is judged.

use serde::{Deserialize, Serialize};

use crate::passage::vectors::cosine;
use crate::query::turn_features::TurnFeatures;

/// An earlier turn. Only the query is required; more data improve the judgement.
///
/// Similarities are cosines of embeddings. They are divided by `own_similarity`, which removes most of the differences
/// between embedding models. For a model whose cosines of unrelated texts are far from 0, subtract that value first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PastTurn {
    /// The user's query.
    pub query: String,
    /// Titles of the sources in its context.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Titles of the sources that its answer cited.
    #[serde(default)]
    pub cited: Vec<String>,
    /// Its answer; empty where there is none.
    #[serde(default)]
    pub answer: String,
    /// The passages that its answer cited.
    #[serde(default)]
    pub cited_texts: Vec<String>,
    /// Similarity of this turn's query to that turn's.
    #[serde(default)]
    pub similarity: Option<f64>,
    /// Largest similarity of this turn's query to a passage that was cited there.
    #[serde(default)]
    pub cited_similarity: Option<f64>,
    /// Largest similarity of this turn's query to a passage of the documents cited there, without the passages that any
    /// turn cited.
    #[serde(default)]
    pub document_similarity: Option<f64>,
    /// Largest similarity of *that* turn's query to a passage that was cited there.
    #[serde(default)]
    pub own_similarity: Option<f64>,
}

impl PastTurn {
    /// The turn with its similarities to this turn's query. `features` contains its embeddings; `nearest` is the largest
    /// cosine of the query to the other passages of the documents that it cited.
    #[must_use]
    pub fn with_similarities(
        self,
        query: Option<&[f32]>,
        features: &TurnFeatures,
        nearest: Option<f64>,
    ) -> Self {
        let most = |own: &[f32]| {
            let cosines = features.cited.iter().filter_map(|cited| cosine(own, cited));
            cosines.reduce(f64::max)
        };
        let turn = features.embedding.as_deref();
        Self {
            similarity: query
                .zip(turn)
                .and_then(|(query, turn)| cosine(query, turn)),
            cited_similarity: query.and_then(most),
            document_similarity: query.and(nearest),
            own_similarity: query.and(turn).and_then(most),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarities_to_a_turn_are_computed() {
        let features = TurnFeatures {
            embedding: Some(vec![0.0, 1.0]),
            cited: vec![vec![1.0, 0.0], vec![0.6, 0.8]],
            ..TurnFeatures::default()
        };
        let turn = PastTurn::default().with_similarities(Some(&[1.0, 0.0]), &features, Some(0.5));
        assert_eq!(
            (turn.similarity, turn.cited_similarity),
            (Some(0.0), Some(1.0))
        );
        assert!((turn.own_similarity.unwrap() - 0.8).abs() < 1e-6);
        assert_eq!(turn.document_similarity, Some(0.5));
        let blind = PastTurn::default().with_similarities(None, &features, Some(0.5));
        assert_eq!(blind, PastTurn::default());
    }
}
