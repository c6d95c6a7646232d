//! The conversation history for the next prompt, which follows the sources.
//!
//! Without a budget, the history is every earlier turn, verbatim. With a budget it is compressed; it can lose prose but
//! no citation:
//!
//! 1. The last exchanges, as many as the rules say, are complete under any budget.
//! 2. The [`ledger`] of every cited source comes first and is complete under any budget.
//! 3. The rest of the budget goes to the older turns, newest first. Each turn gets the fullest form that fits: the
//!    whole turn, the question with the cited sentences whose citations hold, the question with the sign […], or nothing.
//!    After a turn that does not fit, an older and shorter one can still be included.
//!
//! A budget must therefore have room for all three. Cited sentences are verbatim, including
//! markers; a line break stands for text that was removed between them. Sentences whose citations all failed are left
//! out, because they would look verified. A cut that would change how the text is parsed, for example half of a code
//! span, is not made.
//!
//! Each block is one chat message, and APIs count messages separately: the sum of the blocks' tokens is exact except
//! for the overhead of the model's chat template. The tokens of the joined text can differ, because white space merges
//! across a boundary; count the joined text in that case.

mod build;
mod cited_sentences;
pub mod context_share;
pub mod ledger;
mod messages;
mod shorten;

pub use build::{history, turns_in_reach};
pub use ledger::{CitedSource, Ledger};
pub use messages::{
    Block, History, HistoryCitation, HistoryRules, HistoryTurn, NO_ANSWER, NOT_STORED, Role,
    TurnSelection,
};
