//! Queries of the reports. They run as the caller: row-level security selects the rows, and an auditor sees all tenants.

use std::ffi::CStr;

use pgrx::datum::TimestampWithTimeZone;
use reground_report::conversation::Conversation;
use reground_report::corpus::{Corpus, LOW_PERCENTILE, MAX_FAILING, MAX_ROWS, TimeUnit};
use serde::de::DeserializeOwned;

use crate::error::Result;
use crate::session::{PINNED_PATH, with_settings};
use crate::sql::{self, Args};
use crate::store::keys::{self, Of};

/// Settings of the queries. Times are shown in UTC. Views and policies, too, are executed under a fixed search_path.
const SETTINGS: [(&CStr, &CStr); 3] = [
    (c"search_path", PINNED_PATH),
    (c"extra_float_digits", c"1"),
    (c"TimeZone", c"UTC"),
];

/// Reads one JSON value as the caller.
pub(in crate::store) fn read<T: DeserializeOwned>(
    statement: &str,
    args: &Args<'_>,
) -> Result<Option<T>> {
    read_of(Of::All, statement, args)
}

/// The same, with sealed values of a tenant.
fn read_of<T: DeserializeOwned>(of: Of<'_>, statement: &str, args: &Args<'_>) -> Result<Option<T>> {
    let text = with_settings(&SETTINGS, || sql::read_one::<String>(statement, args))?;
    text.map(|text| Ok(serde_json::from_str(&keys::shown(of, &text)?)?))
        .transpose()
}

/// The tenants that have a conversation with this reference; at most the given tenant, if any.
pub fn tenants(conversation_ref: &str, tenant: Option<&str>) -> Result<Vec<String>> {
    Ok(read(
        "SELECT coalesce(json_agg(v.tenant ORDER BY v.tenant COLLATE \"C\"), '[]')::text FROM reground.conversations AS v \
         WHERE v.conversation_ref = $1 AND ($2 IS NULL OR v.tenant = $2)",
        &[conversation_ref.into(), tenant.into()],
    )?
    .unwrap_or_default())
}

/// The report of a conversation.
pub fn conversation(conversation_ref: &str, tenant: &str) -> Result<Option<Conversation>> {
    read_of(
        Of::Tenant(tenant),
        "SELECT json_build_object('conversation_ref', v.conversation_ref, 'tenant', v.tenant, 'corpus', v.corpus, 'turns', coalesce(( \
             SELECT json_agg(json_build_object('turn_no', t.turn_no, 'state', t.state, 'query', t.query, 'corpus', t.corpus, 'intent', t.intent, 'retrieved', t.retrieved, \
                 'context_tokens', t.context_tokens, 'history_tokens', t.history_tokens, 'attribution_share', t.attribution_share, \
                 'predicted_accuracy', t.predicted_accuracy, 'warnings', t.warnings, 'superseded', t.superseded, 'imported', t.origin = 'imported', \
                 'follows', (SELECT p.turn_no FROM reground.turns AS p WHERE p.turn_id = t.parent_turn_id), \
                 'retrievals', (SELECT coalesce(json_agg(r.query ORDER BY r.retrieval_no), '[]') FROM reground.turn_retrievals AS r WHERE r.turn_id = t.turn_id), \
                 'tags', (SELECT coalesce(json_agg(json_build_array(g.key, g.value) ORDER BY g.key COLLATE \"C\"), '[]') FROM jsonb_each_text(t.tags) AS g), \
                 'sources', (SELECT coalesce(json_agg(json_build_object('marker', e.source -> 'marker', 'doc_id', e.source #> '{passage,doc_id}', \
                         'title', e.source #> '{passage,title}', 'uri', e.source #> '{passage,uri}', 'structured_locator', e.source #> '{passage,structured_locator}', 'pages', e.source #> '{passage,pages}', \
                         'chars', e.source #> '{passage,chars}', 'origin', e.source -> 'origin') ORDER BY e.position), '[]') \
                     FROM jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, position)), \
                 'answers', (SELECT coalesce(json_agg(json_build_object('answer', m.answer, 'message_ref', m.message_ref, 'model', m.model, 'cfs', m.cfs, \
                         'decision', m.decision, 'reasons', m.reasons, 'superseded', m.superseded, \
                         'tags', (SELECT coalesce(json_agg(json_build_array(g.key, g.value) ORDER BY g.key COLLATE \"C\"), '[]') FROM jsonb_each_text(m.tags) AS g), \
                         'citations', (SELECT coalesce(json_agg(json_build_object('citation_no', c.citation_no, 'marker', c.marker, 'raw', c.raw, \
                                 'doc_id', c.doc_id, 'title', c.title, 'uri', c.uri, 'locator', c.locator, 'claim', c.claim, 'quote', c.quote, \
                                 'status', c.status, 'holds', c.holds, 'score', c.score, 'support', c.support, 'detail', c.detail, \
                                 'best_other_marker', c.best_other_marker, 'lost_stage', c.lost_stage, 'answer_start', c.answer_start, 'answer_end', c.answer_end) ORDER BY c.citation_no), '[]') \
                             FROM reground.message_citations AS c WHERE c.message_id = m.message_id)) ORDER BY m.message_id), '[]') \
                     FROM reground.messages AS m WHERE m.turn_id = t.turn_id AND m.repair_of IS NULL)) ORDER BY t.turn_no) \
             FROM reground.turns AS t WHERE t.conversation_id = v.conversation_id), '[]'))::text \
         FROM reground.conversations AS v WHERE v.conversation_ref = $1 AND v.tenant = $2",
        &[conversation_ref.into(), tenant.into()],
    )
}

