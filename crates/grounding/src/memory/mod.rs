//! What a conversation remembers between turns: its sources, its markers and its facts.

mod context;
pub mod decay;
mod marker;
mod source;

pub use context::{ContextSource, Fact, FactSheet};
pub use marker::{BoundMarker, MarkerRegister};
pub use source::{RememberedSource, SourceKey};
