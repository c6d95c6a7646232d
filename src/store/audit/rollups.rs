//! The tables `answer_rollup`, `citation_rollup` and `turn_rollup`: hourly counts, filled from `rollup_queue`. `metric_totals` counts
//! each queued answer once, and never takes it back.

use pgrx::datum::TimestampWithTimeZone;
use reground_audit::hours::HOUR;
use reground_audit::traffic::WEEKS;
use reground_report::openmetrics::{self, SECONDS};

use crate::error::Result;
use crate::run_as::as_owner_scanning;
use crate::sql;
use crate::store::documents::STATE;

/// Answers that one statement counts, so that its temporary results fit into memory.
const BATCH: i64 = 10_000;

/// Sequence that is locked while counting. Two sessions would otherwise wait for each other's rows.
const COUNTING: &str = "reground.rollup_queue_queue_id_seq";

/// Waits until no other session counts, and prevents it until the transaction ends.
pub fn hold_off() -> Result<()> {
    sql::lock(COUNTING)
}

/// Counts queued answers, at most `most`, and returns their number; 0 also while another session counts.
pub fn refresh(most: Option<i64>) -> Result<i64> {
    as_owner_scanning(|| {
        if !sql::try_lock(COUNTING)? {
            return Ok(0);
        }
        let mut left = most.unwrap_or(i64::MAX);
        let mut counted = 0;
        while left > 0 {
            let batch = left.min(BATCH);
            let taken: i64 =
                sql::write_one(&counting(QUEUED), &[batch.into()])?.unwrap_or_default();
            counted += taken;
            left -= batch;
            if taken < batch {
                break;
            }
        }
        Ok(counted)
    })
}

/// Counts the queued answers of conversations before these are deleted. Returns the number of rows removed from the queue.
pub fn settle(conversations: &[i64]) -> Result<usize> {
    as_owner_scanning(|| {
        hold_off()?;
        let taken: Option<i64> =
            sql::write_one(&counting(WAITING), &[conversations.to_vec().into()])?;
        Ok(usize::try_from(taken.unwrap_or_default()).unwrap_or_default())
    })
}

/// What [`rebuild`] has counted.
pub struct Rebuilt {
    /// Number of current live answers.
    pub counted: i64,
    /// Number of answers that were counted before and are gone.
    pub lost: i64,
}

/// Counts all current live answers again.
pub fn rebuild() -> Result<Rebuilt> {
    as_owner_scanning(|| {
        hold_off()?;
        let before = sql::write_one::<i64>(
            "SELECT coalesce((SELECT sum(r.answers) FROM reground.answer_rollup AS r), 0)::bigint + coalesce((SELECT sum(q.change) FROM reground.rollup_queue AS q), 0)::bigint",
            &[],
        )?
        .unwrap_or_default();
        for table in ["answer_rollup", "citation_rollup", "turn_rollup"] {
            sql::run(&format!("DELETE FROM reground.{table}"), &[])?;
        }
        let counted: i64 = sql::write_one(&counting(CURRENT), &[])?.unwrap_or_default();
        Ok(Rebuilt {
            counted,
            lost: (before - counted).max(0),
        })
    })
}

/// CTEs for the `$1` oldest rows of the queue (`dequeued`), and their changes per answer.
const QUEUED: &str = "dequeued AS (DELETE FROM reground.rollup_queue WHERE queue_id IN (SELECT queue_id FROM reground.rollup_queue ORDER BY queue_id LIMIT $1) \
         RETURNING message_id, change), taken AS (SELECT message_id FROM dequeued), \
     changed AS MATERIALIZED (SELECT message_id, sum(change)::bigint AS change FROM dequeued GROUP BY message_id HAVING sum(change) <> 0)";

/// CTEs for the queued answers of the conversations `$1`.
const WAITING: &str = "dequeued AS (DELETE FROM reground.rollup_queue WHERE message_id IN (SELECT message_id FROM reground.messages WHERE conversation_id = ANY ($1)) \
         RETURNING message_id, change), taken AS (SELECT message_id FROM dequeued), \
     changed AS MATERIALIZED (SELECT message_id, sum(change)::bigint AS change FROM dequeued GROUP BY message_id HAVING sum(change) <> 0)";

