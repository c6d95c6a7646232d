//! The table `source_facts`: the fact sheets of turns.

use std::collections::BTreeSet;

use reground_grounding::memory::ContextSource;
use reground_grounding::memory::FactSheet;
use serde::Serialize;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql::{self, Record};

/// A fact to be stored.
#[derive(Serialize)]
struct Row<'a> {
    marker: &'a str,
    fact_no: usize,
    fact: &'a str,
    fact_start: Option<usize>,
    fact_end: Option<usize>,
    published: Option<&'a str>,
    version: Option<i32>,
    content_hash: &'a str,
}

/// Columns of [`Row`].
const ROW: Record = Record(&[
    "marker text, fact_no integer, fact text, fact_start integer, fact_end integer, published text, version integer, content_hash text",
]);

/// The facts of a turn, by marker.
pub fn sheet(turn_id: i64) -> Result<FactSheet> {
    let facts: Vec<(String, BTreeSet<String>)> = as_owner(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(json_build_array(f.marker, f.facts)), '[]')::text \
             FROM (SELECT marker, array_agg(fact) AS facts FROM reground.source_facts WHERE turn_id = $1 GROUP BY marker) AS f",
            &[turn_id.into()],
        )
    })?
    .unwrap_or_default();
    Ok(facts.into_iter().collect())
}

/// Stores the facts of the sources of a context.
pub fn write(tenant: &str, turn_id: i64, context: &[ContextSource]) -> Result<()> {
    let rows: Vec<Row<'_>> = context
        .iter()
        .flat_map(|source| {
            let passage = &source.candidate.passage;
            source.facts.iter().enumerate().map(move |(index, fact)| {
                let chars = fact.chars;
                let chars = chars.map(|at| passage.in_row(at.start as usize..at.end as usize));
                Row {
                    marker: &source.marker,
                    fact_no: index + 1,
                    fact: &fact.text,
                    fact_start: chars.as_ref().map(|chars| chars.start),
                    fact_end: chars.as_ref().map(|chars| chars.end),
                    published: passage.date(),
                    version: passage.version,
                    content_hash: &passage.content_hash,
                }
            })
        })
        .collect();
    let rows = sql::json(&rows)?;
    as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.source_facts (turn_id, tenant, {}) SELECT $1, $2, x.* FROM json_to_recordset($3::json) AS x({ROW})",
                ROW.columns("")
            ),
            &[turn_id.into(), tenant.into(), rows.into()],
        )
    })?;
    Ok(())
}
