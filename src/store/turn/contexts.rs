//! The documents in the contexts of turns.

use pgrx::datum::TimestampWithTimeZone;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;

/// A document that may have been in contexts, or one of its passages, and a period.
pub struct ShownDocument<'a> {
    pub corpus: &'a str,
    pub doc_id: &'a str,
    pub chunk_id: Option<&'a str>,
    pub since: Option<TimestampWithTimeZone>,
    pub until: Option<TimestampWithTimeZone>,
}

/// A turn with the document in its context.
#[derive(Debug, Deserialize, Serialize)]
pub struct ContextTurn {
    tenant: String,
    conversation_ref: String,
    turn_no: i32,
    pub turn_id: i64,
    user_ref: Option<String>,
    chunk_ids: Vec<String>,
    markers: Vec<String>,
    citations: i64,
    holding: i64,
    begun_at: String,
}

/// The turns of a tenant, or of all, whose context had the document. The index on the documents of contexts finds them. It does not contain
/// the corpus, so that is checked in the context.
pub fn turns_with(tenant: Option<&str>, shown: &ShownDocument<'_>) -> Result<Vec<ContextTurn>> {
    as_owner(|| {
        sql::read_rows(
            "SELECT t.tenant, v.conversation_ref, t.turn_no, t.turn_id, t.user_ref, e.chunk_ids, e.markers, c.citations, c.holding, t.begun_at \
             FROM reground.turns AS t JOIN reground.conversations AS v ON v.conversation_id = t.conversation_id \
             CROSS JOIN LATERAL ( \
                 SELECT array_agg(DISTINCT m.chunk_id COLLATE \"C\") AS chunk_ids, array_agg(DISTINCT x.source ->> 'marker' COLLATE \"C\") AS markers \
                 FROM jsonb_array_elements(t.context) AS x(source), jsonb_array_elements_text(x.source -> 'member_chunk_ids') AS m(chunk_id) \
                 WHERE x.source #>> '{passage,corpus}' = $1 AND x.source #>> '{passage,doc_id}' = $2 AND ($3::text IS NULL OR x.source -> 'member_chunk_ids' ? $3)) AS e \
             CROSS JOIN LATERAL ( \
                 SELECT count(*) AS citations, count(*) FILTER (WHERE c.holds) AS holding FROM reground.message_citations AS c \
                     JOIN reground.messages AS m ON m.message_id = c.message_id AND NOT m.superseded \
                 WHERE c.turn_id = t.turn_id AND c.corpus = $1 AND c.doc_id = $2 AND ($3::text IS NULL OR c.chunk_id = ANY (e.chunk_ids))) AS c \
             WHERE jsonb_path_query_array(t.context, '$[*].passage.doc_id') @> to_jsonb($2::text) AND ($4::text IS NULL OR t.tenant = $4) \
                 AND t.begun_at >= coalesce($5, '-infinity') AND t.begun_at < coalesce($6, 'infinity') AND e.chunk_ids IS NOT NULL \
             ORDER BY t.begun_at, t.turn_id",
            &[
                shown.corpus.into(),
                shown.doc_id.into(),
                shown.chunk_id.into(),
                tenant.into(),
                shown.since.into(),
                shown.until.into(),
            ],
        )
    })
}