/// CTEs for all current live answers. The queue is emptied in the same snapshot, so that no answer is counted twice.
const CURRENT: &str = "dequeued AS (DELETE FROM reground.rollup_queue RETURNING message_id, change), taken AS (SELECT message_id FROM reground.messages WHERE NOT superseded AND origin = 'live'), \
     changed AS MATERIALIZED (SELECT message_id, 1::bigint AS change FROM taken)";

/// Statement that adds answers to the rollups and returns the number of rows taken.
fn counting(answers: &str) -> String {
    let hour = hour_of("m.created_at");
    format!(
        "WITH {answers}, \
         counted AS MATERIALIZED (SELECT m.message_id, q.change, {hour} AS hour, m.tenant, t.corpus, {MODEL_OF} AS model, round(m.cfs * 1000)::smallint AS cfs_bin, \
                 (t.context_tokens = 0)::integer AS is_empty, (t.context_tokens > 0 AND m.citation_count = 0)::integer AS is_uncited, \
                 (t.reranked_count > 0 IS TRUE)::integer AS is_reranked, coalesce(t.reranked_count, 0) AS reranked, coalesce(t.rerank_lost_count, 0) AS rerank_lost, \
                 round(1000 * ln(greatest(date_part('epoch', m.created_at - t.begun_at) * 1000, 1))) AS log_ms \
             FROM changed AS q JOIN reground.messages AS m USING (message_id) JOIN reground.turns AS t USING (turn_id)), \
         answers AS (INSERT INTO reground.answer_rollup AS r (hour, tenant, corpus, model, cfs_bin, answers) \
             SELECT hour, tenant, corpus, model, cfs_bin, sum(change) FROM counted GROUP BY hour, tenant, corpus, model, cfs_bin \
             ON CONFLICT (hour, tenant, corpus, model, cfs_bin) DO UPDATE SET answers = r.answers + excluded.answers), \
         citations AS (INSERT INTO reground.citation_rollup AS r (hour, tenant, corpus, model, document_type, status, lost_stage, citations) \
             SELECT s.hour, s.tenant, coalesce(c.corpus, s.corpus), s.model, reground._document_type(c.uri, c.doc_id), c.status, c.lost_stage, sum(s.change) \
             FROM counted AS s JOIN reground.message_citations AS c USING (message_id) GROUP BY 1, 2, 3, 4, 5, 6, 7 \
             ON CONFLICT (hour, tenant, corpus, model, document_type, status, lost_stage) DO UPDATE SET citations = r.citations + excluded.citations), \
         turns AS (INSERT INTO reground.turn_rollup AS r (hour, tenant, corpus, model, answers, empty_contexts, uncited, rerank_turns, reranked, rerank_lost, log_ms) \
             SELECT hour, tenant, corpus, model, sum(change), sum(change * is_empty), sum(change * is_uncited), sum(change * is_reranked), sum(change * reranked), sum(change * rerank_lost), \
                 sum(change * log_ms) \
             FROM counted GROUP BY hour, tenant, corpus, model \
             ON CONFLICT (hour, tenant, corpus, model) DO UPDATE SET answers = r.answers + excluded.answers, empty_contexts = r.empty_contexts + excluded.empty_contexts, \
                 uncited = r.uncited + excluded.uncited, rerank_turns = r.rerank_turns + excluded.rerank_turns, reranked = r.reranked + excluded.reranked, rerank_lost = r.rerank_lost + excluded.rerank_lost, \
                 log_ms = r.log_ms + excluded.log_ms), \
         {} \
         SELECT count(*) FROM taken",
        totals()
    )
}

