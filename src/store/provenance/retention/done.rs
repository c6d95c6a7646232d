//! What a run has done.

use serde::Serialize;

/// A row of run_retention.
#[derive(Debug, Serialize)]
pub struct RetentionRow {
    pub relation: String,
    /// Number of rows.
    pub rows: i64,
    pub action: &'static str,
}

/// Adds rows, to those of the same relation and action if there are any.
pub fn report(done: &mut Vec<RetentionRow>, relation: &str, rows: usize, action: &'static str) {
    let rows = i64::try_from(rows).unwrap_or(i64::MAX);
    let of_it = |row: &&mut RetentionRow| row.relation == relation && row.action == action;
    match done.iter_mut().find(of_it) {
        Some(row) => row.rows += rows,
        None => done.push(RetentionRow {
            relation: relation.to_owned(),
            rows,
            action,
        }),
    }
}
