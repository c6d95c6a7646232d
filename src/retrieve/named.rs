//! Documents that an answer names in its own words, and the passages on the pages that it claims.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::end::parse_answer::LOCATOR;
use reground_grounding::passage::Passage;
use serde::Deserialize;

use crate::error::Result;
use crate::retrieve::filter::Filter;
use crate::retrieve::passages;
use crate::sql;
use crate::store::corpora::Corpus;

/// A document of the corpus that goes by one of the names.
#[derive(Debug, Deserialize)]
pub struct Named {
    /// The name, as the answer has it.
    pub name: String,
    pub doc_id: String,
    pub title: Option<String>,
    pub uri: Option<String>,
    pub page_count: Option<u32>,
}

/// The documents whose key, title or URI is one of the names, letter case aside; in order of name and document, each once, whatever
/// its passages are called. A passage without a document is its own.
///
/// Keys are compared as text: a name that the key's type cannot read names nothing, and must not be an error.
pub fn documents(corpus: &Corpus, names: &[String]) -> Result<Vec<Named>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let document = document(corpus)?;
    let text = |meaning: &str| match corpus.column(meaning) {
        Some(column) => format!("{column}::text"),
        None => "NULL::text".to_owned(),
    };
    let (title, uri) = (text("title"), text("uri"));
    let page_count = corpus.integer("page_count", 1);
    // Three equi-joins rather than one with OR: an answer may name thousands of documents.
    let relations = corpus.relations()?;
    let one = |named: &str| {
        format!(
            "SELECT n.name, {document} AS doc_id, {title} AS title, {uri} AS uri, {page_count} AS page_count \
             FROM {relations} JOIN pg_catalog.unnest($1::text[]) AS n(name) ON pg_catalog.lower({named}) = pg_catalog.lower(n.name) \
             WHERE {document} IS NOT NULL",
        )
    };
    let statement = format!(
        "SELECT DISTINCT ON (u.name, u.doc_id) u.* FROM ({} UNION ALL {} UNION ALL {}) AS u ORDER BY u.name, u.doc_id, u.title, u.uri, u.page_count",
        one(&document),
        one(&title),
        one(&uri)
    );
    sql::read_rows(&statement, &[names.to_vec().into()])
}

/// The documents of which the key, or the key of a passage, begins so; in order of name and document.
pub fn by_beginning(corpus: &Corpus, ids: &[String]) -> Result<Vec<Named>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (document, key) = (document(corpus)?, corpus.key()?);
    let text = |meaning: &str| match corpus.column(meaning) {
        Some(column) => format!("{column}::text"),
        None => "NULL::text".to_owned(),
    };
    let statement = format!(
        "SELECT DISTINCT ON (u.name, u.doc_id) u.* FROM (SELECT n.name, {document} AS doc_id, {} AS title, {} AS uri, {} AS page_count FROM {} \
             JOIN pg_catalog.unnest($1::text[]) AS n(name) \
             ON pg_catalog.starts_with({document}, n.name) OR pg_catalog.starts_with({key}::text, n.name) WHERE {document} IS NOT NULL) AS u \
         ORDER BY u.name, u.doc_id, u.title, u.uri, u.page_count",
        text("title"),
        text("uri"),
        corpus.integer("page_count", 1),
        corpus.relations()?,
    );
    sql::read_rows(&statement, &[ids.to_vec().into()])
}

/// The key of a row's document as text; of a passage without one its own.
fn document(corpus: &Corpus) -> Result<String> {
    let (document, key) = (corpus.document()?, corpus.key()?);
    Ok(format!("coalesce({document}::text, {key}::text)"))
}

/// The passages of documents, in order of document and place.
pub fn passages_of(corpus: &Corpus, documents: &[String]) -> Result<Vec<Passage>> {
    let everything = Filter::default();
    let mut found = passages::by_document(corpus, &everything, documents)?;
    let having: BTreeSet<&String> = found.values().map(|passage| &passage.doc_id).collect();
    let without = documents
        .iter()
        .filter(|document| !having.contains(document));
    let alone = passages::by_key(corpus, &everything, without)?;
    found.extend(
        alone
            .into_iter()
            .filter(|(key, passage)| *key == passage.doc_id),
    );
    Ok(in_order(found))
}

/// The passages that say where they stand, in a work that goes by one of these names, or in any where there are none; in
/// order of document and place. Their number is that of the work's passages.
pub fn placed(corpus: &Corpus, names: &[&str]) -> Result<Vec<Passage>> {
    let Some(metadata) = corpus.metadata() else {
        return Ok(Vec::new());
    };
    let place = format!("({metadata} ->> '{LOCATOR}')");
    let document = corpus.document()?;
    let title = match corpus.column("title") {
        Some(title) => format!("{title}::text"),
        None => "NULL::text".to_owned(),
    };
    let keys: Vec<String> = sql::read_rows(
        &format!(
            "SELECT {}::text AS chunk_id FROM {} WHERE {place} IS NOT NULL AND (pg_catalog.cardinality($1::text[]) = 0 \
                 OR EXISTS (SELECT FROM pg_catalog.unnest($1::text[]) AS n(name) WHERE pg_catalog.starts_with(pg_catalog.lower({place}), pg_catalog.lower(n.name)) \
                     OR pg_catalog.lower(n.name) IN (pg_catalog.lower({document}::text), pg_catalog.lower({title}))))",
            corpus.key()?,
            corpus.relations()?
        ),
        &[names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>().into()],
    )?
    .into_iter()
    .map(|ChunkId { chunk_id }| chunk_id)
    .collect();
    let found = passages::by_key(corpus, &Filter::default(), &keys)?;
    Ok(in_order(found))
}

/// A passage's key.
#[derive(Deserialize)]
struct ChunkId {
    chunk_id: String,
}

fn in_order(found: BTreeMap<String, Passage>) -> Vec<Passage> {
    let mut all: Vec<_> = found.into_values().collect();
    all.sort_by(|a, b| {
        (&a.doc_id, a.ordinal, &a.chunk_id).cmp(&(&b.doc_id, b.ordinal, &b.chunk_id))
    });
    all
}