/// The owners of the corpora of this name; `None` for the shared corpus.
pub fn owners(corpus: &str) -> Result<Vec<Option<String>>> {
    Ok(read(
        "SELECT coalesce(json_agg(k.tenant ORDER BY k.tenant COLLATE \"C\"), '[]')::text FROM reground.corpora AS k WHERE k.corpus = $1",
        &[corpus.into()],
    )?
    .unwrap_or_default())
}

/// The answers of a report of a corpus.
#[derive(Clone, Copy)]
pub struct ReportScope<'a> {
    pub corpus: &'a str,
    /// Only those of this tenant.
    pub tenant: Option<&'a str>,
    /// Whose sealed values the caller reads.
    pub of: Of<'a>,
    pub since: Option<TimestampWithTimeZone>,
    pub until: Option<TimestampWithTimeZone>,
}

/// CTE for the current answers of the turns whose leading corpus is the corpus. `$1` to `$4` are the fields of [`ReportScope`].
const ANSWERS: &str = "answers AS MATERIALIZED ( \
         SELECT m.message_id, m.tenant, m.conversation_id, m.model, m.cfs, m.grounded_cfs, m.decision, m.reasons, m.created_at, t.turn_id, t.turn_no, t.query \
         FROM reground.messages AS m JOIN reground.turns AS t ON t.turn_id = m.turn_id \
         WHERE NOT m.superseded AND t.corpus = $1 AND ($2 IS NULL OR m.tenant = $2) AND ($3 IS NULL OR m.created_at >= $3) AND ($4 IS NULL OR m.created_at < $4))";

/// Seconds from the first to the last answer.
pub fn span(scope: ReportScope<'_>) -> Result<Option<f64>> {
    with_settings(&SETTINGS, || {
        sql::read_one(
            &format!(
                "WITH {ANSWERS} SELECT extract(epoch FROM max(a.created_at) - min(a.created_at))::double precision FROM answers AS a"
            ),
            &[
                scope.corpus.into(),
                scope.tenant.into(),
                scope.since.into(),
                scope.until.into(),
            ],
        )
    })
}

/// Start of the period before: as long as the period, which ends now unless it has ended. NULL without a start.
const PREVIOUS_SINCE: &str =
    "CASE WHEN $3 >= '1000-01-01' AND $3 < least($4, now()) THEN $3 - (least($4, now()) - $3) END";

/// A list of [`Holding`](reground_report::corpus::Holding): answers of the period and of the period before, by their citations.
/// `counted` is a CTE.
fn holding_groups() -> String {
    format!(
        "(SELECT coalesce(json_agg(x ORDER BY x.previous, x.judged, x.holding), '[]') FROM ( \
             SELECT false AS previous, n.judged, n.holding, count(*) AS answers FROM counted AS n GROUP BY 2, 3 \
             UNION ALL \
             SELECT true, b.judged, b.holding, count(*) FROM ( \
                 SELECT count(c.holds) AS judged, count(*) FILTER (WHERE c.holds) AS holding \
                 FROM reground.messages AS m JOIN reground.turns AS t ON t.turn_id = m.turn_id JOIN reground.message_citations AS c ON c.message_id = m.message_id \
                 WHERE m.created_at >= {PREVIOUS_SINCE} AND m.created_at < $3 AND NOT m.superseded AND t.corpus = $1 AND ($2 IS NULL OR m.tenant = $2) \
                 GROUP BY m.message_id) AS b \
             GROUP BY 2, 3) AS x)"
    )
}

