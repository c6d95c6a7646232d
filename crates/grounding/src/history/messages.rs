//! Earlier turns, and the messages that a history is made of.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// What stands in a history for an answer whose words were not kept.
pub const NOT_STORED: &str = "[answer not stored]";

/// A turn that has ended, with the answer that stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryTurn {
    /// Its number in the conversation.
    pub number: u32,
    /// The user's words.
    pub query: String,
    /// The answer as the model gave it; empty where there is none.
    pub answer: String,
    /// o200k_base tokens of the query, where they were counted before.
    #[serde(default)]
    pub query_tokens: Option<usize>,
    /// o200k_base tokens of the answer, where they were counted before.
    #[serde(default)]
    pub answer_tokens: Option<usize>,
    /// The citations of the answer.
    #[serde(default)]
    pub citations: Vec<HistoryCitation>,
}

/// A citation of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryCitation {
    /// Where it stands, or what it stands for, in bytes of the answer: every sentence that this touches is cited.
    pub bytes: Range<usize>,
    /// The verdict; `None` where there is none.
    pub holds: Option<bool>,
}

/// Which earlier turns the current one depends on (H2). The numbers are those of the turns that were judged to matter; where
/// none was, no turn is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dependence {
    /// On every turn: nothing was judged.
    #[default]
    All,
    /// On these turns and no others.
    Hard(Vec<u32>),
    /// On all turns from the earliest of these on, so that no exchange is torn from what led to it.
    Soft(Vec<u32>),
}

impl Dependence {
    pub(super) fn on(&self, turn: u32) -> bool {
        match self {
            Self::All => true,
            Self::Hard(judged) => judged.contains(&turn),
            Self::Soft(judged) => judged.iter().any(|first| *first <= turn),
        }
    }
}

/// What the history is made by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HistoryRules {
    /// Most o200k_base tokens. `None`: no compression and no ledger.
    pub max_tokens: Option<usize>,
    /// The turns that are kept at all. It is about turns only: the ledger of a compressed history stays whole, so that
    /// "none" leaves the ledger, and an empty history where there is no budget.
    pub dependence: Dependence,
}

/// Who says a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The ledger.
    Sources,
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A message of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Number of its turn; `None` for the ledger.
    pub turn: Option<u32>,
    /// Who says it.
    pub role: Role,
    /// The words.
    pub content: String,
    /// o200k_base tokens of the words.
    pub tokens: usize,
    /// Whether something of its turn is missing.
    pub shortened: bool,
}

/// The history: the ledger, then the turns as they came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Its messages.
    pub blocks: Vec<Block>,
    /// Tokens of all blocks.
    pub tokens: usize,
    /// Whether the ledger alone exceeds the budget; then it is all there is.
    pub over_budget: bool,
    /// Tuples in the ledger.
    pub tuples: usize,
    /// Turns that are there to the last word.
    pub whole: usize,
    /// Turns of which a part is there.
    pub shortened: usize,
    /// Turns that are not there.
    pub left_out: usize,
}
