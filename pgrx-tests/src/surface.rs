//! The functions and relations that a role may use, from the catalog. Tests of the whole surface take their list from here, so that a
//! new function without a test case fails.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use postgres::Client;

/// Names of the functions of schema `reground` that one of `roles` may execute, without those that only PostgreSQL calls and
/// without input and output functions of types.
///
/// # Errors
/// If the query fails.
pub fn functions(client: &mut Client, roles: &[&str]) -> Result<BTreeSet<String>> {
    let rows = client.query(
        "SELECT DISTINCT p.proname::text FROM pg_proc AS p, unnest($1::text[]) AS r(name) \
         WHERE p.pronamespace = 'reground'::regnamespace AND has_function_privilege(r.name, p.oid, 'EXECUTE') \
             AND NOT EXISTS (SELECT FROM pg_type AS t WHERE p.oid IN (t.typinput, t.typoutput, t.typreceive, t.typsend)) \
             AND p.prorettype <> 'trigger'::regtype \
             AND NOT EXISTS (SELECT FROM pg_am AS m WHERE m.amhandler = p.oid) \
             AND NOT EXISTS (SELECT FROM pg_ts_parser AS t WHERE p.oid IN (t.prsstart, t.prstoken, t.prsend, t.prslextype))",
        &[&roles],
    )?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Names of the tables and views of schema `reground` that one of `roles` may read.
///
/// # Errors
/// If the query fails.
pub fn relations(client: &mut Client, roles: &[&str]) -> Result<BTreeSet<String>> {
    let rows = client.query(
        "SELECT DISTINCT c.relname::text FROM pg_class AS c, unnest($1::text[]) AS r(name) \
         WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
             AND has_table_privilege(r.name, c.oid, 'SELECT')",
        &[&roles],
    )?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Fails with the names that are only in the catalog or only among the cases.
///
/// # Errors
/// If the two differ.
pub fn covered<'a>(
    surface: &BTreeSet<String>,
    cases: impl IntoIterator<Item = &'a str>,
) -> Result<()> {
    let cases: BTreeSet<String> = cases.into_iter().map(str::to_owned).collect();
    let missing: Vec<_> = surface.difference(&cases).collect();
    ensure!(missing.is_empty(), "no case for {missing:?}");
    let unknown: Vec<_> = cases.difference(surface).collect();
    ensure!(
        unknown.is_empty(),
        "a case for an unknown name: {unknown:?}"
    );
    Ok(())
}
