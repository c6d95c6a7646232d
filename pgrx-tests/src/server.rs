//! Databases on the server that the tests are pointed at.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use postgres::{Client, Config, NoTls};

/// Where the tests find a server, as `make test` sets it.
const URI: &str = "REGROUND_TEST_URI";

/// How to reach the server.
///
/// # Errors
/// Where the variable is not set or is no connection string: a test never passes because it found no server.
pub fn config() -> Result<Config> {
    std::env::var(URI)
        .with_context(|| {
            format!("{URI} is not set: run `make test`, which starts a server for these tests")
        })?
        .parse()
        .with_context(|| format!("{URI} is not a connection string"))
}

/// A database of one test's own, with the extension in it; gone when the test ends.
pub struct Database {
    name: String,
}

impl Database {
    /// Creates the database `reground_NAME_PID` with the extension.
    ///
    /// # Errors
    /// Where the server cannot be reached or refuses.
    pub fn create(name: &str) -> Result<Self> {
        let database = Self::empty(name)?;
        database.connect()?.batch_execute(
            "SET client_min_messages = warning; CREATE EXTENSION reground CASCADE",
        )?;
        Ok(database)
    }

    /// Creates the database without the extension.
    ///
    /// # Errors
    /// Where the server cannot be reached or refuses.
    pub fn empty(name: &str) -> Result<Self> {
        let name = format!("reground_{name}_{}", std::process::id());
        let mut client = config()?.connect(NoTls)?;
        client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))?;
        client.batch_execute(&format!(
            "CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"
        ))?;
        Ok(Self { name })
    }

    /// Its name, which needs no quotes.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How to reach it.
    ///
    /// # Errors
    /// As [`config`].
    pub fn config(&self) -> Result<Config> {
        let mut config = config()?;
        config.dbname(&self.name);
        Ok(config)
    }

    /// A session as the superuser of the tests, which sees warnings and errors only.
    ///
    /// # Errors
    /// Where the server cannot be reached.
    pub fn connect(&self) -> Result<Client> {
        let mut client = self.config()?.connect(NoTls)?;
        client.batch_execute("SET client_min_messages = error")?;
        Ok(client)
    }

    /// A session as another role, which needs no password from here.
    ///
    /// # Errors
    /// Where the server cannot be reached or refuses the role.
    pub fn connect_as(&self, role: &str) -> Result<Client> {
        let mut client = self.config()?.user(role).connect(NoTls)?;
        client.batch_execute("SET client_min_messages = error")?;
        Ok(client)
    }

    /// One of PostgreSQL's own client programs, pointed at this database; `None` where the server's folder has none.
    ///
    /// # Errors
    /// Where REGROUND_TEST_PG_CONFIG is not set, or the address is not one that a program takes.
    pub fn program(&self, name: &str) -> Result<Option<Command>> {
        let pg_config = std::env::var("REGROUND_TEST_PG_CONFIG").context(
            "REGROUND_TEST_PG_CONFIG is not set: run `make test`, which knows the server's programs",
        )?;
        let output = Command::new(&pg_config).arg("--bindir").output()?;
        ensure!(output.status.success(), "{pg_config} --bindir fails");
        let program = PathBuf::from(String::from_utf8(output.stdout)?.trim()).join(name);
        if !program.exists() {
            return Ok(None);
        }
        let config = self.config()?;
        let host = match config.get_hosts().first() {
            Some(postgres::config::Host::Tcp(host)) => host.clone(),
            #[cfg(unix)]
            Some(postgres::config::Host::Unix(folder)) => folder.display().to_string(),
            None => "127.0.0.1".into(),
        };
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let mut command = Command::new(program);
        command
            .env("PGHOST", host)
            .env("PGPORT", port.to_string())
            .env("PGUSER", config.get_user().unwrap_or("postgres"))
            .env("PGDATABASE", &self.name);
        Ok(Some(command))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // A database that stays behind harms nobody: the next run of the test drops it.
        if let Ok(mut client) = config().and_then(|config| Ok(config.connect(NoTls)?)) {
            let _ = client.batch_execute(&format!(
                "DROP DATABASE IF EXISTS {} WITH (FORCE)",
                self.name
            ));
        }
    }
}

/// SQLSTATE of a refusal; `None` where the statement went through or the connection broke.
pub fn state<T>(outcome: &std::result::Result<T, postgres::Error>) -> Option<&str> {
    outcome.as_ref().err()?.code().map(|code| code.code())
}

/// Rows in every table of the extension: what a refused call must leave as it was.
///
/// # Errors
/// Where the session cannot read them.
pub fn row_counts(client: &mut Client) -> Result<Vec<(String, i64)>> {
    let tables = client.query(
        "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'reground'::regnamespace \
         AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname COLLATE \"C\"",
        &[],
    )?;
    let mut counts = Vec::new();
    for table in tables {
        let table: String = table.get(0);
        let count = client
            .query_one(&format!("SELECT count(*) FROM {table}"), &[])?
            .get(0);
        counts.push((table, count));
    }
    Ok(counts)
}
