//! Corrects the citations of a judged answer. It writes no words: it changes, removes and adds citations, marks sentences, and removes
//! sentences.

mod applied;
mod change;
mod corrections;
mod edits;
mod misread;
mod mode;
mod repair;
mod sentence_end;
mod unrepaired;

pub use change::{Change, ChangeKind, RepairedAnswer};
pub use mode::{RepairMode, UnknownRepairMode};
pub use repair::repair;
pub use unrepaired::Unrepaired;
