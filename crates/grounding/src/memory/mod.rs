//! The memory of a conversation.

mod context;
pub mod decay;
mod look_ahead;
mod marker;
mod source;
mod stored_source;

pub use context::{ContextSource, Fact, FactSheet};
pub use look_ahead::LookAhead;
pub use marker::{BoundMarker, MarkerRegister};
pub use source::{RememberedSource, SourceKey};
