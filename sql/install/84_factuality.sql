-- Factuality of answers against must-have facts: gold facts, evaluations by queued tasks, labels of reviewers, reports.

CREATE TABLE reground.gold_questions (
    tenant       text NOT NULL,
    question_ref text NOT NULL CHECK (question_ref <> ''),
    reference    text CHECK (reference <> ''),
    put_at       timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (tenant, question_ref)
);
COMMENT ON TABLE reground.gold_questions IS 'Questions with must-have facts, written by put_gold_facts.';
COMMENT ON COLUMN reground.gold_questions.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.gold_questions.question_ref IS 'The application''s id of the question, unique within the tenant.';
COMMENT ON COLUMN reground.gold_questions.reference IS 'Reference answer that statements are judged against; NULL means the facts, one on each line.';
COMMENT ON COLUMN reground.gold_questions.put_at IS 'When the facts were stored.';

CREATE TABLE reground.gold_facts (
    tenant       text NOT NULL,
    question_ref text NOT NULL,
    fact_no      integer NOT NULL,
    fact         text NOT NULL CHECK (fact <> ''),
    PRIMARY KEY (tenant, question_ref, fact_no),
    FOREIGN KEY (tenant, question_ref) REFERENCES reground.gold_questions ON DELETE CASCADE
);
COMMENT ON TABLE reground.gold_facts IS 'Must-have facts of each question.';
COMMENT ON COLUMN reground.gold_facts.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.gold_facts.question_ref IS 'The application''s id of the question.';
COMMENT ON COLUMN reground.gold_facts.fact_no IS 'Number of the fact within its question, from 1.';
COMMENT ON COLUMN reground.gold_facts.fact IS 'The fact, one sentence that can be true or false alone.';

