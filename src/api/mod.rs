//! The SQL functions, a file a topic. Each is declared in `sql/install`, which also documents it.

mod begin_turn;
mod citation_rows;
mod corpora;
mod documents;
mod end_turn;
mod pins;
mod prompts;
mod rerank;
mod search;
mod source_rows;

use pgrx::JsonB;
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// An argument that must be given.
fn given<T>(argument: Option<T>, name: &'static str) -> Result<T> {
    argument.ok_or(Error::Null(name))
}

/// A jsonb argument that is an object; empty where it is not given.
fn object(argument: Option<JsonB>, name: &'static str) -> Result<Value> {
    match argument.map(|argument| argument.0) {
        None => Ok(Value::Object(Map::new())),
        Some(value @ Value::Object(_)) => Ok(value),
        Some(_) => Err(Error::Bad {
            argument: name,
            fault: "it is not a JSON object".into(),
            hint: "Write {\"name\": value}.".into(),
        }),
    }
}

/// Refuses to go on where nothing can be written, before anything is computed.
fn writable(function: &'static str) -> Result<()> {
    // SAFETY: plain calls into the backend.
    if unsafe { pgrx::pg_sys::RecoveryInProgress() || pgrx::pg_sys::XactReadOnly } {
        return Err(Error::ReadOnly(function));
    }
    Ok(())
}
