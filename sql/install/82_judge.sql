-- The judge of citations: a model says whether a cited passage supports its claim. Texts leave the server, so a tenant must be enabled.

CREATE TABLE reground.judge_rules (
    tenant       text NOT NULL CHECK (tenant <> ''),
    model        text NOT NULL REFERENCES reground.models ON DELETE CASCADE,
    sample       real NOT NULL CHECK (sample BETWEEN 0 AND 1),
    max_per_hour integer NOT NULL CHECK (max_per_hour >= 0),
    enabled_at   timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    queued_hour  timestamptz,
    queued       integer NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, model)
);
COMMENT ON TABLE reground.judge_rules IS 'Tenants whose citations are judged, written by set_judging.';
COMMENT ON COLUMN reground.judge_rules.tenant IS 'Tenant.';
COMMENT ON COLUMN reground.judge_rules.model IS 'Name of the model that judges.';
COMMENT ON COLUMN reground.judge_rules.sample IS 'Share, 0 to 1, of the citations that hold or are undecided that is judged. Citations that do not hold are judged first.';
COMMENT ON COLUMN reground.judge_rules.max_per_hour IS 'Most citations that are queued in an hour.';
COMMENT ON COLUMN reground.judge_rules.enabled_at IS 'When judging was enabled. Earlier citations are judged only after queue_judgements.';
COMMENT ON COLUMN reground.judge_rules.queued_hour IS 'Start of the hour that queued counts; NULL before the first citation.';
COMMENT ON COLUMN reground.judge_rules.queued IS 'Citations queued in that hour.';

CREATE TABLE reground.judge_votes (
    citation_id       bigint NOT NULL REFERENCES reground.message_citations ON DELETE CASCADE,
    model             text NOT NULL,
    prompt            text NOT NULL,
    vote_no           integer NOT NULL CHECK (vote_no > 0),
    tenant            text NOT NULL,
    verdict           text NOT NULL CHECK (verdict IN ('accurate', 'partial', 'hallucinated', 'unverifiable')),
    confidence        double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    passage           text,
    explanation       text CHECK (pg_catalog.length(explanation) <= 100),
    coordinates_match boolean,
    deterministic     boolean NOT NULL,
    judged_at         timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (citation_id, model, prompt, vote_no)
);
COMMENT ON TABLE reground.judge_votes IS 'Votes of models on citations. A failed call is not a vote. They change no score: cfs depends on coordinates only.';
COMMENT ON COLUMN reground.judge_votes.citation_id IS 'Id of the citation.';
COMMENT ON COLUMN reground.judge_votes.model IS 'Name of the model.';
COMMENT ON COLUMN reground.judge_votes.prompt IS 'Version of the prompt, or of the thresholds of a classifier.';
COMMENT ON COLUMN reground.judge_votes.vote_no IS 'Number of the vote, from 1.';
COMMENT ON COLUMN reground.judge_votes.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.judge_votes.verdict IS 'accurate (the passage supports the whole claim), partial, hallucinated (no support, or a contradiction) or unverifiable; as the labels of reviewers.';
COMMENT ON COLUMN reground.judge_votes.confidence IS 'Probability that the verdict is right, as the model states it, 0 to 1.';
COMMENT ON COLUMN reground.judge_votes.passage IS 'Part of the passage that decides; NULL without one, for classifiers, and if the passage does not contain it. forget_document removes it.';
COMMENT ON COLUMN reground.judge_votes.explanation IS 'Reason, at most 100 characters; NULL for classifiers. forget_document removes it.';
COMMENT ON COLUMN reground.judge_votes.coordinates_match IS 'Whether the place that the citation names is that of the passage; NULL if it names none, and for classifiers.';
COMMENT ON COLUMN reground.judge_votes.deterministic IS 'Whether one vote decides, because the model always gives the same answer (api local).';
COMMENT ON COLUMN reground.judge_votes.judged_at IS 'When the vote was stored.';

CREATE FUNCTION reground._judge_majority(verdicts text[], is_deterministic boolean)
    RETURNS text LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'judge_majority_wrapper';