CREATE TABLE reground.factuality_evaluations (
    evaluation_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant           text NOT NULL,
    turn_id          bigint NOT NULL,
    message_id       bigint NOT NULL REFERENCES reground.messages ON DELETE CASCADE,
    question_ref     text NOT NULL,
    reference        text NOT NULL,
    decompose_model  text NOT NULL,
    entail_model     text NOT NULL,
    decompose_prompt text NOT NULL,
    entail_prompt    text NOT NULL,
    decomposed_at    timestamptz,
    created_at       timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
CREATE INDEX factuality_evaluations_turn ON reground.factuality_evaluations (turn_id);
CREATE INDEX factuality_evaluations_message ON reground.factuality_evaluations (message_id);
COMMENT ON TABLE reground.factuality_evaluations IS 'Evaluations of answers, queued by evaluate_factuality. The view factuality has their measures.';
COMMENT ON COLUMN reground.factuality_evaluations.evaluation_id IS 'Key.';
COMMENT ON COLUMN reground.factuality_evaluations.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.factuality_evaluations.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.factuality_evaluations.message_id IS 'Id of the answer.';
COMMENT ON COLUMN reground.factuality_evaluations.question_ref IS 'The application''s id of the question whose facts are used.';
COMMENT ON COLUMN reground.factuality_evaluations.reference IS 'Text that the statements are judged against, as it was when the evaluation was queued.';
COMMENT ON COLUMN reground.factuality_evaluations.decompose_model IS 'Model that splits the answer into statements.';
COMMENT ON COLUMN reground.factuality_evaluations.entail_model IS 'Model that judges the statements and the facts.';
COMMENT ON COLUMN reground.factuality_evaluations.decompose_prompt IS 'Version of the prompt of decompose_model.';
COMMENT ON COLUMN reground.factuality_evaluations.entail_prompt IS 'Version of the prompt of entail_model.';
COMMENT ON COLUMN reground.factuality_evaluations.decomposed_at IS 'When the statements were stored; NULL before.';
COMMENT ON COLUMN reground.factuality_evaluations.created_at IS 'When the evaluation was queued.';

CREATE TABLE reground.factuality_verdicts (
    verdict_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    evaluation_id bigint NOT NULL REFERENCES reground.factuality_evaluations ON DELETE CASCADE,
    tenant        text NOT NULL,
    side          text NOT NULL CHECK (side IN ('answer', 'gold')),
    statement_no  integer NOT NULL,
    statement     text NOT NULL,
    verdict       text CHECK (verdict IN ('entailed', 'contradicted', 'neutral')),
    judged_at     timestamptz,
    UNIQUE (evaluation_id, side, statement_no),
    CHECK ((verdict IS NULL) = (judged_at IS NULL))
);
COMMENT ON TABLE reground.factuality_verdicts IS 'Statements of the answer and must-have facts of each evaluation, with their verdicts.';
COMMENT ON COLUMN reground.factuality_verdicts.verdict_id IS 'Key, as taken by label_verdict.';
COMMENT ON COLUMN reground.factuality_verdicts.evaluation_id IS 'Id of the evaluation.';
COMMENT ON COLUMN reground.factuality_verdicts.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.factuality_verdicts.side IS 'answer: a statement of the answer, judged against the reference. gold: a must-have fact, judged against the answer.';
COMMENT ON COLUMN reground.factuality_verdicts.statement_no IS 'Number of the statement or fact within its side, from 1.';
COMMENT ON COLUMN reground.factuality_verdicts.statement IS 'The statement, as the model wrote it, or the fact, as it was when the evaluation was queued.';
COMMENT ON COLUMN reground.factuality_verdicts.verdict IS 'entailed (follows from the other side''s text), contradicted or neutral; NULL without a verdict.';
COMMENT ON COLUMN reground.factuality_verdicts.judged_at IS 'When the verdict was stored.';

CREATE TABLE reground.factuality_labels (
    verdict_id    bigint NOT NULL REFERENCES reground.factuality_verdicts ON DELETE CASCADE,
    labelled_by   text NOT NULL,
    labelled_role text NOT NULL,
    tenant        text NOT NULL,
    label         text NOT NULL CHECK (label IN ('entailed', 'contradicted', 'neutral')),
    note          text,
    labelled_at   timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (verdict_id, labelled_by)
);
COMMENT ON TABLE reground.factuality_labels IS 'Verdicts of reviewers on statements and facts, written by label_verdict. Each reviewer has one label for a statement.';
COMMENT ON COLUMN reground.factuality_labels.verdict_id IS 'Id of the judged statement or fact.';
COMMENT ON COLUMN reground.factuality_labels.labelled_by IS 'The reviewer, by default the role.';
COMMENT ON COLUMN reground.factuality_labels.labelled_role IS 'The role that made the call.';
COMMENT ON COLUMN reground.factuality_labels.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.factuality_labels.label IS 'entailed, contradicted or neutral.';
COMMENT ON COLUMN reground.factuality_labels.note IS 'Note of the reviewer.';
COMMENT ON COLUMN reground.factuality_labels.labelled_at IS 'When the label was last written.';

CREATE TABLE reground.decomposition_labels (
    evaluation_id      bigint NOT NULL REFERENCES reground.factuality_evaluations ON DELETE CASCADE,
    labelled_by        text NOT NULL,
    labelled_role      text NOT NULL,
    tenant             text NOT NULL,
    human_statements   integer NOT NULL CHECK (human_statements BETWEEN 0 AND 10000),
    omitted_statements integer NOT NULL CHECK (omitted_statements BETWEEN 0 AND human_statements),
    note               text,
    labelled_at        timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (evaluation_id, labelled_by)
);
COMMENT ON TABLE reground.decomposition_labels IS 'Reviews of decompositions, written by label_decomposition. Each reviewer has one for an evaluation.';
COMMENT ON COLUMN reground.decomposition_labels.evaluation_id IS 'Id of the evaluation.';
COMMENT ON COLUMN reground.decomposition_labels.labelled_by IS 'The reviewer, by default the role.';
COMMENT ON COLUMN reground.decomposition_labels.labelled_role IS 'The role that made the call.';
COMMENT ON COLUMN reground.decomposition_labels.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.decomposition_labels.human_statements IS 'Number of statements that the reviewer makes of the answer.';
COMMENT ON COLUMN reground.decomposition_labels.omitted_statements IS 'Number of these that no statement of the model covers.';
COMMENT ON COLUMN reground.decomposition_labels.note IS 'Note of the reviewer.';
COMMENT ON COLUMN reground.decomposition_labels.labelled_at IS 'When the review was last written.';

CREATE FUNCTION reground.put_gold_facts(question_ref text, facts text[], reference text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'put_gold_facts_wrapper';
COMMENT ON FUNCTION reground.put_gold_facts(text, text[], text) IS
'Stores the must-have facts of a question, and replaces earlier ones; evaluations that are queued keep theirs. facts: one sentence each. reference: the reference answer, by default the facts. Errors: 22004 for NULL, 22023 for an empty text.';

CREATE FUNCTION reground.drop_gold_facts(question_ref text)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'drop_gold_facts_wrapper';
COMMENT ON FUNCTION reground.drop_gold_facts(text) IS
'Deletes the facts of a question, and returns whether they existed. Evaluations stay.';

CREATE FUNCTION reground.evaluate_factuality(turn_id bigint, question_ref text, decompose_model text, entail_model text, message_ref text DEFAULT NULL)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'evaluate_factuality_wrapper';
COMMENT ON FUNCTION reground.evaluate_factuality(bigint, text, text, text, text) IS
'Queues the evaluation of an answer against the facts of a question, and returns its evaluation_id. One task splits the answer into n statements; then n + m tasks judge them and the m facts. The question, the answer and the facts are sent to the models. message_ref: an answer of the turn, by default the current one. Errors: P0002 if the answer, the facts or a model does not exist, 22023 if a model has another task, 55000 if the text of the answer is not stored.';

CREATE FUNCTION reground._factuality(statement_verdicts text[], fact_verdicts text[], tokens integer, queued bigint)
    RETURNS TABLE (outcome text, statements bigint, entailed_statements bigint, contradicted_statements bigint, facts bigint, entailed_facts bigint, contradicted_facts bigint,
                   factual_precision double precision, factual_recall double precision, factual_f1 double precision,
                   false_claim_rate double precision, misrepresentation_rate double precision, hallucination_f1 double precision,
                   tokens_per_entailed_fact double precision, tokens_per_contradicted_fact double precision, tokens_to_cover_all double precision)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', '_factuality_wrapper';
COMMENT ON FUNCTION reground._factuality(text[], text[], integer, bigint) IS
'Internal: measures an answer. statement_verdicts: NULL before the decomposition; an element is NULL without a verdict. queued: tasks that are not given up.';

CREATE VIEW reground.factuality WITH (security_invoker = true) AS
    SELECT e.evaluation_id, e.tenant, c.conversation_ref, e.turn_id, e.message_id, m.message_ref, m.model, e.question_ref,
           CASE WHEN t.parent_turn_id IS NULL THEN 'single_turn' ELSE 'multi_turn' END AS setting,
           e.decompose_model, e.entail_model, e.decompose_prompt, e.entail_prompt,
           f.outcome, f.statements, f.entailed_statements, f.contradicted_statements, f.facts, f.entailed_facts, f.contradicted_facts,
           f.factual_precision, f.factual_recall, f.factual_f1, f.false_claim_rate, f.misrepresentation_rate, f.hallucination_f1,
           m.answer_tokens AS tokens, f.tokens_per_entailed_fact, f.tokens_per_contradicted_fact, f.tokens_to_cover_all,
           q.queued AS queued_tasks, q.dead AS dead_tasks, q.last_error, e.created_at
    FROM reground.factuality_evaluations AS e
    JOIN reground.messages AS m ON m.message_id = e.message_id
    JOIN reground.turns AS t ON t.turn_id = e.turn_id
    JOIN reground.conversations AS c ON c.conversation_id = m.conversation_id
    CROSS JOIN LATERAL (
        SELECT coalesce(pg_catalog.array_agg(v.verdict ORDER BY v.statement_no) FILTER (WHERE v.side = 'answer'), '{}') AS statements,
               coalesce(pg_catalog.array_agg(v.verdict ORDER BY v.statement_no) FILTER (WHERE v.side = 'gold'), '{}') AS facts
        FROM reground.factuality_verdicts AS v WHERE v.evaluation_id = e.evaluation_id) AS s
    CROSS JOIN LATERAL (
        SELECT pg_catalog.count(*) FILTER (WHERE k.state <> 'dead') AS queued, pg_catalog.count(*) FILTER (WHERE k.state = 'dead') AS dead,
               pg_catalog.max(k.last_error) FILTER (WHERE k.state = 'dead') AS last_error
        FROM reground.model_tasks AS k
        WHERE k.turn_id = e.turn_id
            AND (k.kind = 'decompose' AND k.subject = e.evaluation_id::text
                OR k.kind = 'entail' AND k.subject IN (SELECT v.verdict_id::text FROM reground.factuality_verdicts AS v WHERE v.evaluation_id = e.evaluation_id))) AS q
    CROSS JOIN LATERAL reground._factuality(CASE WHEN e.decomposed_at IS NOT NULL THEN s.statements END, s.facts, m.answer_tokens, q.queued) AS f;
COMMENT ON VIEW reground.factuality IS 'One row per evaluation of an answer, with its measures. Measures are NULL unless outcome is done.';
COMMENT ON COLUMN reground.factuality.evaluation_id IS 'Id of the evaluation.';
COMMENT ON COLUMN reground.factuality.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.factuality.conversation_ref IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.factuality.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.factuality.message_id IS 'Id of the answer.';
COMMENT ON COLUMN reground.factuality.message_ref IS 'The application''s id of the answer.';
COMMENT ON COLUMN reground.factuality.model IS 'Model that wrote the answer.';
COMMENT ON COLUMN reground.factuality.question_ref IS 'The application''s id of the question whose facts were used.';
COMMENT ON COLUMN reground.factuality.setting IS 'single_turn if the turn follows none, otherwise multi_turn.';
COMMENT ON COLUMN reground.factuality.decompose_model IS 'Model that splits the answer into statements.';
COMMENT ON COLUMN reground.factuality.entail_model IS 'Model that judges the statements and the facts.';
COMMENT ON COLUMN reground.factuality.decompose_prompt IS 'Version of the prompt of decompose_model.';
COMMENT ON COLUMN reground.factuality.entail_prompt IS 'Version of the prompt of entail_model.';
COMMENT ON COLUMN reground.factuality.outcome IS 'pending; done; no_facts (the question has none); no_statements (the answer states nothing); judge_failed (a task was given up, or its model was dropped).';
COMMENT ON COLUMN reground.factuality.statements IS 'Number of statements of the answer; NULL before the decomposition.';
COMMENT ON COLUMN reground.factuality.entailed_statements IS 'Statements that follow from the reference.';
COMMENT ON COLUMN reground.factuality.contradicted_statements IS 'Statements that contradict the reference.';
COMMENT ON COLUMN reground.factuality.facts IS 'Number of must-have facts.';
COMMENT ON COLUMN reground.factuality.entailed_facts IS 'Facts that follow from the answer.';
COMMENT ON COLUMN reground.factuality.contradicted_facts IS 'Facts that contradict the answer.';
COMMENT ON COLUMN reground.factuality.factual_precision IS 'entailed_statements / statements.';
COMMENT ON COLUMN reground.factuality.factual_recall IS 'entailed_facts / facts.';
COMMENT ON COLUMN reground.factuality.factual_f1 IS 'Harmonic mean of precision and recall; 0 if both are 0.';
COMMENT ON COLUMN reground.factuality.false_claim_rate IS 'contradicted_statements / statements.';
COMMENT ON COLUMN reground.factuality.misrepresentation_rate IS 'contradicted_facts / facts.';
COMMENT ON COLUMN reground.factuality.hallucination_f1 IS 'Harmonic mean of both rates; 0 if both are 0. Lower is better.';
COMMENT ON COLUMN reground.factuality.tokens IS 'Tokens (o200k_base) of the answer.';
COMMENT ON COLUMN reground.factuality.tokens_per_entailed_fact IS 'tokens / entailed_facts; NULL without an entailed fact. Lower is better.';
COMMENT ON COLUMN reground.factuality.tokens_per_contradicted_fact IS 'tokens / contradicted_facts; NULL without a contradicted fact. Higher is better.';
COMMENT ON COLUMN reground.factuality.tokens_to_cover_all IS 'tokens / factual_recall; NULL if that is 0. Lower is better.';
COMMENT ON COLUMN reground.factuality.queued_tasks IS 'Tasks that are not done.';
COMMENT ON COLUMN reground.factuality.dead_tasks IS 'Tasks that were given up; retry_tasks queues them again.';
COMMENT ON COLUMN reground.factuality.last_error IS 'Error of a task that was given up.';
COMMENT ON COLUMN reground.factuality.created_at IS 'When the evaluation was queued.';

CREATE FUNCTION reground.factuality_report(dimension text DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (published_table smallint, value text, setting text, answers bigint, measured bigint, pending bigint, no_statements bigint, no_facts bigint, judge_failed bigint,
                   factual_recall double precision, factual_precision double precision, factual_f1 double precision, factual_f1_low double precision, factual_f1_high double precision,
                   false_claim_rate double precision, misrepresentation_rate double precision,
                   hallucination_f1 double precision, hallucination_f1_low double precision, hallucination_f1_high double precision,
                   tokens_per_entailed_fact double precision, without_entailed_fact bigint, tokens_per_contradicted_fact double precision, without_contradicted_fact bigint,
                   tokens_to_cover_all double precision)
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'factuality_report_wrapper';
COMMENT ON FUNCTION reground.factuality_report(text, timestamptz, timestamptz) IS
'Returns mean measures of current answers by a dimension of answers and by setting, from the last evaluation of each answer and question, and below them the published tables (published_table 8: models, 3: retrieval settings; value: the system). since and until are times of the answers. low and high: 95 % bootstrap interval. A token cost without such a fact becomes the largest of the report. Errors: 22023 for an unknown dimension.';

CREATE FUNCTION reground.label_verdict(verdict_id bigint, label text, note text DEFAULT NULL, labelled_by text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'label_verdict_wrapper';
COMMENT ON FUNCTION reground.label_verdict(bigint, text, text, text) IS
'Stores a reviewer''s verdict on a statement or fact: entailed, contradicted or neutral; replaces an earlier one of the same reviewer. labelled_by: the reviewer, by default the role. Errors: 22023 for another label, P0002 if the verdict does not exist.';

CREATE FUNCTION reground.label_decomposition(evaluation_id bigint, human_statements integer, omitted_statements integer, note text DEFAULT NULL, labelled_by text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'label_decomposition_wrapper';
COMMENT ON FUNCTION reground.label_decomposition(bigint, integer, integer, text, text) IS
'Stores how many statements a reviewer makes of an answer, and how many of these the model left out; replaces an earlier review of the same reviewer. labelled_by: the reviewer, by default the role. Errors: 22023 unless 0 <= omitted_statements <= human_statements <= 10000, P0002 if the evaluation does not exist, 55000 before the decomposition.';

CREATE FUNCTION reground.factuality_agreement(decompose_model text DEFAULT NULL, entail_model text DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (measure text, value double precision, low double precision, high double precision, samples bigint, source_low double precision, source_high double precision)
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 5 AS 'MODULE_PATHNAME', 'factuality_agreement_wrapper';
COMMENT ON FUNCTION reground.factuality_agreement(text, text, timestamptz, timestamptz) IS
'Compares the models with the labels of reviewers, and returns the published value of each measure: smape (of the numbers of statements, 0 to 2), omission_rate, weighted_f1 and kappa (of the verdicts, against the majority of the labels), fleiss_kappa (of the reviewers). since and until are times of the evaluations. low and high: 95 % interval of kappa. NULL means all models.';
