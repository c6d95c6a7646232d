//! A question of the measurement.

use std::collections::BTreeSet;

use crate::data::queries::Query;

/// A question with the classes of its relevant passages.
pub struct Question {
    /// Questions of one cluster are drawn together for the intervals.
    pub cluster: String,
    /// The query.
    pub query: Query,
    /// Classes of the relevant passages.
    pub relevant: BTreeSet<String>,
}
