//! The table `turn_retrievals`: searches and passages that were added to a turn after it had begun.

use serde::Serialize;
use serde_json::Value;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql::{self, Record};

/// An additional retrieval to be stored.
#[derive(Debug, Serialize)]
pub struct NewRetrieval<'a> {
    pub turn_id: i64,
    pub retrieval_no: u32,
    pub tenant: &'a str,
    /// `search` or `passages`.
    pub kind: &'static str,
    pub query: Option<&'a str>,
    pub corpora: Option<&'a [String]>,
    pub filter: Option<&'a Value>,
    pub max_results: Option<i32>,
    /// Markers of the returned sources.
    pub markers: Vec<&'a str>,
    pub added_count: usize,
    pub warnings: &'a [String],
    pub search_us: Option<i32>,
}

/// Columns of [`NewRetrieval`].
const NEW_RETRIEVAL: Record = Record(&[
    "turn_id bigint, retrieval_no integer, tenant text, kind text, query text, corpora text[], filter jsonb, max_results integer",
    "markers text[], added_count integer, warnings text[], search_us integer",
]);

/// Number of the next retrieval of a turn, from 1. The conversation must be locked.
pub fn next(turn_id: i64) -> Result<u32> {
    let last: Option<i32> = as_owner(|| {
        sql::write_one(
            "SELECT max(retrieval_no) FROM reground.turn_retrievals WHERE turn_id = $1",
            &[turn_id.into()],
        )
    })?;
    Ok(u32::try_from(last.unwrap_or_default()).unwrap_or_default() + 1)
}

/// Stores a retrieval, with the columns of the turn that it is about to change.
pub fn insert(new: &NewRetrieval<'_>, embedding: Option<Vec<f32>>) -> Result<()> {
    let row = sql::json(new)?;
    as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.turn_retrievals ({}, embedding, turn_before) \
                 SELECT {}, $2, jsonb_build_object('warnings', t.warnings, 'context_tokens', t.context_tokens, 'context_turn_no', t.context_turn_no, \
                     'history_tokens', t.history_tokens) \
                 FROM json_to_record($1::json) AS x({NEW_RETRIEVAL}) JOIN reground.turns AS t ON t.turn_id = x.turn_id",
                NEW_RETRIEVAL.columns(""),
                NEW_RETRIEVAL.columns("x.")
            ),
            &[row.into(), embedding.into()],
        )
    })?;
    Ok(())
}
