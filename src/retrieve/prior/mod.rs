//! What earlier turns of the conversation add to the search of a turn.

pub mod prior_results;
pub mod prior_turns;
pub mod remembered;
pub mod reused_context;
