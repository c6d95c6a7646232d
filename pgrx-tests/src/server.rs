//! Databases on the server of the tests.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use postgres::{Client, Config, NoTls};

/// The environment variable with the address of the server, set by `make test`.
const URI: &str = "REGROUND_TEST_URI";

/// Returns the connection settings of the server.
///
/// # Errors
/// If the variable is missing or invalid, so that no test passes without a server.
pub fn config() -> Result<Config> {
    std::env::var(URI)
        .with_context(|| {
            format!("{URI} is not set: run `make test`, which starts a server for these tests")
        })?
        .parse()
        .with_context(|| format!("{URI} is not a connection string"))
}

/// A database for one test, with the extension; dropped with the value.
pub struct Database {
    name: String,
}

impl Database {
    /// Creates the database `reground_NAME_PID` with the extension.
    ///
    /// # Errors
    /// If the connection fails or the server refuses.
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
    /// If the connection fails or the server refuses.
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

    /// Returns its connection settings.
    ///
    /// # Errors
    /// As [`config`].
    pub fn config(&self) -> Result<Config> {
        let mut config = config()?;
        config.dbname(&self.name);
        Ok(config)
    }

    /// Opens a session as the superuser of the tests, which receives warnings and errors only.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn connect(&self) -> Result<Client> {
        let mut client = self.config()?.connect(NoTls)?;
        client.batch_execute("SET client_min_messages = error")?;
        Ok(client)
    }

    /// Opens a session as another role, without a password.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn connect_as(&self, role: &str) -> Result<Client> {
        let mut client = self.config()?.user(role).connect(NoTls)?;
        client.batch_execute("SET client_min_messages = error")?;
        Ok(client)
    }

    /// Returns a client program of PostgreSQL with the address of this database; `None` if the server has no such program.
    ///
    /// # Errors
    /// If REGROUND_TEST_PG_CONFIG is not set, or the address cannot be given to a program.
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
        // A remaining database does no harm: the next run of the test drops it.
        if let Ok(mut client) = config().and_then(|config| Ok(config.connect(NoTls)?)) {
            let _ = client.batch_execute(&format!(
                "DROP DATABASE IF EXISTS {} WITH (FORCE)",
                self.name
            ));
        }
    }
}

/// Returns the SQLSTATE of an error; `None` after success or a lost connection.
pub fn state<T>(outcome: &std::result::Result<T, postgres::Error>) -> Option<&str> {
    outcome.as_ref().err()?.code().map(|code| code.code())
}

/// Counts the rows of every table of the extension.
///
/// # Errors
/// If a query fails.
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
