//! The contents of a database as text, to compare them before and after a dump.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use postgres::Client;

/// Rows of every table and state of every sequence of the extension and of the schema `public`.
pub type Contents = BTreeMap<String, Vec<String>>;

/// Reads all tables and sequences that the catalog lists.
///
/// # Errors
/// If a query fails.
pub fn contents(client: &mut Client) -> Result<Contents> {
    // The text must not depend on the session.
    client.batch_execute(
        "SET search_path = pg_catalog; SET TimeZone = 'UTC'; SET extra_float_digits = 1",
    )?;
    let relations = client.query(
        "SELECT oid::regclass::text, relkind FROM pg_class WHERE relkind IN ('r', 'S') \
         AND relnamespace IN (to_regnamespace('reground'), to_regnamespace('public'))",
        &[],
    )?;
    let mut contents = Contents::new();
    for relation in relations {
        let name: String = relation.get(0);
        let rows = if relation.get::<_, i8>(1) == b'r'.cast_signed() {
            format!("SELECT t::text FROM {name} AS t ORDER BY t::text COLLATE \"C\"")
        } else {
            format!("SELECT concat(last_value, ' ', is_called) FROM {name}")
        };
        let rows = client.query(&rows, &[])?;
        contents.insert(name, rows.iter().map(|row| row.get(0)).collect());
    }
    Ok(contents)
}

/// Fails with the first difference.
///
/// # Errors
/// If the two differ.
pub fn same(expected: &Contents, found: &Contents) -> Result<()> {
    let names = expected.keys().chain(found.keys());
    for name in names {
        let (Some(expected), Some(found)) = (expected.get(name), found.get(name)) else {
            bail!("{name} exists on one side only");
        };
        if expected == found {
            continue;
        }
        let lost: Vec<_> = expected.iter().filter(|row| !found.contains(row)).collect();
        let new: Vec<_> = found.iter().filter(|row| !expected.contains(row)).collect();
        bail!(
            "{name}: {} rows became {}; lost {lost:?}, new {new:?}",
            expected.len(),
            found.len()
        );
    }
    Ok(())
}
