//! Documents of a managed corpus, and their embeddings.

use pgrx::datum::{DatumWithOid, TimestampWithTimeZone, ToIsoString};
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_documents::prepare::{self, Prepared};
use reground_documents::{ChunkSettings, TRACKING_PARAMETERS, canonical_uri};
use serde::Serialize;

use crate::api::corpus::passages::{self, PassageChanges};
use crate::api::corpus::row_owners::RowOwners;
use crate::api::models::embeddings::queue_document;
use crate::api::{given, writable};
use crate::datum::Json;
use crate::error::{Error, Result};
use crate::guc;
use crate::retrieve::text_config;
use crate::rows;
use crate::sql;
use crate::store::corpora::{self, Corpus, Hold};
use crate::store::documents::{self, NewVersion};
use crate::store::edges::{self, Which};
use crate::store::models::embeddings;
use crate::store::{sync, versions};
use crate::tenant;
use crate::words::find_config;

/// The row of `put_document`.
#[derive(Serialize)]
pub(in crate::api) struct PutRow {
    version: i32,
    changed: bool,
    chunk_count: usize,
    reused: i64,
    added: i64,
    removed: i64,
    pending_embeddings: i64,
    page_count: Option<u32>,
    overlap_cost: f64,
}

/// The properties of a document besides its text.
pub(in crate::api) struct Description<'a> {
    pub uri: Option<String>,
    pub title: Option<&'a str>,
    pub published: Option<TimestampWithTimeZone>,
    pub modified_at: Option<TimestampWithTimeZone>,
    pub media_type: Option<&'a str>,
    pub language: Option<&'a str>,
    /// Text search configuration of the passages, if the corpus has a column for it.
    pub text_config: Option<&'a str>,
    pub metadata: serde_json::Value,
    pub owners: RowOwners,
    /// Hash of the row of a synchronised table.
    pub source_hash: Option<&'a str>,
}

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn put_document(
    corpus: Option<&str>,
    doc_id: Option<&str>,
    content: Option<&str>,
    passages: Option<Json>,
    uri: Option<&str>,
    title: Option<&str>,
    published: Option<TimestampWithTimeZone>,
    modified_at: Option<TimestampWithTimeZone>,
    media_type: Option<&str>,
    language: Option<&str>,
    page_starts: Option<Vec<Option<i32>>>,
    page_count: Option<i32>,
    metadata: Option<Json>,
    text_config: Option<&str>,
    principals: Option<Vec<Option<String>>>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("put_document")?;
    let corpus = managed(corpus)?;
    let doc_id = given(doc_id, "doc_id")?;
    if doc_id.is_empty() {
        return Err(Error::Bad {
            argument: "doc_id",
            fault: "it is empty".into(),
            hint: "Give the key of the document in your application.".into(),
        }
        .into());
    }
    let text_config = named_config(&corpus, text_config)?.or(language);
    let page_starts = page_starts
        .map(|starts| {
            starts
                .into_iter()
                .map(|start| given(start, "an element of page_starts"))
                .collect::<Result<Vec<i32>>>()
        })
        .transpose()?;
    let metadata = Json::object(metadata, "metadata")?;
    let mut prepared = match (content, passages) {
        (Some(content), None) => {
            let chunking: ChunkSettings =
                serde_json::from_value(corpus.chunking.clone()).map_err(Error::from)?;
            prepare::from_text(content, &chunking, page_starts.as_deref(), page_count)
        }
        (None, Some(passages)) => prepare::from_passages(&passages.value("passages")?, page_count),
        _ => {
            return Err(Error::Bad {
                argument: "content",
                fault: "exactly one of content and passages must be given".into(),
                hint: "Pass content to have it split into passages, or passages that are already split.".into(),
            }
            .into());
        }
    }
    .map_err(Error::from)?;
    prepared.set_headings(title, media_type);
    documents::lock(corpus.corpus_id, doc_id)?;
    let latest = documents::latest(corpus.corpus_id, doc_id)?;
    documents::check_tenant(&corpus, doc_id, latest.as_ref())?;
    documents::check_principals(&corpus, doc_id, latest.as_ref())?;
    let owners = RowOwners::of(&corpus, doc_id, latest.as_ref(), principals)?;
    let description = Description {
        uri: uri.map(canonical),
        title,
        published,
        modified_at,
        media_type,
        language,
        text_config,
        metadata,
        owners,
        source_hash: None,
    };
    let put = store(&corpus, doc_id, &prepared, description)?;
    rows::emit(fcinfo, &[put])?;
    Ok(())
}

