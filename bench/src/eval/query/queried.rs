//! The query of a turn, and the passages that its search found.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::data::Domain;
use crate::eval::replay::arm::CONTEXT;

/// The way to make the query of a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QueryFrom {
    /// The user's words.
    Turn,
    /// All questions of the user so far.
    Dialogue,
    /// The rewrite of a language model.
    Rewrite,
    /// The user's words, with terms of the conversation at this weight.
    Contextual(f64),
    /// The same, with the context embedding at this multiple of its weight.
    Context(f64),
    /// The rewrite, with terms and the context embedding at this multiple of their weights.
    RewriteContext(f64),
}

impl QueryFrom {
    /// The compared ways, the user's words first.
    pub const COMPARED: [Self; 4] = [
        Self::Turn,
        Self::Dialogue,
        Self::Rewrite,
        Self::Contextual(1.0),
    ];
    /// Further candidates of the cross-validation.
    pub const TRIED: [Self; 2] = [Self::Contextual(0.5), Self::Contextual(2.0)];

    /// Ways that need the embeddings of further texts.
    pub const EMBEDDED: [Self; 2] = [Self::Context(1.0), Self::RewriteContext(1.0)];
    /// Other weights of these, to choose among them.
    pub const EMBEDDED_TRIED: [Self; 4] = [
        Self::Context(0.5),
        Self::Context(1.5),
        Self::RewriteContext(0.5),
        Self::RewriteContext(2.0),
    ];

    /// Whether the query is the rewrite.
    pub fn rewrites(self) -> bool {
        matches!(self, Self::Rewrite | Self::RewriteContext(_))
    }

    /// Whether the search uses the context embedding.
    pub fn uses_context(self) -> bool {
        matches!(self, Self::Context(_) | Self::RewriteContext(_))
    }

    /// The name in reports and in the floors.
    pub fn name(self) -> String {
        match self {
            Self::Turn => "turn".to_owned(),
            Self::Dialogue => "dialogue".to_owned(),
            Self::Rewrite => "LLM rewrite".to_owned(),
            Self::Contextual(1.0) => "contextual".to_owned(),
            Self::Contextual(weight) => format!("contextual × {weight}"),
            Self::Context(1.0) => "context embedding".to_owned(),
            Self::Context(weight) => format!("context embedding × {weight}"),
            Self::RewriteContext(1.0) => "LLM rewrite and context".to_owned(),
            Self::RewriteContext(weight) => format!("LLM rewrite and context × {weight}"),
        }
    }

    /// All settings that affect the result. Nothing is merged or carried over, so the ranking has single passages. The size of the
    /// context is fixed, because the next query depends on the sources that its answer cites.
    pub fn settings(self) -> Value {
        let (from, weight) = match self {
            Self::Turn | Self::Rewrite => ("turn", 1.0),
            Self::Dialogue => ("dialogue", 1.0),
            Self::Contextual(weight) | Self::Context(weight) | Self::RewriteContext(weight) => {
                ("contextual", weight)
            }
        };
        json!({
            "query_from": from,
            "history_weight": weight,
            "fusion": "scores",
            "lexical_search": "exact",
            "vector_search": "exact",
            "max_sources": CONTEXT,
            "max_tokens": 1_000_000,
            "merge_adjacent": false,
            "carry_over": false,
        })
    }
}

/// A judged turn with its ranking.
#[derive(Debug)]
pub struct QueriedTurn {
    /// Its domain.
    pub domain: Domain,
    /// Conversation.
    pub conversation: String,
    /// Number in the conversation, from 1.
    pub number: u32,
    /// Passages that humans judged relevant, as classes of equal passages.
    pub gold: BTreeSet<String>,
    /// Whether the rewrite has the user's words, letter by letter.
    pub stands_alone: bool,
    /// The passages that any branch found.
    pub found: Vec<BranchHit>,
}

/// A passage that a branch found.
#[derive(Debug, Clone)]
pub struct BranchHit {
    /// Class of the passage and its duplicates.
    pub class: String,
    /// Rank in the lexical list, from 1.
    pub lexical_rank: Option<i32>,
    /// BM25 score, also if only the vector branch found the passage.
    pub lexical_score: Option<f64>,
    /// Rank in the vector list, from 1.
    pub vector_rank: Option<i32>,
    /// Distance, also if only the lexical branch found the passage.
    pub vector_distance: Option<f64>,
}