/// CTEs that add the new answers of the queue to `metric_totals`. Superseded answers stay counted, because a counter that falls looks
/// like one that was reset.
fn totals() -> String {
    let infinite = openmetrics::INFINITE;
    format!(
        "added AS MATERIALIZED (SELECT m.message_id, m.tenant, t.corpus, coalesce({MODEL_OF}, '') AS model, m.decision, m.reasons, t.context_tokens = 0 AS is_empty, \
                 NOT EXISTS (SELECT FROM reground.messages AS e WHERE e.turn_id = m.turn_id AND e.message_id < m.message_id) AS is_first, \
                 greatest(extract(epoch FROM m.created_at - t.begun_at), 0) AS seconds \
             FROM dequeued AS d JOIN reground.messages AS m USING (message_id) JOIN reground.turns AS t USING (turn_id) WHERE d.change = 1), \
         totals AS (INSERT INTO reground.metric_totals AS r (tenant, corpus, model, metric, label, total) \
             SELECT a.tenant, a.corpus, a.model, x.metric, x.label, sum(x.number) FROM added AS a CROSS JOIN LATERAL ( \
                 SELECT 'answers' AS metric, a.decision AS label, 1::numeric AS number \
                 UNION ALL SELECT 'refusals', f.reason, 1 FROM unnest(a.reasons) AS f(reason) \
                 UNION ALL SELECT 'turns', CASE WHEN a.is_empty THEN 'empty' ELSE 'filled' END, 1 WHERE a.is_first \
                 UNION ALL SELECT 'citations', c.status, 1 FROM reground.message_citations AS c WHERE c.message_id = a.message_id \
                 UNION ALL SELECT 'answer_seconds', coalesce((SELECT min(b.bound)::text FROM unnest(ARRAY{SECONDS:?}::float8[]) AS b(bound) WHERE a.seconds <= b.bound), '{infinite}'), 1 \
                 UNION ALL SELECT 'answer_seconds_sum', '', a.seconds \
                 UNION ALL SELECT u.metric, u.label, u.number FROM reground.answer_costs AS k CROSS JOIN LATERAL ( \
                     VALUES ('tokens', 'input', k.input_tokens - k.cached_tokens), ('tokens', 'cached', k.cached_tokens), ('tokens', 'output', k.output_tokens), ('cost', '', k.cost)) AS u(metric, label, number) \
                     WHERE k.message_id = a.message_id AND u.number > 0) AS x \
             GROUP BY 1, 2, 3, 4, 5 \
             ON CONFLICT (tenant, corpus, model, metric, label) DO UPDATE SET total = r.total + excluded.total)"
    )
}

/// Expression for the model of an answer `m`. It is part of a key, and a row of an index is limited to 2704 bytes.
const MODEL_OF: &str = "left(m.model, 200)";

/// JSON keys and values with the rollups of the hours from `$1` to before `$2` (seconds since 1970), for
/// `reground_audit::hours::Hours`. They are those of the corpus `$3` of the tenant `$4` (NULL: shared corpus); `$3` NULL: of all corpora.
pub fn hours() -> String {
    let owner = owner("r.tenant", "r.corpus");
    format!(
        "'answers', (SELECT coalesce(json_agg(r), '[]') FROM ( \
             SELECT date_part('epoch', r.hour)::bigint AS hour, k.tenant, r.corpus, r.cfs_bin, sum(r.answers) AS answers FROM reground.answer_rollup AS r {owner} \
             WHERE r.hour >= to_timestamp($1) AND r.hour < to_timestamp($2) AND ($3::text IS NULL OR r.corpus = $3 AND k.tenant IS NOT DISTINCT FROM $4::text) \
             GROUP BY 1, 2, 3, 4 HAVING sum(r.answers) > 0) AS r), \
         'citations', (SELECT coalesce(json_agg(r), '[]') FROM ( \
             SELECT date_part('epoch', r.hour)::bigint AS hour, k.tenant, r.corpus, r.document_type, r.status, r.lost_stage, sum(r.citations) AS citations \
             FROM reground.citation_rollup AS r {owner} \
             WHERE r.hour >= to_timestamp($1) AND r.hour < to_timestamp($2) AND ($3::text IS NULL OR r.corpus = $3 AND k.tenant IS NOT DISTINCT FROM $4::text) \
             GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(r.citations) > 0) AS r)"
    )
}