/// Checks the text search configuration of a document. Errors: 42704 if it does not exist, 22023 if the corpus has
/// another one for all documents.
fn named_config<'a>(corpus: &Corpus, text_config: Option<&'a str>) -> Result<Option<&'a str>> {
    let Some(named) = text_config else {
        return Ok(None);
    };
    let config = find_config(named).ok_or_else(|| Error::UnknownTextConfig(named.to_owned()))?;
    if !corpus.mapping.contains_key("text_config_column")
        && text_config::name(config)? != corpus.text_config
    {
        return Err(Error::Bad {
            argument: "text_config",
            fault: format!(
                "corpus \"{}\" reads all its documents by {}",
                corpus.name, corpus.text_config
            ),
            hint: format!(
                "SELECT reground.alter_corpus({}, text_config_per_document => true);",
                sql::literal(&corpus.name)
            ),
        });
    }
    Ok(Some(named))
}

/// Returns the canonical form of an address, without tracking parameters: those of the setting, otherwise the built-in list.
pub(in crate::api) fn canonical(uri: &str) -> String {
    match guc::tracking_parameters() {
        Some(list) => {
            let parameters: Vec<&str> = list.split(',').map(str::trim).collect();
            canonical_uri(uri, &parameters)
        }
        None => canonical_uri(uri, TRACKING_PARAMETERS),
    }
}

/// Stores a prepared document. An unchanged text changes only the description, a changed one makes a new version. The caller has locked
/// the document, or the row that it comes from.
pub(in crate::api) fn store(
    corpus: &Corpus,
    doc_id: &str,
    prepared: &Prepared,
    description: Description<'_>,
) -> Result<PutRow> {
    let latest = documents::latest(corpus.corpus_id, doc_id)?;
    let changed = latest
        .as_ref()
        .is_none_or(|latest| latest.deleted || latest.content_hash != prepared.digest);
    let version = match &latest {
        None => 1,
        Some(latest) if changed => latest.version + 1,
        Some(latest) => latest.version,
    };
    let indexed_at = documents::next_time(corpus.corpus_id, doc_id)?;
    let modified_at = description.modified_at.map(|at| at.to_iso_string());
    let uri = description.uri.clone();
    let tenant = description.owners.tenant().or(corpus.tenant.as_deref());
    let tenant = tenant.map(str::to_owned);
    let new = NewVersion {
        corpus_id: corpus.corpus_id,
        doc_id,
        version,
        tenant: tenant.as_deref(),
        uri: uri.as_deref(),
        page_count: prepared.page_count,
        char_count: prepared.char_count,
        chunk_count: prepared.passages.len(),
        overlap_cost: prepared.overlap_cost,
        content_hash: &prepared.digest,
        modified_at: modified_at.as_deref(),
        indexed_at: &indexed_at,
        source_hash: description.source_hash,
    };
    let (text_config, source_hash) = (description.text_config, description.source_hash);
    let owners = description.owners.clone();
    if changed {
        end_version(corpus, doc_id, &indexed_at)?;
    }
    write(corpus, &new, prepared, description, changed)?;
    let changes = if changed {
        documents::insert(&new)?;
        passages::replace(
            corpus,
            doc_id,
            version,
            &prepared.passages,
            text_config,
            &owners,
        )?
    } else {
        documents::describe(&new)?;
        set_text_config(corpus, doc_id, text_config)?;
        set_headings(corpus, doc_id, prepared)?;
        PassageChanges {
            reused: i64::try_from(prepared.passages.len()).unwrap_or(i64::MAX),
            ..PassageChanges::default()
        }
    };
    owners.set_principals(corpus, doc_id)?;
    forget_removed(corpus, doc_id, &changes)?;
    queue_document(corpus, doc_id)?;
    if changed {
        versions::prune(corpus, doc_id, version, source_hash.is_some())?;
    }
    Ok(PutRow {
        version,
        changed,
        chunk_count: prepared.passages.len(),
        reused: changes.reused,
        added: changes.added,
        removed: changes.removed,
        pending_embeddings: pending_of(corpus, doc_id)?,
        page_count: prepared.page_count,
        overlap_cost: prepared.overlap_cost,
    })
}

