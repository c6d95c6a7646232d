//! Two passages that contradict each other.

/// Two passages.
pub struct Pair {
    /// The passage with the statement.
    pub one: String,
    /// A passage with the changed statement.
    pub other: String,
    /// The changed statement.
    pub changed: String,
}
