//! Conversations with their markers and remembered sources.

pub mod conversations;
pub mod history;
pub mod markers;
pub mod register;
pub mod sources;
