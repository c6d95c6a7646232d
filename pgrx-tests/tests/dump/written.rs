//! A database with rows in all tables of the extension, and the calls that follow a restore.

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::contents::contents;
use reground_tests::server::Database;

/// The statements of a file in `everything/`; the upgrade test runs them, too.
fn statements(file: &str) -> impl Iterator<Item = &str> {
    file.split_inclusive(";\n")
}

/// Creates the database with `reground.tenant_from` and fills all tables.
pub fn written(name: &str) -> Result<Database> {
    let database = Database::create(name)?;
    set_tenant_from(&database)?;
    write(&database)?;
    Ok(database)
}

/// Fills all tables of a database that acts for `app.tenant_id`.
pub fn write(database: &Database) -> Result<()> {
    let mut client = database.connect()?;
    for statement in statements(include_str!("../../everything/write.sql")) {
        client
            .batch_execute(statement)
            .with_context(|| statement.to_owned())?;
    }
    let empty: Vec<String> = contents(&mut database.connect()?)?
        .into_iter()
        .filter(|(_, rows)| rows.is_empty())
        .map(|(table, _)| table)
        .collect();
    ensure!(empty.is_empty(), "no rows in {empty:?}");
    Ok(())
}

/// Sets the tenant setting and the file of the master key, as a superuser does. So the sources of all rows are sealed.
pub fn set_tenant_from(database: &Database) -> Result<()> {
    // Other tests read the file at the same time, so it is never half written.
    let file = std::env::temp_dir().join("reground_test_master_key");
    let new = file.with_extension(database.name());
    std::fs::write(&new, "5".repeat(64))?;
    std::fs::rename(&new, &file)?;
    database.connect()?.batch_execute(&format!(
        "ALTER DATABASE {0} SET reground.tenant_from = 'app.tenant_id'; ALTER DATABASE {0} SET reground.master_key_file = '{1}'",
        database.name(),
        file.display()
    ))?;
    Ok(())
}

/// Runs the next calls; returns each row as text, which must be equal on both sides, with ids.
pub fn goes_on(client: &mut Client) -> Result<Vec<String>> {
    client.batch_execute("SET search_path = public, pg_catalog; SET app.tenant_id = 'acme'")?;
    let mut said = Vec::new();
    for statement in statements(include_str!("../../everything/go_on.sql")) {
        let rows = client
            .query(statement, &[])
            .with_context(|| statement.to_owned())?;
        ensure!(!rows.is_empty(), "no row from {statement}");
        said.extend(rows.iter().map(|row| row.get::<_, String>(0)));
    }
    Ok(said)
}
