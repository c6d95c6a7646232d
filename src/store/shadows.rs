//! Shadow turns: what a turn would have been under other settings.

use reground_grounding::settings::Settings;
use serde::Serialize;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;

/// What `shadow_turn` stores.
#[derive(Debug, Serialize)]
pub struct NewShadow<'a, Row> {
    pub turn_id: i64,
    pub label: &'a str,
    pub tenant: &'a str,
    pub corpus: &'a str,
    pub settings: &'a Settings,
    pub context_tokens: usize,
    /// Microseconds that its search took; `None` where it kept sources.
    pub search_us: Option<i32>,
    pub candidates: &'a [Row],
}

/// Stores a shadow, in place of the turn's of that label.
pub fn put<Row: Serialize>(new: &NewShadow<'_, Row>) -> Result<()> {
    let row = sql::json(new)?;
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.shadow_turns (turn_id, label, tenant, corpus, settings, context_tokens, search_us, candidates) \
             SELECT x.* FROM json_to_record($1::json) AS x(turn_id bigint, label text, tenant text, corpus text, settings jsonb, context_tokens integer, \
                 search_us integer, candidates jsonb) \
             ON CONFLICT (turn_id, label) DO UPDATE SET corpus = excluded.corpus, settings = excluded.settings, context_tokens = excluded.context_tokens, \
                 search_us = excluded.search_us, candidates = excluded.candidates, shadowed_at = excluded.shadowed_at",
            &[row.into()],
        )
    })?;
    Ok(())
}
