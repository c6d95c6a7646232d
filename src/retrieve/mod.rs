//! Reading the relations of a corpus, always as the caller: the relation's own privileges and row-level security decide
//! what is found.

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

/// The schema that pgvector is installed in, quoted.
pub fn vector_schema() -> Result<String> {
    sql::read_one(
        "SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace \
         WHERE e.extname = 'vector'",
        &[],
    )?
    .ok_or_else(|| Error::Unknown("extension", "vector".into()))
}
