//! Queries: the SQL types, their weighting for a statement, the rows that a statement fetches, and the operators.

mod bm25_query;
mod expansion;
mod expected_rows;
mod operator_query;
mod operators;
mod row_scores;
mod shards;
mod statement_identity;
mod weighted_query;
mod with_statistics;

pub use bm25_query::Bm25Query;
pub use expansion::Expansion;
pub use expected_rows::{ClientStatement, note_limit};
pub use row_scores::{RowAddress, row_scores};
pub use weighted_query::{
    WeightedQuery, check_readable, hides_rows, weighted_query, weighted_query_for_scan,
};
pub use with_statistics::with_statistics;
