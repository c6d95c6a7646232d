//! Models, the queue of their tasks, and the state of embeddings.

pub mod embeddings;
pub mod registry;
pub mod status;
pub mod tasks;
