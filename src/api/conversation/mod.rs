//! The functions of a conversation: its state, history, prompt and pins.

pub(in crate::api) mod branches;
mod context_text;
pub(in crate::api) mod conversation_state;
mod history;
mod pins;
pub(in crate::api) mod prompts;
