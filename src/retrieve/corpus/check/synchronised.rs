//! Checks the synchronised table of a corpus: what its triggers cannot follow, and what waits.

use super::finding::Finding;
use crate::error::Result;
use crate::sql;
use crate::store::corpora::Corpus;
use crate::store::sync::{self, Leftover, Part, Place, REQUIRED, Synchronised};
use crate::tenant::membership;

/// Checks table, columns, triggers and queue of the synchronisation, if there is one.
pub fn synchronised(corpus: &Corpus) -> Result<Vec<Finding>> {
    let Some(synced) = sync::find(corpus.corpus_id)? else {
        return match corpus.managed {
            true => leftovers(corpus),
            false => Ok(Vec::new()),
        };
    };
    let stop = format!("SELECT reground.stop_sync({});", sql::literal(&corpus.name));
    if synced.source.is_none() {
        let detail = "the synchronised table no longer exists";
        return Ok(vec![Finding::error("sync_table", detail, Some(stop))]);
    }
    if let Some(column) = synced.missing_columns().first() {
        let detail = format!("{} has no column \"{column}\" any more", synced.name());
        return Ok(vec![Finding::error(
            "sync_table",
            detail,
            Some(format!("{stop}{}", without_missing(corpus, &synced))),
        )]);
    }
    let mut findings = Vec::new();
    for part in sync::parts(synced.corpus_id, synced.source_oid)? {
        findings.extend(triggers(corpus, &synced, &part));
    }
    findings.extend(leftovers(corpus)?);
    findings.extend(queue(corpus)?);
    if findings.is_empty() {
        findings.push(Finding::ok("sync_table", synced.name()));
    }
    Ok(findings)
}

/// Changes of a table that the triggers do not follow.
fn triggers(corpus: &Corpus, synced: &Synchronised, part: &Part) -> Option<Finding> {
    let resync = format!("SELECT reground.resync({});", sql::literal(&corpus.name));
    let missing = sync::EVENTS.len() > part.enabled.len().saturating_add(part.disabled.len());
    let (detail, hint) = match part.disabled.first() {
        _ if !matches!(part.kind.as_str(), "r" | "p") => {
            ("has no triggers, because it is no table", resync)
        }
        _ if missing => ("has no triggers", command(corpus, synced)),
        Some(name) => (
            "has disabled triggers",
            format!(
                "ALTER TABLE {} ENABLE TRIGGER {};",
                part.name,
                sql::ident(name)
            ),
        ),
        None if part.is_subscribed => (
            "is changed by a subscription, which fires no triggers",
            resync,
        ),
        None => return None,
    };
    Some(Finding::warning(
        "sync_table",
        format!("{} {detail}", part.name),
        Some(hint),
    ))
}

/// Triggers that do nothing, because their tables do not belong to the synchronisation that they name.
fn leftovers(corpus: &Corpus) -> Result<Vec<Finding>> {
    let found = sync::leftovers(&Place::Corpus(corpus.corpus_id))?;
    let finding = |leftover: Leftover| {
        Finding::warning(
            "sync_trigger",
            format!(
                "trigger {} on {} does nothing, because no synchronised table has it",
                leftover.trigger, leftover.table
            ),
            Some(leftover.drop_command()),
        )
    };
    Ok(found.into_iter().map(finding).collect())
}

/// Rows that could not be stored.
fn queue(corpus: &Corpus) -> Result<Option<Finding>> {
    let mut state = sync::queue_state(corpus.corpus_id)?;
    // An error can contain a value of a row that is hidden from the caller.
    if !(corpus.is_owned()? || membership::is_auditor()? || membership::is_admin()?) {
        state.error = state.error.map(|_| "its owner sees the error".to_owned());
    }
    Ok(state.problem().map(|problem| {
        let query = format!(
            "SELECT doc_id, last_error FROM reground.sync_queue WHERE corpus_id = {} AND last_error IS NOT NULL; -- then repair these rows",
            corpus.corpus_id
        );
        Finding::warning("sync_queue", problem, Some(query))
    }))
}

/// The command that registers the table without the columns that are gone; empty if a document needs one of them.
fn without_missing(corpus: &Corpus, synced: &Synchronised) -> String {
    let missing = synced.missing_columns();
    let mut left = synced.clone();
    left.columns.retain(|meaning, column| {
        REQUIRED.contains(&meaning.as_str()) || !missing.contains(&column.as_str())
    });
    match left.missing_columns().is_empty() {
        true => format!(" {}", command(corpus, &left)),
        false => String::new(),
    }
}

/// The command that registers the table again, which creates missing triggers.
fn command(corpus: &Corpus, synced: &Synchronised) -> String {
    let columns = synced
        .columns
        .iter()
        .map(|(meaning, column)| format!(", {meaning} => {}", sql::literal(column)));
    format!(
        "SELECT reground.sync_table({}, {}{}, mode => {});",
        sql::literal(&corpus.name),
        sql::literal(&synced.name()),
        columns.collect::<String>(),
        sql::literal(&synced.mode)
    )
}
