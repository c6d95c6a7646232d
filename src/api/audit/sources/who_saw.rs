//! `who_saw`: the turns that had a document in their context.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::api::given;
use crate::error::Result;
use crate::retrieve::visibility::hidden_turns;
use crate::rows;
use crate::store::contexts::{self, ContextTurn, ShownDocument};
use crate::tenant;
use crate::tenant::membership;

#[pg_extern(sql = false)]
fn who_saw(
    corpus: Option<&str>,
    doc_id: Option<&str>,
    chunk_id: Option<&str>,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let shown = ShownDocument {
        corpus: given(corpus, "corpus")?,
        doc_id: given(doc_id, "doc_id")?,
        chunk_id,
        since,
        until,
    };
    rows::emit(fcinfo, &turns(&shown)?)?;
    Ok(())
}

/// The turns that the caller may see: all for an auditor, otherwise those of the tenant without hidden sources.
fn turns(shown: &ShownDocument<'_>) -> Result<Vec<ContextTurn>> {
    if membership::is_auditor()? {
        return contexts::turns_with(None, shown);
    }
    let tenant = tenant::required()?;
    let turns = contexts::turns_with(Some(&tenant), shown)?;
    let turn_ids: Vec<i64> = turns.iter().map(|turn| turn.turn_id).collect();
    let hidden = hidden_turns(&tenant, &turn_ids)?;
    let visible = turns.into_iter();
    Ok(visible
        .filter(|turn| !hidden.contains(&turn.turn_id))
        .collect())
}
