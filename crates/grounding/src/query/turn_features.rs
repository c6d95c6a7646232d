//! The lexemes and embeddings of an earlier turn.

use std::collections::BTreeMap;

/// An earlier turn as a query looks at it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnFeatures {
    /// Lexemes of the user's words, with their counts.
    pub query: BTreeMap<String, u32>,
    /// Lexemes of the answer, with their counts.
    pub answer: BTreeMap<String, u32>,
    /// Embedding of the user's words.
    pub embedding: Option<Vec<f32>>,
    /// Embeddings of the passages that the answer cited.
    pub cited: Vec<Vec<f32>>,
    /// Keys of the passages that it was shown, of the corpus that is asked.
    pub shown: Vec<String>,
}
