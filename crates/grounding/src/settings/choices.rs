//! The settings that take one of several words.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::GroundingError;

/// What makes a source active at the end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CarryActivation {
    /// Cited, or put into the context by fresh retrieval.
    Context,
    /// Cited only.
    Cited,
}

/// How the lexical branch searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LexicalSearch {
    /// Through an index, if a usable one exists.
    Auto,
    /// Without an index: every passage is read.
    Exact,
}

/// The passages that the figures of BM25 count: number of passages, document frequencies, mean length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LexicalStatistics {
    /// All passages of the corpus, also those that are hidden from the caller.
    All,
    /// Only the passages that the caller may read.
    Visible,
}

/// How the vector branch searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VectorSearch {
    /// As the planner chooses.
    Auto,
    /// Without an index: every passage is compared.
    Exact,
    /// Through the vector index.
    Index,
}

/// How the lists of the branches are combined into one order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fusion {
    /// By the standardised scores of both branches.
    Scores,
    /// By reciprocal rank.
    Rrf,
    /// As `scores`, with the results of earlier turns ranked among those of this turn.
    Integrated,
}

impl Fusion {
    /// Whether each branch has to score the passages that the other found.
    #[must_use]
    pub fn by_scores(self) -> bool {
        self != Self::Rrf
    }

    /// Whether the results of earlier turns are ranked too.
    #[must_use]
    pub fn ranks_earlier_results(self) -> bool {
        self == Self::Integrated
    }

    /// The default share of the vector branch.
    #[must_use]
    pub fn vector_share(self) -> f64 {
        match self {
            Self::Scores | Self::Integrated => 0.7,
            Self::Rrf => 0.5,
        }
    }
}

/// The text from which a turn's query is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryFrom {
    /// The user's words alone.
    Turn,
    /// All queries of the user, as far back as `query_history`.
    Dialogue,
    /// The user's query, expanded with the conversation as far as it depends on it.
    Contextual,
}

/// Order of the passages in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassageOrder {
    /// Strongest first.
    Score,
    /// Strongest at the beginning and the end, weakest in the middle.
    Edges,
}

/// The form of the markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkerStyle {
    /// `A1`: letters for the document, number for the passage.
    #[serde(rename = "A1")]
    Lettered,
    /// `1`: one running number over the conversation.
    #[serde(rename = "1")]
    Numbered,
}

impl FromStr for MarkerStyle {
    type Err = GroundingError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "A1" => Ok(Self::Lettered),
            "1" => Ok(Self::Numbered),
            _ => Err(GroundingError::UnknownMarkerStyle(name.to_owned())),
        }
    }
}

/// The candidates that the trace of a turn keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepCandidates {
    /// All of them, with the stage and reason of dropped ones.
    All,
    /// Those of the final context.
    Kept,
    /// None.
    None,
}

/// The evidence stored for the origin of a citation. Each level includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Coordinates, ranks and scores.
    Metadata,
    /// Hashes of the candidates' texts, computed from the texts.
    Hash,
    /// Similarity of the sources of the context to the query and to each other.
    Semantic,
    /// A link in the conversation's chain of hashes.
    Merkle,
}

/// The stored part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreAnswers {
    /// All of it.
    Full,
    /// Its hash and the results for its citations, without its text.
    Hash,
}
