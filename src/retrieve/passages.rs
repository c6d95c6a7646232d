//! Reads the current passages of a corpus.

use std::collections::BTreeMap;

use pgrx::datum::DatumWithOid;
use reground_documents::{PageRange, content_hash_hex};
use reground_grounding::passage::date::epoch_seconds;
use reground_grounding::passage::{CharRange, Passage, structured_locator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::retrieve::filter::Filter;
use crate::session::{PLAIN_TEXT, with_settings};
use crate::sql::{self, Row};
use crate::store::corpora::{self, Corpus};

/// A row of the passage query. A missing hash is computed.
struct PassageRow {
    chunk_id: String,
    doc_id: String,
    version: Option<i32>,
    ordinal: Option<i32>,
    page_start: Option<u32>,
    page_end: Option<u32>,
    char_start: Option<u32>,
    char_end: Option<u32>,
    content: String,
    content_hash: Option<String>,
    tokens: Option<u32>,
    title: Option<String>,
    uri: Option<String>,
    published: Option<String>,
    modified: Option<String>,
    text_config: Option<String>,
    /// As text, because the JSON of an application may contain values that serde_json cannot parse, such as numbers beyond a
    /// float.
    metadata: Option<String>,
}

impl PassageRow {
    /// Reads the columns of [`select`]. A turn reads many passages, and JSON would take longer.
    fn read(row: &Row) -> Result<Self> {
        let text = |column| row.get::<String>(column);
        let required = |column| {
            let missing = || Error::Stored("a passage without an id or a text".into());
            text(column)?.ok_or_else(missing)
        };
        let integer = |column| row.get::<i32>(column);
        let natural = |column| Ok::<_, Error>(integer(column)?.and_then(|n| u32::try_from(n).ok()));
        Ok(Self {
            chunk_id: required(1)?,
            doc_id: required(2)?,
            version: integer(3)?,
            ordinal: integer(4)?,
            page_start: natural(5)?,
            page_end: natural(6)?,
            char_start: natural(7)?,
            char_end: natural(8)?,
            content: required(9)?,
            content_hash: text(10)?,
            tokens: natural(11)?,
            title: text(12)?,
            uri: text(13)?,
            published: text(14)?,
            modified: text(15)?,
            text_config: text(16)?,
            metadata: text(17)?,
        })
    }

    fn into_passage(self, corpus: &str) -> Passage {
        let metadata: serde_json::Value = self
            .metadata
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        Passage {
            corpus: corpus.to_owned(),
            pages: PageRange::of(self.page_start, self.page_end),
            chars: CharRange::of(self.char_start, self.char_end),
            content_hash: self
                .content_hash
                .unwrap_or_else(|| content_hash_hex(&self.content)),
            // A turn counts the missing ones, as far as its limits require.
            tokens: self.tokens.unwrap_or_default(),
            doc_id: self.doc_id,
            chunk_id: self.chunk_id,
            version: self.version,
            ordinal: self.ordinal,
            content: self.content,
            title: self.title,
            uri: self.uri,
            published: self.published,
            modified: self.modified,
            text_config: self.text_config,
            structured_locator: structured_locator(&metadata),
            metadata,
            window_of: None,
        }
    }
}

/// Returns the clause `column = ANY ($n)`. Ids are text here and may have any type in the application's table.
///
/// For the usual types of ids the parameter is cast, so that an index on the column can be used. The parameter must not
/// contain ids that the type cannot parse. Any other type is compared as text.
fn id_clause(column: &str, kind: Option<&str>, parameter: usize) -> String {
    match kind {
        Some(kind @ ("text" | "smallint" | "integer" | "bigint" | "uuid")) => {
            format!("{column} = ANY (${parameter}::text[]::{kind}[])")
        }
        _ => format!("{column}::text = ANY (${parameter}::text[])"),
    }
}

/// Returns the ids that the type of the column can parse.
fn parsable<'a>(kind: Option<&str>, ids: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let parses = |id: &String| match kind {
        Some("smallint") => id.parse::<i16>().is_ok(),
        Some("integer") => id.parse::<i32>().is_ok(),
        Some("bigint") => id.parse::<i64>().is_ok(),
        Some("uuid") => {
            id.len() == 36
                && id.char_indices().all(|(at, c)| match at {
                    8 | 13 | 18 | 23 => c == '-',
                    _ => c.is_ascii_hexdigit(),
                })
        }
        _ => true,
    };
    ids.into_iter().filter(|id| parses(id)).cloned().collect()
}

/// Returns a clause that selects passages by id, and the value of its parameter.
pub fn passage_clause<'a>(
    corpus: &Corpus,
    parameter: usize,
    chunk_ids: impl IntoIterator<Item = &'a String>,
) -> Result<(String, Vec<String>)> {
    let kind = corpus.column_type("chunk_id");
    let clause = id_clause(&corpus.key()?, kind, parameter);
    Ok((clause, parsable(kind, chunk_ids)))
}

