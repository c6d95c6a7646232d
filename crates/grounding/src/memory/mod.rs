//! The memory of a conversation.

mod context;
pub mod decay;
mod marker;
mod source;

pub use context::{ContextSource, Fact, FactSheet};
pub use marker::{BoundMarker, MarkerRegister};
pub use source::{RememberedSource, SourceKey};
