//! What intent knows of an earlier turn.

use serde::{Deserialize, Serialize};

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
