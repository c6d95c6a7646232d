//! The functions of models, and of the workers that call them.

pub(in crate::api) mod embeddings;
pub(in crate::api) mod queue;
mod registry;
pub(in crate::api) mod tasks;
