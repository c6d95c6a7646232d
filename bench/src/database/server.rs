//! Connections to the server: through its Unix socket where it runs on this machine.

use std::path::Path;

use anyhow::{Context, Result};
use postgres::config::Host;
use postgres::{Client, Config, NoTls};

/// Address of the server.
#[derive(Clone, Debug)]
pub struct Address {
    /// Settings of the client.
    pub config: Config,
    /// Whether it is a Unix socket.
    pub socket: bool,
}

/// Address of the Unix socket of the server if this machine has it, else `uri`.
///
/// # Errors
/// A server that cannot be reached.
pub fn resolve(uri: &str) -> Result<Address> {
    let config: Config = uri.parse().context("--uri is not a connection string")?;
    let mut client = config
        .connect(NoTls)
        .context("cannot connect to the server")?;
    let row = client.query_one(
        "SELECT split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port')::integer, current_user::text, current_database()::text",
        &[],
    )?;
    let (folder, port, user, database): (String, i32, String, String) =
        (row.get(0), row.get(1), row.get(2), row.get(3));
    let socket = Path::new(folder.trim()).join(format!(".s.PGSQL.{port}"));
    if !folder.is_empty() && socket.exists() && config.get_hosts().iter().all(is_local) {
        let libpq = format!("host={folder} port={port} user={user} dbname={database}");
        let near: Config = libpq.parse()?;
        if near.connect(NoTls).is_ok() {
            return Ok(Address {
                config: near,
                socket: true,
            });
        }
    }
    Ok(Address {
        config,
        socket: false,
    })
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => ["127.0.0.1", "::1", "localhost"].contains(&name.as_str()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

/// Opens a session without warnings: a search without an embedding warns.
///
/// # Errors
/// A server that cannot be reached.
pub fn connect(address: &Address) -> Result<Client> {
    let mut client = address.config.connect(NoTls)?;
    client.batch_execute("SET client_min_messages = error")?;
    Ok(client)
}

/// Whether the server has and preloads pg_textsearch.
///
/// # Errors
/// Errors of the server.
pub fn has_pg_textsearch(client: &mut Client) -> Result<bool> {
    let row = client.query_one(
        "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_textsearch' \
             AND position('pg_textsearch' IN current_setting('shared_preload_libraries')) > 0)",
        &[],
    )?;
    Ok(row.get(0))
}
