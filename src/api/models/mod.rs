//! The functions of models, and of the workers that call them.

pub(in crate::api) mod embeddings;
mod queue;
mod registry;
