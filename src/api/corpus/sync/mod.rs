//! `sync_table`, `stop_sync` and `resync`: corpora whose documents are the rows of a table.
//!
//! A statement-level trigger takes the keys of the changed rows from the transition tables. Then the present rows of these keys are read
//! and stored, so that it does not matter how many statements have changed a row. The table is read as its owner, the corpus is written
//! as its owner: the writer needs no privilege on either, and no code of one owner runs with the rights of the other.

mod apply;
mod source;
pub(in crate::api) mod triggers;

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::api::audit::task_result::TaskResult;
use crate::api::{given, not_empty, writable};
use crate::error::{Error, Result, warn};
use crate::retrieve::catalog::is_unique;
use crate::session::{sees_everything, with_settings};
use crate::sql;
use crate::store::corpora::{self, Corpus, Hold};
use crate::store::models::embeddings::{clock, since};
use crate::store::sync::{self, Queued, REQUIRED, SourceColumns, Synchronised};
use crate::tenant;
use apply::{Applied, OnLock};
use reground_models::recheck::is_long;
use source::Source;

/// Entries of the queue that are processed at a time.
const BATCH: i64 = 1000;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn sync_table(
    corpus: Option<&str>,
    relation: Option<pg_sys::Oid>,
    key: Option<&str>,
    content: Option<&str>,
    title: Option<&str>,
    uri: Option<&str>,
    published: Option<&str>,
    modified_at: Option<&str>,
    language: Option<&str>,
    metadata: Option<&str>,
    tenant_column: Option<&str>,
    principals_column: Option<&str>,
    mode: Option<&str>,
) -> std::result::Result<i64, ErrorReport> {
    writable("sync_table")?;
    let name = not_empty(corpus, "corpus")?;
    let relation = given(relation, "relation")?;
    let columns = [
        ("key", Some(given(key, "key")?)),
        ("content", Some(given(content, "content")?)),
        ("title", title),
        ("uri", uri),
        ("published", published),
        ("modified_at", modified_at),
        ("language", language),
        ("metadata", metadata),
        ("tenant_column", tenant_column),
        ("principals_column", principals_column),
    ];
    let columns = columns.into_iter();
    let columns =
        columns.filter_map(|(meaning, column)| Some((meaning.to_owned(), column?.to_owned())));
    let mode = checked_mode(given(mode, "mode")?)?;
    Ok(register(name, relation, &columns.collect(), mode)?)
}

fn checked_mode(mode: &str) -> Result<&str> {
    match mode {
        "immediate" | "queued" => Ok(mode),
        other => Err(Error::Bad {
            argument: "mode",
            fault: format!("\"{other}\""),
            hint: "One of immediate, queued.".into(),
        }),
    }
}

/// Registers a table, creates its triggers and stores its rows. Returns the number of documents stored.
///
/// CREATE TRIGGER locks the table against writers and VACUUM until the transaction ends. So the rows of a new table are stored before, and
/// afterwards only those that changed meanwhile.
fn register(name: &str, relation: pg_sys::Oid, columns: &SourceColumns, mode: &str) -> Result<i64> {
    let tenant = tenant::if_any();
    let table = triggers::check_source(relation)?;
    let corpus = corpora::load(&tenant, name)?;
    check_corpus(&corpus)?;
    let create_triggers = || triggers::create(corpus.corpus_id, relation.to_u32());
    triggers::drop_leftovers(relation.to_u32())?;
    let is_new = sync::find(corpus.corpus_id)?.is_none();
    if !is_new {
        // The lock is on the table first, as in the transaction of a writer.
        create_triggers()?;
    }
    let corpus = corpora::held(&tenant, name, Hold::Alter)?.in_place()?;
    match sync::find(corpus.corpus_id)? {
        Some(present)
            if present.source_oid == relation.to_u32()
                && present.columns == *columns
                && present.mode == mode => {}
        Some(present) => {
            return Err(Error::CannotBeSynchronised {
                corpus: corpus.name.clone(),
                problem: format!("it is synchronised with {} already", present.name()),
                hint: format!(
                    "SELECT reground.stop_sync({}); and register the table again.",
                    sql::literal(&corpus.name)
                ),
            });
        }
        None => {
            sync::insert(corpus.corpus_id, relation, columns, mode)?;
            check_new(&corpus, &table)?;
        }
    }
    let synced = found(&corpus)?;
    if !synced.is_immediate() {
        create_triggers()?;
        sync::queue(corpus.corpus_id, vec![None])?;
        return Ok(0);
    }
    let mut stored = 0;
    if is_new {
        stored = store_differences(&synced)?.changed;
        create_triggers()?;
    }
    stored = stored.saturating_add(repair(&synced, ATTEMPTS)?);
    if !sees_everything() {
        // The snapshot does not show what was written since it was taken, and no trigger saw it.
        sync::queue(corpus.corpus_id, vec![None])?;
    }
    Ok(stored)
}

