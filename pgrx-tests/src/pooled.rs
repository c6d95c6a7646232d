//! One session that several tenants share, as behind a connection pool: prepared statements stay after a change of tenant, and all
//! messages of the server are collected.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, bail};
use postgres::types::ToSql;
use postgres::{Client, NoTls, Statement};

use crate::server::Database;

/// How the tenant of a call is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// For the session, in autocommit.
    Session,
    /// By SET LOCAL in a transaction that is committed.
    Transaction,
    /// By SET LOCAL in a transaction that stays open.
    Open,
}

/// The result of a statement.
#[derive(Debug, Default)]
pub struct Reply {
    /// The first column of each row.
    pub rows: Vec<String>,
    /// All fields of the error: message, detail, hint, context, names of objects.
    pub error: Option<String>,
    /// All fields of all notices and warnings.
    pub notices: Vec<String>,
}

impl Reply {
    /// All parts as one text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.rows.join("\n");
        for said in self.error.iter().chain(&self.notices) {
            text.push('\n');
            text.push_str(said);
        }
        text
    }
}

/// The shared session.
pub struct Pooled {
    /// The connection.
    pub client: Client,
    statements: HashMap<String, Statement>,
    notices: Arc<Mutex<Vec<String>>>,
}

impl Pooled {
    /// Connects as `role`; collects messages from DEBUG1 on.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn connect(database: &Database, role: &str) -> Result<Self> {
        let notices: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = Arc::clone(&notices);
        let mut config = database.config()?;
        config.user(role).notice_callback(move |notice| {
            sink.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(format!("{notice:?}"));
        });
        let mut client = config.connect(NoTls)?;
        client.batch_execute("SET client_min_messages = debug1; SET synchronous_commit = off")?;
        Ok(Self {
            client,
            statements: HashMap::new(),
            notices,
        })
    }

    /// Sets the tenant of the session.
    ///
    /// # Errors
    /// If the server refuses.
    pub fn switch(&mut self, tenant: &str) -> Result<()> {
        self.client
            .batch_execute(&format!("SET app.tenant_id = '{tenant}'"))?;
        Ok(())
    }

    /// Sets the tenant of the open transaction.
    ///
    /// # Errors
    /// If the server refuses.
    pub fn switch_within(&mut self, tenant: &str) -> Result<()> {
        self.client
            .batch_execute(&format!("SET LOCAL app.tenant_id = '{tenant}'"))?;
        Ok(())
    }

    /// Returns whether the open transaction has written rows.
    ///
    /// # Errors
    /// If the server refuses.
    pub fn has_written(&mut self) -> Result<bool> {
        let reply = self.run("SELECT pg_current_xact_id_if_assigned()::text", &[])?;
        Ok(reply.rows.iter().any(|id| !id.is_empty()))
    }

    /// Runs a statement, whose first column is text, as a tenant. An error of the statement is part of the reply.
    ///
    /// # Errors
    /// If the connection is lost or the transaction around the statement fails.
    pub fn ask(
        &mut self,
        tenant: &str,
        scope: Scope,
        statement: &str,
        arguments: &[Option<String>],
    ) -> Result<Reply> {
        match scope {
            Scope::Session => self.switch(tenant)?,
            Scope::Transaction | Scope::Open => self
                .client
                .batch_execute(&format!("BEGIN; SET LOCAL app.tenant_id = '{tenant}'"))?,
        }
        let reply = self.run(statement, arguments)?;
        if scope == Scope::Transaction || (scope == Scope::Open && reply.error.is_some()) {
            // COMMIT of a failed transaction rolls back.
            self.client.batch_execute("COMMIT")?;
        }
        Ok(reply)
    }

    /// Runs a statement with the current tenant; it is prepared once.
    ///
    /// # Errors
    /// If the connection is lost.
    pub fn run(&mut self, statement: &str, arguments: &[Option<String>]) -> Result<Reply> {
        self.notices
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        let arguments: Vec<&(dyn ToSql + Sync)> = arguments
            .iter()
            .map(|argument| argument as &(dyn ToSql + Sync))
            .collect();
        let outcome = match self.statements.get(statement) {
            Some(prepared) => self.client.query(prepared, &arguments),
            None => match self.client.prepare(statement) {
                Ok(prepared) => {
                    let outcome = self.client.query(&prepared, &arguments);
                    self.statements.insert(statement.to_owned(), prepared);
                    outcome
                }
                Err(error) => Err(error),
            },
        };
        let mut reply = Reply::default();
        match outcome {
            Ok(rows) => {
                reply.rows = rows
                    .iter()
                    .map(|row| row.get::<_, Option<String>>(0).unwrap_or_default())
                    .collect();
            }
            Err(error) => match error.as_db_error() {
                Some(said) => reply.error = Some(format!("{said:?}")),
                None => bail!("{statement}: {error}"),
            },
        }
        reply.notices = self
            .notices
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        Ok(reply)
    }
}
