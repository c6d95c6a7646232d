//! The SQL functions, a file a topic. Each is declared in `sql/install`, which also documents it.

mod additional_retrieval;
mod alerts;
mod answer_metrics;
mod begin_turn;
mod branches;
mod check_answer;
mod citation_rows;
mod conversation_state;
mod corpora;
mod documents;
mod dry_run;
mod edges;
mod end_turn;
mod erasure;
mod evaluation;
mod extract_citations;
mod feed_answer;
mod history;
mod hooks;
mod import_citations;
mod judge;
mod pins;
mod probes;
mod profile;
mod prompts;
mod provenance;
mod quality;
mod record_turns;
mod report;
mod rerank;
mod retention;
mod retrieval;
mod reviews;
mod rollups;
mod search;
mod shadows;
mod source_rows;

use crate::error::{Error, Result};

/// An argument that must be given.
pub(crate) fn given<T>(argument: Option<T>, name: &'static str) -> Result<T> {
    argument.ok_or(Error::Null(name))
}

/// An argument that is given and says something.
pub(crate) fn not_empty<'a>(argument: Option<&'a str>, name: &'static str) -> Result<&'a str> {
    let text = given(argument, name)?;
    if text.trim().is_empty() {
        return Err(Error::Bad {
            argument: name,
            fault: "it is empty".into(),
            hint: String::new(),
        });
    }
    Ok(text)
}

/// The elements of an array of names, none of which may be null.
pub(crate) fn names(
    argument: Option<Vec<Option<String>>>,
    name: &'static str,
) -> Result<Option<Vec<String>>> {
    let names = argument.map(|names| names.into_iter().map(|one| given(one, name)).collect());
    names.transpose()
}

/// Refuses to go on where nothing can be written, before anything is computed.
pub(crate) fn writable(function: &'static str) -> Result<()> {
    // SAFETY: plain calls into the backend.
    if unsafe { pgrx::pg_sys::RecoveryInProgress() || pgrx::pg_sys::XactReadOnly } {
        return Err(Error::ReadOnly(function));
    }
    Ok(())
}
