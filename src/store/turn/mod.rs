//! Turns, their retrievals and traces.

pub mod contexts;
pub mod earlier_turns;
pub mod retrievals;
pub mod reusable_answers;
pub mod shadows;
pub mod traces;
pub mod turn_writes;
pub mod turns;
