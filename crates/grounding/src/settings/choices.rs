//! The settings that take one of several words.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::GroundingError;

/// What makes a source active at the end of a turn besides a citation (C3).
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
    /// Through an index where there is one that may be used.
    Auto,
    /// Without: every passage is read.
    Exact,
}

/// How the vector branch searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VectorSearch {
    /// As the planner likes.
    Auto,
    /// Without an index: every passage is compared.
    Exact,
    /// Through the vector index.
    Index,
}

/// How the lists of the branches become one order (C6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fusion {
    /// By the standardised scores of both branches.
    Scores,
    /// By reciprocal rank.
    Rrf,
    /// As `scores`, with what earlier turns were shown ranked among what this one finds (H1).
    Integrated,
}

impl Fusion {
    /// Whether each branch has to score what the other found.
    #[must_use]
    pub fn by_scores(self) -> bool {
        self != Self::Rrf
    }
}

/// What a turn's query is made of (K1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryFrom {
    /// The user's words alone.
    Turn,
    /// All that the user has said, as far back as `query_history`.
    Dialogue,
    /// The user's words, with as much of the conversation as they lean on.
    Contextual,
}

/// How passages stand in the prompt (D11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassageOrder {
    /// Strongest first.
    Score,
    /// Strongest at the beginning and the end, weakest in the middle.
    Edges,
}

/// What a marker looks like.
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

/// Which candidates the trace of a turn keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepCandidates {
    /// All of them, with the stage and reason of those that left.
    All,
    /// Those of the final context.
    Kept,
    /// None.
    None,
}

/// What is kept to prove where a citation comes from (I10); each level has what those before it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Coordinates, ranks and scores.
    Metadata,
    /// Hashes of the candidates' texts, made from the texts.
    Hash,
    /// How alike the sources of the context are to the query and to each other.
    Semantic,
    /// A link in the conversation's chain of hashes.
    Merkle,
}

/// What is kept of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreAnswers {
    /// All of it.
    Full,
    /// Its hash and what was found of its citations, and none of its words.
    Hash,
}
