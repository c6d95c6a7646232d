//! The table `documents`: versions of the documents that `put_document` stored.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::sql::{self, Record};
use crate::store::corpora::Corpus;
use crate::store::keys;
use crate::tenant;

/// The current version of a document.
#[derive(Debug, Deserialize)]
pub struct Current {
    pub version: i32,
    pub tenant: Option<String>,
    pub content_hash: String,
    pub deleted: bool,
}

/// A version of a document, to be stored.
#[derive(Debug, Serialize)]
pub struct NewVersion<'a> {
    pub corpus_id: i64,
    pub doc_id: &'a str,
    pub version: i32,
    pub tenant: Option<&'a str>,
    pub uri: Option<&'a str>,
    pub page_count: Option<u32>,
    pub char_count: usize,
    pub chunk_count: usize,
    pub overlap_cost: f64,
    pub content_hash: &'a str,
    pub modified_at: Option<&'a str>,
    /// When it was put, as [`next_time`] returns it.
    pub indexed_at: &'a str,
    /// Hash of the row of a synchronised table.
    pub source_hash: Option<&'a str>,
}

/// Columns of the description of a document, in the table of documents and in `earlier_descriptions`, with their types.
pub const DESCRIBED: [(&str, &str); 9] = [
    ("title", "text"),
    ("uri", "text"),
    ("published", "timestamptz"),
    ("modified_at", "timestamptz"),
    ("media_type", "text"),
    ("language", "text"),
    ("page_count", "integer"),
    ("metadata", "jsonb"),
    ("text_config", "text"),
];

/// Columns of [`NewVersion`], without the times.
const NEW_VERSION: Record = Record(&[
    "corpus_id bigint, doc_id text, version integer, tenant text, uri text, page_count integer, char_count integer",
    "chunk_count integer, overlap_cost double precision, content_hash text, source_hash text",
]);

/// Locks a document against other writers until the transaction ends.
pub fn lock(corpus_id: i64, doc_id: &str) -> Result<()> {
    sql::lock_key("reground.documents", corpus_id, doc_id)
}

/// The latest version of a document, deleted or not.
pub fn latest(corpus_id: i64, doc_id: &str) -> Result<Option<Current>> {
    as_owner(|| {
        sql::write_json(
            "SELECT row_to_json(r)::text FROM (SELECT version, tenant, content_hash, deleted_at IS NOT NULL AS deleted FROM reground.documents \
             WHERE corpus_id = $1 AND doc_id = $2 ORDER BY version DESC LIMIT 1) AS r",
            &[corpus_id.into(), doc_id.into()],
        )
    })
}

/// Checks that a document does not belong to another tenant than new rows of the corpus do.
///
/// # Errors
/// 23505 if it does.
pub fn check_tenant(corpus: &Corpus, doc_id: &str, latest: Option<&Current>) -> Result<()> {
    match latest {
        Some(latest) if corpus.has_tenants() && latest.tenant != corpus.row_tenant()? => {
            Err(Error::DocumentOfOtherTenant {
                corpus: corpus.name.clone(),
                doc_id: doc_id.to_owned(),
            })
        }
        _ => Ok(()),
    }
}

/// Checks that the principals of the session, if it has any, may read the latest version of a document. Otherwise a reader could replace
/// the principals of a document, or withdraw the rows that hide its stored texts. A session without principals maintains the documents of all.
///
/// # Errors
/// 42501 if they may not.
pub fn check_principals(corpus: &Corpus, doc_id: &str, latest: Option<&Current>) -> Result<()> {
    let (Some(column), Some(documents), Some(latest)) = (
        corpus.mapping.get("principals_column"),
        &corpus.documents,
        latest,
    ) else {
        return Ok(());
    };
    let Some(principals) = tenant::principals()?.filter(|_| corpus.managed) else {
        return Ok(());
    };
    let is_readable = sql::write_one::<bool>(
        &format!(
            "SELECT coalesce(d.{}::text[] && $3, false) FROM {documents} AS d WHERE d.doc_id = $1 AND d.version = $2",
            sql::ident(&column.column),
        ),
        &[doc_id.into(), latest.version.into(), principals.into()],
    )?;
    match is_readable {
        // A policy can hide the version.
        Some(false) | None => Err(Error::DocumentOfOtherPrincipals {
            corpus: corpus.name.clone(),
            doc_id: doc_id.to_owned(),
        }),
        Some(true) => Ok(()),
    }
}

/// Whether a document belongs to another tenant than the caller's, or to other principals than those of the session.
pub fn is_of_others(corpus: &Corpus, doc_id: &str) -> Result<bool> {
    if !corpus.managed || !corpus.restricts_rows() {
        return Ok(false);
    }
    let latest = latest(corpus.corpus_id, doc_id)?;
    if check_tenant(corpus, doc_id, latest.as_ref()).is_err() {
        return Ok(true);
    }
    match check_principals(corpus, doc_id, latest.as_ref()) {
        Err(Error::DocumentOfOtherPrincipals { .. }) => Ok(true),
        other => other.map(|()| false),
    }
}

