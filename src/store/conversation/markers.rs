//! The table `conversation_markers`. Only erasure removes rows. In a long conversation they are many, so a turn reads only
//! those that it may bind again, and an answer those that it names.

use std::borrow::Cow;
use std::collections::BTreeSet;

use reground_documents::PageRange;
use reground_grounding::history::CitedSource;
use reground_grounding::memory::{BoundMarker, SourceKey};
use reground_grounding::passage::{CharRange, Passage};
use reground_grounding::settings::MarkerStyle;
use reground_sealing::Sealer;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql::{self, Record};
use crate::store::keys::{self, Of};

/// A marker with the title and the address of its document.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub marker: String,
    pub corpus: String,
    pub doc_id: String,
    pub chunk_id: String,
    pub version: Option<i32>,
    pub page_start: Option<u32>,
    pub page_end: Option<u32>,
    pub char_start: Option<u32>,
    pub char_end: Option<u32>,
    pub locator: Option<String>,
    pub content_hash: String,
    pub title: Option<String>,
    pub uri: Option<String>,
    /// The pages, if they are sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pages: Option<PageRange>,
}

impl Row {
    /// The row of a new marker, with the description of its passage if known.
    pub fn new(bound: &BoundMarker, described: Option<&Passage>) -> Self {
        Self {
            marker: bound.marker.clone(),
            corpus: bound.corpus.clone(),
            doc_id: bound.doc_id.clone(),
            chunk_id: bound.chunk_id.clone(),
            version: bound.version,
            page_start: bound.pages.map(|pages| pages.start),
            page_end: bound.pages.map(|pages| pages.end),
            char_start: bound.chars.map(|chars| chars.start),
            char_end: bound.chars.map(|chars| chars.end),
            locator: bound.locator.clone(),
            content_hash: bound.content_hash.clone(),
            title: described.and_then(|passage| passage.title.clone()),
            uri: described.and_then(|passage| passage.uri.clone()),
            pages: None,
        }
    }

    /// The row as it is sealed: with its pages together.
    fn to_seal(&self) -> Self {
        Self {
            page_start: None,
            page_end: None,
            pages: PageRange::of(self.page_start, self.page_end),
            ..self.clone()
        }
    }

    /// The passage that the marker is bound to.
    pub fn bound(&self) -> BoundMarker {
        BoundMarker {
            marker: self.marker.clone(),
            corpus: self.corpus.clone(),
            doc_id: self.doc_id.clone(),
            chunk_id: self.chunk_id.clone(),
            version: self.version,
            pages: PageRange::of(self.page_start, self.page_end).or(self.pages),
            chars: CharRange::of(self.char_start, self.char_end),
            locator: self.locator.clone(),
            content_hash: self.content_hash.clone(),
        }
    }

    /// The key of its source.
    pub fn key(&self) -> SourceKey {
        SourceKey {
            corpus: self.corpus.clone(),
            doc_id: self.doc_id.clone(),
            chunk_id: self.chunk_id.clone(),
        }
    }
}

/// A marker that answers have cited, as the ledger shows it.
#[derive(Debug, Deserialize)]
pub struct CitedMarker {
    marker: String,
    corpus: String,
    doc_id: String,
    chunk_id: String,
    version: Option<i32>,
    char_start: Option<u32>,
    char_end: Option<u32>,
    locator: Option<String>,
    title: Option<String>,
    uri: Option<String>,
}

impl CitedMarker {
    /// The key of its source.
    pub fn key(&self) -> SourceKey {
        SourceKey {
            corpus: self.corpus.clone(),
            doc_id: self.doc_id.clone(),
            chunk_id: self.chunk_id.clone(),
        }
    }

    /// The source, as the history lists it.
    pub fn source(self) -> CitedSource {
        let source = CitedSource {
            marker: self.marker,
            corpus: self.corpus,
            doc_id: self.doc_id,
            version: self.version,
            title: self.title,
            uri: self.uri,
            locator: self.locator,
        };
        source.for_readers(CharRange::of(self.char_start, self.char_end))
    }
}

/// The markers whose name or document id is one of `names`, in the order in which they were bound.
pub fn named(conversation_id: i64, names: Vec<String>) -> Result<Vec<Row>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    Ok(keys::read_json(
        Of::Caller,
            "SELECT coalesce(json_agg(m ORDER BY m.binding_no), '[]')::text FROM ( \
                 SELECT * FROM reground.conversation_markers WHERE conversation_id = $1 AND marker = ANY ($2) \
                 UNION SELECT * FROM reground.conversation_markers WHERE conversation_id = $1 AND doc_id = ANY ($2)) AS m",
            &[conversation_id.into(), names.into()],
        )?
    .unwrap_or_default())
}

