//! The same pipeline in Python, as a process of its own that is spoken to in lines of JSON.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::compare::Fields;
use super::workload::Question;
use crate::server::Address;

/// Folder of the package, beside this crate.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python");

/// What the process answers; times in microseconds, by its own clock.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reply {
    error: Option<String>,
    us: f64,
    commit_us: f64,
    turn: i64,
    rows: Vec<Fields>,
}

/// How a call went.
#[derive(Clone, Debug)]
pub struct Call {
    /// From the arguments in hand to the rows in hand, everything written.
    pub took: Duration,
    /// Its COMMIT.
    pub commit: Duration,
    /// What it returned.
    pub rows: Vec<Fields>,
}

/// The running process.
pub struct Python {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Python {
    /// Starts the process and has it make its tables.
    ///
    /// # Errors
    /// An interpreter that does not start or lacks the packages.
    pub fn start(program: &Path, address: &Address) -> Result<Self> {
        let mut child = Command::new(program)
            .args(["-m", "reground_turn", "--dsn", &address.libpq])
            .current_dir(FOLDER)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} does not start", program.display()))?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::new(child.stdout.take().context("no standard output")?);
        let mut python = Self {
            child,
            input,
            output,
        };
        python.ask(&json!({"op": "setup"}))?;
        Ok(python)
    }

    fn ask(&mut self, question: &Value) -> Result<Reply> {
        writeln!(self.input, "{question}")?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        ensure!(!line.is_empty(), "the Python competitor has ended");
        let reply: Reply = serde_json::from_str(&line)
            .with_context(|| format!("the Python competitor says {line}"))?;
        match reply.error {
            Some(error) => anyhow::bail!("the Python competitor: {error}"),
            None => Ok(reply),
        }
    }

    /// Its two candidate queries alone.
    ///
    /// # Errors
    /// What it reports.
    pub fn candidates(&mut self, question: &Question) -> Result<Duration> {
        let reply = self.ask(&json!({
            "op": "candidates", "query": question.query, "embedding": question.embedding.as_slice(),
        }))?;
        Ok(micros(reply.us))
    }

    /// The beginning of a turn; its number.
    ///
    /// # Errors
    /// What it reports.
    pub fn begin(&mut self, conversation: &str, question: &Question) -> Result<(Call, i64)> {
        let reply = self.ask(&json!({
            "op": "begin", "conversation": conversation, "query": question.query, "intent": question.intent,
            "embedding": question.embedding.as_slice(),
        }))?;
        let turn = reply.turn;
        Ok((reply.into(), turn))
    }

    /// The end of a turn.
    ///
    /// # Errors
    /// What it reports.
    pub fn end(&mut self, turn: i64, answer: &str) -> Result<Call> {
        let reply = self.ask(&json!({"op": "end", "turn": turn, "answer": answer}))?;
        Ok(reply.into())
    }
}

impl From<Reply> for Call {
    fn from(reply: Reply) -> Self {
        Self {
            took: micros(reply.us),
            commit: micros(reply.commit_us),
            rows: reply.rows,
        }
    }
}

fn micros(count: f64) -> Duration {
    Duration::from_secs_f64(count.max(0.0) / 1e6)
}

impl Drop for Python {
    fn drop(&mut self) {
        // It reads from us: without us it has nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