/// The time of the next change of a document: the start of the transaction, but never before the last change, so that the versions of a
/// document never overlap.
pub fn next_time(corpus_id: i64, doc_id: &str) -> Result<String> {
    let time = as_owner(|| {
        sql::write_one(
            "SELECT to_jsonb(greatest(now(), max(d.indexed_at), max(d.replaced_at))) #>> '{}'::text[] FROM reground.documents AS d \
             WHERE d.corpus_id = $1 AND d.doc_id = $2",
            &[corpus_id.into(), doc_id.into()],
        )
    })?;
    Ok(time.unwrap_or_default())
}

/// The row of a version. If sources are sealed, only the table of documents of the corpus has the address.
fn row(new: &NewVersion<'_>) -> Result<String> {
    let uri = match keys::in_use()? {
        true => None,
        false => new.uri,
    };
    sql::json(&NewVersion { uri, ..*new })
}

/// Stores a version and marks the previous one as replaced.
pub fn insert(new: &NewVersion<'_>) -> Result<()> {
    let row = row(new)?;
    as_owner(|| {
        sql::run(
            "UPDATE reground.documents SET replaced_at = $3::timestamptz WHERE corpus_id = $1 AND doc_id = $2 AND replaced_at IS NULL",
            &[
                new.corpus_id.into(),
                new.doc_id.into(),
                new.indexed_at.into(),
            ],
        )?;
        sql::run(
            &format!(
                "INSERT INTO reground.documents ({}, modified_at, indexed_at) SELECT {}, coalesce(x.modified_at, now()), x.indexed_at \
                 FROM json_to_record($1::json) AS x({NEW_VERSION}, modified_at timestamptz, indexed_at timestamptz)",
                NEW_VERSION.columns(""),
                NEW_VERSION.columns("x.")
            ),
            &[row.as_str().into()],
        )
    })?;
    Ok(())
}

/// Updates address, pages and time of a version whose text has not changed.
pub fn describe(new: &NewVersion<'_>) -> Result<()> {
    let row = row(new)?;
    as_owner(|| {
        sql::run(
            "UPDATE reground.documents AS d SET uri = x.uri, page_count = x.page_count, modified_at = coalesce(x.modified_at, d.modified_at), source_hash = x.source_hash \
             FROM json_to_record($1::json) AS x(corpus_id bigint, doc_id text, version integer, uri text, page_count integer, modified_at timestamptz, source_hash text) \
             WHERE d.corpus_id = x.corpus_id AND d.doc_id = x.doc_id AND d.version = x.version",
            &[row.as_str().into()],
        )
    })?;
    Ok(())
}

/// Marks a document as deleted at a time.
pub fn delete(corpus_id: i64, doc_id: &str, at: &str) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.documents SET deleted_at = $3::timestamptz, replaced_at = $3::timestamptz \
             WHERE corpus_id = $1 AND doc_id = $2 AND replaced_at IS NULL",
            &[corpus_id.into(), doc_id.into(), at.into()],
        )
    })?;
    Ok(())
}

/// Expression for the state of the document of a citation `c` since it was cited: current, changed or deleted. NULL if the extension
/// does not store versions of the document, or the citation names none.
pub const STATE: &str = "(SELECT CASE WHEN d.deleted_at IS NOT NULL THEN 'deleted' WHEN c.source_version IS NULL THEN NULL WHEN d.version <> c.source_version THEN 'changed' ELSE 'current' END \
     FROM reground.corpora AS k JOIN reground.documents AS d USING (corpus_id) \
     WHERE k.corpus = c.corpus AND (k.tenant IS NULL OR k.tenant = c.tenant) AND d.doc_id = c.doc_id \
     ORDER BY k.tenant NULLS LAST, d.version DESC LIMIT 1)";

/// The state of a document since one of its versions was cited. `None` also if the tenant never cited it, because the result must not
/// reveal documents that row-level security hides.
pub fn state(
    tenant: &str,
    corpus: &str,
    doc_id: &str,
    version: Option<i32>,
) -> Result<Option<String>> {
    as_owner(|| {
        sql::read_one(
            &format!(
                "SELECT {STATE} FROM (VALUES ($1, $2, $3, $4)) AS c(tenant, corpus, doc_id, source_version) \
                 WHERE EXISTS (SELECT FROM reground.message_citations AS m WHERE m.tenant = c.tenant AND m.corpus = c.corpus AND m.doc_id = c.doc_id)"
            ),
            &[tenant.into(), corpus.into(), doc_id.into(), version.into()],
        )
    })
}