/// Checks that a corpus can have a synchronised table, and that the caller has the rights of its owner.
fn check_corpus(corpus: &Corpus) -> Result<()> {
    if !corpus.managed {
        return Err(Error::NotManaged(corpus.name.clone()));
    }
    if !corpus.is_owned()? {
        return Err(Error::MayNotSynchronise(format!(
            "corpus \"{}\"",
            corpus.name
        )));
    }
    Ok(())
}

/// Checks the columns of a new registration, and that the corpus has no document that the table has not.
fn check_new(corpus: &Corpus, table: &str) -> Result<()> {
    let synced = found(corpus)?;
    let source = Source::of(&synced)?;
    let own = [&corpus.relation, &corpus.documents, &corpus.history];
    if own.into_iter().flatten().any(|own| own == table) {
        return Err(Error::CannotSynchronise {
            table: table.to_owned(),
            problem: "it is a table of the corpus",
            hint: "",
        });
    }
    if !is_unique(&synced.name(), &[&synced.columns[REQUIRED[0]]])? {
        return Err(Error::CannotSynchronise {
            table: table.to_owned(),
            problem: "the key has no unique index",
            hint: "Use the primary key, or make a unique index on the column. In a partitioned table, the column must be the only partition key; otherwise synchronise each partition with a corpus of its own.",
        });
    }
    check_types(&synced, table)?;
    for meaning in ["tenant_column", "principals_column"] {
        if columns_differ(&synced, corpus, meaning) {
            return Err(Error::CannotBeSynchronised {
                corpus: corpus.name.clone(),
                problem: format!("{meaning} is named for one of table and corpus only"),
                hint: format!(
                    "Name it in reground.create_corpus and in reground.sync_table ({meaning} => …)."
                ),
            });
        }
    }
    let others = source.without_row()?;
    if let Some(first) = others.first() {
        return Err(Error::CannotBeSynchronised {
            corpus: corpus.name.clone(),
            problem: format!("its document \"{first}\" is no row of {table}"),
            hint: "Delete such documents with reground.delete_document, or use another corpus."
                .into(),
        });
    }
    Ok(())
}

/// Columns that are converted: meaning, type, and the types that a column can have.
const CONVERTED: [(&str, &str, &str); 4] = [
    ("published", "timestamptz", "timestamptz, timestamp or date"),
    (
        "modified_at",
        "timestamptz",
        "timestamptz, timestamp or date",
    ),
    ("metadata", "jsonb", "jsonb or json"),
    ("principals_column", "text[]", "text[]"),
];

/// Checks that columns can be converted. Errors: 42804, because no row could be stored.
fn check_types(synced: &Synchronised, table: &str) -> Result<()> {
    for (meaning, target, accepted) in CONVERTED {
        let Some(column) = synced.columns.get(meaning) else {
            continue;
        };
        if !sync::converts(synced.source_oid, column, target)? {
            return Err(Error::ColumnType {
                column: column.clone(),
                table: table.to_owned(),
                meaning,
                kind: synced.types.get(column).cloned().unwrap_or_default(),
                accepted,
            });
        }
    }
    Ok(())
}

/// Whether only one of a table and its corpus has a column of a meaning.
fn columns_differ(synced: &Synchronised, corpus: &Corpus, meaning: &str) -> bool {
    synced.columns.contains_key(meaning) != corpus.mapping.contains_key(meaning)
}

/// The synchronised table of a corpus. Errors: 55000 if there is none.
fn found(corpus: &Corpus) -> Result<Synchronised> {
    let synced = sync::find(corpus.corpus_id)?;
    synced.ok_or_else(|| Error::NotSynchronised(corpus.name.clone()))
}

