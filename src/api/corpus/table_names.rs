//! The names of the tables that `create_corpus` makes.

use crate::error::{Error, Result};
use crate::retrieve::managed::TableNames;
use crate::sql;
use crate::store::corpora;

/// Longest name that PostgreSQL does not truncate, in bytes.
const LONGEST_IDENTIFIER: usize = 63;
/// Longest end of the names of the tables of a corpus.
const LONGEST_SUFFIX: &str = "_documents";

/// Returns the qualified names of the tables of a corpus. Those of a tenant's corpus begin with the name of the corpus, or with
/// NAME__TENANT if another table has that name. Errors: 22023 if a name is too long.
pub fn table_names(schema: &str, name: &str, tenant: Option<&str>) -> Result<TableNames> {
    let plain = tables_named(schema, name)?;
    let Some(tenant) = tenant else {
        return Ok(plain);
    };
    let own = format!("{name}__{tenant}");
    let own = match own.len() + LONGEST_SUFFIX.len() > LONGEST_IDENTIFIER {
        true => format!("{name}__{}", short_hash(tenant)?),
        false => own,
    };
    Ok(match corpora::relation_of(tenant, name)? {
        // The call is repeated.
        Some(relation) if relation == plain.passages => plain,
        Some(_) => tables_named(schema, &own)?,
        None if relation_exists(&plain.passages)? => tables_named(schema, &own)?,
        None => plain,
    })
}

/// The first 16 hexadecimal digits of the hash of a tenant whose name is too long for the name of a table.
fn short_hash(tenant: &str) -> Result<String> {
    let hash = "SELECT pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to($1, 'UTF8')), 'hex'), 16)";
    Ok(sql::read_one(hash, &[tenant.into()])?.unwrap_or_default())
}

fn tables_named(schema: &str, name: &str) -> Result<TableNames> {
    let documents = format!("{name}{LONGEST_SUFFIX}");
    if documents.len() > LONGEST_IDENTIFIER {
        return Err(Error::Bad {
            argument: "corpus",
            fault: format!("the name \"{documents}\" of its table is too long"),
            hint: format!("Names of tables have at most {LONGEST_IDENTIFIER} bytes."),
        });
    }
    let qualified = |name: &str| format!("{}.{}", sql::ident(schema), sql::ident(name));
    Ok(TableNames {
        passages: qualified(name),
        documents: qualified(&documents),
        history: qualified(&format!("{name}_history")),
    })
}

/// Whether a relation exists.
pub fn relation_exists(relation: &str) -> Result<bool> {
    Ok(sql::read_one::<bool>(
        "SELECT pg_catalog.to_regclass($1) IS NOT NULL",
        &[relation.into()],
    )? == Some(true))
}
