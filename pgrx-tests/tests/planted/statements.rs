//! Statements of a file, run as one role.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use postgres::{Client, SimpleQueryMessage, SimpleQueryRow};
use reground_tests::server::Database;

/// Columns of ids, each with the placeholders of its latest and of its first value.
const IDS: [(&str, &str, &str); 8] = [
    ("turn_id", "{turn}", "{first_turn}"),
    ("message_id", "{message}", "{first_message}"),
    ("citation_id", "{citation}", "{first_citation}"),
    ("alert_id", "{alert}", "{first_alert}"),
    ("evaluation_id", "{evaluation}", "{first_evaluation}"),
    ("verdict_id", "{verdict}", "{first_verdict}"),
    ("task_id", "{task}", "{first_task}"),
    ("lease_token", "{lease}", "{first_lease}"),
];

/// A line that precedes a statement that may return no row.
const NO_ROWS: &str = "-- no rows";

/// Number of calls of planted objects so far.
pub fn calls(owner: &mut Client) -> Result<i64> {
    let row = owner.query_one(
        "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM hostile.calls",
        &[],
    )?;
    Ok(row.get(0))
}

/// A session of one role.
pub struct Session {
    client: Client,
    role: String,
    path: String,
    /// Values by placeholder.
    values: BTreeMap<&'static str, String>,
    /// Statements run so far.
    pub statements: usize,
    /// The statements that failed, with the reason.
    pub failures: Vec<String>,
}

impl Session {
    /// Connects as a role.
    pub fn open(database: &Database, role: &str) -> Result<Self> {
        Ok(Self {
            client: database.connect_as(role)?,
            role: role.to_owned(),
            path: String::new(),
            values: BTreeMap::new(),
            statements: 0,
            failures: Vec::new(),
        })
    }

    /// Begins a run with a prefix of names and a search_path. The extension's prepared statements of earlier runs stay cached.
    pub fn begin(&mut self, run: &str, path: &str) -> Result<()> {
        self.client
            .batch_execute(&format!("SET search_path = {path}"))?;
        path.clone_into(&mut self.path);
        self.values = BTreeMap::from([("{r}", run.to_owned()), ("{role}", self.role.clone())]);
        Ok(())
    }

    /// Runs the statements of a file, and records those that fail or call a planted object.
    pub fn run_file(&mut self, file: &str, owner: &mut Client) -> Result<()> {
        let mut may_be_empty = false;
        for line in file.lines() {
            match line {
                NO_ROWS => may_be_empty = true,
                line if line.is_empty() || line.starts_with("--") => {}
                line => {
                    let mut statement = line.to_owned();
                    for (name, value) in &self.values {
                        statement = statement.replace(name, value);
                    }
                    let rows = self.run(&statement, may_be_empty, owner)?;
                    self.remember(&rows);
                    may_be_empty = false;
                }
            }
        }
        Ok(())
    }

    /// Reads tables and views of the extension.
    pub fn read(&mut self, relations: &BTreeSet<String>, owner: &mut Client) -> Result<()> {
        for relation in relations {
            let statement = format!("SELECT r.* FROM reground.{relation} AS r");
            self.run(&statement, true, owner)?;
        }
        Ok(())
    }

    fn run(
        &mut self,
        statement: &str,
        may_be_empty: bool,
        owner: &mut Client,
    ) -> Result<Vec<SimpleQueryRow>> {
        let before = calls(owner)?;
        let outcome = self.client.simple_query(statement);
        self.statements += 1;
        let planted_calls = calls(owner)? - before;
        let mut faults = Vec::new();
        let mut rows = Vec::new();
        match outcome {
            Ok(messages) => {
                for message in messages {
                    if let SimpleQueryMessage::Row(row) = message {
                        rows.push(row);
                    }
                }
                if rows.is_empty() && !may_be_empty {
                    faults.push("no row".to_owned());
                }
            }
            Err(error) => {
                let error = error.as_db_error().context("the session is lost")?;
                let context = error.where_().unwrap_or_default();
                let hint = error.hint().unwrap_or_default();
                faults.push(format!(
                    "{} {} {hint} {context}",
                    error.code().code(),
                    error.message()
                ));
            }
        }
        if planted_calls > 0 {
            faults.push(format!("{planted_calls} calls of planted objects"));
        }
        if !faults.is_empty() {
            self.failures.push(format!(
                "{} ({}): {statement}\n    {}",
                self.role,
                self.path,
                faults.join("; ")
            ));
        }
        Ok(rows)
    }

    /// Stores the ids of the first row that has them.
    fn remember(&mut self, rows: &[SimpleQueryRow]) {
        for (column, latest, first) in IDS {
            let value = rows
                .iter()
                .find_map(|row| row.try_get(column).ok().flatten());
            if let Some(value) = value {
                self.values.insert(latest, value.to_owned());
                self.values.entry(first).or_insert_with(|| value.to_owned());
            }
        }
    }
}
