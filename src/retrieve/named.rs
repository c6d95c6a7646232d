//! Documents that an answer names, by name, id or place, and their passages.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::passage::{LOCATOR, Passage};
use serde::Deserialize;

use crate::error::Result;
use crate::retrieve::filter::Filter;
use crate::retrieve::passages;
use crate::sql;
use crate::store::corpora::Corpus;

/// A document of the corpus with one of the names.
#[derive(Debug, Deserialize)]
pub struct Named {
    /// The name in the answer.
    pub name: String,
    pub doc_id: String,
    pub title: Option<String>,
    pub uri: Option<String>,
    pub page_count: Option<u32>,
}

/// Returns the documents whose id, title or URI is one of the names, ignoring case. They are sorted by name and document, and
/// each occurs once per name. A passage without a document counts as a document.
///
/// Ids are compared as text, because a name that the type of the ids cannot parse must not raise an error.
pub fn documents(corpus: &Corpus, names: &[String]) -> Result<Vec<Named>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let document = corpus.document_text()?;
    let (title, uri) = (corpus.text("title"), corpus.text("uri"));
    let page_count = corpus.integer("page_count", 1);
    // Three equi-joins are fast for thousands of names; one join with OR is not.
    let relations = corpus.relations()?;
    let one = |named: &str| {
        format!(
            "SELECT n.name, {document} AS doc_id, {title} AS title, {uri} AS uri, {page_count} AS page_count \
             FROM {relations} JOIN unnest($1::text[]) AS n(name) ON lower({named}) = lower(n.name) \
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

/// Returns the documents whose id, or the id of one of their passages, begins with one of the texts; sorted by text and
/// document.
pub fn by_beginning(corpus: &Corpus, ids: &[String]) -> Result<Vec<Named>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (document, key) = (corpus.document_text()?, corpus.key()?);
    let statement = format!(
        "SELECT DISTINCT ON (u.name, u.doc_id) u.* FROM (SELECT n.name, {document} AS doc_id, {} AS title, {} AS uri, {} AS page_count FROM {} \
             JOIN unnest($1::text[]) AS n(name) \
             ON starts_with({document}, n.name) OR starts_with({key}::text, n.name) WHERE {document} IS NOT NULL) AS u \
         ORDER BY u.name, u.doc_id, u.title, u.uri, u.page_count",
        corpus.text("title"),
        corpus.text("uri"),
        corpus.integer("page_count", 1),
        corpus.relations()?,
    );
    sql::read_rows(&statement, &[ids.to_vec().into()])
}

/// Returns the passages of documents, sorted by document and position.
pub fn passages_of(corpus: &Corpus, doc_ids: &[String]) -> Result<Vec<Passage>> {
    let everything = Filter::default();
    let mut found = passages::by_document(corpus, &everything, doc_ids)?;
    let with_passages: BTreeSet<&String> = found.values().map(|passage| &passage.doc_id).collect();
    let others = doc_ids
        .iter()
        .filter(|doc_id| !with_passages.contains(doc_id));
    // A passage without a document counts as a document.
    let single = passages::by_key(corpus, &everything, others)?.into_iter();
    found.extend(single.filter(|(chunk_id, passage)| *chunk_id == passage.doc_id));
    Ok(in_order(found))
}

/// Returns the passages with a locator in a work with one of these names, or in any work if there are no names; sorted by
/// document and position.
pub fn placed(corpus: &Corpus, names: &[&str]) -> Result<Vec<Passage>> {
    let Some(metadata) = corpus.metadata() else {
        return Ok(Vec::new());
    };
    let place = format!("({metadata} ->> '{LOCATOR}')");
    let document = corpus.document()?;
    let title = corpus.text("title");
    let chunk_ids: Vec<String> = sql::read_rows(
        &format!(
            "SELECT {}::text AS chunk_id FROM {} WHERE {place} IS NOT NULL AND (cardinality($1::text[]) = 0 \
                 OR EXISTS (SELECT FROM unnest($1::text[]) AS n(name) WHERE starts_with(lower({place}), lower(n.name)) \
                     OR lower(n.name) IN (lower({document}::text), lower({title}))))",
            corpus.key()?,
            corpus.relations()?
        ),
        &[names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>().into()],
    )?
    .into_iter()
    .map(|ChunkId { chunk_id }| chunk_id)
    .collect();
    let found = passages::by_key(corpus, &Filter::default(), &chunk_ids)?;
    Ok(in_order(found))
}

/// The id of a passage.
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
