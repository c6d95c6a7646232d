//! Queries: their syntax, the conditions and phrases in them, and the weights of their words.

pub mod clauses;
pub mod conditions;
pub mod phrase;
pub mod query_weight;
