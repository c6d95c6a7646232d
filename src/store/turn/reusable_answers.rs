//! Accepted answers to a question that began a conversation.

use reground_grounding::memory::ContextSource;
use serde::Deserialize;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;

/// Most answers that are compared with the present sources.
const MOST: i64 = 5;

/// An accepted answer and the context of its turn.
#[derive(Deserialize)]
pub struct AcceptedAnswer {
    pub message_id: i64,
    pub turn_id: i64,
    pub answer: String,
    pub model: Option<String>,
    pub answered_at: String,
    pub context: Vec<ContextSource>,
}

/// The accepted answers of a tenant to the same question, the latest first. The conversation had no earlier turn, and the turn no filter, no
/// earlier time and one corpus, so the answer depends on nothing but the question and the context. An answer that a user has reported is
/// left out unless a review refused the report, and so is one with a citation that a reviewer did not label as accurate.
pub fn accepted(tenant: &str, corpus: &str, query: &str) -> Result<Vec<AcceptedAnswer>> {
    as_owner(|| {
        sql::read_rows(
            "SELECT m.message_id, m.turn_id, m.answer, m.model, m.created_at AS answered_at, t.context \
             FROM reground.turns AS t JOIN reground.messages AS m ON m.turn_id = t.turn_id AND NOT m.superseded \
             WHERE t.tenant = $1 AND t.corpus = $2 AND md5(lower(btrim(t.query))) = md5(lower(btrim($3))) AND lower(btrim(t.query)) = lower(btrim($3)) \
                 AND t.settings ->> 'reuse_answers' = 'true' AND t.turn_no = 1 AND t.state = 'ended' AND t.origin = 'live' AND NOT t.superseded \
                 AND t.filter IS NULL AND t.as_of IS NULL AND t.corpora IS NULL AND t.query_expansion -> 'rewrite' IS NULL \
                 AND m.decision = 'accept' AND m.answer IS NOT NULL AND m.citation_count > 0 \
                 AND NOT EXISTS (SELECT FROM reground.citation_reports AS r WHERE r.message_id = m.message_id AND r.justified IS DISTINCT FROM false) \
                 AND NOT EXISTS (SELECT FROM reground.message_citations AS c JOIN reground.citation_labels AS l USING (citation_id) WHERE c.message_id = m.message_id AND l.label <> 'accurate') \
             ORDER BY m.message_id DESC LIMIT $4",
            &[tenant.into(), corpus.into(), query.into(), MOST.into()],
        )
    })
}
