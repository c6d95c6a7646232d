//! Queries: their syntax, statistics that they carry, the conditions and phrases in them, and the weights of their words.

pub mod carried_statistics;
pub mod clauses;
pub mod conditions;
pub mod phrase;
pub mod query_weight;
