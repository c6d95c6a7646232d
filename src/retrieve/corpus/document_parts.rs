//! Parts of the documents that `put_document` stored.

use std::collections::BTreeMap;

use reground_grounding::end::evidence::DocumentPart;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::sql;
use crate::store::corpora::Corpus;

/// A part of a version of a document.
#[derive(Debug)]
pub struct WantedPart<'a> {
    /// Identifies the part among those of a call.
    pub index: usize,
    pub doc_id: &'a str,
    pub version: i32,
    pub part: DocumentPart,
}

/// A wanted part, as the statement reads it.
#[derive(Serialize)]
struct Wanted<'a> {
    index: usize,
    doc_id: &'a str,
    version: i32,
    first: usize,
    count: usize,
}

#[derive(Deserialize)]
struct Part {
    index: usize,
    content: String,
}

/// Returns the texts of the parts that the caller may read, by index; none if row-level security covers the passages only. `corpus` must have been made by create_corpus.
pub fn read(corpus: &Corpus, parts: &[WantedPart<'_>]) -> Result<BTreeMap<usize, String>> {
    let Some(documents) = corpus.visible_documents().filter(|_| !parts.is_empty()) else {
        return Ok(BTreeMap::new());
    };
    if corpus.reveals_documents()? {
        return Ok(BTreeMap::new());
    }
    let wanted: Vec<Wanted<'_>> = parts
        .iter()
        .map(|part| Wanted {
            index: part.index,
            doc_id: part.doc_id,
            version: part.version,
            first: part.part.start + 1,
            count: part.part.end - part.part.start,
        })
        .collect();
    let statement = format!(
        "SELECT x.index, substr(d.content, x.first, x.count) AS content \
         FROM json_to_recordset($1::json) AS x(index integer, doc_id text, version integer, first integer, count integer) \
         JOIN {documents} ON d.doc_id = x.doc_id AND d.version = x.version WHERE d.content IS NOT NULL"
    );
    let found: Vec<Part> = sql::read_rows(&statement, &[sql::json(&wanted)?.into()])?;
    Ok(found
        .into_iter()
        .map(|part| (part.index, part.content))
        .collect())
}
