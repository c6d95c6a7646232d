//! The block of a turn's sources for the prompt.

mod block;
mod conflict_note;
pub mod escape;
mod size;

pub use block::{
    BlockRules, Detail, Format, instructions, render, render_with_conflicts, title_and_text,
};
use conflict_note::CONFLICT_NOTE_TOKENS;
pub use size::{
    block_tokens, frame_tokens, marker_tokens, most_marker_tokens, remembered_tokens,
    reserved_tokens, source_tokens,
};
