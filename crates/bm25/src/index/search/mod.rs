//! Searches: a snapshot of the index, and the best documents of a query in it.

mod max_score;
mod posting_list;
pub mod ranked_search;
pub mod snapshot;
mod top_k;
