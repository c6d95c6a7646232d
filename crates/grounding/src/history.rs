//! The history of a conversation as it goes into the next prompt, after the sources (D6, D11, H2).
//!
//! Without a budget it is every earlier turn, verbatim. Under one it is compressed, losing prose and never a citation:
//!
//! 1. The [`ledger`] of every source that was ever cited comes first, whole, even where it alone exceeds the budget.
//! 2. What is left goes to the turns, the newest first. Of each, the fullest form is taken that still fits: the whole turn,
//!    the question with the cited sentences that hold, the question alone, nothing. A turn of which nothing fits does not
//!    end it: an older and shorter one may still find room.
//!
//! So a budget that holds all turns still has to hold the ledger beside them. Cited sentences are verbatim, markers and all;
//! where something between two of them is missing, a line ends. A sentence whose citations all failed is not worth its tokens: repeated, it would pass for
//! what was found. And a cut that would be read otherwise than the answer it was taken from (half of a code span, say) is
//! not made.
//!
//! Every block is a message of a chat, and APIs count each message by itself: the sum of the blocks' tokens is exact, but
//! for what a model's template adds to each. Joined to one text they are other tokens, as white space merges across a seam,
//! so whoever joins them counts the text.

mod cited;
pub mod ledger;
mod shorten;

use std::ops::Range;

use reground_citations::Grammar;
use reground_tokens::count;
use serde::{Deserialize, Serialize};

pub use ledger::{CitedSource, Place, Tuple, read_ledger};

/// What stands in a history for an answer whose words were not kept.
pub const NOT_STORED: &str = "[answer not stored]";

/// A turn that has ended, with the answer that stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EarlierTurn {
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
    pub citations: Vec<EarlierCitation>,
}

/// A citation of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierCitation {
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
    fn on(&self, turn: u32) -> bool {
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

/// How many of the newest turns a history of so many tokens is made from; `None` is all of them.
///
/// Older ones could only come in where the newer leave a gap that one of them fits into. Looking for it among all would make
/// a turn dearer the longer its conversation, for a message torn from what it was about.
#[must_use]
pub fn reach(max_tokens: Option<usize>) -> Option<usize> {
    /// Turns that are looked at however small the budget.
    const LEAST: usize = 16;
    /// Fewer tokens than a turn has on the average, its question and what was cited of its answer.
    const TOKENS: usize = 16;
    max_tokens.map(|tokens| (tokens / TOKENS).max(LEAST))
}

/// The history of `turns`, the newest last, in a conversation that has `cited` these sources, in the order in which they are
/// to stand.
///
/// `cited` is about the whole conversation, `turns` may be its newest: what is not handed in is not there, and is not counted
/// as left out. `grammar` is that by which the answers were read.
#[must_use]
pub fn history(
    turns: &[EarlierTurn],
    cited: &[CitedSource],
    rules: &HistoryRules,
    grammar: &Grammar,
) -> History {
    let mut history = History::default();
    let budget = rules.max_tokens.unwrap_or(usize::MAX);
    let mut ledger = None;
    if rules.max_tokens.is_some() && !cited.is_empty() {
        let tuples = ledger::tuples(cited);
        let block = ledger_block(&tuples);
        history.tuples = tuples.len();
        history.tokens = block.tokens;
        history.over_budget = block.tokens > budget;
        ledger = Some(block);
    }
    for turn in turns.iter().rev() {
        let room = budget.saturating_sub(history.tokens);
        let kept = if rules.dependence.on(turn.number) && room > 0 {
            shorten::within(turn, room, grammar)
        } else {
            Vec::new()
        };
        match kept.first() {
            None => history.left_out += 1,
            Some(block) if block.shortened => history.shortened += 1,
            Some(_) => history.whole += 1,
        }
        history.tokens += kept.iter().map(|block| block.tokens).sum::<usize>();
        // Gathered backwards, turned round below.
        history.blocks.extend(kept.into_iter().rev());
    }
    history.blocks.extend(ledger);
    history.blocks.reverse();
    history
}

fn ledger_block(tuples: &[Tuple]) -> Block {
    let content = ledger::write(tuples);
    Block {
        turn: None,
        role: Role::Sources,
        tokens: count(&content),
        content,
        shortened: false,
    }
}