/// A list of [`WorstAnswer`](reground_report::corpus::WorstAnswer). First come answers of which the smallest share of the citations
/// holds, among these answers that contradict a source, then those with the least support.
const WORST: &str = "(SELECT coalesce(json_agg(json_build_object('conversation_ref', v.conversation_ref, 'tenant', w.tenant, 'turn_no', w.turn_no, 'query', w.query, \
             'model', w.model, 'decision', w.decision, 'reasons', w.reasons, 'grounded_cfs', w.grounded_cfs, 'citations', w.citations, 'failing', w.failing, 'unjudged', w.unjudged, \
             'worst_citations', (SELECT coalesce(json_agg(x ORDER BY x.place), '[]') FROM ( \
                 SELECT row_number() OVER (ORDER BY c.holds NULLS LAST, c.support NULLS FIRST, c.citation_no) AS place, \
                     c.citation_no, c.marker, c.raw, c.doc_id, c.title, c.uri, c.locator, c.claim, c.quote, c.status, c.holds, c.score, c.support, c.detail, s.meaning, \
                     c.best_other_marker, c.lost_stage, c.answer_start, c.answer_end \
                 FROM reground.message_citations AS c JOIN reground.citation_statuses AS s ON s.status = c.status \
                 WHERE c.message_id = w.message_id AND c.holds IS NOT TRUE ORDER BY 1 LIMIT $8) AS x)) ORDER BY w.place), '[]') \
     FROM (SELECT a.*, coalesce(n.citations, 0) AS citations, coalesce(n.judged - n.holding, 0) AS failing, coalesce(n.citations - n.judged, 0) AS unjudged, \
               row_number() OVER (ORDER BY n.holding::double precision / nullif(n.judged, 0) NULLS LAST, 'contradicted' = ANY (a.reasons) DESC, a.grounded_cfs NULLS LAST, \
                                      a.message_id DESC) AS place \
           FROM answers AS a LEFT JOIN counted AS n ON n.message_id = a.message_id \
           WHERE n.citations > n.holding OR a.decision = 'regenerate' ORDER BY place LIMIT $6) AS w \
     JOIN reground.conversations AS v ON v.conversation_id = w.conversation_id)";

