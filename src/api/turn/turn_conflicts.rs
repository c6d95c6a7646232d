//! `turn_conflicts`: returns statements of a turn's sources that contradict each other.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_citations::SourceConflict;
use reground_grounding::memory::ContextSource;
use serde::Serialize;

use crate::api::answer::judging::source_conflicts;
use crate::api::conversation::prompts::with_context;
use crate::rows;
use crate::tenant;

/// A row of `turn_conflicts`.
#[derive(Serialize)]
struct ConflictRow<'a> {
    kind: &'static str,
    marker: &'a str,
    statement: &'a str,
    statement_start: usize,
    statement_end: usize,
    number: Option<&'a str>,
    other_marker: &'a str,
    other_statement: &'a str,
    other_statement_start: usize,
    other_statement_end: usize,
    other_number: Option<&'a str>,
}

impl<'a> ConflictRow<'a> {
    fn of(conflict: &'a SourceConflict, context: &'a [ContextSource]) -> Option<Self> {
        let (one, other) = (&conflict.one, &conflict.other);
        Some(Self {
            kind: conflict.kind.as_str(),
            marker: &context.get(one.passage)?.marker,
            statement: &one.text,
            statement_start: one.chars.start,
            statement_end: one.chars.end,
            number: one.number.as_deref(),
            other_marker: &context.get(other.passage)?.marker,
            other_statement: &other.text,
            other_statement_start: other.chars.start,
            other_statement_end: other.chars.end,
            other_number: other.number.as_deref(),
        })
    }
}

#[pg_extern(sql = false)]
fn turn_conflicts(
    turn_id: Option<i64>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let tenant = tenant::required()?;
    let turn = with_context(turn_id)?;
    let conflicts = source_conflicts::of_turn(&tenant, &turn)?;
    let found = conflicts.iter();
    let found: Vec<_> = found
        .filter_map(|conflict| ConflictRow::of(conflict, &turn.context))
        .collect();
    rows::emit(fcinfo, &found)?;
    Ok(())
}