#[pg_extern(sql = false)]
fn stop_sync(corpus: Option<&str>) -> std::result::Result<(), ErrorReport> {
    writable("stop_sync")?;
    let (tenant, name) = (tenant::if_any(), not_empty(corpus, "corpus")?);
    let unknown = || Error::UnknownCorpus(name.to_owned());
    let corpus = corpora::find(&tenant, name)?.ok_or_else(unknown)?;
    found(&corpus)?;
    if !corpus.is_gone() && !corpus.is_owned()? {
        return Err(Error::MayNotSynchronise(format!("corpus \"{name}\"")).into());
    }
    // The lock is on the table first, as in the transaction of a writer.
    triggers::drop_all(corpus.corpus_id)?;
    corpora::held(&tenant, name, Hold::Alter)?;
    sync::delete(corpus.corpus_id)?;
    Ok(())
}

#[pg_extern(sql = false)]
fn resync(corpus: Option<&str>) -> std::result::Result<i64, ErrorReport> {
    writable("resync")?;
    let tenant = tenant::if_any();
    if let Some(name) = corpus {
        let unknown = || Error::UnknownCorpus(name.to_owned());
        let corpus = corpora::find(&tenant, name)?.ok_or_else(unknown)?;
        return Ok(repair(&found(&corpus)?, ATTEMPTS)?);
    }
    let mut changed: i64 = 0;
    for corpus_id in sync::all(Some(&tenant))? {
        let Some(synced) = sync::find(corpus_id)? else {
            continue;
        };
        // An error would undo the repair of the other tables. Writers of the tables before this one wait until the transaction ends.
        match sql::guarded(|| repair(&synced, 1)) {
            Ok(count) => changed = changed.saturating_add(count),
            Err(caught) => {
                let error = caught.described();
                sync::note(corpus_id, false, Some(&error))?;
                warn_of(&synced, &error);
            }
        }
    }
    Ok(changed)
}

/// Warns that the documents of a corpus differ from its table.
fn warn_of(synced: &Synchronised, error: &str) {
    warn(
        format!(
            "corpus \"{}\" is behind {}: {error}",
            synced.corpus,
            synced.name()
        ),
        &format!(
            "SELECT * FROM reground.check_corpus({}); shows what to repair.",
            sql::literal(&synced.corpus)
        ),
    );
}

/// Compares all rows of a table with the documents, and stores the differences. Returns their number. Errors: 55P03 if its writers do not
/// end within the attempts.
fn repair(synced: &Synchronised, attempts: usize) -> Result<i64> {
    hold_off_writers(synced.corpus_id, attempts)?;
    // The comparison finds all rows that are queued.
    while !sync::take(synced.corpus_id, BATCH, true)?.is_empty() {}
    let applied = store_differences(synced)?;
    let error = applied.failed.first();
    let error = error.and_then(|entry| entry.last_error.as_deref());
    sync::note(synced.corpus_id, true, error)?;
    if let Some(error) = error {
        warn_of(synced, error);
    }
    Ok(applied.changed)
}

/// Compares all rows of a table with the documents, and stores the differences.
fn store_differences(synced: &Synchronised) -> Result<Applied> {
    let differences = Source::of(synced)?.differences()?;
    apply::rows(synced, &apply::entries(differences), OnLock::Raise)
}

/// Attempts to wait for the writers of one table, a second each.
const ATTEMPTS: usize = 60;

/// Lets writers of a table wait until the transaction ends. A writer that is not finished can take long, and while this function waits for
/// it, new writers wait too. So each wait is half a second, with a pause after it.
///
/// # Errors
/// 55P03 after the last attempt.
fn hold_off_writers(corpus_id: i64, attempts: usize) -> Result<()> {
    let timeout = [(c"lock_timeout", c"500ms")];
    for attempt in 1.. {
        let held = sql::guarded(|| with_settings(&timeout, || sync::hold_off_writers(corpus_id)));
        match held {
            Ok(()) => break,
            Err(caught) if caught.is_lock_timeout() && attempt < attempts => {
                sql::run("SELECT pg_sleep(0.5)", &[])?;
            }
            Err(caught) => caught.rethrow(),
        }
    }
    Ok(())
}

/// Processes the queues of all corpora. Returns the number of documents stored or deleted. An error of a corpus is stored with it.
pub(in crate::api) fn process_all() -> Result<TaskResult> {
    each(|synced| {
        // Also without entries, so that a table or column that is gone is reported.
        Source::of(synced)?;
        if sync::queue_state(synced.corpus_id)?.is_empty {
            return Ok((0, None));
        }
        let changed = process(synced)?;
        let problem = sync::queue_state(synced.corpus_id)?.problem();
        sync::note(synced.corpus_id, false, problem.as_deref())?;
        Ok((changed, problem))
    })
}

