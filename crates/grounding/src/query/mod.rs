//! The query of a turn: its words, its intent, and the retrieval that it asks for.

pub mod asked_sources;
pub mod context_text;
pub mod cues;
pub mod entities;
pub mod graph;
pub mod intent;
pub mod plan;
pub mod query_expansion;
pub mod query_words;
mod turn_features;
pub mod words;

pub use turn_features::TurnFeatures;
