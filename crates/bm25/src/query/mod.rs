//! Queries: their syntax, statistics that they carry, the conditions and phrases in them, the weights of their words, the
//! rows that a statement fetches, and the scores that it has found.

pub mod carried_statistics;
pub mod clauses;
pub mod conditions;
pub mod expected_rows;
pub mod found_scores;
pub mod phrase;
pub mod query_weight;
