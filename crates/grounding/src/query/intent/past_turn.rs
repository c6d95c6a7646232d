//! What intent knows of an earlier turn.

use serde::{Deserialize, Serialize};

use crate::passage::vectors::cosine;
use crate::query::turn_features::TurnFeatures;

/// An earlier turn, as far as intent looks at it. Only the query has to be known; the more is, the better the judgement.
///
/// Similarities are cosines of embeddings. They are weighed as a share of `own_similarity`, which most of what is of the
/// model cancels out of; of a model whose cosines of unrelated texts are far from 0, subtract those first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PastTurn {
    /// The user's words.
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
    /// How similar this turn's query is to that turn's.
    #[serde(default)]
    pub similarity: Option<f64>,
    /// The most that this turn's query is similar to a passage that was cited there.
    #[serde(default)]
    pub cited_similarity: Option<f64>,
    /// The most that this turn's query is similar to a passage of the documents that were cited there, apart from the
    /// passages that any turn cited.
    #[serde(default)]
    pub document_similarity: Option<f64>,
    /// The most that *that* turn's query is similar to a passage that was cited there.
    #[serde(default)]
    pub own_similarity: Option<f64>,
}

impl PastTurn {
    /// The turn with the likeness of this turn's query to it: `said` are its embeddings, `nearest` the largest cosine of the
    /// query to the other passages of the documents that it cited.
    #[must_use]
    pub fn likened(self, query: Option<&[f32]>, said: &TurnFeatures, nearest: Option<f64>) -> Self {
        let most = |own: &[f32]| {
            let cosines = said.cited.iter().filter_map(|cited| cosine(own, cited));
            cosines.reduce(f64::max)
        };
        let turn = said.embedding.as_deref();
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
    fn a_turn_is_likened_to_what_was_said_and_cited() {
        let said = TurnFeatures {
            embedding: Some(vec![0.0, 1.0]),
            cited: vec![vec![1.0, 0.0], vec![0.6, 0.8]],
            ..TurnFeatures::default()
        };
        let turn = PastTurn::default().likened(Some(&[1.0, 0.0]), &said, Some(0.5));
        assert_eq!(
            (turn.similarity, turn.cited_similarity),
            (Some(0.0), Some(1.0))
        );
        assert!((turn.own_similarity.unwrap() - 0.8).abs() < 1e-6);
        assert_eq!(turn.document_similarity, Some(0.5));
        let blind = PastTurn::default().likened(None, &said, Some(0.5));
        assert_eq!(blind, PastTurn::default());
    }
}
