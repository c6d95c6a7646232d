//! `queue_embeddings`: compares the passages of corpora with what was embedded.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_models::recheck::{MOST_QUEUED, duration_after_error, has_room, is_long};

use crate::api::writable;
use crate::error::{Error, Result, warn};
use crate::retrieve::mapping::embedding_column;
use crate::retrieve::passages;
use crate::run_as::as_relation_owner;
use crate::sql;
use crate::store::corpora::{self, Corpus, Hold};
use crate::store::models::embeddings::{
    self, Check, Compared, EmbeddedPassage, PresentPassages, Target,
};
use crate::store::models::tasks;

use crate::api::models::tasks::embed::{has_key, has_text, text_hash};
use crate::tenant;

/// Passages that are compared at a time.
const BATCH: i64 = 1000;

/// Bytes of a chunk id. Passages with a longer one are not embedded: an index of the queue could not contain it.
const LONGEST_ID: i32 = 1000;

#[pg_extern(sql = false)]
fn queue_embeddings(corpus: Option<&str>) -> std::result::Result<i64, ErrorReport> {
    writable("queue_embeddings")?;
    let only = match corpus {
        Some(name) => {
            let corpus = corpora::find(&tenant::if_any(), name)?;
            let corpus = corpus.ok_or_else(|| Error::UnknownCorpus(name.to_owned()))?;
            Some(corpus.corpus_id)
        }
        None => None,
    };
    Ok(queue_all(only)?)
}

/// Compares the corpora that have changed, or one corpus in any case. Returns the number of tasks queued. A call without a corpus ends
/// after some seconds, because it holds the locks of all corpora that it has compared; the next call goes on with the others.
pub(in crate::api) fn queue_all(only: Option<i64>) -> Result<i64> {
    let begun = embeddings::clock()?;
    let mut queued: i64 = 0;
    for (corpus_id, model) in embeddings::checks(only)? {
        if only.is_none() && is_long(embeddings::since(begun)?) {
            break;
        }
        let compared_at = embeddings::clock()?;
        let outcome = sql::guarded(|| compare_if_due(corpus_id, &model, only.is_some()));
        match outcome {
            Ok(count) => queued = queued.saturating_add(count),
            Err(caught) => {
                let error = caught.described();
                let check = Check {
                    seconds: duration_after_error(embeddings::since(compared_at)?),
                    error: Some(&error),
                    ..Check::default()
                };
                embeddings::checked(corpus_id, &model, &check)?;
            }
        }
    }
    if queued > 0 {
        tasks::notify()?;
    }
    Ok(queued)
}

fn compare_if_due(corpus_id: i64, model: &str, in_any_case: bool) -> Result<i64> {
    let Some(last) = embeddings::try_hold(corpus_id, model)? else {
        return Ok(0);
    };
    let changes = embeddings::changes(corpus_id)?;
    let before = embeddings::unfinished(corpus_id, model)?;
    let is_due = last.is_due(changes) && has_room(before.waiting);
    if !in_any_case && !is_due {
        return Ok(0);
    }
    // Locked before its relation, as drop_corpus does.
    let Some(corpus) = corpora::held_by_id(corpus_id, Hold::Write)? else {
        return Ok(0);
    };
    let begun = embeddings::clock()?;
    let (passages, compared) = compare(
        &corpus,
        model,
        MOST_QUEUED.saturating_sub(before.waiting).max(0),
    )?;
    let after = embeddings::unfinished(corpus_id, model)?;
    let is_complete = compared.stale <= after.waiting.saturating_add(after.dead);
    embeddings::checked(
        corpus_id,
        model,
        &Check {
            changes: changes.filter(|_| is_complete),
            passages,
            stale: compared.stale,
            seconds: embeddings::since(begun)?,
            error: None,
        },
    )?;
    // A passage whose task was given up stays without a vector. It must not keep all others from the new model.
    let is_ready = after.waiting == 0 && compared.stale <= after.dead;
    if is_ready && corpus.next_embedding_model.as_deref() == Some(model) {
        switch(corpus_id)?;
    }
    Ok(compared.queued)
}