/// Deletes what is stored about passages that a new version removed.
fn forget_removed(corpus: &Corpus, doc_id: &str, changes: &PassageChanges) -> Result<()> {
    if changes.removed_chunk_ids.is_empty() {
        return Ok(());
    }
    if corpus.mapping.contains_key("embedding") {
        embeddings::forget(corpus.corpus_id, changes.removed_chunk_ids.clone())?;
    }
    let which = Which {
        doc_id: Some(doc_id),
        chunk_ids: Some(changes.removed_chunk_ids.clone()),
        ..Which::default()
    };
    edges::delete(corpus.corpus_id, which)?;
    Ok(())
}

/// Sets the text search configuration of the passages, if the corpus has a column for it.
fn set_text_config(corpus: &Corpus, doc_id: &str, text_config: Option<&str>) -> Result<()> {
    if corpus.mapping.contains_key("text_config_column") {
        sql::run(
            &format!(
                "UPDATE {} AS p SET text_config = $2 WHERE p.doc_id = $1 AND p.text_config IS DISTINCT FROM $2",
                corpus.relation.as_deref().unwrap_or_default()
            ),
            &[doc_id.into(), text_config.into()],
        )?;
    }
    Ok(())
}

/// Sets the headings of the passages. The vectors of changed headings are removed.
fn set_headings(corpus: &Corpus, doc_id: &str, prepared: &Prepared) -> Result<()> {
    passages::keep_former_vectors(corpus, doc_id, &prepared.passages)?;
    sql::run(
        &format!(
            "UPDATE {} AS p SET heading = g.heading{} FROM pg_catalog.json_to_recordset($2::json) AS g(ordinal integer, heading text) \
             WHERE p.doc_id = $1 AND p.ordinal = g.ordinal AND p.heading IS DISTINCT FROM g.heading",
            corpus.relation.as_deref().unwrap_or_default(),
            passages::kept_vectors(corpus)
        ),
        &[doc_id.into(), sql::json(&prepared.passages)?.into()],
    )?;
    Ok(())
}

/// Ends the current version of a document in the table of documents. Returns whether the caller sees one.
fn end_version(corpus: &Corpus, doc_id: &str, at: &str) -> Result<bool> {
    let ended = sql::run(
        &format!(
            "UPDATE {} AS d SET replaced_at = $2::timestamptz WHERE d.doc_id = $1 AND d.replaced_at IS NULL",
            corpus.documents.as_deref().unwrap_or_default()
        ),
        &[doc_id.into(), at.into()],
    )?;
    Ok(ended > 0)
}

/// Writes the row of a version in the table of documents: a new one, or the descriptions of the present one.
fn write(
    corpus: &Corpus,
    new: &NewVersion<'_>,
    prepared: &Prepared,
    description: Description<'_>,
    is_new: bool,
) -> Result<()> {
    let mut args: Vec<DatumWithOid<'_>> = vec![
        new.doc_id.into(),
        new.version.into(),
        description.title.into(),
        description.uri.into(),
        description.published.into(),
        description.modified_at.into(),
        description.media_type.into(),
        description.language.into(),
        prepared
            .page_count
            .and_then(|count| i32::try_from(count).ok())
            .into(),
        sql::json(&description.metadata)?.into(),
        prepared.text.as_deref().into(),
        description.text_config.into(),
        new.indexed_at.into(),
        sql::json(&prepared.positions())?.into(),
    ];
    let (owners, owner_values) = description.owners.columns(corpus, args.len());
    args.extend(description.owners.args());
    let documents = corpus.documents.as_deref().unwrap_or_default();
    if !is_new && sql::run(&describe(corpus, documents), &args)? > 0 {
        return Ok(());
    }
    let described = documents::DESCRIBED.iter();
    let described = described.map(|(column, _)| format!("{column} = excluded.{column}"));
    let described = described.collect::<Vec<_>>().join(", ");
    // A version that the snapshot does not show raises a serialisation error here, and no unique violation, except in a distributed table.
    sql::run(
        &format!(
            "INSERT INTO {documents} (doc_id, version, title, uri, published, modified_at, media_type, language, page_count, metadata, content, text_config, indexed_at, positions{owners}) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, $12, $13::timestamptz, $14::jsonb{owner_values}) \
             ON CONFLICT (doc_id, version) DO UPDATE SET {described}"
        ),
        &args,
    )?;
    Ok(())
}

