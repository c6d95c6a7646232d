//! Citations that are queued for the judge.

use pgrx::datum::TimestampWithTimeZone;

use super::rules::Rule;
use crate::error::Result;
use crate::run_as::as_owner_scanning;
use crate::sql;

/// Which citations are queued.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// First time of the citations.
    pub since: Option<TimestampWithTimeZone>,
    /// End of the times of the citations (exclusive).
    pub until: Option<TimestampWithTimeZone>,
    pub corpus: Option<String>,
    /// Only these citations.
    pub citation_ids: Option<Vec<i64>>,
    /// Share of the citations that hold.
    pub share: f32,
    /// Only live answers since the rule was made, of the last day.
    pub is_sample: bool,
}

/// Random number of a citation, in [0, 1). It depends only on the citation: a citation is drawn once, and all judges draw the same
/// ones, so that they can be compared.
const DRAW: &str = "((hashint8extended(c.citation_id, 0) & 1048575) / 1048576.0)";

/// Text of the cited passage as the context shows it. A scalar subquery, so that it is evaluated only for the rows that are taken.
const PASSAGE: &str = "(SELECT e.source #>> '{passage,content}' FROM reground.turns AS t, jsonb_array_elements(t.context) AS e(source) \
     WHERE t.turn_id = c.turn_id AND e.source #>> '{passage,corpus}' = c.corpus AND e.source #>> '{passage,chunk_id}' = c.chunk_id LIMIT 1)";

/// Queues the votes of citations that have fewer votes than wanted and no task, at most `most` citations; those that do not hold come
/// first. Returns their number. A citation whose source is not in the context, or was erased, cannot be judged.
pub fn queue(
    rule: &Rule,
    prompt: &str,
    votes: i32,
    selection: &Selection,
    most: i64,
) -> Result<i64> {
    Ok(as_owner_scanning(|| {
        sql::write_one(
            &format!(
                "WITH taken AS MATERIALIZED ( \
                     SELECT c.citation_id, c.turn_id FROM ( \
                         SELECT c.citation_id, c.turn_id, c.corpus, c.chunk_id FROM reground.message_citations AS c JOIN reground.messages AS m USING (message_id) \
                         WHERE c.tenant = $1 AND NOT m.superseded AND c.chunk_id IS NOT NULL AND c.claim <> '' \
                             AND c.created_at >= greatest(coalesce($4, '-infinity'), CASE WHEN $9 THEN greatest(now() - interval '1 day', \
                                 (SELECT r.enabled_at FROM reground.judge_rules AS r WHERE r.tenant = $1 AND r.model = $2)) END) \
                             AND c.created_at < coalesce($5, 'infinity') \
                             AND ($6::text IS NULL OR c.corpus = $6) AND ($7::bigint[] IS NULL OR c.citation_id = ANY ($7)) \
                             AND (c.holds IS FALSE OR {DRAW} < $8) \
                             AND (m.origin = 'live' OR NOT $9) \
                             AND (SELECT count(*) FROM reground.judge_votes AS v WHERE v.citation_id = c.citation_id AND v.model = $2 AND v.prompt = $3) < $10 \
                             AND NOT EXISTS (SELECT FROM reground.model_tasks AS t WHERE t.turn_id = c.turn_id AND t.kind = 'judge' AND t.model = $2 \
                                 AND t.subject LIKE c.citation_id || '/%') \
                         ORDER BY c.holds IS FALSE DESC, {DRAW}, c.citation_id OFFSET 0) AS c \
                     WHERE {PASSAGE} <> '' LIMIT $11), \
                 queued AS (INSERT INTO reground.model_tasks (tenant, kind, model, turn_id, subject) \
                     SELECT $1, 'judge', $2, c.turn_id, c.citation_id || '/' || n.vote_no FROM taken AS c, generate_series(1, $10) AS n(vote_no) \
                     WHERE NOT EXISTS (SELECT FROM reground.judge_votes AS v WHERE (v.citation_id, v.model, v.prompt, v.vote_no) = (c.citation_id, $2, $3, n.vote_no)) \
                     ON CONFLICT DO NOTHING) \
                 SELECT count(*) FROM taken"
            ),
            &[
                rule.tenant.as_str().into(),
                rule.model.as_str().into(),
                prompt.into(),
                selection.since.into(),
                selection.until.into(),
                selection.corpus.as_deref().into(),
                selection.citation_ids.clone().into(),
                selection.share.into(),
                selection.is_sample.into(),
                votes.into(),
                most.into(),
            ],
        )
    })?
    .unwrap_or_default())
}
