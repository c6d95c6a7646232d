//! The block of a turn's sources for the prompt.

mod block;
pub mod escape;

pub use block::{BlockRules, Detail, Format, instructions, render, title_and_text};
