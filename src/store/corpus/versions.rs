//! Removes earlier versions of documents that nothing refers to.

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;
use crate::store::corpora::Corpus;

/// Versions of a document of a synchronised table that are kept by default. The row has no earlier versions either.
const OF_SYNCHRONISED: i32 = 1;

/// Removes the versions of a document before the newest `keep_versions` to which no citation, marker or pinned source refers. Deletes
/// the rows of the corpus as the caller.
pub fn prune(corpus: &Corpus, doc_id: &str, version: i32, is_synchronised: bool) -> Result<()> {
    let Some(kept) = kept_versions(corpus, is_synchronised) else {
        return Ok(());
    };
    let last = version.saturating_sub(kept);
    if last < 1 {
        return Ok(());
    }
    remove(corpus, doc_id, unused(corpus, doc_id, last)?)
}

/// Removes the versions of a deleted document before the newest `keep_versions`, of which the deletion is one. The last version stays as
/// long as an earlier one does: it says that the document was deleted.
pub fn prune_deleted(corpus: &Corpus, doc_id: &str, is_synchronised: bool) -> Result<()> {
    let Some(kept) = kept_versions(corpus, is_synchronised) else {
        return Ok(());
    };
    let versions = as_owner(|| {
        sql::write_json::<(i32, i64)>(
            "SELECT json_build_array(max(d.version), count(*))::text FROM reground.documents AS d WHERE d.corpus_id = $1 AND d.doc_id = $2 HAVING count(*) > 0",
            &[corpus.corpus_id.into(), doc_id.into()],
        )
    })?;
    let Some((last, count)) = versions else {
        return Ok(());
    };
    let mut gone = unused(corpus, doc_id, last.saturating_add(1).saturating_sub(kept))?;
    if usize::try_from(count).is_ok_and(|count| gone.len() < count) {
        gone.retain(|version| *version != last);
    }
    remove(corpus, doc_id, gone)
}

/// How many versions of each document a corpus keeps; `None`: all.
fn kept_versions(corpus: &Corpus, is_synchronised: bool) -> Option<i32> {
    match corpus.keep_versions {
        None if is_synchronised => Some(OF_SYNCHRONISED),
        Some(0) | None => None,
        kept => kept,
    }
}

/// Removes versions of a document.
fn remove(corpus: &Corpus, doc_id: &str, gone: Vec<i32>) -> Result<()> {
    if gone.is_empty() {
        return Ok(());
    }
    if let Some(history) = &corpus.history {
        // The last row of a passage has the text of the others.
        sql::run(
            &format!(
                "DELETE FROM {history} AS h WHERE h.doc_id = $1 AND h.version = ANY ($2) AND NOT (h.is_last AND EXISTS ( \
                     SELECT FROM {history} AS k WHERE k.doc_id = $1 AND k.chunk_id = h.chunk_id AND k.version <> ALL ($2)))"
            ),
            &[doc_id.into(), gone.clone().into()],
        )?;
    }
    sql::run(
        &format!(
            "DELETE FROM {} AS d WHERE d.doc_id = $1 AND d.version = ANY ($2)",
            corpus.documents.as_deref().unwrap_or_default()
        ),
        &[doc_id.into(), gone.clone().into()],
    )?;
    as_owner(|| {
        sql::run(
            "DELETE FROM reground.documents AS d WHERE d.corpus_id = $1 AND d.doc_id = $2 AND d.version = ANY ($3)",
            &[corpus.corpus_id.into(), doc_id.into(), gone.into()],
        )
    })?;
    Ok(())
}

/// Versions of a document up to a last one to which nothing refers. A remembered source has no version: it is the current passage, or one
/// whose marker has a version.
fn unused(corpus: &Corpus, doc_id: &str, last: i32) -> Result<Vec<i32>> {
    let versions = as_owner(|| {
        sql::write_one::<Vec<i32>>(
            "SELECT array_agg(d.version) FROM reground.documents AS d \
             WHERE d.corpus_id = $1 AND d.doc_id = $2 AND d.version <= $3 AND d.replaced_at IS NOT NULL \
                 AND NOT EXISTS (SELECT FROM reground.conversation_markers AS m WHERE m.doc_id = d.doc_id AND m.version = d.version \
                     AND m.corpus = $4 AND ($5::text IS NULL OR m.tenant = $5)) \
                 AND NOT EXISTS (SELECT FROM reground.message_citations AS c WHERE c.doc_id = d.doc_id AND c.source_version = d.version \
                     AND c.corpus = $4 AND ($5::text IS NULL OR c.tenant = $5))",
            &[
                corpus.corpus_id.into(),
                doc_id.into(),
                last.into(),
                corpus.name.as_str().into(),
                corpus.tenant.as_deref().into(),
            ],
        )
    })?;
    Ok(versions.unwrap_or_default())
}
