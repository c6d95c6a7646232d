//! The block of a turn's sources for the prompt.

mod block;
pub mod escape;
mod size;

pub use block::{BlockRules, Detail, Format, instructions, render, title_and_text};
pub use size::{
    block_tokens, frame_tokens, marker_tokens, most_marker_tokens, remembered_tokens, source_tokens,
};
