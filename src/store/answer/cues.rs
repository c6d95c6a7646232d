//! The table `support_cues`: words of each language for negation and numbers.

use reground_citations::{Cues, SupportCue};
use serde::Deserialize;

use crate::error::Result;
use crate::sql;

/// The cues of one kind. They are read as one array, because a row for each cue would cost more.
#[derive(Deserialize)]
struct Row {
    kind: SupportCue,
    cues: Vec<String>,
}

/// The cues of a language, given by its code or by the name of its text search configuration. Cues of users come last, because the
/// last of several decimal separators counts.
pub fn load(language: &str) -> Result<Cues> {
    let code = Cues::code(language);
    let rows: Vec<Row> = sql::read_rows(
        "SELECT kind, json_agg(cue ORDER BY built_in DESC, cue) AS cues FROM reground.support_cues WHERE language = $1 \
         GROUP BY kind ORDER BY kind",
        &[code.as_str().into()],
    )?;
    let cues = rows.iter().flat_map(|row| {
        let cues = row.cues.iter();
        cues.map(|cue| (code.as_str(), row.kind, cue.as_str()))
    });
    Ok(Cues::of(&code, cues))
}
