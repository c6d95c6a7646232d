//! Reads the relations of a corpus, always with the rights of the caller, so their privileges and row-level security apply.

pub mod check;
pub mod coordinates;
pub mod corpus_scope;
pub mod evidence;
pub mod filter;
pub mod lexemes;
pub mod lexical;
pub mod managed;
pub mod mapping;
pub mod named;
pub mod neighbours;
pub mod passages;
pub mod prior_results;
pub mod prior_turns;
pub mod reused_context;
pub mod similarity;
pub mod text_config;
pub mod turn;
pub mod vector;

use crate::error::{Error, Result};
use crate::sql;

/// Returns the quoted name of pgvector's schema.
///
/// # Errors
/// P0002 if pgvector is not installed.
pub fn vector_schema() -> Result<String> {
    sql::read_one(
        "SELECT quote_ident(n.nspname) FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace \
         WHERE e.extname = 'vector'",
        &[],
    )?
    .ok_or_else(|| Error::Unknown("extension", "vector".into()))
}