/// Returns the statement that changes the descriptions of the present version. The row keeps descriptions that are replaced, with their end.
/// Citus does not evaluate expressions of rows in an UPDATE, so the WITH clause does.
fn describe(corpus: &Corpus, documents: &str) -> String {
    let columns = documents::DESCRIBED.iter().map(|(column, _)| *column);
    let values = [
        "$3",
        "$4",
        "$5",
        "$6",
        "$7",
        "$8",
        "$9",
        "$10::jsonb",
        "$12",
    ];
    let of = |form: &str| {
        let columns = columns.clone().map(|column| form.replace('#', column));
        columns.collect::<Vec<_>>().join(", ")
    };
    let set = columns.clone().zip(values);
    let set: String = set
        .map(|(column, value)| format!(", {column} = {value}"))
        .collect();
    format!(
        "WITH former AS MATERIALIZED ( \
             SELECT d.earlier_descriptions || CASE WHEN ROW({was}) IS DISTINCT FROM ROW({is}) THEN jsonb_build_object('until', greatest($13::timestamptz, d.indexed_at, \
                 (d.earlier_descriptions -> -1 ->> 'until')::timestamptz), {pairs}) ELSE '[]' END AS descriptions \
             FROM {documents} AS d WHERE d.doc_id = $1 AND d.version = $2) \
         UPDATE {documents} AS d SET earlier_descriptions = f.descriptions{set} FROM former AS f WHERE d.doc_id = $1 AND d.version = $2",
        was = of("d.#"),
        is = values.join(", "),
        pairs = of("'#', d.#") + &former_headings(corpus),
    )
}

/// Returns the pair of a replaced description `d` with the headings of the passages by ordinal, if the new title changes them.
fn former_headings(corpus: &Corpus) -> String {
    if corpus.title_weight == 0 || corpus.history.is_none() {
        return String::new();
    }
    format!(
        ", 'headings', CASE WHEN ROW(d.title, d.media_type) IS DISTINCT FROM ROW($3, $7) THEN \
             (SELECT coalesce(jsonb_object_agg(p.ordinal, p.heading), '{{}}') FROM {} AS p WHERE p.doc_id = d.doc_id AND p.heading IS NOT NULL) END",
        corpus.relation.as_deref().unwrap_or_default()
    )
}

/// Number of passages of a document without an embedding; 0 if the corpus has no embeddings.
fn pending_of(corpus: &Corpus, doc_id: &str) -> Result<i64> {
    let Some(embedding) = corpus.column("embedding") else {
        return Ok(0);
    };
    Ok(sql::write_one(
        &format!(
            "SELECT count(*) FROM {} AS p WHERE p.doc_id = $1 AND {embedding} IS NULL",
            corpus.relation.as_deref().unwrap_or_default()
        ),
        &[doc_id.into()],
    )?
    .unwrap_or(0))
}

