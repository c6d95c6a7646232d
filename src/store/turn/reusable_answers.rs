//! Accepted answers to a question that began a conversation.

use reground_grounding::memory::ContextSource;
use reground_grounding::settings::Settings;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::store::keys::{self, Of};

/// Maximum number of answers to a question that are compared with the present sources.
const MAX_COMPARED: i64 = 5;

/// An accepted answer with the settings and the context of its turn; without them a row of `reusable_answer`.
#[derive(Deserialize, Serialize)]
pub struct AcceptedAnswer {
    pub message_id: i64,
    pub turn_id: i64,
    pub answer: String,
    pub model: Option<String>,
    pub answered_at: String,
    #[serde(skip_serializing)]
    pub settings: Settings,
    #[serde(skip_serializing)]
    pub context: Vec<ContextSource>,
}

/// The accepted answers of a tenant to the same question, the latest first. The question began a conversation, over one corpus and without a
/// filter, a rewrite or an earlier time, and the citations are in the text. An answer is left out if a report of it or of an equal answer has
/// not been refused, or a citation of one has a label other than `accurate`.
pub fn accepted(tenant: &str, corpus: &str, query: &str) -> Result<Vec<AcceptedAnswer>> {
    Ok(keys::read_json(
        Of::Tenant(tenant),
            "SELECT coalesce(json_agg(r), '[]')::text FROM (SELECT m.message_id, m.turn_id, m.answer, m.model, m.created_at AS answered_at, t.settings, t.context \
             FROM reground.turns AS t JOIN reground.messages AS m ON m.turn_id = t.turn_id AND NOT m.superseded \
             WHERE t.tenant = $1 AND t.corpus = $2 AND hashtextextended(lower(btrim(t.query)), 0) = hashtextextended(lower(btrim($3)), 0) \
                 AND lower(btrim(t.query)) = lower(btrim($3)) \
                 AND t.settings ->> 'reuse_answers' = 'true' AND t.turn_no = 1 AND t.state = 'ended' AND t.origin = 'live' AND NOT t.superseded \
                 AND t.filter IS NULL AND t.as_of IS NULL AND t.corpora IS NULL AND t.query_expansion -> 'rewrite' IS NULL \
                 AND m.decision = 'accept' AND m.answer IS NOT NULL AND m.citation_count > 0 AND m.citations IS NULL \
                 AND m.answer_hash <> ALL (ARRAY( \
                     SELECT q.answer_hash FROM reground.citation_reports AS r JOIN reground.messages AS q USING (message_id) \
                     WHERE r.tenant = $1 AND r.justified IS DISTINCT FROM false \
                     UNION ALL SELECT q.answer_hash FROM reground.citation_labels AS l JOIN reground.message_citations AS c USING (citation_id) \
                         JOIN reground.messages AS q USING (message_id) WHERE l.tenant = $1 AND l.label <> 'accurate')) \
             ORDER BY t.turn_id DESC LIMIT $4) AS r",
            &[
                tenant.into(),
                corpus.into(),
                query.into(),
                MAX_COMPARED.into(),
            ],
        )?
        .unwrap_or_default())
}
