//! The registry of a conversation's markers: only ever added to. A turn that begins reads what it may have to bind again; one
//! that ends reads all, since an answer may cite any. That one was cited is noted.

use std::collections::BTreeSet;

use reground_documents::PageRange;
use reground_grounding::memory::BoundMarker;
use reground_grounding::passage::CharRange;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::owner::as_owner;
use crate::sql;

/// A marker with what its document was called.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub marker: String,
    pub corpus: String,
    pub doc_id: String,
    pub passage: String,
    pub version: Option<i32>,
    pub page_start: Option<u32>,
    pub page_end: Option<u32>,
    pub char_start: Option<u32>,
    pub char_end: Option<u32>,
    pub hash: String,
    pub title: Option<String>,
    pub uri: Option<String>,
    /// Whether an answer has cited it.
    pub cited: bool,
}

impl Row {
    /// A row of what the pure crate bound.
    pub fn new(bound: &BoundMarker, title: Option<String>, uri: Option<String>) -> Self {
        Self {
            marker: bound.marker.clone(),
            corpus: bound.corpus.clone(),
            doc_id: bound.doc_id.clone(),
            passage: bound.passage.clone(),
            version: bound.version,
            page_start: bound.pages.map(|pages| pages.start),
            page_end: bound.pages.map(|pages| pages.end),
            char_start: bound.chars.map(|chars| chars.start),
            char_end: bound.chars.map(|chars| chars.end),
            hash: bound.hash.clone(),
            title,
            uri,
            cited: false,
        }
    }

    /// What the marker is bound to.
    pub fn bound(&self) -> BoundMarker {
        BoundMarker {
            marker: self.marker.clone(),
            corpus: self.corpus.clone(),
            doc_id: self.doc_id.clone(),
            passage: self.passage.clone(),
            version: self.version,
            pages: PageRange::of(self.page_start, self.page_end),
            chars: CharRange::of(self.char_start, self.char_end),
            hash: self.hash.clone(),
        }
    }
}

/// All markers of a conversation, in the order in which they were bound.
pub fn load(conversation_id: i64) -> Result<Vec<Row>> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(pg_catalog.json_agg(m ORDER BY m.binding_no), '[]')::text \
             FROM reground.conversation_markers AS m WHERE m.conversation_id = $1",
            &[conversation_id.into()],
        )
    })?
    .unwrap_or_default())
}

/// The markers of some documents, and the last that was bound to a new document, and the last of the running numbers: what
/// tells the next ones. In the order in which they were bound. Its time does not grow with the conversation.
pub fn of_documents<'a>(
    conversation_id: i64,
    documents: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<Row>> {
    let documents: BTreeSet<(&str, &str)> = documents.collect();
    let documents = sql::json(&documents)?;
    Ok(as_owner(|| {
        sql::write_json(
            "WITH known AS (SELECT * FROM reground.conversation_markers WHERE conversation_id = $1) \
             SELECT coalesce(pg_catalog.json_agg(m ORDER BY m.binding_no), '[]')::text FROM ( \
                 SELECT m.* FROM pg_catalog.json_array_elements($2::json) AS d JOIN known AS m ON (m.corpus, m.doc_id) = (d ->> 0, d ->> 1) \
                 UNION (SELECT * FROM known WHERE marker ~ '^[A-Z]+1$' ORDER BY binding_no DESC LIMIT 1) \
                 UNION (SELECT * FROM known WHERE marker ~ '^[0-9]+$' ORDER BY binding_no DESC LIMIT 1)) AS m",
            &[conversation_id.into(), documents.into()],
        )
    })?
    .unwrap_or_default())
}

/// The markers that answers have cited, in the order in which they were bound.
pub fn cited(conversation_id: i64) -> Result<Vec<Row>> {
    Ok(as_owner(|| {
        sql::write_json(
            "SELECT coalesce(pg_catalog.json_agg(m ORDER BY m.binding_no), '[]')::text \
             FROM reground.conversation_markers AS m WHERE m.conversation_id = $1 AND m.cited",
            &[conversation_id.into()],
        )
    })?
    .unwrap_or_default())
}

/// Notes what an answer has cited, by marker or otherwise.
pub fn cite(message_id: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.conversation_markers AS m SET cited = true FROM reground.message_citations AS c \
             WHERE c.message_id = $1 AND m.conversation_id = c.conversation_id AND NOT m.cited \
                 AND (m.marker = c.marker OR (m.corpus, m.doc_id, m.passage) = (c.corpus, c.doc_id, c.chunk_id))",
            &[message_id.into()],
        )
    })?;
    Ok(())
}

/// Adds markers.
pub fn add(tenant: &str, conversation_id: i64, turn_number: i32, rows: &[Row]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let rows = sql::json(rows)?;
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.conversation_markers (conversation_id, tenant, first_turn, marker, corpus, doc_id, passage, version, page_start, page_end, \
                 char_start, char_end, hash, title, uri, binding_no) \
             SELECT $1, $2, $3, x.*, (SELECT coalesce(pg_catalog.max(m.binding_no), 0) FROM reground.conversation_markers AS m WHERE m.conversation_id = $1) \
                 + pg_catalog.row_number() OVER () FROM pg_catalog.json_to_recordset($4::json) AS x(marker text, corpus text, doc_id text, passage text, version integer, \
                 page_start integer, page_end integer, char_start integer, char_end integer, hash text, title text, uri text)",
            &[
                conversation_id.into(),
                tenant.into(),
                turn_number.into(),
                rows.into(),
            ],
        )
    })?;
    Ok(())
}
