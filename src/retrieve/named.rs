//! Documents that an answer names in its own words, and the passages on the pages that it claims.

use reground_documents::PageRange;
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

/// A passage of such a document.
pub struct NamedPassage {
    pub key: String,
    pub pages: Option<PageRange>,
    pub text: String,
}

/// The documents whose key, title or URI is one of the names, letter case aside; in order of name and document.
///
/// Keys are compared as text: a name that the key's type cannot read names nothing, and must not be an error.
pub fn documents(corpus: &Corpus, names: &[String]) -> Result<Vec<Named>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let document = corpus.document()?;
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
            "SELECT n.name, {document}::text AS doc_id, {title} AS title, {uri} AS uri, {page_count} AS page_count \
             FROM {relations} JOIN pg_catalog.unnest($1::text[]) AS n(name) ON pg_catalog.lower({named}) = pg_catalog.lower(n.name)",
        )
    };
    let statement = format!(
        "{} UNION {} UNION {} ORDER BY 1, 2",
        one(&format!("{document}::text")),
        one(&title),
        one(&uri)
    );
    sql::read_rows(&statement, &[names.to_vec().into()])
}

/// The passages of documents, in order of document and place.
pub fn passages_of(corpus: &Corpus, documents: &[String]) -> Result<Vec<(String, NamedPassage)>> {
    let found = passages::by_document(corpus, &Filter::default(), documents)?;
    let mut all: Vec<_> = found.into_values().collect();
    all.sort_by(|a, b| (&a.doc_id, a.ordinal, &a.key).cmp(&(&b.doc_id, b.ordinal, &b.key)));
    Ok(all
        .into_iter()
        .map(|passage| {
            (
                passage.doc_id,
                NamedPassage {
                    key: passage.key,
                    pages: passage.pages,
                    text: passage.text,
                },
            )
        })
        .collect())
}
