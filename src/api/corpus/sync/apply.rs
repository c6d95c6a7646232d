//! Stores and deletes the documents of changed rows.

use std::collections::HashMap;
use std::ffi::CStr;

use reground_documents::{ChunkSettings, prepare};

use super::source::{Source, SourceRow};
use crate::api::corpus::documents::{self as put, Description};
use crate::api::corpus::row_owners::RowOwners;
use crate::error::{Error, Result};
use crate::guc;
use crate::run_as::{as_foreign_role, relation_owner};
use crate::session::with_settings;
use crate::sql;
use crate::store::corpora::{self, Corpus, Hold};
use crate::store::documents;
use crate::store::edges::{self, Which};
use crate::store::sync::{self, Queued, Synchronised};

/// Documents that are stored at a time, in a subtransaction. If one of them fails, each is stored in one of its own.
const BATCH: usize = 100;

/// How long a writer of the table waits for a lock on the tables of the corpus, unless the session has a limit of its own.
const LONGEST_WAIT: &CStr = c"2s";

/// What happens if a lock on the tables of the corpus is not free in time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OnLock {
    /// The rows are queued, because the lock must not stop a writer of the table.
    Queue,
    /// The error is raised.
    Raise,
}

/// What became of some documents.
#[derive(Default)]
pub struct Applied {
    /// Documents that were stored or deleted.
    pub changed: i64,
    /// Rows whose documents could not be stored or deleted.
    pub failed: Vec<Queued>,
}

/// Entries for keys that were not queued before.
pub fn entries(doc_ids: Vec<String>) -> Vec<Queued> {
    let entry = |doc_id| Queued {
        doc_id: Some(doc_id),
        ..Queued::default()
    };
    doc_ids.into_iter().map(entry).collect()
}

/// Stores the documents of rows as the owner of the corpus, and deletes those of rows that are gone or have no content. An error of a
/// document is returned with its row. Deadlocks and serialisation errors are raised: the transaction has to be repeated.
pub fn rows(synced: &Synchronised, entries: &[Queued], on_lock: OnLock) -> Result<Applied> {
    let mut applied = Applied::default();
    let wait: &[(&CStr, &CStr)] = match guc::value("lock_timeout").as_deref() {
        Some("0") | None if on_lock == OnLock::Queue => &[(c"lock_timeout", LONGEST_WAIT)],
        _ => &[],
    };
    // A lock on the corpus must not hold up the writer of the table more than once.
    let mut blocked: Option<String> = None;
    let mut attempt = |entries: &[Queued]| {
        if let Some(error) = &blocked {
            return Err(error.clone());
        }
        let stored = || {
            let corpus = corpora::held_by_id(synced.corpus_id, Hold::Write)?;
            corpus.map_or(Ok(0), |corpus| batch_of(synced, &corpus, entries))
        };
        match with_settings(wait, || sql::guarded(stored)) {
            Ok(changed) => Ok(changed),
            Err(caught) if caught.needs_repeat() => caught.rethrow(),
            Err(caught) if caught.is_lock_timeout() && on_lock == OnLock::Raise => caught.rethrow(),
            Err(caught) => {
                let error = caught.described();
                if caught.is_lock_timeout() {
                    blocked = Some(error.clone());
                }
                Err(error)
            }
        }
    };
    for batch in entries.chunks(BATCH) {
        let keys = batch.iter().filter_map(|entry| entry.doc_id.clone());
        sync::unqueue(synced.corpus_id, keys.collect())?;
        if let Ok(changed) = attempt(batch) {
            applied.changed = applied.changed.saturating_add(changed);
            continue;
        }
        for entry in batch {
            let alone = std::slice::from_ref(entry);
            match attempt(alone) {
                Ok(changed) => applied.changed = applied.changed.saturating_add(changed),
                Err(error) => applied.failed.push(Queued {
                    last_error: Some(error),
                    ..entry.clone()
                }),
            }
        }
    }
    for entry in &mut applied.failed {
        // A lock says nothing about the row, which is tried again soon.
        if blocked.is_some() {
            entry.attempts = entry.attempts.max(1).saturating_sub(1);
        }
        sync::queue_again(synced.corpus_id, entry)?;
    }
    Ok(applied)
}

fn batch_of(synced: &Synchronised, corpus: &Corpus, entries: &[Queued]) -> Result<i64> {
    let keys = entries.iter().filter_map(|entry| entry.doc_id.clone());
    let keys: Vec<String> = keys.collect();
    let source = Source::of(synced)?;
    let present = source.rows(&keys)?;
    let mut present: HashMap<&str, &SourceRow> = present
        .iter()
        .map(|row| (row.doc_id.as_str(), row))
        .collect();
    as_foreign_role(relation_owner(corpus)?, || {
        let corpus = corpus.clone().in_place()?;
        let chunking: ChunkSettings =
            serde_json::from_value(corpus.chunking.clone()).map_err(Error::from)?;
        let mut changed: i64 = 0;
        for key in &keys {
            let is_changed = match present.remove(key.as_str()) {
                Some(row) if row.content.is_some() => put_row(&corpus, &chunking, row)?,
                _ => delete(&corpus, key)?,
            };
            changed = changed.saturating_add(i64::from(is_changed));
        }
        Ok(changed)
    })
}

/// Stores the document of a row. Returns whether it has changed.
fn put_row(corpus: &Corpus, chunking: &ChunkSettings, row: &SourceRow) -> Result<bool> {
    if row.doc_id.is_empty() {
        return Err(Error::Bad {
            argument: "key",
            fault: "it is empty".into(),
            hint: "Give the row a key, or set its content to NULL.".into(),
        });
    }
    let owners = RowOwners::of_row(corpus, row.tenant.as_deref(), row.principals.clone())?;
    // Rows of an earlier tenant stay with that tenant, as earlier versions.
    let latest = documents::latest(corpus.corpus_id, &row.doc_id)?;
    if owners.tenant().is_some()
        && latest.is_some_and(|latest| latest.tenant.as_deref() != owners.tenant())
    {
        delete(corpus, &row.doc_id)?;
    }
    let content = row.content.as_deref().unwrap_or_default();
    let mut prepared = prepare::from_text(content, chunking, None, None)?;
    prepared.set_headings(row.title.as_deref(), None);
    let description = Description {
        uri: row.uri.as_deref().map(put::canonical),
        title: row.title.as_deref(),
        published: row.published,
        modified_at: row.modified_at,
        media_type: None,
        language: row.language.as_deref(),
        text_config: row.language.as_deref(),
        metadata: row.metadata()?,
        owners,
        source_hash: Some(&row.hash),
    };
    put::store(corpus, &row.doc_id, &prepared, description)?;
    Ok(true)
}

/// Deletes a document from the present passages. Returns whether there was one.
fn delete(corpus: &Corpus, doc_id: &str) -> Result<bool> {
    let latest = documents::latest(corpus.corpus_id, doc_id)?;
    if latest.is_none_or(|latest| latest.deleted) {
        return Ok(false);
    }
    put::withdraw(corpus, doc_id, true)?;
    let which = Which {
        doc_id: Some(doc_id),
        ..Which::default()
    };
    edges::delete(corpus.corpus_id, which)?;
    Ok(true)
}