/// Query for events of the hours from `since` to before `until` (seconds since 1970), as `reground_audit::counts` counts them, by tenant
/// that owns the corpus, document type and model.
fn events(since: &str, until: &str) -> String {
    let (owner, period) = (
        owner("r.tenant", "r.corpus"),
        format!("r.hour >= to_timestamp({since}) AND r.hour < to_timestamp({until})"),
    );
    format!(
        "SELECT r.hour, k.tenant, r.corpus, e.kind, CASE e.kind WHEN 'failing' THEN r.document_type END AS document_type, r.model, e.events, e.trials \
         FROM reground.citation_rollup AS r JOIN reground.citation_statuses AS s USING (status) {owner} \
         CROSS JOIN LATERAL (VALUES ('failing', CASE WHEN NOT s.holds THEN r.citations ELSE 0 END, CASE WHEN s.holds IS NOT NULL THEN r.citations ELSE 0 END), \
             ('malformed', CASE WHEN r.status = 'malformed' THEN r.citations ELSE 0 END, r.citations)) AS e(kind, events, trials) \
         WHERE {period} AND e.trials > 0 \
         UNION ALL \
         SELECT r.hour, k.tenant, r.corpus, e.kind, NULL, r.model, e.events, e.trials FROM reground.turn_rollup AS r {owner} \
         CROSS JOIN LATERAL (VALUES ('empty_context', r.empty_contexts, r.answers), ('uncited', r.uncited, r.answers - r.empty_contexts), \
             ('rerank_lost', r.rerank_lost::double precision * r.rerank_turns / nullif(r.reranked, 0), r.rerank_turns), ('answer_ms', r.log_ms, r.answers)) AS e(kind, events, trials) \
         WHERE {period} AND e.trials > 0"
    )
}

/// JSON keys and values for the accumulating rules of `reground_audit`: events since `since`, those of the `hours` before it, and the
/// answers in the hours of earlier weeks. Times are in seconds since 1970.
pub fn changes(since: &str, hours: i64) -> String {
    let epoch = "date_part('epoch', e.hour)::bigint";
    let recent = events(since, "$2");
    // Without a rule that accumulates, nothing before is read.
    let before = events(
        &format!(
            "{since} - CASE WHEN {since} < $2 THEN {} ELSE 0 END",
            hours * HOUR
        ),
        since,
    );
    let owner = owner("r.tenant", "r.corpus");
    let week = 7 * 24 * HOUR;
    format!(
        "'counts', (SELECT coalesce(json_agg(r), '[]') FROM ( \
             SELECT {epoch} AS hour, e.tenant, e.corpus, e.kind, e.document_type, e.model, sum(e.events) AS events, sum(e.trials) AS trials \
             FROM ({recent}) AS e GROUP BY 1, 2, 3, 4, 5, 6) AS r), \
         'usual', (SELECT coalesce(json_agg(r), '[]') FROM ( \
             SELECT d.tenant, d.corpus, d.kind, d.part, d.value, sum(d.hours) AS hours, sum(d.events) AS events, sum(d.trials) AS trials, \
                 sum(d.events_squared) AS events_squared, sum(d.events_trials) AS events_trials, sum(d.trials_squared) AS trials_squared, \
                 sum(d.events ^ 2) AS day_events_squared, sum(d.events * d.trials) AS day_events_trials, sum(d.trials ^ 2) AS day_trials_squared \
             FROM (SELECT h.tenant, h.corpus, h.kind, h.part, h.value, count(*) AS hours, sum(h.events) AS events, sum(h.trials) AS trials, \
                 sum(h.events ^ 2) AS events_squared, sum(h.events * h.trials) AS events_trials, sum(h.trials ^ 2) AS trials_squared \
             FROM (SELECT e.hour, e.tenant, e.corpus, e.kind, CASE WHEN grouping(e.document_type) = 0 THEN 'document_type' WHEN grouping(e.model) = 0 THEN 'model' ELSE 'corpus' END AS part, \
                       coalesce(e.document_type, e.model) AS value, sum(e.events)::double precision AS events, sum(e.trials)::double precision AS trials \
                   FROM ({before}) AS e \
                   GROUP BY GROUPING SETS ((e.hour, e.tenant, e.corpus, e.kind), (e.hour, e.tenant, e.corpus, e.kind, e.document_type), (e.hour, e.tenant, e.corpus, e.kind, e.model))) AS h \
             WHERE h.part = 'corpus' OR h.value IS NOT NULL \
             GROUP BY 1, 2, 3, 4, 5, date_bin('1 day', h.hour, '1970-01-01 00:00:00+00')) AS d GROUP BY 1, 2, 3, 4, 5) AS r), \
         'earlier', (SELECT coalesce(json_agg(r), '[]') FROM ( \
             SELECT date_part('epoch', r.hour)::bigint AS hour, k.tenant, r.corpus, sum(r.answers) AS answers \
             FROM generate_series(1, {WEEKS}) AS w(weeks) JOIN reground.turn_rollup AS r \
                 ON r.hour >= to_timestamp($7 - w.weeks * {week}::bigint) AND r.hour < to_timestamp($2 - w.weeks * {week}::bigint) {owner} \
             GROUP BY 1, 2, 3 HAVING sum(r.answers) > 0) AS r)"
    )
}