#[pg_extern(sql = false)]
fn delete_document(
    corpus: Option<&str>,
    doc_id: Option<&str>,
) -> std::result::Result<bool, ErrorReport> {
    writable("delete_document")?;
    let corpus = managed(corpus)?;
    let doc_id = given(doc_id, "doc_id")?;
    // A session that holds the lock can change the principals.
    documents::lock(corpus.corpus_id, doc_id)?;
    if documents::is_of_others(&corpus, doc_id)? {
        return Ok(false);
    }
    let present = match corpus.history {
        Some(_) => withdraw(&corpus, doc_id, false)?,
        // Without a history nothing can read the earlier versions.
        None => remove(&corpus, doc_id)?.iter().any(|(_, rows)| *rows > 0),
    };
    if present {
        let which = Which {
            doc_id: Some(doc_id),
            ..Which::default()
        };
        edges::delete(corpus.corpus_id, which)?;
    }
    Ok(present)
}

/// Ends the current version of a document and moves its passages to the history. Returns whether the caller sees such a version.
pub(in crate::api) fn withdraw(
    corpus: &Corpus,
    doc_id: &str,
    is_synchronised: bool,
) -> Result<bool> {
    let at = documents::next_time(corpus.corpus_id, doc_id)?;
    let is_ended = end_version(corpus, doc_id, &at)?;
    let changes = passages::replace(corpus, doc_id, 0, &[], None, &RowOwners::default())?;
    // Row-level security can hide the rows. The document is marked as deleted only if the caller sees some.
    let present = is_ended || changes.removed > 0;
    if present {
        documents::delete(corpus.corpus_id, doc_id, &at)?;
    }
    if corpus.mapping.contains_key("embedding") && !changes.removed_chunk_ids.is_empty() {
        embeddings::forget(corpus.corpus_id, changes.removed_chunk_ids)?;
    }
    if present {
        versions::prune_deleted(corpus, doc_id, is_synchronised)?;
    }
    Ok(present)
}

/// Deletes the passages and the texts of a document of a managed corpus in all its versions, as the caller. Returns the number of rows
/// for each relation.
pub(in crate::api) fn remove<'a>(
    corpus: &'a Corpus,
    doc_id: &str,
) -> Result<Vec<(&'a str, usize)>> {
    documents::lock(corpus.corpus_id, doc_id)?;
    let chunk_ids = match corpus.mapping.contains_key("embedding") {
        true => sql::write_one::<Vec<String>>(
            &format!(
                "SELECT array_agg(p.chunk_id::text) FROM {} AS p WHERE p.doc_id = $1",
                corpus.relation.as_deref().unwrap_or_default()
            ),
            &[doc_id.into()],
        )?,
        false => None,
    };
    let mut removed = Vec::new();
    let tables = [&corpus.relation, &corpus.documents, &corpus.history];
    for relation in tables.into_iter().flatten() {
        let deleted = sql::write_one::<i64>(
            &format!(
                "WITH gone AS (DELETE FROM {relation} WHERE doc_id = $1 RETURNING 1) SELECT count(*) FROM gone"
            ),
            &[doc_id.into()],
        )?;
        let rows = usize::try_from(deleted.unwrap_or_default()).unwrap_or_default();
        removed.push((relation.as_str(), rows));
    }
    // After the rows, in the order in which complete_task locks them.
    if let Some(chunk_ids) = chunk_ids {
        embeddings::forget(corpus.corpus_id, chunk_ids)?;
    }
    // Row-level security can hide the rows. The document is marked as deleted only if rows were deleted.
    if removed.iter().any(|(_, rows)| *rows > 0) {
        let at = documents::next_time(corpus.corpus_id, doc_id)?;
        documents::delete(corpus.corpus_id, doc_id, &at)?;
    }
    Ok(removed)
}

/// Locks a managed corpus for writing. Errors: 55000 if create_corpus did not make it, its documents are the rows of a table, or no tenant
/// is set.
fn managed(corpus: Option<&str>) -> Result<Corpus> {
    let (tenant, name) = (tenant::if_any(), given(corpus, "corpus")?);
    let corpus = corpora::held(&tenant, name, Hold::Write)?.in_place()?;
    if !corpus.managed {
        return Err(Error::NotManaged(corpus.name));
    }
    // A document needs a tenant if the corpus has a column for it.
    corpus.row_tenant()?;
    match sync::find(corpus.corpus_id)? {
        Some(synced) => Err(Error::Synchronised {
            corpus: corpus.name,
            table: synced.name(),
        }),
        None => Ok(corpus),
    }
}
