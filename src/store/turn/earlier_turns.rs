//! Queries over the earlier turns of a conversation, for the intent, the query and the visibility of a new turn.

use reground_grounding::memory::SourceKey;
use reground_grounding::query::intent::PastTurn;
use reground_grounding::query::query_expansion::CLEAR_SUPPORT;
use serde::Deserialize;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;
use crate::store::keys::{self, Of};

/// An earlier turn, as the intent and the query of a new turn use it.
#[derive(Clone, Debug, Deserialize)]
pub struct Earlier {
    pub turn_id: i64,
    /// Question, answer and titles of its sources.
    #[serde(flatten)]
    pub past: PastTurn,
    /// Embedding of the question.
    pub embedding: Option<Vec<f32>>,
    /// Byte ranges of the citations in the answer.
    pub citations: Vec<(usize, usize)>,
    /// Chunk ids of the passages of the corpus that holding citations of the answer name.
    pub passages: Vec<String>,
    /// Chunk ids of the passages of the corpus in its context, if they were asked for.
    pub shown: Vec<String>,
}

impl Earlier {
    /// The turn without its answer and the titles of its sources.
    pub fn without_answer(self) -> Self {
        Self {
            past: PastTurn {
                query: self.past.query,
                ..PastTurn::default()
            },
            citations: Vec::new(),
            ..self
        }
    }
}

/// The latest `count` turns of a conversation, newest last, with their passages of a corpus. With `turn_no`, only turns before it.
/// `with_shown` asks for the passages of their contexts. Each look into a context decompresses it.
pub fn earlier(
    conversation_id: i64,
    corpus: &str,
    count: usize,
    turn_no: Option<i32>,
    with_shown: bool,
) -> Result<Vec<Earlier>> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Ok(keys::read_json(
        Of::Caller,
            &format!("SELECT coalesce(json_agg(json_build_object('turn_id', t.turn_id, 'query', t.query, 'embedding', t.embedding, 'answer', coalesce(m.answer, ''), \
                 'sources', jsonb_path_query_array(t.context, '$[*] ? (@.origin != \"remembered\").passage.title ? (@ != null)'), \
                 'shown', CASE WHEN $5 THEN jsonb_path_query_array(t.context, '$[*] ? (@.origin != \"remembered\").passage ? (@.corpus == $corpus).chunk_id', jsonb_build_object('corpus', $3::text)) ELSE '[]' END, \
                 'citations', coalesce(c.citations, '[]'), 'cited', coalesce(c.titles, '{{}}'), 'passages', coalesce(c.passages, '{{}}')) ORDER BY t.turn_no), '[]')::text \
             FROM (SELECT turn_id, turn_no, query, embedding, context FROM reground.turns WHERE conversation_id = $1 AND state <> 'abandoned' AND NOT superseded \
                       AND turn_no < coalesce($4, 2147483647) ORDER BY turn_no DESC LIMIT $2) AS t \
                 LEFT JOIN LATERAL (SELECT m.message_id, m.answer FROM reground.messages AS m \
                     WHERE m.turn_id = t.turn_id AND NOT m.superseded ORDER BY m.message_id DESC LIMIT 1) AS m ON true \
                 LEFT JOIN LATERAL (SELECT array_agg(DISTINCT c.title) FILTER (WHERE c.is_clear AND c.title IS NOT NULL) AS titles, \
                         array_agg(DISTINCT c.chunk_id) FILTER (WHERE c.is_clear AND c.chunk_id IS NOT NULL AND c.corpus = $3) AS passages, \
                         json_agg(json_build_array(c.byte_start, c.byte_end)) FILTER (WHERE c.byte_end > c.byte_start AND m.answer IS NOT NULL) AS citations \
                     FROM (SELECT c.*, c.holds AND coalesce(c.support >= {CLEAR_SUPPORT}, true) AS is_clear \
                         FROM reground.message_citations AS c WHERE c.message_id = m.message_id) AS c) AS c ON true"),
            &[conversation_id.into(), count.into(), corpus.into(), turn_no.into(), with_shown.into()],
    )?
    .unwrap_or_default())
}

