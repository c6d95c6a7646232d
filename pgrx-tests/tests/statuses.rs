//! The tables of statuses and cues equal the lists of the crate.

use std::collections::BTreeSet;

use anyhow::Result;
use reground_citations::{SUPPORT_CUES, Status, SupportCue};
use reground_tests::server::Database;

#[test]
fn the_table_of_statuses_equals_the_crate() -> Result<()> {
    let database = Database::create("statuses")?;
    let rows = database.connect()?.query(
        "SELECT status, holds, score, hallucination_mode, meaning FROM reground.citation_statuses",
        &[],
    )?;
    assert_eq!(rows.len(), Status::ALL.len());
    for row in rows {
        let name: String = row.get(0);
        let status = Status::ALL
            .into_iter()
            .find(|status| status.as_str() == name)
            .expect("the crate knows the status");
        assert_eq!(row.get::<_, Option<bool>>(1), status.holds(), "{name}");
        assert_eq!(row.get::<_, Option<f64>>(2), status.score(), "{name}");
        let mode = status.mode().map(|mode| mode.as_str().to_owned());
        assert_eq!(row.get::<_, Option<String>>(3), mode, "{name}");
        assert_eq!(row.get::<_, String>(4), status.meaning(), "{name}");
    }
    Ok(())
}

#[test]
fn the_table_of_cues_equals_the_crate() -> Result<()> {
    let database = Database::create("cues")?;
    let rows = database.connect()?.query(
        "SELECT language, kind, cue FROM reground.support_cues WHERE built_in",
        &[],
    )?;
    let stored: BTreeSet<(String, String, String)> = rows
        .iter()
        .map(|row| (row.get(0), row.get(1), row.get(2)))
        .collect();
    let known: BTreeSet<(String, String, String)> = SUPPORT_CUES
        .iter()
        .flat_map(|(language, kind, cues)| {
            let kind = kind.as_str();
            cues.split_whitespace()
                .map(move |cue| ((*language).into(), kind.into(), cue.replace('_', " ")))
        })
        .collect();
    assert_eq!(stored, known);
    let kinds: BTreeSet<&str> = SupportCue::ALL.iter().map(|kind| kind.as_str()).collect();
    assert!(
        stored
            .iter()
            .all(|(_, kind, _)| kinds.contains(kind.as_str()))
    );
    Ok(())
}
