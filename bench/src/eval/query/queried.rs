//! The query of a turn, and the passages that its search found.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::data::Domain;

/// What a turn is searched by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QueryFrom {
    /// The user's words alone.
    Turn,
    /// All that the user has said.
    Dialogue,
    /// The language model's rewrite.
    Rewrite,
    /// The user's words and what they borrow of the conversation, times this.
    Contextual(f64),
}

impl QueryFrom {
    /// Those that are compared, the user's words first.
    pub const COMPARED: [Self; 4] = [
        Self::Turn,
        Self::Dialogue,
        Self::Rewrite,
        Self::Contextual(1.0),
    ];
    /// Others that the folds choose from.
    pub const TRIED: [Self; 2] = [Self::Contextual(0.5), Self::Contextual(2.0)];

    /// The name in reports and floors.
    pub fn name(self) -> String {
        match self {
            Self::Turn => "turn".to_owned(),
            Self::Dialogue => "dialogue".to_owned(),
            Self::Rewrite => "LLM rewrite".to_owned(),
            Self::Contextual(1.0) => "contextual".to_owned(),
            Self::Contextual(weight) => format!("contextual × {weight}"),
        }
    }

    /// All that bears on the result. Nothing is merged or carried: what is ranked is single passages.
    pub fn settings(self) -> Value {
        let (from, weight) = match self {
            Self::Turn | Self::Rewrite => ("turn", 1.0),
            Self::Dialogue => ("dialogue", 1.0),
            Self::Contextual(weight) => ("contextual", weight),
        };
        json!({
            "query_from": from,
            "history_weight": weight,
            "fusion": "scores",
            "lexical_search": "exact",
            "vector_search": "exact",
            "merge_adjacent": false,
            "carry_over": false,
        })
    }
}

/// A turn, and what the search ranked.
#[derive(Debug)]
pub struct QueriedTurn {
    /// Where.
    pub domain: Domain,
    /// Conversation.
    pub conversation: String,
    /// Number in the conversation, from 1.
    pub number: u32,
    /// Different passages that humans judged relevant, twins as one.
    pub gold: BTreeSet<String>,
    /// Whether the rewrite says word for word what the user said.
    pub stands_alone: bool,
    /// Every passage that a branch found.
    pub found: Vec<BranchHit>,
}

/// A passage that a branch found.
#[derive(Debug, Clone)]
pub struct BranchHit {
    /// It and its duplicates.
    pub class: String,
    /// Rank in the lexical list, from 1.
    pub lexical_rank: Option<i32>,
    /// BM25 score, also where only the other branch found it.
    pub lexical_score: Option<f64>,
    /// Rank in the vector list, from 1.
    pub vector_rank: Option<i32>,
    /// Distance, also where only the other branch found it.
    pub vector_distance: Option<f64>,
}
