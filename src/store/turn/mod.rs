//! Turns, their retrievals, traces and facts.

pub mod contexts;
pub mod earlier_turns;
pub mod facts;
pub mod retrievals;
pub mod reusable_answers;
pub mod shadows;
pub mod traces;
pub mod turn_writes;
pub mod turns;