/// Compares all tables with their documents, and queues the differences. Returns their number.
pub(in crate::api) fn queue_differences() -> Result<TaskResult> {
    each(|synced| {
        let found = Source::of(synced)?.differences()?;
        let count = sync::queue_found(synced.corpus_id, found)?;
        let problem = sync::queue_state(synced.corpus_id)?.problem();
        sync::note(synced.corpus_id, true, problem.as_deref())?;
        Ok((count, problem))
    })
}

/// Runs work for each synchronised table, and returns the sum of its results. An error does not stop the others: it is stored with the
/// table. The work returns a problem that is no error of its own, such as rows that wait with one.
fn each(work: impl Fn(&Synchronised) -> Result<(i64, Option<String>)>) -> Result<TaskResult> {
    let mut done = TaskResult::default();
    for corpus_id in sync::all(None)? {
        let Some(synced) = sync::find(corpus_id)? else {
            continue;
        };
        let problem = match sql::guarded(|| work(&synced)) {
            Ok((count, problem)) => {
                done.processed = done.processed.saturating_add(count);
                problem
            }
            Err(caught) => {
                let error = caught.described();
                sync::note(corpus_id, false, Some(&error))?;
                Some(error)
            }
        };
        if let Some(problem) = problem {
            done.problems
                .push(format!("corpus \"{}\": {problem}", synced.corpus));
        }
    }
    Ok(done)
}

/// Processes the queue of a corpus for some seconds, because the writers of a table in the mode immediate wait for it. Waits only shortly
/// for them: the next call goes on.
fn process(synced: &Synchronised) -> Result<i64> {
    let timeout = [(c"lock_timeout", c"2s")];
    let held = with_settings(&timeout, || {
        sql::guarded(|| sync::hold_off_writers(synced.corpus_id))
    });
    match held {
        Ok(()) => {}
        Err(caught) if caught.is_lock_timeout() => return Ok(0),
        Err(caught) => caught.rethrow(),
    }
    let begun = clock()?;
    let mut changed: i64 = 0;
    while !is_long(since(begun)?) {
        let taken = sync::take(synced.corpus_id, BATCH, false)?;
        if taken.is_empty() {
            break;
        }
        let (rows, whole): (Vec<Queued>, Vec<Queued>) =
            taken.into_iter().partition(|entry| entry.doc_id.is_some());
        let mut failed = false;
        let is_whole = !whole.is_empty();
        for entry in whole {
            // The comparison also finds the rows of the other entries. If it fails, they stay.
            let compared = sql::guarded(|| {
                while !sync::take(synced.corpus_id, BATCH, false)?.is_empty() {}
                Source::of(synced)?.differences()
            });
            match compared {
                Ok(found) => {
                    sync::queue(synced.corpus_id, found.into_iter().map(Some).collect())?;
                    sync::note(synced.corpus_id, true, None)?;
                }
                Err(caught) => {
                    let last_error = Some(caught.described());
                    sync::queue_again(
                        synced.corpus_id,
                        &Queued {
                            last_error,
                            ..entry
                        },
                    )?;
                    failed = true;
                }
            }
        }
        // The comparison has found the rows of the same entries.
        if is_whole && !failed {
            continue;
        }
        if failed && rows.is_empty() {
            break;
        }
        changed = changed.saturating_add(apply::rows(synced, &rows, OnLock::Queue)?.changed);
    }
    Ok(changed)
}

/// Checks that a document of a synchronised table may be erased. Errors: 55000 if its row exists, because it would be stored again.
pub(in crate::api) fn forbid_erasure(corpus_id: i64, doc_id: &str) -> Result<()> {
    let Some(synced) = sync::find(corpus_id)? else {
        return Ok(());
    };
    if synced.source.is_some() && Source::of(&synced)?.has_row(doc_id)? {
        return Err(Error::RowExists {
            table: synced.name(),
            doc_id: doc_id.to_owned(),
        });
    }
    Ok(())
}

/// Checks that the documents of a tenant may be erased. Errors: 55000 if a row of the tenant exists, because it would be stored again.
pub(in crate::api) fn forbid_erasure_of_tenant(corpus_id: i64, tenant: &str) -> Result<()> {
    let Some(synced) = sync::find(corpus_id)? else {
        return Ok(());
    };
    if synced.source.is_none() {
        return Ok(());
    }
    match Source::of(&synced)?.row_of_tenant(tenant)? {
        Some(doc_id) => Err(Error::RowExists {
            table: synced.name(),
            doc_id,
        }),
        None => Ok(()),
    }
}
