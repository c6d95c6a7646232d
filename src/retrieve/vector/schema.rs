//! The schema of pgvector.

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