COMMENT ON FUNCTION reground._judge_majority(text[], boolean) IS
'Internal: returns the verdict of more than half of the votes; NULL without one, and with fewer than two votes of a model that is not deterministic.';

CREATE VIEW reground.judge_verdicts WITH (security_invoker = true) AS
    SELECT v.citation_id, v.tenant, v.model, v.prompt, v.verdict, v.verdict IS NULL AS undecided, v.votes, a.agreeing, a.confidence, a.coordinates_match,
           reground._unsealed(v.tenant, 'text', a.passage) AS passage, a.explanation, v.judged_at
    FROM (SELECT x.citation_id, x.tenant, x.model, x.prompt, pg_catalog.count(*) AS votes, pg_catalog.max(x.judged_at) AS judged_at,
                 reground._judge_majority(pg_catalog.array_agg(x.verdict ORDER BY x.vote_no), pg_catalog.bool_or(x.deterministic)) AS verdict
          FROM reground.judge_votes AS x GROUP BY x.citation_id, x.tenant, x.model, x.prompt) AS v
    CROSS JOIN LATERAL (
        SELECT pg_catalog.count(*) AS agreeing, pg_catalog.avg(y.confidence) AS confidence,
               CASE pg_catalog.sign(pg_catalog.count(*) FILTER (WHERE y.coordinates_match) - pg_catalog.count(*) FILTER (WHERE NOT y.coordinates_match)) WHEN 1 THEN true WHEN -1 THEN false END AS coordinates_match,
               (pg_catalog.array_agg(y.passage ORDER BY y.passage IS NULL, y.vote_no))[1] AS passage,
               (pg_catalog.array_agg(y.explanation ORDER BY y.explanation IS NULL, y.vote_no))[1] AS explanation
        FROM reground.judge_votes AS y
        WHERE (y.citation_id, y.model, y.prompt, y.verdict) = (v.citation_id, v.model, v.prompt, v.verdict)) AS a;
COMMENT ON VIEW reground.judge_verdicts IS 'Verdict of each citation, model and version of the prompt: that of more than half of the valid votes.';
COMMENT ON COLUMN reground.judge_verdicts.citation_id IS 'Id of the citation.';
COMMENT ON COLUMN reground.judge_verdicts.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.judge_verdicts.model IS 'Name of the model.';
COMMENT ON COLUMN reground.judge_verdicts.prompt IS 'Version of the prompt.';
COMMENT ON COLUMN reground.judge_verdicts.verdict IS 'accurate, partial, hallucinated or unverifiable; NULL if undecided.';
COMMENT ON COLUMN reground.judge_verdicts.undecided IS 'Whether no verdict has more than half of the votes, or fewer than two votes exist (one, for a model with api local).';
COMMENT ON COLUMN reground.judge_verdicts.votes IS 'Number of valid votes.';
COMMENT ON COLUMN reground.judge_verdicts.agreeing IS 'Votes with this verdict.';
COMMENT ON COLUMN reground.judge_verdicts.confidence IS 'Mean confidence of these votes.';
COMMENT ON COLUMN reground.judge_verdicts.coordinates_match IS 'Whether the place that the citation names is that of the passage, by most of these votes; NULL in a tie, or if the citation names no place.';
COMMENT ON COLUMN reground.judge_verdicts.passage IS 'Part of the passage that decides, from the first of these votes that has one.';
COMMENT ON COLUMN reground.judge_verdicts.explanation IS 'Reason, from the first of these votes that has one.';
COMMENT ON COLUMN reground.judge_verdicts.judged_at IS 'Time of the last vote.';

