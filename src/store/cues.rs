//! How languages deny and write numbers: the table `support_cues`.

use reground_citations::{Cues, SupportCue};
use serde::Deserialize;

use crate::error::Result;
use crate::sql;

#[derive(Deserialize)]
struct Row {
    language: String,
    kind: SupportCue,
    cue: String,
}

/// The cues of a language, given by its code or by the name of its text search configuration. One's own
/// come last: of two decimal signs the last one counts.
pub fn load(language: &str) -> Result<Cues> {
    let rows: Vec<Row> = sql::read_rows(
        "SELECT language, kind, cue FROM reground.support_cues WHERE language = $1 ORDER BY built_in DESC, kind, cue",
        &[Cues::code(language).into()],
    )?;
    let rows = rows
        .iter()
        .map(|row| (row.language.as_str(), row.kind, row.cue.as_str()));
    Ok(Cues::of(language, rows))
}
