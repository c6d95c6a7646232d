//! The lexemes and embeddings of an earlier turn.

use std::collections::BTreeMap;

/// The lexemes and embeddings of an earlier turn, for the retrieval of a later one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnFeatures {
    /// Lexemes of the user's query, with their counts.
    pub query: BTreeMap<String, u32>,
    /// Lexemes of the answer, with their counts.
    pub answer: BTreeMap<String, u32>,
    /// Embedding of the user's query.
    pub embedding: Option<Vec<f32>>,
    /// Embeddings of the passages that the answer cited.
    pub cited: Vec<Vec<f32>>,
    /// Keys of the passages in its context, from the corpus that is searched.
    pub shown: Vec<String>,
}