/// The report of a corpus, with scores grouped by a unit of time.
pub fn corpus(scope: ReportScope<'_>, unit: TimeUnit) -> Result<Option<Corpus>> {
    let held = holding_groups();
    let statement = format!(
        "WITH {ANSWERS}, \
         citations AS MATERIALIZED ( \
             SELECT c.*, a.model FROM answers AS a JOIN reground.message_citations AS c ON c.message_id = a.message_id), \
         counted AS MATERIALIZED ( \
             SELECT c.message_id, count(*) AS citations, count(c.holds) AS judged, count(*) FILTER (WHERE c.holds) AS holding FROM citations AS c GROUP BY 1), \
         types AS ( \
             SELECT reground._document_type(c.uri, c.doc_id) AS value, count(*) AS citations, count(c.holds) AS judged, count(*) FILTER (WHERE c.holds) AS holding, \
                 avg(c.support) AS support FROM citations AS c WHERE c.doc_id IS NOT NULL GROUP BY 1), \
         scores AS ( \
             SELECT date_trunc($5, a.created_at AT TIME ZONE 'UTC') AS begins, avg(a.cfs) AS mean, \
                 percentile_cont($7) WITHIN GROUP (ORDER BY a.cfs) AS p5, count(*) AS answers, sum(n.judged)::bigint AS judged, sum(n.holding)::bigint AS holding \
             FROM answers AS a LEFT JOIN counted AS n ON n.message_id = a.message_id GROUP BY 1), \
         documents AS ( \
             SELECT u.doc_id, max(u.title) AS title, sum(u.contexts)::bigint AS contexts, sum(u.citations)::bigint AS citations, sum(u.holding)::bigint AS holding \
             FROM (SELECT e.source #>> '{{passage,doc_id}}' AS doc_id, max(e.source #>> '{{passage,title}}') AS title, count(DISTINCT a.turn_id) AS contexts, \
                       0::bigint AS citations, 0::bigint AS holding \
                   FROM answers AS a JOIN reground.turns AS t ON t.turn_id = a.turn_id CROSS JOIN LATERAL jsonb_array_elements(t.context) AS e(source) \
                   WHERE e.source #>> '{{passage,corpus}}' = $1 GROUP BY 1 \
                   UNION ALL \
                   SELECT c.doc_id, max(c.title), 0, count(*), count(*) FILTER (WHERE c.holds) FROM citations AS c \
                   WHERE c.corpus = $1 AND c.doc_id IS NOT NULL GROUP BY 1) AS u \
             GROUP BY u.doc_id) \
         SELECT json_build_object('corpus', $1::text, 'tenant', $2::text, 'unit', $5::text, \
             'since', to_char($3::timestamptz, 'YYYY-MM-DD HH24:MI \"UTC\"'), 'until', to_char($4::timestamptz, 'YYYY-MM-DD HH24:MI \"UTC\"'), \
             'answers', count(*), 'conversations', count(DISTINCT a.conversation_id), 'refused', count(*) FILTER (WHERE a.decision = 'regenerate'), \
             'failing', (SELECT count(*) FROM counted AS n WHERE n.judged > n.holding), 'contradicting', count(*) FILTER (WHERE 'contradicted' = ANY (a.reasons)), \
             'held', {held}, \
             'cfs', avg(a.cfs), 'cfs_p5', percentile_cont($7) WITHIN GROUP (ORDER BY a.cfs), \
             'stale', (SELECT coalesce(sum(g.citations), 0)::bigint FROM ( \
                     SELECT c.tenant, c.corpus, c.doc_id, c.source_version, max(c.citation_id) AS citation_id, count(*) AS citations FROM citations AS c \
                     WHERE c.doc_id IS NOT NULL GROUP BY c.tenant, c.corpus, c.doc_id, c.source_version, c.chunk_id, c.source_hash, CASE WHEN c.source_version IS NULL THEN c.turn_id END OFFSET 0) AS g \
                 WHERE coalesce(reground._source_state(g.tenant, g.corpus, g.doc_id, g.source_version), (SELECT r.state FROM reground._cited_row(g.citation_id) AS r)) IN ('changed', 'deleted')), \
             'models', (SELECT coalesce(json_agg(x ORDER BY x.citations DESC, x.value COLLATE \"C\"), '[]') FROM ( \
                     SELECT c.model AS value, count(*) AS citations, count(c.holds) AS judged, count(*) FILTER (WHERE c.holds) AS holding, avg(c.support) AS support \
                     FROM citations AS c GROUP BY 1) AS x), \
             'document_types', (SELECT coalesce(json_agg(x ORDER BY x.citations DESC, x.value COLLATE \"C\"), '[]') FROM ( \
                     SELECT y.* FROM types AS y ORDER BY y.citations DESC, y.value COLLATE \"C\" LIMIT $6) AS x), \
             'all_document_types', (SELECT count(*) FROM types), \
             'stages', (SELECT coalesce(json_agg(x ORDER BY x.place), '[]') FROM ( \
                     SELECT f.place, f.name, count(f.factor) AS reached, count(*) FILTER (WHERE f.factor = 1) AS survived FROM citations AS c \
                     CROSS JOIN LATERAL (VALUES (1, 'coordinates', c.factor_coordinates), (2, 'retrieval', c.factor_retrieval), (3, 'rerank', c.factor_rerank), \
                                                (4, 'context', c.factor_context), (5, 'generation', c.factor_generation)) AS f(place, name, factor) \
                     GROUP BY 1, 2) AS x), \
             'statuses', (SELECT coalesce(json_agg(x ORDER BY x.citations DESC, x.status COLLATE \"C\"), '[]') FROM ( \
                     SELECT c.status, s.holds, s.meaning, count(*) AS citations FROM citations AS c JOIN reground.citation_statuses AS s ON s.status = c.status \
                     GROUP BY 1, 2, 3) AS x), \
             'scores', (SELECT coalesce(json_agg(json_build_object('begins', to_char(s.begins, CASE $5 WHEN 'hour' THEN 'MM-DD HH24:MI' ELSE 'YYYY-MM-DD' END), \
                         'mean', x.mean, 'p5', x.p5, 'answers', coalesce(x.answers, 0), 'judged', coalesce(x.judged, 0), 'holding', coalesce(x.holding, 0)) ORDER BY s.begins), '[]') \
                 FROM generate_series((SELECT min(x.begins) FROM scores AS x), (SELECT max(x.begins) FROM scores AS x), ('1 ' || $5)::interval) AS s(begins) \
                 LEFT JOIN scores AS x ON x.begins = s.begins), \
             'documents', (SELECT coalesce(json_agg(x ORDER BY x.citations DESC, x.contexts DESC, x.doc_id COLLATE \"C\"), '[]') FROM ( \
                     SELECT d.* FROM documents AS d WHERE d.citations > 0 ORDER BY d.citations DESC, d.contexts DESC, d.doc_id COLLATE \"C\" LIMIT $6) AS x), \
             'idle', (SELECT coalesce(json_agg(x ORDER BY x.contexts DESC, x.doc_id COLLATE \"C\"), '[]') FROM ( \
                     SELECT d.* FROM documents AS d WHERE d.citations = 0 ORDER BY d.contexts DESC, d.doc_id COLLATE \"C\" LIMIT $6) AS x), \
             'idle_documents', (SELECT count(*) FROM documents AS d WHERE d.citations = 0), \
             'worst', {WORST})::text \
         FROM answers AS a"
    );
    read_of(
        scope.of,
        &statement,
        &[
            scope.corpus.into(),
            scope.tenant.into(),
            scope.since.into(),
            scope.until.into(),
            unit.name().into(),
            MAX_ROWS.into(),
            LOW_PERCENTILE.into(),
            MAX_FAILING.into(),
        ],
    )
}
