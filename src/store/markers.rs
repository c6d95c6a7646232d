//! The registry of a conversation's markers: read whole, only ever added to; that one was cited is noted.

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