/// Whether a conversation of a tenant has a source: bound to a marker, remembered or pinned.
pub fn has_source(tenant: &str, conversation_id: i64, source: &SourceKey) -> Result<bool> {
    let has = as_owner(|| {
        sql::write_one::<bool>(
            "SELECT EXISTS (SELECT FROM reground.conversation_markers \
                 WHERE conversation_id = $2 AND tenant = $1 AND corpus = $3 AND doc_id = $4 AND chunk_id = $5) \
             OR EXISTS (SELECT FROM reground.conversation_sources \
                 WHERE conversation_id = $2 AND tenant = $1 AND corpus = $3 AND doc_id = $4 AND chunk_id = $5)",
            &[
                tenant.into(),
                conversation_id.into(),
                source.corpus.as_str().into(),
                source.doc_id.as_str().into(),
                source.chunk_id.as_str().into(),
            ],
        )
    })?;
    Ok(has == Some(true))
}

/// Columns of a [`Row`] without the title and the address, and without sealed pages.
const BINDING: &str = "marker, corpus, doc_id, chunk_id, version, page_start, page_end, char_start, char_end, locator, content_hash, binding_no";

/// Expression for the letters of a marker.
const LETTERS: &str = "rtrim(marker, '0123456789')";

/// The markers that a turn needs to bind sources of these documents, in the order in which they were bound:
/// - the markers of the documents;
/// - markers of other documents with the same letters, as imported turns can have;
/// - the greatest marker in this style, from which the next new one follows.
///
/// The time does not grow with the length of the conversation.
pub fn of_documents<'a>(
    conversation_id: i64,
    documents: impl Iterator<Item = (&'a str, &'a str)>,
    style: MarkerStyle,
) -> Result<Vec<BoundMarker>> {
    let documents: BTreeSet<(&str, &str)> = documents.collect();
    let (corpora, documents): (Vec<&str>, Vec<&str>) = documents.into_iter().unzip();
    // The conditions are literals, so that they match partial indexes. Markers of imported turns come in any order, so the greatest
    // marker need not be the latest.
    let last = match style {
        MarkerStyle::Lettered => format!(
            "marker ~ '^[A-Z]+[0-9]+$' ORDER BY length({LETTERS}) DESC, {LETTERS} COLLATE \"C\" DESC"
        ),
        MarkerStyle::Numbered => {
            "marker ~ '^[0-9]+$' ORDER BY length(marker) DESC, marker COLLATE \"C\" DESC".to_owned()
        }
    };
    // The previous release had no sealed pages.
    let binding = match keys::exists() {
        true => format!("{BINDING}, pages"),
        false => BINDING.to_owned(),
    };
    let rows: Vec<Row> = keys::read_json(
        Of::Caller,
            &format!(
                // OFFSET 0 as in `cite`.
                "WITH own AS MATERIALIZED (SELECT m.* FROM ROWS FROM (unnest($3), unnest($2)) AS d(corpus, doc_id), \
                     LATERAL (SELECT {binding} FROM reground.conversation_markers AS k \
                         WHERE (k.conversation_id, k.doc_id, k.corpus) = ($1, d.doc_id, d.corpus) OFFSET 0) AS m) \
                 SELECT coalesce(json_agg(m), '[]')::text FROM (SELECT DISTINCT ON (binding_no) * FROM ( \
                     SELECT * FROM own \
                     UNION ALL SELECT k.* FROM (SELECT DISTINCT {LETTERS} AS letters FROM own WHERE marker ~ '^[A-Z]+[0-9]+$') AS g, \
                         LATERAL (SELECT {binding} FROM reground.conversation_markers WHERE conversation_id = $1 AND marker ~ '^[A-Z]+[0-9]+$' \
                             AND length({LETTERS}) = length(g.letters) AND {LETTERS} COLLATE \"C\" = g.letters OFFSET 0) AS k \
                     UNION ALL (SELECT {binding} FROM reground.conversation_markers WHERE conversation_id = $1 AND {last} LIMIT 1)) AS a \
                 ORDER BY binding_no) AS m"
            ),
            &[conversation_id.into(), documents.into(), corpora.into()],
        )?
    .unwrap_or_default();
    Ok(rows.iter().map(Row::bound).collect())
}

