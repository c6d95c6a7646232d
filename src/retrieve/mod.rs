//! Reads the relations of a corpus, always with the rights of the caller, so their privileges and row-level security apply.

mod corpus;
pub mod corpus_scope;
pub mod evidence;
pub mod filter;
pub mod lexemes;
pub mod lexical;
pub mod lists;
pub mod named;
pub mod neighbours;
pub mod passages;
mod prior;
pub mod similarity;
pub mod text_config;
pub mod vector;
pub mod visibility;

pub use corpus::{catalog, check, coordinates, document_parts, managed, mapping, past};
pub use prior::{prior_results, prior_turns, remembered, reused_context};
pub use vector::vector_schema;