/// Returns a clause that selects all passages of documents, and the value of its parameter.
pub fn document_clause<'a>(
    corpus: &Corpus,
    parameter: usize,
    doc_ids: impl IntoIterator<Item = &'a String>,
) -> Result<(String, Vec<String>)> {
    let kind = corpus
        .column_type("doc_id")
        .or_else(|| corpus.column_type("chunk_id"));
    let clause = id_clause(&corpus.document()?, kind, parameter);
    Ok((clause, parsable(kind, doc_ids)))
}

/// Returns passages that pass the filter, by id.
pub fn by_key<'a>(
    corpus: &Corpus,
    filter: &Filter,
    chunk_ids: impl IntoIterator<Item = &'a String>,
) -> Result<BTreeMap<String, Passage>> {
    let from = corpus.relations()?;
    select(corpus, &from, filter, passage_clause(corpus, 1, chunk_ids)?)
}

/// Returns passages of all tenants, by id.
pub fn of_all_tenants<'a>(
    corpus: &Corpus,
    chunk_ids: impl IntoIterator<Item = &'a String>,
) -> Result<BTreeMap<String, Passage>> {
    let from = corpus.all_relations()?;
    let clause = passage_clause(corpus, 1, chunk_ids)?;
    select(corpus, &from, &Filter::default(), clause)
}

/// Returns all passages of documents that pass the filter, by id.
pub fn by_document(
    corpus: &Corpus,
    filter: &Filter,
    doc_ids: &[String],
) -> Result<BTreeMap<String, Passage>> {
    let from = corpus.relations()?;
    select(corpus, &from, filter, document_clause(corpus, 1, doc_ids)?)
}

/// Returns those of the recorded passages that no longer exist, or are hidden from this role. A record is an object with the `chunk_id` of a
/// passage that the relation had, and its `row_tenant` if records of several tenants are kept apart.
pub fn gone<R: Serialize + DeserializeOwned>(corpus: &Corpus, recorded: &[R]) -> Result<Vec<R>> {
    let kind = corpus.column_type("chunk_id").unwrap_or("text").to_owned();
    let schema = corpora::operator_schema(&kind)?;
    let gone = sql::read_json(
        &format!(
            "WITH recorded AS MATERIALIZED (SELECT * FROM json_to_recordset($1::json) AS g(chunk_id text, row_tenant text)), \
             present AS MATERIALIZED (SELECT g.chunk_id, g.row_tenant FROM recorded AS g, {} \
                 WHERE {} OPERATOR({schema}.=) g.chunk_id::{kind} AND {} IS NOT NULL AND coalesce({} = g.row_tenant, g.row_tenant IS NULL)) \
             SELECT json_agg(json_build_object('chunk_id', g.chunk_id, 'row_tenant', g.row_tenant))::text FROM recorded AS g \
             WHERE NOT EXISTS (SELECT FROM present AS e WHERE e.chunk_id = g.chunk_id AND e.row_tenant IS NOT DISTINCT FROM g.row_tenant)",
            corpus.all_relations()?,
            corpus.key()?,
            corpus.required("content")?,
            row_tenant(corpus),
        ),
        &[sql::json(recorded)?.into()],
    )?;
    Ok(gone.unwrap_or_default())
}

/// Expression for the tenant of a row as text. No tenant may read a row without one.
pub fn row_tenant(corpus: &Corpus) -> String {
    match corpus.column("tenant_column") {
        Some(column) => format!("{column}::text"),
        None => "''::text".to_owned(),
    }
}

/// Whether the caller may read a passage of a document.
pub fn any_of(corpus: &Corpus, doc_id: &String) -> Result<bool> {
    let (clause, doc_ids) = document_clause(corpus, 1, [doc_id])?;
    if doc_ids.is_empty() {
        return Ok(false);
    }
    let statement = format!(
        "SELECT EXISTS (SELECT FROM {} WHERE {clause} AND {} IS NOT NULL)",
        corpus.relations()?,
        corpus.required("content")?,
    );
    // Keys are compared as text, as in all other statements.
    let found = with_settings(&PLAIN_TEXT, || {
        sql::read_one::<bool>(&statement, &[doc_ids.into()])
    })?;
    Ok(found.unwrap_or(false))
}

