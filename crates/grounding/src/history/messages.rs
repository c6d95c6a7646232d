//! Earlier turns, and the messages that a history is made of.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The placeholder in a history for an answer whose text was not stored.
pub const NOT_STORED: &str = "[answer not stored]";

/// The sign for an answer that is left out or empty. It has no words, so it fits every language.
pub const NO_ANSWER: &str = "[…]";

/// A turn that has ended, with its current answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryTurn {
    /// Its number in the conversation.
    pub turn_no: u32,
    /// The user's query.
    pub query: String,
    /// The model's answer; empty if there is none.
    pub answer: String,
    /// o200k_base tokens of the query, if already counted.
    #[serde(default)]
    pub query_tokens: Option<usize>,
    /// o200k_base tokens of the answer, if already counted.
    #[serde(default)]
    pub answer_tokens: Option<usize>,
    /// The citations of the answer.
    #[serde(default)]
    pub citations: Vec<HistoryCitation>,
    /// Whether the answer was left out because the caller may not read its sources. `answer` is then empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub omitted: bool,
}

impl HistoryTurn {
    /// The turn without its answer, for which the history has the sign […].
    #[must_use]
    pub fn without_answer(self) -> Self {
        Self {
            turn_no: self.turn_no,
            query: self.query,
            query_tokens: self.query_tokens,
            omitted: true,
            ..Self::default()
        }
    }
}

/// A citation of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryCitation {
    /// The byte range of the citation, or of the text that it covers, in the answer. Every sentence that the range
    /// touches is cited.
    pub bytes: Range<usize>,
    /// The verdict; `None` if there is none.
    pub holds: Option<bool>,
}

/// The turns that a history keeps, by number. An empty list keeps none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnSelection {
    /// All turns.
    #[default]
    All,
    /// Only these turns.
    Hard(Vec<u32>),
    /// All turns from the earliest of these on, so that each exchange keeps what led to it.
    Soft(Vec<u32>),
}

impl TurnSelection {
    pub(super) fn includes(&self, turn: u32) -> bool {
        match self {
            Self::All => true,
            Self::Hard(turns) => turns.contains(&turn),
            Self::Soft(turns) => turns.iter().any(|first| *first <= turn),
        }
    }
}

/// The rules for a history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HistoryRules {
    /// Maximum o200k_base tokens. `None`: no compression and no ledger.
    pub max_tokens: Option<usize>,
    /// The last of the kept turns, which are complete whatever the budget.
    pub exchanges: usize,
    /// The turns to keep. The ledger of a compressed history stays complete: without turns the history is the ledger,
    /// or empty if there is no budget.
    pub dependency: TurnSelection,
}

/// The role of a message.
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
    pub turn_no: Option<u32>,
    /// Its role.
    pub role: Role,
    /// Its text.
    pub content: String,
    /// o200k_base tokens of the text.
    pub tokens: usize,
    /// Whether a part of the text is missing.
    pub shortened: bool,
}

/// The history: the ledger, then the turns in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Its messages.
    pub blocks: Vec<Block>,
    /// Tokens of all blocks.
    pub tokens: usize,
    /// Whether the ledger and the last exchanges exceed the budget. Then the history has no older turns.
    pub over_budget: bool,
    /// Sources in the ledger.
    pub sources: usize,
    /// Turns that are complete.
    pub whole: usize,
    /// Turns that are shortened.
    pub shortened: usize,
    /// Turns that are left out.
    pub left_out: usize,
}
