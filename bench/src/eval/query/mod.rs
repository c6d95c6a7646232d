//! Compares the ways to make the query of a turn, and the ways to fuse its branches, on replayed conversations.

pub mod contexts;
pub mod folds;
pub mod queried;
pub mod ranking;
pub mod run;
