//! The sources of turns and citations: who may see them, who saw them, and their state since.

mod states;
mod visibility;
mod who_saw;

pub(in crate::api) use visibility::kept;
