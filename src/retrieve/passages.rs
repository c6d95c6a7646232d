//! Passages as they stand now.

use std::collections::BTreeMap;

use pgrx::datum::DatumWithOid;
use reground_documents::{PageRange, content_hash_hex};
use reground_grounding::passage::{CharRange, Passage};
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::retrieve::filter::Filter;
use crate::sql;
use crate::store::corpora::Corpus;

/// A row of the passage query; what the corpus does not keep is made here.
#[derive(Deserialize)]
struct Row {
    key: String,
    doc_id: String,
    version: Option<i32>,
    ordinal: Option<i32>,
    page_start: Option<u32>,
    page_end: Option<u32>,
    char_start: Option<u32>,
    char_end: Option<u32>,
    text: String,
    hash: Option<String>,
    tokens: Option<u32>,
    title: Option<String>,
    uri: Option<String>,
    published: Option<String>,
    #[serde(default)]
    metadata: serde_json::Value,
}

impl Row {
    fn into_passage(self, corpus: &str) -> Passage {
        Passage {
            corpus: corpus.to_owned(),
            pages: PageRange::of(self.page_start, self.page_end),
            chars: CharRange::of(self.char_start, self.char_end),
            hash: self.hash.unwrap_or_else(|| content_hash_hex(&self.text)),
            tokens: self.tokens.unwrap_or_else(|| {
                u32::try_from(reground_tokens::count(&self.text)).unwrap_or(u32::MAX)
            }),
            doc_id: self.doc_id,
            key: self.key,
            version: self.version,
            ordinal: self.ordinal,
            text: self.text,
            title: self.title,
            uri: self.uri,
            published: self.published,
            metadata: self.metadata,
        }
    }
}

/// `column = ANY ($n)`: keys are text with us and of any type with the application; an index on the column serves.
pub fn key_clause(corpus: &Corpus, meaning: &str, parameter: usize) -> Result<String> {
    let column = match meaning {
        "document" => corpus.document()?,
        other => corpus.required(other)?,
    };
    let kind = corpus
        .column_type(meaning)
        .or_else(|| corpus.column_type("key"))
        .ok_or_else(|| Error::NoColumn {
            column: column.clone(),
            relation: corpus.name.clone(),
        })?;
    Ok(format!("{column} = ANY (${parameter}::text[]::{kind}[])"))
}

/// Those of the keys that the column's type can read: another names nothing, and must not be an error.
fn readable(kind: Option<&str>, keys: &[String]) -> Vec<String> {
    let reads = |key: &String| match kind {
        Some("smallint") => key.parse::<i16>().is_ok(),
        Some("integer") => key.parse::<i32>().is_ok(),
        Some("bigint") => key.parse::<i64>().is_ok(),
        Some("uuid") => {
            key.len() == 36
                && key.char_indices().all(|(at, c)| match at {
                    8 | 13 | 18 | 23 => c == '-',
                    _ => c.is_ascii_hexdigit(),
                })
        }
        _ => true,
    };
    keys.iter().filter(|key| reads(key)).cloned().collect()
}

/// The passages of given keys, by key.
pub fn by_key(
    corpus: &Corpus,
    filter: &Filter,
    keys: &[String],
) -> Result<BTreeMap<String, Passage>> {
    let keys = readable(corpus.column_type("key"), keys);
    select(corpus, filter, &key_clause(corpus, "key", 1)?, &keys)
}

/// All passages of given documents, by key.
pub fn by_document(
    corpus: &Corpus,
    filter: &Filter,
    documents: &[String],
) -> Result<BTreeMap<String, Passage>> {
    let kind = corpus
        .column_type("document")
        .or_else(|| corpus.column_type("key"));
    let documents = readable(kind, documents);
    select(
        corpus,
        filter,
        &key_clause(corpus, "document", 1)?,
        &documents,
    )
}

fn select(
    corpus: &Corpus,
    filter: &Filter,
    which: &str,
    keys: &[String],
) -> Result<BTreeMap<String, Passage>> {
    if keys.is_empty() {
        return Ok(BTreeMap::new());
    }
    let column = |meaning: &str, cast: &str| match corpus.column(meaning) {
        Some(column) => format!("{column}{cast}"),
        None => "NULL".to_owned(),
    };
    let statement = format!(
        "SELECT {}::text AS key, {}::text AS doc_id, {} AS version, {} AS ordinal, {} AS page_start, {} AS page_end, {} AS char_start, {} AS char_end, \
             {}::text AS text, {} AS hash, {} AS tokens, {} AS title, {} AS uri, pg_catalog.to_jsonb({}) #>> '{{}}' AS published, {} AS metadata \
         FROM {} WHERE {which} AND {}::text IS NOT NULL AND {}",
        corpus.key()?,
        corpus.document()?,
        column("version", "::integer"),
        column("ordinal", "::integer"),
        column("page_start", "::integer"),
        column("page_end", "::integer"),
        column("char_start", "::integer"),
        column("char_end", "::integer"),
        corpus.required("content")?,
        column("hash", ""),
        column("tokens", "::integer"),
        column("title", "::text"),
        column("uri", "::text"),
        column("published", "").replace("NULL", "NULL::text"),
        column("metadata", ""),
        corpus.relations(),
        corpus.required("content")?,
        filter.clause(2),
    );
    let mut args: Vec<DatumWithOid<'_>> = vec![keys.to_vec().into()];
    args.extend(filter.args());
    let rows: Vec<Row> = sql::read_rows(&statement, &args)?;
    Ok(rows
        .into_iter()
        .map(|row| (row.key.clone(), row.into_passage(&corpus.name)))
        .collect())
}
