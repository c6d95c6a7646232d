//! The functions of a conversation: its state, history, prompt and pins.

pub(in crate::api) mod branches;
pub(in crate::api) mod conversation_state;
pub(in crate::api) mod history;
pub(in crate::api) mod pins;
pub(in crate::api) mod prompts;
