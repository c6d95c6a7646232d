//! Models, passages and workers of a test.

use std::process::{Child, Command};

use anyhow::{Context, Result};
use postgres::Client;
use reground_tests::server::Database;
use serde_json::json;

use crate::api::FakeApi;

/// The key of every worker.
pub const KEY: &str = "sk-kept-from-everybody-0123456789";

/// Registers the API as the embedding model `m` of two dimensions.
pub fn register(client: &mut Client, api: &FakeApi, settings: &str) -> Result<()> {
    let mut settings: serde_json::Value = serde_json::from_str(settings)?;
    settings["normalize"] = false.into();
    client.execute(
        "SELECT reground.set_model('m', task => 'embed', api => 'openai', endpoint => $1, dimensions => 2, settings => $2)",
        &[&format!("http://{}/v1", api.address), &settings],
    )?;
    Ok(())
}

/// Creates the corpus `tasks` with this model.
pub fn corpus(client: &mut Client) -> Result<()> {
    client.execute(
        "SELECT reground.create_corpus('tasks', embedding_model => 'm')",
        &[],
    )?;
    Ok(())
}

/// Stores a document of these passages.
pub fn put(client: &mut Client, doc_id: &str, texts: impl Iterator<Item = String>) -> Result<()> {
    let passages: serde_json::Value = texts.map(|text| json!({"content": text})).collect();
    client.execute(
        "SELECT reground.put_document('tasks', $1, passages => $2)",
        &[&doc_id, &passages],
    )?;
    Ok(())
}

/// Creates a role of this test that can only work on the queue; roles are shared by all databases.
pub fn worker_role(client: &mut Client) -> Result<String> {
    let name: String = client.query_one("SELECT current_database()", &[])?.get(0);
    client.batch_execute(&format!(
        "DROP ROLE IF EXISTS {name}_w; CREATE ROLE {name}_w LOGIN IN ROLE reground_worker"
    ))?;
    Ok(format!("{name}_w"))
}

/// A running worker; killed with the value.
pub struct Program {
    child: Child,
    /// What it writes. A pipe that nobody reads would stop it.
    output: tempfile::NamedTempFile,
}

/// A worker that has ended.
pub struct Ended {
    pub code: Option<i32>,
    /// Everything that it has written.
    pub output: String,
}

impl Program {
    /// Starts a worker on a database.
    pub fn start(database: &Database, role: &str, arguments: &[&str]) -> Result<Self> {
        let config = database.config()?;
        let host = config.get_hosts().first().context("a host")?;
        let postgres::config::Host::Tcp(host) = host else {
            anyhow::bail!("the server is reached over TCP")
        };
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let uri = format!("postgresql://{role}@{host}:{port}/{}", database.name());
        let output = tempfile::NamedTempFile::new()?;
        let child = Command::new(env!("CARGO_BIN_EXE_reground-worker"))
            .args(arguments)
            .env_clear()
            .env("REGROUND_DATABASES", uri)
            .env("REGROUND_ALLOW_PRIVATE", "127.0.0.1")
            .env("REGROUND_KEY_OPENAI", KEY)
            .env("REGROUND_LOG", "debug")
            .stdout(output.reopen()?)
            .stderr(output.as_file().try_clone()?)
            .spawn()?;
        Ok(Self { child, output })
    }

    /// Ends it as a crash does.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks it to stop, and returns what it has written.
    pub fn stop(self) -> Result<String> {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status()?;
        anyhow::ensure!(sent.success(), "SIGTERM cannot be sent");
        Ok(self.wait()?.output)
    }

    /// Waits until it ends.
    pub fn wait(mut self) -> Result<Ended> {
        let status = self.child.wait()?;
        Ok(Ended {
            code: status.code(),
            output: std::fs::read_to_string(self.output.path())?,
        })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