/// The question and the answer before the next turn of a conversation.
#[derive(Debug, Deserialize)]
pub struct Previous {
    pub turn_id: i64,
    pub query: String,
    /// Empty without an answer, and if answers are stored as hashes.
    pub answer: String,
    /// Byte ranges of the citations in the answer.
    pub citations: Vec<(usize, usize)>,
}

/// The turn that the next turn follows: the latest one on the path, or `parent_turn_id` (0: none).
pub fn previous(conversation_id: i64, parent_turn_id: Option<i64>) -> Result<Option<Previous>> {
    as_owner(|| {
        sql::write_json(
            "SELECT json_build_object('turn_id', t.turn_id, 'query', t.query, 'answer', coalesce(m.answer, ''), 'citations', coalesce(c.citations, '[]'))::text \
             FROM (SELECT turn_id, query FROM reground.turns WHERE conversation_id = $1 AND state <> 'abandoned' \
                       AND CASE WHEN $2 IS NULL THEN NOT superseded ELSE turn_id = $2 END ORDER BY turn_no DESC LIMIT 1) AS t \
                 LEFT JOIN LATERAL (SELECT m.message_id, m.answer FROM reground.messages AS m \
                     WHERE m.turn_id = t.turn_id AND NOT m.superseded ORDER BY m.message_id DESC LIMIT 1) AS m ON true \
                 LEFT JOIN LATERAL (SELECT json_agg(json_build_array(c.byte_start, c.byte_end)) FILTER (WHERE c.byte_end > c.byte_start) AS citations \
                     FROM reground.message_citations AS c WHERE c.message_id = m.message_id AND m.answer IS NOT NULL) AS c ON true",
            &[conversation_id.into(), parent_turn_id.into()],
        )
    })
}

/// The sources of turns of a tenant: the passages of the context and of waiting candidates, with those merged into them, and the places
/// that answers cite. A source can be returned several times.
pub fn sources(tenant: &str, turn_ids: &[i64]) -> Result<Vec<(i64, SourceKey)>> {
    #[derive(Deserialize)]
    struct Row {
        turn_id: i64,
        #[serde(flatten)]
        source: SourceKey,
    }
    let rows: Vec<Row> = as_owner(|| {
        sql::write_json(
            "SELECT coalesce(json_agg(s), '[]')::text \
             FROM ( \
                 SELECT t.turn_id, e.source #>> '{passage,corpus}' AS corpus, e.source #>> '{passage,doc_id}' AS doc_id, m.chunk_id \
                 FROM reground.turns AS t \
                     CROSS JOIN LATERAL (SELECT jsonb_array_elements(t.context) \
                         UNION ALL SELECT jsonb_path_query(t.pending_candidates, 'strict $.** ? (exists (@.passage.chunk_id))')) AS e(source) \
                     CROSS JOIN LATERAL (SELECT e.source #>> '{passage,chunk_id}' AS chunk_id \
                         UNION ALL SELECT jsonb_array_elements_text(e.source -> 'member_chunk_ids')) AS m \
                 WHERE t.turn_id = ANY ($1) AND t.tenant = $2 \
                 UNION ALL \
                 SELECT c.turn_id, c.corpus, c.doc_id, coalesce(c.chunk_id, '') FROM reground.message_citations AS c \
                 WHERE c.turn_id = ANY ($1) AND c.tenant = $2 AND c.doc_id IS NOT NULL) AS s \
             WHERE s.corpus <> '' AND s.doc_id IS NOT NULL AND s.chunk_id IS NOT NULL",
            &[turn_ids.to_vec().into(), tenant.into()],
        )
    })?
    .unwrap_or_default();
    Ok(rows
        .into_iter()
        .map(|row| (row.turn_id, row.source))
        .collect())
}
