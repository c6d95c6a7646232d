//! The triggers of a synchronised table.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use super::apply::{self, OnLock};
use super::source::Source;
use crate::error::{Error, Result, is_first, warn};
use crate::run_as::as_owner;
use crate::session::sees_everything;
use crate::sql::{self, Changes, Event};
use crate::store::sync::{self, Leftover, Place, Queued, Synchronised};

#[pg_extern(sql = false)]
fn _sync_rows(fcinfo: pg_sys::FunctionCallInfo) -> std::result::Result<(), ErrorReport> {
    // SAFETY: PostgreSQL passes its call, and the changes do not outlive it.
    let changes = unsafe { Changes::of(fcinfo) }.ok_or(Error::WrongTrigger)?;
    let argument = changes.arguments.first().map(String::as_str);
    let corpus_id: i64 = argument
        .and_then(|id| id.parse().ok())
        .ok_or(Error::WrongTrigger)?;
    // Left-over triggers must not stop the writers. A detached partition has them, and so has a table that was loaded from a file of the
    // structure of another database.
    match sync::find(corpus_id)? {
        Some(synced) if sync::is_part(synced.source_oid, changes.table)? => {
            follow(&synced, &changes)?;
        }
        _ => warn_of_leftovers(changes.table)?,
    }
    Ok(())
}

/// Warns once in a session that triggers of a table do nothing.
fn warn_of_leftovers(table: pg_sys::Oid) -> Result<()> {
    if !is_first("leftover trigger", 0) {
        return Ok(());
    }
    let found = sync::leftovers(&Place::Tree(table.to_u32()))?;
    let commands: Vec<String> = found.iter().map(Leftover::drop_command).collect();
    if let Some(first) = found.first() {
        warn(
            format!(
                "trigger {} on {} does nothing, because no synchronised table has it",
                first.trigger, first.table
            ),
            &commands.join(" "),
        );
    }
    Ok(())
}

/// Stores or queues the documents of the changed rows. An error does not stop the writer: the rows are queued with it.
fn follow(synced: &Synchronised, changes: &Changes) -> Result<()> {
    if changes.event == Event::Truncate && !synced.is_immediate() {
        return sync::queue(synced.corpus_id, vec![None]);
    }
    if synced.is_immediate() {
        sync::hold_off_queue(synced.corpus_id)?;
    }
    // TRUNCATE removes rows that the snapshot of the transaction does not show, and whose documents it does not show either.
    if changes.event == Event::Truncate && !sees_everything() {
        sync::queue(synced.corpus_id, vec![None])?;
    }
    let changed = sql::guarded(|| Source::of(synced)?.changed(changes));
    let failed = match changed {
        Ok(doc_ids) if !synced.is_immediate() => {
            let doc_ids: Vec<Option<String>> = doc_ids.into_iter().map(Some).collect();
            return match doc_ids.is_empty() {
                true => Ok(()),
                false => sync::queue(synced.corpus_id, doc_ids),
            };
        }
        Ok(doc_ids) => apply::rows(synced, &apply::entries(doc_ids), OnLock::Queue)?.failed,
        // The keys are not known, so all rows have to be compared.
        Err(caught) => {
            let whole = Queued {
                last_error: Some(caught.described()),
                ..Queued::default()
            };
            sync::queue_again(synced.corpus_id, &whole)?;
            vec![whole]
        }
    };
    if let Some(first) = failed.first() {
        warn(
            format!(
                "corpus \"{}\" is behind {}: {}",
                synced.corpus,
                synced.name(),
                first.last_error.as_deref().unwrap_or_default()
            ),
            "The changed rows are queued: see reground.check_corpus. run_maintenance tries again.",
        );
    }
    Ok(())
}

/// Drops the triggers of a table, its partitions and its children that are left over.
pub fn drop_leftovers(source: u32) -> Result<()> {
    for leftover in sync::leftovers(&Place::Tree(source))? {
        sql::run_ddl(&leftover.drop_command())?;
    }
    Ok(())
}

/// Creates the triggers that a table, its partitions and its children do not have yet.
pub fn create(corpus_id: i64, source: u32) -> Result<()> {
    let prefix = sync::trigger_prefix(corpus_id);
    for part in sync::parts(corpus_id, source)? {
        if !matches!(part.kind.as_str(), "r" | "p") {
            continue;
        }
        for (event, transition) in sync::EVENTS {
            let name = format!("{prefix}{event}");
            if part.enabled.contains(&name) || part.disabled.contains(&name) {
                continue;
            }
            sql::run_ddl(&format!(
                "CREATE TRIGGER {} AFTER {event} ON {} {transition} FOR EACH STATEMENT EXECUTE FUNCTION reground._sync_rows('{corpus_id}')",
                sql::ident(&name),
                part.name
            ))?;
        }
    }
    Ok(())
}

/// Drops the triggers of a corpus as the caller. Without a synchronised table there are none.
pub fn drop_all(corpus_id: i64) -> Result<()> {
    let Some(synced) = sync::find(corpus_id)? else {
        return Ok(());
    };
    for part in sync::parts(corpus_id, synced.source_oid)? {
        for name in part.enabled.iter().chain(&part.disabled) {
            sql::run_ddl(&format!(
                "DROP TRIGGER {} ON {}",
                sql::ident(name),
                part.name
            ))?;
        }
    }
    Ok(())
}

/// Checks that a table can have the triggers, and that the caller has the rights of its owner.
pub fn check_source(source: pg_sys::Oid) -> Result<String> {
    let described = as_owner(|| {
        sql::read_json::<(String, String, String, bool)>(
            "SELECT json_build_array(format('%I.%I', n.nspname, c.relname), c.relkind, c.relpersistence, \
                 n.nspname IN ('reground', 'pg_catalog', 'information_schema'))::text \
             FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = $1",
            &[source.into()],
        )
    })?;
    let Some((table, kind, persistence, is_system)) = described else {
        return Err(Error::Unknown("table", source.to_u32().to_string()));
    };
    let refused = |problem, hint| Error::CannotSynchronise {
        table: table.clone(),
        problem,
        hint,
    };
    if !matches!(kind.as_str(), "r" | "p") {
        return Err(refused(
            "it is not a table, so no trigger sees its changes",
            "Synchronise the table behind it, register it with reground.add_corpus, or store its rows with reground.put_document.",
        ));
    }
    if sql::is_distributed(source)? {
        return Err(Error::DistributedSource(table));
    }
    if persistence == "t" {
        return Err(refused(
            "it is a temporary table",
            "Other sessions could not read it.",
        ));
    }
    if is_system {
        return Err(refused("it belongs to the system", ""));
    }
    let owns = "SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class AS c WHERE c.oid = $1";
    if sql::read_one::<bool>(owns, &[source.into()])? != Some(true) {
        return Err(Error::MayNotSynchronise(table));
    }
    Ok(table)
}
