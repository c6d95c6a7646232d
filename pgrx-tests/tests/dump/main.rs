//! A restored database continues as the dumped one: all rows of all tables are there, and ids
//! continue.

mod programs;
mod written;

use anyhow::{Result, anyhow, ensure};
use reground_tests::contents::{contents, same};
use reground_tests::server::Database;

use programs::{Dump, dump, restore};
use written::{goes_on, set_tenant_from, write, written};

/// The dump, or the error of pg_dump.
fn dumped(database: &Database, role: Option<&str>, options: &[&str]) -> Result<Dump> {
    dump(database, role, options)?.map_err(|said| anyhow!("pg_dump {options:?}: {said}"))
}

/// Both databases have the same contents and return the same rows for the same next calls.
fn continues(before: &Database, after: &Database) -> Result<()> {
    let (mut old, mut new) = (before.connect()?, after.connect()?);
    same(&contents(&mut old)?, &contents(&mut new)?)?;
    let (expected, found) = (goes_on(&mut old)?, goes_on(&mut new)?);
    for (expected, found) in expected.iter().zip(&found) {
        ensure!(
            expected == found,
            "the next calls differ:\n{expected}\n{found}"
        );
    }
    ensure!(
        expected.len() == found.len(),
        "{} steps and {}",
        expected.len(),
        found.len()
    );
    Ok(())
}

#[test]
fn a_restored_database_goes_on() -> Result<()> {
    let before = written("dump_before")?;
    let after = Database::empty("dump_after")?;
    restore(&after, None, &dumped(&before, None, &[])?, &[])?;
    // pg_dump leaves settings of ALTER DATABASE to --create, and this database has another name.
    set_tenant_from(&after)?;
    continues(&before, &after)
}

#[test]
fn what_is_set_for_the_database_comes_with_create() -> Result<()> {
    let before = written("dump_created")?;
    let whole = dumped(&before, None, &["--create"])?;
    let expected = contents(&mut before.connect()?)?;
    let elsewhere = Database::empty("dump_elsewhere")?;
    drop_database(&elsewhere, before.name())?;
    // With its old name, through a connection to another database.
    restore(&elsewhere, None, &whole, &["--create"])?;
    let mut after = before.connect()?;
    same(&expected, &contents(&mut after)?)?;
    after.batch_execute("SET app.tenant_id = 'bolt'")?;
    let tenant: String = after
        .query_one("SELECT reground.current_tenant()", &[])?
        .get(0);
    ensure!(tenant == "bolt", "the tenant is {tenant}");
    Ok(())
}

fn drop_database(elsewhere: &Database, name: &str) -> Result<()> {
    elsewhere
        .connect()?
        .batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)"))?;
    Ok(())
}

/// A role that is no superuser, has BYPASSRLS, and may use the tables in both databases.
struct Keeper(String);

impl Keeper {
    fn of(before: &Database) -> Result<Self> {
        let keeper = Self(format!("{}_keeper", before.name()));
        before
            .connect()?
            .batch_execute(&format!("CREATE ROLE {} LOGIN BYPASSRLS", keeper.0))?;
        keeper.may_read(before)?;
        Ok(keeper)
    }

    fn may_read(&self, database: &Database) -> Result<()> {
        database.connect()?.batch_execute(&format!(
            "GRANT USAGE ON SCHEMA reground TO {0};
             GRANT SELECT ON ALL TABLES IN SCHEMA reground, public TO {0};
             GRANT SELECT ON ALL SEQUENCES IN SCHEMA reground, public TO {0}",
            self.0
        ))?;
        Ok(())
    }

    fn may_write(&self, database: &Database) -> Result<()> {
        self.may_read(database)?;
        database.connect()?.batch_execute(&format!(
            "GRANT INSERT ON ALL TABLES IN SCHEMA reground, public TO {0};
             GRANT UPDATE ON ALL SEQUENCES IN SCHEMA reground, public TO {0}",
            self.0
        ))?;
        Ok(())
    }

    /// Roles outlive their databases, so privileges are revoked first.
    fn leave(self, databases: [&Database; 2]) -> Result<()> {
        for database in databases {
            database
                .connect()?
                .batch_execute(&format!("DROP OWNED BY {}", self.0))?;
        }
        databases[0]
            .connect()?
            .batch_execute(&format!("DROP ROLE {}", self.0))?;
        Ok(())
    }
}