/// The markers that answers have cited, in the order in which they were bound. If turns are superseded, only those cited on the
/// path. The address of a document with a title is left out, because the ledger shows the title.
pub fn cited(conversation_id: i64) -> Result<Vec<CitedMarker>> {
    Ok(keys::read_json(
        Of::Caller,
            "SELECT coalesce(json_agg(m), '[]')::text FROM ( \
                 SELECT marker, corpus, doc_id, chunk_id, version, char_start, char_end, locator, title, CASE WHEN title IS NULL THEN uri END AS uri \
                 FROM reground.conversation_markers AS k WHERE conversation_id = $1 AND cited \
                     AND (NOT EXISTS (SELECT FROM reground.turns AS s WHERE s.conversation_id = $1 AND s.superseded) \
                         OR k.marker IN (SELECT c.marker FROM reground.turns AS t JOIN reground.message_citations AS c ON c.turn_id = t.turn_id \
                             WHERE t.conversation_id = $1 AND NOT t.superseded AND c.marker IS NOT NULL) \
                         OR (k.doc_id, k.corpus, k.chunk_id) IN (SELECT c.doc_id, c.corpus, c.chunk_id FROM reground.turns AS t JOIN reground.message_citations AS c ON c.turn_id = t.turn_id \
                             WHERE t.conversation_id = $1 AND NOT t.superseded AND c.doc_id IS NOT NULL AND c.corpus IS NOT NULL AND c.chunk_id IS NOT NULL)) \
                 ORDER BY binding_no) AS m",
            &[conversation_id.into()],
        )?
    .unwrap_or_default())
}

/// Marks the sources that an answer of a conversation cites, by marker or otherwise, as cited.
pub fn cite(conversation_id: i64, message_id: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            // The planner plans a subquery with ARRAY or OFFSET 0 on its own, so the index looks up each marker. Statistics do not change this.
            "UPDATE reground.conversation_markers AS m SET cited = true WHERE m.conversation_id = $1 AND NOT m.cited AND m.marker = ANY (ARRAY( \
                 SELECT marker FROM reground.message_citations WHERE message_id = $2 \
                 UNION SELECT n.marker FROM reground.message_citations AS c, LATERAL (SELECT k.marker FROM reground.conversation_markers AS k \
                     WHERE (k.conversation_id, k.doc_id, k.corpus, k.chunk_id) = ($1, c.doc_id, c.corpus, c.chunk_id) OFFSET 0) AS n WHERE c.message_id = $2))",
            &[conversation_id.into(), message_id.into()],
        )
    })?;
    Ok(())
}

/// A marker with the turn that bound it.
#[derive(Clone, Debug, Serialize)]
pub struct Bound {
    pub conversation_id: i64,
    /// Number of the turn that bound it.
    pub first_turn_no: i32,
    #[serde(flatten)]
    pub row: Row,
}

/// Adds markers.
///
/// # Errors
/// 23505 if the conversation has one of them already.
pub fn add(tenant: &str, bound: &[Bound]) -> Result<()> {
    insert(tenant, bound, "")
}

/// Adds the markers that their conversations do not have yet.
pub fn reserve(tenant: &str, bound: &[Bound]) -> Result<()> {
    insert(
        tenant,
        bound,
        // As in `cite`.
        "WHERE NOT EXISTS (SELECT FROM reground.conversation_markers AS m WHERE (m.conversation_id, m.marker) = (x.conversation_id, x.marker) OFFSET 0)",
    )
}

/// Columns of [`Bound`], without sealed pages.
const COLUMNS: &str = "conversation_id bigint, first_turn_no integer, marker text, corpus text, doc_id text, chunk_id text, version integer, \
     page_start integer, page_end integer, char_start integer, char_end integer, locator text, content_hash text, title text, uri text";
const BOUND: Record = Record(&[COLUMNS]);
const SEALED: Record = Record(&[COLUMNS, "pages text"]);

fn insert(tenant: &str, bound: &[Bound], condition: &str) -> Result<()> {
    if bound.is_empty() {
        return Ok(());
    }
    let sealer = keys::sealer(tenant)?;
    // The column of sealed pages is new in this version.
    let (bound, columns) = match &sealer {
        Sealer::Plain => (Cow::Borrowed(bound), BOUND),
        Sealer::Key { .. } => {
            let to_seal = bound.iter().map(|bound| Bound {
                row: bound.row.to_seal(),
                ..*bound
            });
            (Cow::Owned(to_seal.collect()), SEALED)
        }
    };
    let rows = sql::json(bound.as_ref())?;
    let rows = sealer.json(&rows).into_owned();
    as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.conversation_markers (tenant, {}, binding_no) \
                 SELECT $1, {}, \
                     (SELECT coalesce(max(m.binding_no), 0) FROM reground.conversation_markers AS m WHERE m.conversation_id = x.conversation_id) \
                         + row_number() OVER (PARTITION BY x.conversation_id ORDER BY x.position) \
                 FROM ROWS FROM (json_to_recordset($2::json) AS ({columns})) WITH ORDINALITY AS x({}, position) {condition}",
                columns.columns(""),
                columns.columns("x."),
                columns.columns("")
            ),
            &[tenant.into(), rows.into()],
        )
    })?;
    Ok(())
}