CREATE FUNCTION reground.set_judging(model text, sample real DEFAULT 0.05, max_per_hour integer DEFAULT 100, tenant text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'set_judging_wrapper';
COMMENT ON FUNCTION reground.set_judging IS
'Lets a model judge citations of a tenant (NULL: the current one) from now on, or changes how many. Their claims, questions and cited passages are sent to the model. sample: share, 0 to 1, of the citations that hold or are undecided; all that do not hold are judged. max_per_hour: most citations queued in an hour. For reground_admin. Errors: P0002 if the model does not exist, 22023 if it has another task, or for invalid values.';

CREATE FUNCTION reground.drop_judging(model text DEFAULT NULL, tenant text DEFAULT NULL)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'drop_judging_wrapper';
COMMENT ON FUNCTION reground.drop_judging IS
'Ends the judging of a tenant (NULL: the current one) by a model (NULL: by all), deletes the queued tasks, and returns whether it was enabled. Stored votes stay. For reground_admin.';

CREATE FUNCTION reground.judge_sample()
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'judge_sample_wrapper';
COMMENT ON FUNCTION reground.judge_sample() IS
'Queues new citations of current live answers for the judges of all tenants, within their hourly budgets, and returns their number: those that do not hold first, then a random share of the others. It looks back one day. run_maintenance calls it.';

CREATE FUNCTION reground.queue_judgements(
    model text DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, corpus text DEFAULT NULL, only_failing boolean DEFAULT false,
    max_citations integer DEFAULT 100, citation_ids bigint[] DEFAULT NULL)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'queue_judgements_wrapper';
COMMENT ON FUNCTION reground.queue_judgements IS
'Queues citations of the tenant that are not judged yet, those that do not hold first, and returns their number. model: NULL means all that judge the tenant. since, until: times of the citations. only_failing: only citations that do not hold. citation_ids: only these. max_citations: for each model; the hourly budget limits it too. Errors: 55000 if judging is not enabled for the tenant, 22023 if max_citations is negative.';

CREATE FUNCTION reground.judge_confusion(model text DEFAULT NULL, since timestamptz DEFAULT pg_catalog.now() - interval '3 months', until timestamptz DEFAULT NULL)
    RETURNS TABLE (model text, prompt text, label text, verdict text, citations bigint, recent bigint)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT v.model, v.prompt, l.label, v.verdict, pg_catalog.count(*),
               pg_catalog.count(*) FILTER (WHERE l.labelled_at >= coalesce(judge_confusion.until, pg_catalog.now()) - interval '3 months')
        FROM (SELECT DISTINCT ON (x.citation_id) x.citation_id, x.label, x.labelled_at FROM reground.citation_labels AS x ORDER BY x.citation_id, x.labelled_at DESC) AS l
        -- OFFSET 0 reads the votes of one citation at a time; the view would count those of all citations.
        CROSS JOIN LATERAL (SELECT j.model, j.prompt, j.verdict FROM reground.judge_verdicts AS j WHERE j.citation_id = l.citation_id OFFSET 0) AS v
        WHERE (judge_confusion.model IS NULL OR v.model = judge_confusion.model)
            AND l.labelled_at >= coalesce(judge_confusion.since, '-infinity') AND l.labelled_at < coalesce(judge_confusion.until, 'infinity')
        GROUP BY v.model, v.prompt, l.label, v.verdict
        ORDER BY v.model, v.prompt, pg_catalog.array_position(ARRAY['accurate', 'partial', 'hallucinated', 'unverifiable'], l.label),
                 pg_catalog.array_position(ARRAY['accurate', 'partial', 'hallucinated', 'unverifiable'], v.verdict);
    END;
COMMENT ON FUNCTION reground.judge_confusion(text, timestamptz, timestamptz) IS
'Counts labelled citations by their last label and the judge''s verdict, for each model and version of the prompt. since, until: times of the labels, by default the last three months. verdict: NULL if undecided. recent: those labelled in the last three months before until.';

CREATE FUNCTION reground.judge_agreement(model text DEFAULT NULL, since timestamptz DEFAULT pg_catalog.now() - interval '3 months', until timestamptz DEFAULT NULL)
    RETURNS TABLE (model text, prompt text, citations bigint, undecided bigint, kappa double precision, kappa_low double precision, kappa_high double precision,
                   accuracy double precision, macro_f1 double precision, weighted_f1 double precision, partial_accurate double precision,
                   expected_low double precision, expected_high double precision, uncalibrated boolean)
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 5 AS 'MODULE_PATHNAME', 'judge_agreement_wrapper';
COMMENT ON FUNCTION reground.judge_agreement(text, timestamptz, timestamptz) IS
'Returns how far the verdicts of each model and version of the prompt agree with the last labels of reviewers. since, until: times of the labels, by default the last three months. citations: labelled ones with a verdict; undecided ones are left out. kappa: Cohen''s κ with its 95 % interval; NULL if all labels and verdicts are the same. partial_accurate: share of disagreements among those whose label and verdict are partial or accurate; expected_low to expected_high is usual. uncalibrated: fewer than 200 citations were labelled in the last three months before until.';

-- Samples for reviewers. A judge is calibrated on citations that it has judged.

CREATE FUNCTION reground.sample_for_review(max_results integer DEFAULT 20, since timestamptz DEFAULT NULL, status text DEFAULT NULL, seed text DEFAULT '', model text DEFAULT NULL)
    RETURNS TABLE (citation_id bigint, tenant text, conversation_ref text, turn_no integer, query text, claim text, raw text, status text, holds boolean, support double precision,
                   quote text, corpus text, doc_id text, chunk_id text, title text, uri text, created_at timestamptz)
    LANGUAGE sql STABLE PARALLEL RESTRICTED
    BEGIN ATOMIC
        WITH drawn AS (
            SELECT c.citation_id, c.holds, j.verdict, pg_catalog.hashtextextended(sample_for_review.seed || c.citation_id::text, 0) AS draw
            FROM reground.message_citations AS c
            JOIN reground.messages AS m ON m.message_id = c.message_id AND NOT m.superseded
            LEFT JOIN LATERAL (SELECT v.verdict FROM reground.judge_verdicts AS v WHERE v.citation_id = c.citation_id AND v.model = sample_for_review.model
                               ORDER BY v.judged_at DESC LIMIT 1) AS j ON sample_for_review.model IS NOT NULL
            WHERE (sample_for_review.since IS NULL OR c.created_at >= sample_for_review.since)
                AND (sample_for_review.status IS NULL OR c.status = sample_for_review.status)
                AND (sample_for_review.model IS NULL OR c.citation_id IN (SELECT w.citation_id FROM reground.judge_votes AS w WHERE w.model = sample_for_review.model))
                AND NOT EXISTS (SELECT FROM reground.citation_labels AS l WHERE l.citation_id = c.citation_id)),
        -- The first of each stratum, then the second of each, and so on.
        placed AS (
            SELECT d.citation_id, d.draw,
                   CASE WHEN sample_for_review.model IS NOT NULL THEN pg_catalog.row_number() OVER (PARTITION BY d.verdict, d.holds ORDER BY d.draw, d.citation_id) END AS place
            FROM drawn AS d),
        picked AS (
            SELECT p.citation_id, p.draw, p.place FROM placed AS p
            ORDER BY p.place, p.draw, p.citation_id
            LIMIT CASE WHEN sample_for_review.max_results > 0 THEN sample_for_review.max_results WHEN sample_for_review.max_results <= 0 THEN 0 END)
        SELECT c.citation_id, c.tenant, v.conversation_ref, t.turn_no, t.query, c.claim, c.raw, c.status, c.holds, c.support,
               reground._unsealed(c.tenant, 'text', c.quote), c.corpus, c.doc_id, c.chunk_id, reground._unsealed(c.tenant, 'title', c.title), reground._unsealed(c.tenant, 'address', c.uri),
               c.created_at
        FROM picked AS p
        JOIN reground.message_citations AS c ON c.citation_id = p.citation_id
        JOIN reground.turns AS t ON t.turn_id = c.turn_id
        JOIN reground.conversations AS v ON v.conversation_id = c.conversation_id
        ORDER BY p.place, p.draw, p.citation_id;
    END;
COMMENT ON FUNCTION reground.sample_for_review(integer, timestamptz, text, text, text) IS
'Returns a random sample of citations without a label. seed: the same seed draws the same sample. max_results: NULL returns all. status: only citations with this verdict. model: only citations judged by this model, in equal numbers for each of its verdicts and holds as far as there are any; the verdict is not returned, so that it does not influence the label. For reground_auditor.';