/// Copies the data of all tables, as a role that is no superuser, into existing tables; then the restored side continues.
fn copy_data(before: &Database, after: &Database) -> Result<()> {
    let keeper = Keeper::of(before)?;
    keeper.may_write(after)?;
    let data = dumped(before, Some(&keeper.0), &["--data-only"])?;
    restore(after, Some(&keeper.0), &data, &[])?;
    continues(before, after)?;
    keeper.leave([before, after])
}

#[test]
fn data_only_restores_into_a_new_extension() -> Result<()> {
    let before = written("dump_data")?;
    let after = Database::create("dump_fresh")?;
    set_tenant_from(&after)?;
    // First the tables of the application, then the data of both.
    let schema = dumped(&before, None, &["--schema-only"])?;
    restore(&after, None, &schema, &["--schema=public"])?;
    copy_data(&before, &after)
}

#[test]
fn the_schema_and_then_the_data() -> Result<()> {
    let before = written("dump_steps")?;
    let after = Database::empty("dump_stepped")?;
    let schema = dumped(&before, None, &["--schema-only"])?;
    restore(&after, None, &schema, &[])?;
    set_tenant_from(&after)?;
    copy_data(&before, &after)
}

/// PostgreSQL refuses to update and delete rows of a published table without a replica identity.
#[test]
fn all_tables_can_be_published() -> Result<()> {
    let published = Database::create("dump_published")?;
    set_tenant_from(&published)?;
    published
        .connect()?
        .batch_execute("CREATE PUBLICATION everything FOR ALL TABLES")?;
    write(&published)?;
    let mut client = published.connect()?;
    goes_on(&mut client)?;
    let unidentified = client.query(
        "SELECT c.relname::text FROM pg_class AS c WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind = 'r' AND c.relreplident <> 'f' \
         AND NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND CASE c.relreplident WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident END)",
        &[],
    )?;
    let unidentified: Vec<String> = unidentified.iter().map(|row| row.get(0)).collect();
    ensure!(
        unidentified.is_empty(),
        "no replica identity: {unidentified:?}"
    );
    Ok(())
}

#[test]
fn a_role_with_hidden_rows_cannot_dump() -> Result<()> {
    let before = written("dump_partial")?;
    let keeper = Keeper::of(&before)?;
    before
        .connect()?
        .batch_execute(&format!("ALTER ROLE {} NOBYPASSRLS", keeper.0))?;
    for options in [&[][..], &["--data-only"]] {
        let outcome = dump(&before, Some(&keeper.0), options)?;
        let said = outcome.err().unwrap_or_default();
        ensure!(
            said.contains("would be affected by row-level security policy"),
            "pg_dump {options:?} says {said:?}"
        );
    }
    keeper.leave([&before, &before])
}

#[test]
fn a_dump_as_sql_text_can_be_read_back() -> Result<()> {
    read_back("dump_plain", &[])
}

/// `pg_dump --inserts` writes one command per row in table order, so no row may depend on a later one.
#[test]
fn a_dump_as_single_rows_can_be_read_back() -> Result<()> {
    read_back("dump_inserts", &["--inserts"])
}

fn read_back(name: &str, options: &[&str]) -> Result<()> {
    let before = written(&format!("{name}_before"))?;
    let after = Database::empty(&format!("{name}_after"))?;
    let text = before
        .program("pg_dump")?
        .ok_or_else(|| anyhow!("no pg_dump beside this server"))?
        .args(options)
        .output()?;
    ensure!(
        text.status.success(),
        "{}",
        String::from_utf8_lossy(&text.stderr)
    );
    let file = std::env::temp_dir().join(format!("{}.sql", before.name()));
    std::fs::write(&file, text.stdout)?;
    let read = after
        .program("psql")?
        .ok_or_else(|| anyhow!("no psql beside this server"))?
        .args([
            "--no-psqlrc",
            "--quiet",
            "--set",
            "ON_ERROR_STOP=1",
            "--file",
        ])
        .arg(&file)
        .output()?;
    std::fs::remove_file(&file)?;
    ensure!(
        read.status.success(),
        "{}",
        String::from_utf8_lossy(&read.stderr)
    );
    set_tenant_from(&after)?;
    continues(&before, &after)
}