/// Compares the passages of a corpus with what a model has embedded; returns the number of passages, and what was found.
fn compare(corpus: &Corpus, model: &str, most: i64) -> Result<(i64, Compared)> {
    let Some(meaning) = corpus.embedding_meaning(model) else {
        return Ok((0, Compared::default()));
    };
    let target = Target {
        corpus_id: corpus.corpus_id,
        tenant: corpus.tenant.as_deref(),
        model,
    };
    let mut present = PresentPassages::default();
    let mut passages: i64 = 0;
    let mut found = Compared::default();
    as_relation_owner(corpus.clone(), |corpus| {
        let query = present_passages(corpus, meaning, "true")?;
        sql::read_batches(&query, &[], BATCH, |row| {
            present.chunk_ids.push(row.get(1)?.unwrap_or_default());
            present.hashes.push(row.get(2)?.unwrap_or_default());
            present.have_vectors.push(row.get(3)?.unwrap_or_default());
            passages = passages.saturating_add(1);
            if present.chunk_ids.len() >= usize::try_from(BATCH).unwrap_or(usize::MAX) {
                found.add(embeddings::compare(
                    target,
                    std::mem::take(&mut present),
                    most.saturating_sub(found.queued).max(0),
                )?);
            }
            Ok(())
        })
    })?;
    found.add(embeddings::compare(
        target,
        present,
        most.saturating_sub(found.queued).max(0),
    )?);
    found.subtract(end_done(corpus, target, meaning)?);
    if embeddings::recorded_passages(target)? > passages {
        forget_gone(corpus, model)?;
    }
    Ok((passages, found))
}

/// Removes the tasks of passages whose results were stored while the corpus was compared, and returns their number. The comparison reads
/// passages as they were at its beginning, so it queues them again.
fn end_done(corpus: &Corpus, target: Target<'_>, meaning: &str) -> Result<i64> {
    let suspects = embeddings::queued_and_recorded(target)?;
    if suspects.is_empty() {
        return Ok(0);
    }
    let done: Vec<String> = as_relation_owner(corpus.clone(), |corpus| {
        let condition = format!(
            "{} AND p.{} IS NOT NULL",
            has_key(corpus, "g.chunk_id")?,
            sql::ident(&corpus.vectors(meaning)?.name)
        );
        let done = sql::write_one::<Vec<String>>(
            &format!(
                "SELECT array_agg(DISTINCT g.chunk_id) FROM unnest($1::text[]) AS g(chunk_id) JOIN {} AS p ON {condition}",
                corpus.relation.as_deref().unwrap_or_default()
            ),
            &[suspects.into()],
        )?;
        Ok(done.unwrap_or_default())
    })?;
    let count = i64::try_from(done.len()).unwrap_or(i64::MAX);
    embeddings::end_tasks(corpus.corpus_id, target.model, done)?;
    Ok(count)
}

/// Query for chunk id, hash of the text, and whether there is a vector, of the passages `p` with a text.
fn present_passages(corpus: &Corpus, meaning: &str, condition: &str) -> Result<String> {
    let (content, key) = (corpus.required("content")?, corpus.key()?);
    Ok(format!(
        "SELECT {key}::text, {}, p.{} IS NOT NULL FROM {} AS p \
         WHERE {} AND {key} IS NOT NULL AND octet_length({key}::text) <= {LONGEST_ID} AND {condition}",
        text_hash(corpus)?,
        sql::ident(&corpus.vectors(meaning)?.name),
        corpus.relation.as_deref().unwrap_or_default(),
        has_text(&content),
    ))
}

/// Counts the passages of a corpus with a text, and those without a vector of a model, so that the progress is shown before the first
/// comparison.
pub(in crate::api) fn count(corpus: &Corpus, model: &str) -> Result<(i64, i64)> {
    let Some(meaning) = corpus.embedding_meaning(model) else {
        return Ok((0, 0));
    };
    as_relation_owner(corpus.clone(), |corpus| {
        let counts = sql::write_json(
            &format!(
                "SELECT json_build_array(count(*), count(*) FILTER (WHERE NOT x.has_vector))::text FROM ({}) AS x(chunk_id, hash, has_vector)",
                present_passages(corpus, meaning, "true")?
            ),
            &[],
        )?;
        Ok(counts.unwrap_or_default())
    })
}