/// JOIN whose `k.tenant` is the owner of the corpus that a tenant uses under a name: the tenant itself if it has a corpus of this name,
/// otherwise NULL for the shared corpus.
pub fn owner(tenant: &str, corpus: &str) -> String {
    format!("LEFT JOIN reground.corpora AS k ON k.corpus = {corpus} AND k.tenant = {tenant}")
}

/// As [`hours`], for the citations of the hours from `$5` on: how many cite a document that was changed or deleted since. Documents
/// without stored versions are excluded.
pub fn stale() -> String {
    let (hour, owner) = (epoch_hour_of("m.created_at"), owner("c.tenant", "c.corpus"));
    format!(
        "'stale', (SELECT coalesce(json_agg(r), '[]') FROM ( \
             SELECT c.hour, k.tenant, c.corpus, c.document_type, sum(c.citations) AS citations, coalesce(sum(c.citations) FILTER (WHERE d.state <> 'current'), 0) AS stale \
             FROM (SELECT {hour} AS hour, c.tenant, c.corpus, c.doc_id, c.source_version, reground._document_type(c.uri, c.doc_id) AS document_type, count(*) AS citations \
                   FROM reground.messages AS m JOIN reground.message_citations AS c USING (message_id) \
                   WHERE m.created_at >= to_timestamp($5) AND m.created_at < to_timestamp($2) AND NOT m.superseded AND m.origin = 'live' AND c.source_version IS NOT NULL \
                       AND ($3::text IS NULL OR c.corpus = $3) \
                   GROUP BY 1, 2, 3, 4, 5, 6) AS c \
             CROSS JOIN LATERAL (SELECT {STATE} AS state OFFSET 0) AS d {owner} \
             WHERE d.state IS NOT NULL AND ($3::text IS NULL OR k.tenant IS NOT DISTINCT FROM $4::text) \
             GROUP BY 1, 2, 3, 4) AS r)"
    )
}

/// As [`hours`]: labelled citations with a verdict of a judge, and how many of these verdicts differ from the last label. Each judge of a
/// citation counts.
pub fn judged() -> String {
    let (hour, owner) = (epoch_hour_of("m.created_at"), owner("c.tenant", "c.corpus"));
    format!(
        "'judged', (SELECT coalesce(json_agg(r), '[]') FROM ( \
             SELECT {hour} AS hour, k.tenant, c.corpus, count(*) AS citations, count(*) FILTER (WHERE v.verdict <> l.label) AS disagreeing \
             FROM (SELECT DISTINCT ON (x.citation_id) x.citation_id, x.label FROM reground.citation_labels AS x ORDER BY x.citation_id, x.labelled_at DESC) AS l \
             JOIN reground.message_citations AS c USING (citation_id) JOIN reground.messages AS m USING (message_id) \
             CROSS JOIN LATERAL (SELECT j.verdict FROM reground.judge_verdicts AS j WHERE j.citation_id = c.citation_id OFFSET 0) AS v {owner} \
             WHERE v.verdict IS NOT NULL AND c.corpus IS NOT NULL AND NOT m.superseded AND m.origin = 'live' \
                 AND m.created_at >= to_timestamp($1) AND m.created_at < to_timestamp($2) \
                 AND ($3::text IS NULL OR c.corpus = $3 AND k.tenant IS NOT DISTINCT FROM $4::text) \
             GROUP BY 1, 2, 3) AS r)"
    )
}

/// Start of the hour of a time, in seconds since 1970; `None` for infinity.
pub fn hour_at(moment: TimestampWithTimeZone) -> Result<Option<i64>> {
    let hour = epoch_hour_of("$1");
    let statement = format!("SELECT CASE WHEN isfinite($1) THEN {hour} END");
    as_owner_scanning(|| sql::read_one(&statement, &[moment.into()]))
}

/// Expression for the start of the hour of a time.
fn hour_of(moment: &str) -> String {
    format!("date_bin('1 hour', {moment}, '1970-01-01 00:00:00+00')")
}

/// As [`hour_of`], in seconds since 1970.
pub fn epoch_hour_of(moment: &str) -> String {
    format!("date_part('epoch', {})::bigint", hour_of(moment))
}
