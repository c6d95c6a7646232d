//! A claimed task, ready for its call.

use serde_json::Value;

/// What a claimed task needs.
pub enum Prepared {
    /// A call of the model.
    Request(Value),
    /// Nothing any more: its subject is gone, or is done.
    Gone,
    /// It was given back, because its corpus cannot be read now.
    Delayed,
    /// Its source is sealed, and this session does not have the key.
    Sealed,
    /// It cannot be prepared: the error.
    Failed(String),
}