/// Removes the records of passages that no longer exist, in the corpora whose embeddings the application computes. Returns their number.
/// The functions of a managed corpus remove them themselves, but the rows of a table can be deleted by any statement.
pub(in crate::api) fn forget_all_gone() -> Result<i64> {
    let mut forgotten: i64 = 0;
    for corpus_id in embeddings::recorded_by_applications()? {
        let Some(corpus) = corpora::held_by_id(corpus_id, Hold::Write)? else {
            continue;
        };
        match sql::guarded(|| forget_gone(&corpus, "")) {
            Ok(count) => forgotten = forgotten.saturating_add(count),
            Err(caught) => warn(
                format!(
                    "corpus \"{}\" may have records of embedded texts without a passage: {}",
                    corpus.name,
                    caught.described()
                ),
                "The next run tries again.",
            ),
        }
    }
    Ok(forgotten)
}

/// Removes what is recorded about passages that no longer exist. Returns the number of records.
fn forget_gone(corpus: &Corpus, model: &str) -> Result<i64> {
    let mut after = EmbeddedPassage::default();
    let mut forgotten: i64 = 0;
    loop {
        let recorded = embeddings::recorded(corpus.corpus_id, model, &after.chunk_id, BATCH)?;
        let Some(last) = recorded.last() else {
            return Ok(forgotten);
        };
        after.clone_from(last);
        let gone = as_relation_owner(corpus.clone(), |corpus| passages::gone(corpus, &recorded))?;
        if !gone.is_empty() {
            let gone = gone.into_iter().map(|passage| passage.chunk_id).collect();
            forgotten = forgotten.saturating_add(embeddings::forget(corpus.corpus_id, gone)?);
        }
    }
}

/// Makes searches use the next model of a corpus. The column of the previous vectors stays; check_corpus prints how to drop it.
fn switch(corpus_id: i64) -> Result<()> {
    let Some(mut corpus) = corpora::held_by_id(corpus_id, Hold::Alter)? else {
        return Ok(());
    };
    let before = corpus.embedding_model.take();
    corpus.embedding_model = corpus.next_embedding_model.take();
    if let Some(column) = corpus.mapping.remove("next_embedding") {
        corpus.mapping.insert("embedding".into(), column);
    }
    (corpus.embedding_type, corpus.dimensions) = as_relation_owner(corpus.clone(), |corpus| {
        forget_earlier_vectors(corpus)?;
        let relation = corpus.relation.as_deref().unwrap_or_default();
        embedding_column(relation, &corpus.mapping["embedding"].column)
    })?;
    corpora::update(&corpus)?;
    embeddings::end_checks(corpus_id, before.as_deref().unwrap_or_default())
}

/// Removes the vectors of passages of earlier versions, which the next model does not compute.
fn forget_earlier_vectors(corpus: &Corpus) -> Result<()> {
    if let Some(history) = &corpus.history {
        sql::run(
            &format!("UPDATE {history} AS h SET embedding = NULL WHERE h.embedding IS NOT NULL"),
            &[],
        )?;
    }
    Ok(())
}

/// Queues the passages of a document that have no vector, as the caller who stored them.
pub(in crate::api) fn queue_document(corpus: &Corpus, doc_id: &str) -> Result<()> {
    let mut queued: i64 = 0;
    for model in [&corpus.embedding_model, &corpus.next_embedding_model]
        .into_iter()
        .flatten()
    {
        let Some(meaning) = corpus.embedding_meaning(model) else {
            continue;
        };
        let condition = format!(
            "p.doc_id = $1 AND p.{} IS NULL",
            sql::ident(&corpus.vectors(meaning)?.name)
        );
        let query = present_passages(corpus, meaning, &condition)?;
        let mut present = PresentPassages::default();
        let rows = sql::write_each(&query, &[doc_id.into()], |row| {
            Ok((
                row.get(1)?.unwrap_or_default(),
                row.get(2)?.unwrap_or_default(),
            ))
        })?;
        for (chunk_id, hash) in rows {
            present.chunk_ids.push(chunk_id);
            present.hashes.push(hash);
            present.have_vectors.push(false);
        }
        let target = Target {
            corpus_id: corpus.corpus_id,
            tenant: corpus.tenant.as_deref(),
            model,
        };
        let room =
            MOST_QUEUED.saturating_sub(embeddings::unfinished(corpus.corpus_id, model)?.waiting);
        queued = queued.saturating_add(embeddings::compare(target, present, room.max(0))?.queued);
    }
    match queued {
        0 => Ok(()),
        _ => tasks::notify(),
    }
}