/// Returns the documents of passages that the caller may read and that pass the filter, by passage.
pub fn documents_of<'a>(
    corpus: &Corpus,
    filter: &Filter,
    chunk_ids: impl IntoIterator<Item = &'a String>,
) -> Result<BTreeMap<String, String>> {
    #[derive(Deserialize)]
    struct Document {
        chunk_id: String,
        doc_id: String,
    }
    let (clause, chunk_ids) = passage_clause(corpus, 1, chunk_ids)?;
    if chunk_ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let statement = format!(
        "SELECT {}::text AS chunk_id, {} AS doc_id FROM {} WHERE {clause} AND {} IS NOT NULL AND {}",
        corpus.key()?,
        corpus.document_text()?,
        corpus.relations()?,
        corpus.required("content")?,
        filter.clause(2),
    );
    let mut args: Vec<DatumWithOid<'_>> = vec![chunk_ids.into()];
    args.extend(filter.args());
    let rows: Vec<Document> = sql::read_rows(&statement, &args)?;
    Ok(rows
        .into_iter()
        .map(|row| (row.chunk_id, row.doc_id))
        .collect())
}

/// Returns the dates of the documents of passages in seconds since 1970, by passage: when they were published, or else modified.
pub fn dates<'a>(
    corpus: &Corpus,
    chunk_ids: impl IntoIterator<Item = &'a String>,
) -> Result<BTreeMap<String, f64>> {
    #[derive(Deserialize)]
    struct Dates {
        chunk_id: String,
        published: Option<String>,
        modified_at: Option<String>,
    }
    let (clause, chunk_ids) = passage_clause(corpus, 1, chunk_ids)?;
    if chunk_ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let statement = format!(
        "SELECT {}::text AS chunk_id, {} AS published, {} AS modified_at FROM {} WHERE {clause}",
        corpus.key()?,
        date_text(corpus, "published"),
        date_text(corpus, "modified_at"),
        corpus.relations()?,
    );
    let rows: Vec<Dates> = sql::read_rows(&statement, &[chunk_ids.into()])?;
    Ok(rows
        .into_iter()
        .filter_map(|row| {
            let mut texts = [row.published, row.modified_at].into_iter().flatten();
            let date = texts.find_map(|text| epoch_seconds(&text))?;
            Some((row.chunk_id, date))
        })
        .collect())
}

/// Returns the expression for a date as text, a time in the form of ISO 8601; NULL if it is not mapped.
pub fn date_text(corpus: &Corpus, meaning: &str) -> String {
    let Some(column) = corpus.column(meaning) else {
        return "NULL::text".to_owned();
    };
    let text = format!("to_jsonb({column}) #>> '{{}}'::text[]");
    // A server with shards has a time zone of its own.
    match corpus.column_type(meaning) {
        Some("timestamp with time zone") => format!(
            "CASE WHEN {column} >= '0001-01-01 00:00:00+00' AND {column} < 'infinity' \
                 THEN (to_jsonb({column} AT TIME ZONE 'UTC') #>> '{{}}'::text[]) || '+00:00' ELSE {text} END"
        ),
        _ => text,
    }
}

/// Reads the passages of a FROM clause that a condition selects and that pass the filter, by id.
fn select(
    corpus: &Corpus,
    from: &str,
    filter: &Filter,
    (clause, ids): (String, Vec<String>),
) -> Result<BTreeMap<String, Passage>> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let (published, modified) = (
        date_text(corpus, "published"),
        date_text(corpus, "modified_at"),
    );
    let statement = format!(
        "SELECT {key}::text AS chunk_id, {} AS doc_id, {} AS version, {} AS ordinal, {} AS page_start, {} AS page_end, \
             {} AS char_start, {} AS char_end, {}::text AS content, {} AS content_hash, {} AS tokens, {} AS title, {} AS uri, {published} AS published, {modified} AS modified, {} AS text_config, \
             {}::text AS metadata \
         FROM {} WHERE {clause} AND {key} IS NOT NULL AND {} IS NOT NULL AND {}",
        corpus.document_text()?,
        corpus.integer("version", 0),
        corpus.integer("ordinal", 0),
        corpus.integer("page_start", 1),
        corpus.integer("page_end", 1),
        corpus.integer("char_start", 0),
        corpus.integer("char_end", 0),
        corpus.required("content")?,
        corpus.text("content_hash"),
        corpus.integer("tokens", 0),
        corpus.text("title"),
        corpus.text("uri"),
        corpus
            .named_config()
            .unwrap_or_else(|| "NULL::text".to_owned()),
        corpus.metadata().unwrap_or_else(|| "NULL".to_owned()),
        from,
        corpus.required("content")?,
        filter.clause(2),
        key = corpus.key()?,
    );
    let mut args: Vec<DatumWithOid<'_>> = vec![ids.into()];
    args.extend(filter.args());
    let rows = sql::read_each_as_text(&statement, &args, PassageRow::read)?;
    Ok(rows
        .into_iter()
        .map(|row| (row.chunk_id.clone(), row.into_passage(&corpus.name)))
        .collect())
}
