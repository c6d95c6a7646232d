//! Runs pg_dump and pg_restore.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use reground_tests::server::Database;

/// A dump in the custom format of pg_dump; dropping the value removes the file.
pub struct Dump(PathBuf);

impl Drop for Dump {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Dumps a database as a role (`None`: the superuser of the tests). Returns the output of pg_dump if it fails.
pub fn dump(
    database: &Database,
    role: Option<&str>,
    options: &[&str],
) -> Result<std::result::Result<Dump, String>> {
    let mut file = std::env::temp_dir().join(database.name());
    file.set_extension(format!("{}.dump", options.join("").replace(['-', '='], "")));
    let mut program = database
        .program("pg_dump")?
        .context("no pg_dump beside this server")?;
    if let Some(role) = role {
        program.env("PGUSER", role);
    }
    let output = program
        .arg("--format=custom")
        .args(options)
        .arg("--file")
        .arg(&file)
        .output()?;
    let dump = Dump(file);
    Ok(if output.status.success() {
        Ok(dump)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    })
}

/// Restores a dump as a role; stops at the first error, and accepts no warnings.
pub fn restore(
    database: &Database,
    role: Option<&str>,
    dump: &Dump,
    options: &[&str],
) -> Result<()> {
    let mut program = database
        .program("pg_restore")?
        .context("no pg_restore beside this server")?;
    if let Some(role) = role {
        program.env("PGUSER", role);
    }
    let output = program
        .args(["--exit-on-error", "--dbname", database.name()])
        .args(options)
        .arg(&dump.0)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success() && said.is_empty(),
        "pg_restore {options:?}: {said}"
    );
    Ok(())
}
