//! The functions of a conversation: its state, history, prompt and pins.

pub(in crate::api) mod branches;
pub(in crate::api) mod conversation_state;
mod context_text;
mod history;
mod pins;
pub(in crate::api) mod prompts;
