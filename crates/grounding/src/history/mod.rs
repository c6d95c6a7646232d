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

mod build;
mod cited_sentences;
pub mod context_share;
pub mod ledger;
mod messages;
mod shorten;

pub use build::{history, reach};
pub use ledger::{CitedSource, Place, Tuple, read_ledger};
pub use messages::{
    Block, Dependence, History, HistoryCitation, HistoryRules, HistoryTurn, NOT_STORED, Role,
};
