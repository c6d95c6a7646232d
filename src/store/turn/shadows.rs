//! The table `shadow_turns`: turns repeated with other settings.

use reground_grounding::settings::Settings;
use serde::Serialize;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql::{self, Record};

/// A shadow turn to be stored.
#[derive(Debug, Serialize)]
pub struct NewShadow<'a, Row> {
    pub turn_id: i64,
    pub label: &'a str,
    pub tenant: &'a str,
    pub corpus: &'a str,
    pub settings: &'a Settings,
    pub context_tokens: usize,
    /// Microseconds of its search; `None` if it reused sources.
    pub search_us: Option<i32>,
    pub candidates: &'a [Row],
}

/// Columns of [`NewShadow`] that identify it.
const KEY: &str = "turn_id bigint, label text, tenant text";
/// The other columns of [`NewShadow`].
const VALUES: Record = Record(&[
    "corpus text, settings jsonb, context_tokens integer, search_us integer, candidates jsonb",
]);

/// Stores a shadow turn; replaces that of the same turn and label.
pub fn put<Row: Serialize>(new: &NewShadow<'_, Row>) -> Result<()> {
    let row = sql::json(new)?;
    as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.shadow_turns (turn_id, label, tenant, {}) \
                 SELECT x.* FROM json_to_record($1::json) AS x({KEY}, {VALUES}) \
                 ON CONFLICT (turn_id, label) DO UPDATE SET {}, shadowed_at = excluded.shadowed_at",
                VALUES.columns(""),
                VALUES.assignments("excluded.")
            ),
            &[row.into()],
        )
    })?;
    Ok(())
}
