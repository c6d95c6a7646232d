//! How the server is reached: through its Unix socket where it runs on this machine, since that is what one would do.

use std::path::Path;

use anyhow::{Context, Result};
use postgres::config::Host;
use postgres::{Client, Config, NoTls};

/// An address that both competitors use.
#[derive(Clone, Debug)]
pub struct Address {
    /// For the Rust client.
    pub config: Config,
    /// The same as a connection string of libpq.
    pub libpq: String,
    /// Whether it is a Unix socket.
    pub socket: bool,
}

/// The server's Unix socket if this machine has it, else the address as it was given.
///
/// # Errors
/// A server that cannot be reached.
pub fn nearest(uri: &str) -> Result<Address> {
    let config: Config = uri.parse().context("--uri is not a connection string")?;
    let mut client = config
        .connect(NoTls)
        .context("no connection to the server")?;
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
                libpq,
                socket: true,
            });
        }
    }
    Ok(Address {
        config,
        libpq: uri.to_owned(),
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

/// A session that is told of errors only: lists of one branch warn that they have no embedding.
///
/// # Errors
/// A server that cannot be reached.
pub fn connect(address: &Address) -> Result<Client> {
    let mut client = address.config.connect(NoTls)?;
    client.batch_execute("SET client_min_messages = error")?;
    Ok(client)
}
