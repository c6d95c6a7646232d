//! One connection that is opened again after it was lost.

use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};
use tokio_postgres::{Client, Error};

use super::connection::Target;

/// The connection that tasks are claimed and stored over.
pub struct Session {
    target: Target,
    client: Mutex<Option<Client>>,
}

impl Session {
    /// Creates a session without a connection.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            client: Mutex::new(None),
        }
    }

    /// Returns the name of the database for logs and figures.
    pub fn label(&self) -> &str {
        &self.target.label
    }

    /// Returns the connection, after others no longer use it. Opens it if there is none.
    ///
    /// # Errors
    /// The error of connecting.
    pub async fn client(&self) -> Result<MappedMutexGuard<'_, Client>, Error> {
        let mut slot = self.client.lock().await;
        if slot.as_ref().is_none_or(Client::is_closed) {
            *slot = None;
        }
        let client = match slot.take() {
            Some(client) => client,
            None => {
                let client = self.target.connect().await?;
                // A result that a crash of the server loses is done again when its lease ends.
                client.batch_execute("SET synchronous_commit = off").await?;
                client
            }
        };
        Ok(MutexGuard::map(slot, |slot| slot.insert(client)))
    }
}
