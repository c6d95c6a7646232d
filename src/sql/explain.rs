//! The plans of the statements of a search, for `explain_search`.

use std::cell::RefCell;

use pgrx::pg_sys;
use pgrx::spi::Spi;
use serde::Serialize;

use super::plans::prepared;
use super::statement::{Access, Args, Statement};
use crate::error::Result;
use crate::profile;

/// A row of `explain_search`.
#[derive(Debug, Serialize)]
pub struct Step {
    step_no: usize,
    /// Stage of the search.
    step: &'static str,
    /// Number of rows that the statement returned.
    rows: Option<u64>,
    /// Its execution time.
    ms: Option<f64>,
    plan: String,
}

/// The search whose statements are recorded.
struct Recording {
    /// The relation of the corpus. Statements without it read catalogs or our own tables.
    relation: String,
    /// User and security context. Code of other roles that a statement runs can search the same relation.
    caller: (pg_sys::Oid, i32),
    steps: Vec<Step>,
}

thread_local! {
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

/// Runs a search and returns the plans of its statements that read `relation`.
pub fn explained(relation: &str, search: impl FnOnce() -> Result<()>) -> Result<Vec<Step>> {
    /// Ends the recording also when an error of PostgreSQL unwinds.
    struct Ends;
    impl Drop for Ends {
        fn drop(&mut self) {
            RECORDING.set(None);
        }
    }
    RECORDING.set(Some(Recording {
        relation: relation.to_owned(),
        caller: caller(),
        steps: Vec::new(),
    }));
    let _ends = Ends;
    search()?;
    Ok(RECORDING
        .take()
        .map(|recording| recording.steps)
        .unwrap_or_default())
}

/// Records the plan of a query that is about to run, with the present settings, if its search is explained.
pub(super) fn record(query: &str, args: &Args<'_>) -> Result<()> {
    let recorded = RECORDING.with_borrow(|recording| {
        let recording = recording.as_ref();
        recording.is_some_and(|r| query.contains(&r.relation) && r.caller == caller())
    });
    if !recorded {
        return Ok(());
    }
    // Functions that the query runs may search, too.
    let recording = RECORDING.take();
    let step = profile::current_stage().unwrap_or("other");
    let plan = plan(query, args)?;
    if let Some(mut recording) = recording {
        recording.steps.push(Step {
            step_no: recording.steps.len() + 1,
            step,
            rows: returned_rows(&plan),
            ms: execution_time(&plan),
            plan: plan.join("\n"),
        });
        RECORDING.set(Some(recording));
    }
    Ok(())
}

fn caller() -> (pg_sys::Oid, i32) {
    let (mut user, mut context) = (pg_sys::InvalidOid, 0);
    // SAFETY: both pointers are valid.
    unsafe { pg_sys::GetUserIdAndSecContext(&mut user, &mut context) };
    (user, context)
}

/// Returns the lines of the plan. SPI takes EXPLAIN for a statement that writes.
fn plan(query: &str, args: &Args<'_>) -> Result<Vec<String>> {
    let types = args.iter().map(|arg| arg.oid()).collect();
    let text = format!("EXPLAIN (ANALYZE, BUFFERS) {query}");
    Spi::connect(|_| {
        let statement =
            Statement::prepare(&text, types)?.with_settings_of(&*prepared(query, args)?);
        let rows = statement.execute(Access::Write, 0, args)?;
        rows.iter()
            .map(|row| Ok(row.get::<String>(1)?.unwrap_or_default()))
            .collect()
    })
}

/// The rows of the first node, as in `(actual time=0.031..0.034 rows=40.00 loops=1)`.
fn returned_rows(plan: &[String]) -> Option<u64> {
    let (_, actual) = plan.first()?.split_once("(actual ")?;
    let (_, rows) = actual.split_once("rows=")?;
    rows.split(['.', ' ']).next()?.parse().ok()
}

fn execution_time(plan: &[String]) -> Option<f64> {
    let time = |line: &String| {
        line.strip_prefix("Execution Time: ")?
            .strip_suffix(" ms")?
            .parse()
            .ok()
    };
    plan.iter().rev().find_map(time)
}
