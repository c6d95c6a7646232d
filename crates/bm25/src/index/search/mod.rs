//! Searches: a snapshot of the index, the best documents of a query in it, the documents that meet several requirements, and the
//! scores of given rows.

pub mod conjunction;
mod document_scores;
mod max_score;
mod posting_list;
pub mod present;
pub mod ranked_search;
mod reached;
pub mod requirement;
pub mod row_scores;
pub mod snapshot;
mod top_k;
mod window;
