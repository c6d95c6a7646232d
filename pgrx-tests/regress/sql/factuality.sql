-- Factuality of answers against must-have facts. The queue is worked from psql: the results of the models are given below.
CREATE SCHEMA factuality;
SET search_path = factuality, public;
CREATE ROLE regress_facts_a IN ROLE reground_user;
CREATE ROLE regress_facts_b IN ROLE reground_user;
CREATE ROLE regress_facts_admin IN ROLE reground_admin;
CREATE ROLE regress_facts_auditor IN ROLE reground_auditor;
CREATE ROLE regress_facts_worker IN ROLE reground_worker;
GRANT USAGE ON SCHEMA factuality, regress TO PUBLIC;
SET ROLE regress_facts_admin;
SELECT reground.set_model('splitter', 'decompose', 'openai', settings => '{"max_attempts": 1}'), reground.set_model('judge of facts', 'entail', 'openai', settings => '{"max_attempts": 2}'),
    reground.set_model('classifier', 'entail', 'local');
RESET ROLE;

-- The statements that the first model makes of each answer, and the verdicts of the second. NULL: the call fails.
CREATE TABLE statements (answer text PRIMARY KEY, result text);
CREATE TABLE verdicts (premise text, hypothesis text, verdict text, PRIMARY KEY (premise, hypothesis));
GRANT SELECT ON statements, verdicts TO PUBLIC;
-- Does all due tasks, as a worker does.
CREATE PROCEDURE work(kinds text[] DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
    task record;
    content text;
BEGIN
    LOOP
        SELECT * INTO task FROM reground.claim_tasks('psql', kinds, ARRAY['splitter', 'judge of facts'], 1);
        EXIT WHEN NOT FOUND;
        IF task.kind = 'decompose' THEN
            SELECT s.result INTO STRICT content FROM factuality.statements AS s WHERE strpos(task.request #>> '{messages,1,content}', s.answer) > 0;
        ELSE
            SELECT format('{"verdict": "%s"}', v.verdict) INTO STRICT content FROM factuality.verdicts AS v
            WHERE v.premise = task.request ->> 'premise' AND v.hypothesis = task.request ->> 'hypothesis';
        END IF;
        IF content IS NULL OR content = '{"verdict": ""}' THEN
            PERFORM reground.fail_task(task.task_id, task.lease_token, 'refused', retry_after => '0');
        ELSE
            PERFORM reground.complete_task(task.task_id, task.lease_token, jsonb_build_object('content', content), 100, 10);
        END IF;
    END LOOP;
END
$$;
CREATE VIEW measured WITH (security_invoker = true) AS
    SELECT conversation_ref, message_ref, question_ref, outcome, statements AS s, entailed_statements AS se, contradicted_statements AS sc, facts AS f, entailed_facts AS fe, contradicted_facts AS fc,
        round(factual_precision::numeric, 6) AS "precision", round(factual_recall::numeric, 6) AS recall, round(factual_f1::numeric, 6) AS f1,
        round(false_claim_rate::numeric, 6) AS claims, round(misrepresentation_rate::numeric, 6) AS misrepresented, round(hallucination_f1::numeric, 6) AS hallucination,
        round((tokens_per_entailed_fact / tokens)::numeric, 6) AS entailed, round((tokens_per_contradicted_fact / tokens)::numeric, 6) AS contradicted, round((tokens_to_cover_all / tokens)::numeric, 6) AS to_cover,
        queued_tasks AS queued, dead_tasks AS dead, last_error
    FROM reground.factuality ORDER BY evaluation_id;
GRANT SELECT ON measured TO PUBLIC;

-- Facts.
SET ROLE regress_facts_a;
SELECT reground.put_gold_facts('tea', '{Tea is old.}', 'Tea is an old drink.');
SELECT reground.put_gold_facts('tea', ARRAY['Tea contains caffeine.', 'Green tea steeps for two minutes.', 'Tea comes from China.']),
    reground.put_gold_facts('coffee', ARRAY['Coffee comes from Ethiopia.', 'Coffee is roasted.'], 'Coffee, which is roasted, comes from Ethiopia.'), reground.put_gold_facts('open', '{}');
SELECT question_ref, reference, fact_no, fact FROM reground.gold_questions LEFT JOIN reground.gold_facts USING (tenant, question_ref) ORDER BY question_ref, fact_no;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.put_gold_facts('', '{x}')$$, $$SELECT reground.put_gold_facts('x', NULL)$$, $$SELECT reground.put_gold_facts('x', '{NULL}')$$,
    $$SELECT reground.put_gold_facts('x', '{a," "}')$$, $$SELECT reground.put_gold_facts('x', '{a}', '')$$, $$INSERT INTO reground.gold_questions VALUES ('regress_facts_a', 'y')$$]) AS f, regress.refusal(f) AS r;
SELECT reground.drop_gold_facts('none');

-- Answers. The second turn of a conversation is multi-turn.
SELECT count(*) FROM reground.record_turns(jsonb_build_array(
    jsonb_build_object('conversation_ref', 'facts-1', 'query', 'What is tea?', 'answer', 'Tea has caffeine. Green tea steeps for two minutes. Tea comes from Rome. It is popular.', 'message_ref', 'm1', 'model', 'small'),
    jsonb_build_object('conversation_ref', 'facts-1', 'query', 'What is coffee?', 'answer', 'Coffee comes from Ethiopia.', 'message_ref', 'm2', 'model', 'large'),
    jsonb_build_object('conversation_ref', 'facts-2', 'query', 'What is tea?', 'answer', 'I cannot say.', 'message_ref', 'm3', 'model', 'small'),
    jsonb_build_object('conversation_ref', 'facts-3', 'query', 'What is tea?', 'answer', 'Tea is a root.', 'message_ref', 'm4', 'model', 'small')));
SELECT count(*) FROM reground.record_turns('[{"conversation_ref": "facts-4", "query": "What is tea?", "answer": "Tea is hashed.", "message_ref": "m5"}]', settings => '{"store_answers": "hash"}');
RESET ROLE;
INSERT INTO statements VALUES ('Tea has caffeine. Green tea', '{"statements": ["Tea has caffeine.", "Green tea steeps for two minutes.", "Tea comes from Rome.", "Tea is popular."]}'),
    ('Coffee comes from Ethiopia.', '{"statements": ["Coffee comes from Ethiopia."]}'), ('I cannot say.', '{"statements": []}'), ('Tea is a root.', NULL);
INSERT INTO verdicts
SELECT E'Tea contains caffeine.\nGreen tea steeps for two minutes.\nTea comes from China.', h, v FROM (VALUES ('Tea has caffeine.', 'entailed'), ('Green tea steeps for two minutes.', 'entailed'),
    ('Tea comes from Rome.', 'contradicted'), ('Tea is popular.', 'neutral'), ('Tea is a root.', 'contradicted')) AS x(h, v)
UNION ALL SELECT 'Tea has caffeine. Green tea steeps for two minutes. Tea comes from Rome. It is popular.', h, v FROM (VALUES ('Tea contains caffeine.', 'entailed'), ('Green tea steeps for two minutes.', 'entailed'), ('Tea comes from China.', 'contradicted')) AS x(h, v)
UNION ALL SELECT 'Tea is a root.', h, 'neutral' FROM unnest(ARRAY['Tea contains caffeine.', 'Green tea steeps for two minutes.', 'Tea comes from China.']) AS h
UNION ALL VALUES ('Coffee, which is roasted, comes from Ethiopia.', 'Coffee comes from Ethiopia.', 'entailed'), ('Coffee comes from Ethiopia.', 'Coffee comes from Ethiopia.', 'entailed'), ('Coffee comes from Ethiopia.', 'Coffee is roasted.', NULL);
SET ROLE regress_facts_a;

-- Refused evaluations.
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.evaluate_factuality(regress.turn('facts-1', 1), 'none', 'splitter', 'judge of facts')$$, $$SELECT reground.evaluate_factuality(regress.turn('facts-1', 1), 'tea', 'none', 'judge of facts')$$,
    $$SELECT reground.evaluate_factuality(regress.turn('facts-1', 1), 'tea', 'judge of facts', 'judge of facts')$$, $$SELECT reground.evaluate_factuality(regress.turn('facts-1', 1), 'tea', 'splitter', 'splitter')$$,
    $$SELECT reground.evaluate_factuality(0, 'tea', 'splitter', 'judge of facts')$$, $$SELECT reground.evaluate_factuality(0, 'tea', 'splitter', 'judge of facts', 'm9')$$, $$SELECT reground.evaluate_factuality(NULL, 'tea', 'splitter', 'judge of facts')$$]) AS f, regress.refusal(f) AS r;
SELECT state, regexp_replace(message, '\d+', 'N') AS message, hint FROM regress.refusal($$SELECT reground.evaluate_factuality(regress.turn('facts-4'), 'tea', 'splitter', 'judge of facts')$$);

-- One task splits the answer. A question without facts needs none.
SELECT reground.evaluate_factuality(regress.turn('facts-1', 1), 'tea', 'splitter', 'judge of facts') > 0 AS one, reground.evaluate_factuality(regress.turn('facts-1', 2), 'coffee', 'splitter', 'judge of facts', 'm2') > 0 AS two,
    reground.evaluate_factuality(regress.turn('facts-2'), 'tea', 'splitter', 'judge of facts') > 0 AS three, reground.evaluate_factuality(regress.turn('facts-3'), 'tea', 'splitter', 'judge of facts') > 0 AS four,
    reground.evaluate_factuality(regress.turn('facts-2'), 'open', 'splitter', 'judge of facts') > 0 AS five;
SELECT conversation_ref, message_ref, question_ref, setting, model, decompose_model, entail_model, decompose_prompt, entail_prompt, outcome, statements, facts, entailed_facts, factual_f1, queued_tasks FROM reground.factuality ORDER BY evaluation_id;
-- Facts that change later do not change the evaluation.
SELECT reground.put_gold_facts('coffee', '{Coffee is black.}');
RESET ROLE;

-- The request has the question, and the answer as data. A worker reads no table.
SET ROLE regress_facts_worker;
BEGIN;
SELECT c.kind, c.model, c.attempts, c.request ->> 'schema_name' AS schema_name, c.request -> 'temperature' AS temperature, strpos(c.request #>> '{messages,1,content}', 'What is tea?') > 0 AS has_question,
    c.request #>> '{messages,1,content}' ~ '<answer [0-9a-f]+>\nTea has caffeine\.' AS has_answer, c.request ? 'premise' AS has_premise, regress.refusal(format('SELECT reground.complete_task(%s, %L, %L)', c.task_id, c.lease_token, r.result)) AS refusal
FROM reground.claim_tasks('psql', models => ARRAY['splitter'], max_tasks => 1) AS c, (VALUES ('{"content": "Tea has caffeine."}'), ('{"content": "{\"statements\": [\" \"]}"}'), ('{"content": "{\"statements\": []}", "more": 1}'), ('{"probability": 1}')) AS r(result);
ROLLBACK;
SELECT * FROM regress.refusal($$TABLE reground.factuality_verdicts$$);
-- One call of the splitter fails, and one of the judge.
CALL work('{decompose}');
RESET ROLE;
SET ROLE regress_facts_a;
SELECT conversation_ref, question_ref, outcome, s, f, queued, dead, last_error FROM measured;
RESET ROLE;
SET ROLE regress_facts_worker;
BEGIN;
SELECT c.kind, c.request ->> 'premise' AS premise, c.request ->> 'hypothesis' AS hypothesis, c.request ->> 'schema_name' AS schema_name FROM reground.claim_tasks('psql', '{entail}') AS c ORDER BY c.task_id;
ROLLBACK;
BEGIN;
SELECT regress.refusal(format('SELECT reground.complete_task(%s, %L, %L)', c.task_id, c.lease_token, r.result)) AS refusal
FROM reground.claim_tasks('psql', '{entail}', max_tasks => 1) AS c, (VALUES ('{"content": "entailed"}'), ('{"content": "{\"verdict\": \"true\"}"}'), ('{"probability": 2}'), ('{"spans": [{"start": 0, "end": 99, "probability": 1}]}'), ('{"scores": [1]}')) AS r(result);
ROLLBACK;
CALL work('{entail}');
RESET ROLE;

-- By hand: 4 statements, 2 entailed, 1 contradicted; 3 facts, 2 entailed, 1 contradicted. Precision 1/2, recall 2/3, F1 (2/3) / (7/6) = 4/7;
-- rates 1/4 and 1/3, F1 (1/6) / (7/12) = 2/7. Costs in shares of the answer's tokens: 1/2, 1/1, 3/2.
SET ROLE regress_facts_a;
SELECT * FROM measured;
SELECT f.tokens = m.answer_tokens AS counted, m.answer_tokens FROM reground.factuality AS f JOIN reground.messages AS m USING (message_id) WHERE f.message_ref = 'm1';
SELECT v.side, v.statement_no, v.statement, v.verdict, v.judged_at IS NOT NULL AS judged FROM reground.factuality_verdicts AS v JOIN reground.factuality AS f USING (evaluation_id) WHERE f.message_ref IN ('m1', 'm2') ORDER BY v.evaluation_id, v.side, v.statement_no;
RESET ROLE;

-- Tasks that were given up are tried again. By hand: precision 1/1, recall 1/2, F1 1 / (3/2) = 2/3, no contradiction; costs 1/1 and 2.
-- Tea is a root: 0 of 1 statements and 0 of 3 facts are entailed, 1 statement is contradicted.
UPDATE statements SET result = '{"statements": ["Tea is a root."]}' WHERE result IS NULL;
UPDATE verdicts SET verdict = 'neutral' WHERE verdict IS NULL;
SET ROLE regress_facts_admin;
SELECT reground.retry_tasks();
RESET ROLE;
SET ROLE regress_facts_a;
SELECT conversation_ref, question_ref, outcome, queued, dead FROM measured WHERE message_ref IN ('m2', 'm4');
RESET ROLE;
SET ROLE regress_facts_worker;
CALL work();
RESET ROLE;
SET ROLE regress_facts_a;
SELECT * FROM measured WHERE message_ref IN ('m2', 'm4');
SELECT count(*) FROM reground.model_tasks;

-- A classifier gives probabilities or unsupported spans; without its model, an evaluation has failed.
SELECT reground.evaluate_factuality(regress.turn('facts-1', 2), 'coffee', 'splitter', 'classifier') > 0 AS six;
RESET ROLE;
SET ROLE regress_facts_worker;
CALL work();
SELECT c.request ->> 'hypothesis' AS hypothesis, reground.complete_task(c.task_id, c.lease_token, CASE c.request ->> 'hypothesis' WHEN 'Coffee is black.' THEN '{"probability": 0.5}' ELSE '{"spans": [{"start": 0, "end": 6, "probability": 0.7}]}' END::jsonb)
FROM reground.claim_tasks('psql', models => ARRAY['classifier']) AS c ORDER BY 1;
RESET ROLE;
SET ROLE regress_facts_a;
SELECT conversation_ref, outcome, s, se, f, fe FROM measured WHERE question_ref = 'coffee';
SELECT reground.evaluate_factuality(regress.turn('facts-3'), 'coffee', 'splitter', 'classifier') > 0 AS seven;
RESET ROLE;
SET ROLE regress_facts_worker;
CALL work('{decompose}');
SET ROLE regress_facts_admin;
SELECT reground.drop_model('classifier');
RESET ROLE;
SET ROLE regress_facts_a;
SELECT outcome, s, f, queued, dead FROM measured WHERE message_ref = 'm4' AND question_ref = 'coffee';
RESET ROLE;

-- The report takes the last evaluation of each answer and question: that of m2 by the classifier, with an F1 of 0. By hand, for small: m1 and m4
-- are measured, with F1 4/7 and 0, mean 2/7; recall 2/3 and 0; precision 1/2 and 0; rates 1/4 and 1, 1/3 and 0. m4 has no entailed fact: its costs
-- are the largest of the report, 21/2 and 21 · 3/2 of m1. m4 and m2 have no contradicted fact: their cost is 21 of m1.
SET ROLE regress_facts_a;
SELECT r.value, r.setting, answers, measured, pending, no_statements AS ns, no_facts AS nf, judge_failed AS failed, round(factual_recall::numeric, 6) AS recall, round(factual_precision::numeric, 6) AS "precision", round(factual_f1::numeric, 6) AS f1,
    round(false_claim_rate::numeric, 6) AS claims, round(misrepresentation_rate::numeric, 6) AS misrepresented, round(hallucination_f1::numeric, 6) AS hallucination,
    tokens_per_entailed_fact AS entailed, without_entailed_fact AS we, tokens_per_contradicted_fact AS contradicted, without_contradicted_fact AS wc, tokens_to_cover_all AS to_cover
FROM reground.factuality_report('model') AS r WHERE published_table IS NULL;
SELECT r.value, r.setting, answers, measured, factual_f1_low <= factual_f1 AND factual_f1 <= factual_f1_high AS within FROM reground.factuality_report() AS r WHERE published_table IS NULL;
SELECT count(*) FROM reground.factuality_report('model', until => '2020-01-01') WHERE published_table IS NULL;
-- The published tables.
SELECT published_table, count(*), count(factual_recall) FROM reground.factuality_report() GROUP BY 1 ORDER BY 1;
SELECT published_table, value, setting, round(factual_recall::numeric, 4) AS recall, round(factual_f1::numeric, 4) AS f1, round(hallucination_f1::numeric, 4) AS hallucination, tokens_per_entailed_fact, tokens_per_contradicted_fact, tokens_to_cover_all, answers
FROM reground.factuality_report() WHERE value IN ('GPT-4o', 'Rounds');
SELECT f, r.* FROM unnest(ARRAY[$$SELECT * FROM reground.factuality_report('colour')$$, $$SELECT * FROM reground.factuality_report('status')$$, $$SELECT reground._factuality('{maybe}', '{}', 1, 0)$$]) AS f, regress.refusal(f) AS r;

-- Another tenant sees nothing, and evaluates nothing of it.
SELECT turn_id, message_id FROM reground.factuality WHERE message_ref = 'm1' \gset
RESET ROLE;
SET ROLE regress_facts_b;
SELECT count(*) FROM reground.factuality;
SELECT (SELECT count(*) FROM reground.gold_questions) + (SELECT count(*) FROM reground.gold_facts) + (SELECT count(*) FROM reground.factuality_evaluations) + (SELECT count(*) FROM reground.factuality_verdicts) + (SELECT count(subject) FROM reground.model_tasks) AS rows;
SELECT count(*) FROM reground.factuality_report() WHERE published_table IS NULL;
SELECT reground.put_gold_facts('tea', '{Mine.}');
SELECT state, regexp_replace(message, '\d+', 'N') AS message FROM regress.refusal(format($$SELECT reground.evaluate_factuality(%s, 'tea', 'splitter', 'judge of facts')$$, :turn_id));
SELECT reground.drop_gold_facts('coffee');
SELECT f, r.state FROM unnest(ARRAY[$$SELECT lease_token FROM reground.model_tasks$$, $$SELECT reground.label_verdict(1, 'neutral')$$, $$SELECT reground.label_decomposition(1, 1, 0)$$]) AS f, regress.refusal(f) AS r;
RESET ROLE;
SELECT fact FROM reground.gold_facts WHERE question_ref = 'tea' ORDER BY tenant, fact_no;

-- Labels of three reviewers on the seven verdicts of m1, which are e e c n and e e c.
SET ROLE regress_facts_auditor;
CREATE TEMPORARY VIEW of_m1 AS SELECT v.verdict_id, v.evaluation_id, v.side, v.statement_no FROM reground.factuality_verdicts AS v JOIN reground.factuality AS f USING (evaluation_id) WHERE f.message_ref = 'm1';
SELECT count(reground.label_verdict(v.verdict_id, l.label, labelled_by => l.reviewer)) FROM of_m1 AS v
JOIN (VALUES ('answer', 1, '{ann,bob,cat}'::text[], '{entailed,entailed,entailed}'::text[]), ('answer', 2, '{ann,bob,cat}', '{entailed,entailed,neutral}'), ('answer', 3, '{ann,bob,cat}', '{neutral,neutral,contradicted}'),
    ('answer', 4, '{ann,bob,cat}', '{neutral,neutral,neutral}'), ('gold', 1, '{ann,bob}', '{entailed,neutral}'), ('gold', 2, '{ann}', '{contradicted}')) AS x(side, statement_no, reviewers, labels) USING (side, statement_no)
CROSS JOIN LATERAL unnest(x.reviewers, x.labels) AS l(reviewer, label);
-- A later label of the same reviewer replaces the first.
SELECT reground.label_verdict(verdict_id, 'entailed', 'on second thoughts', 'ann') FROM of_m1 WHERE (side, statement_no) = ('gold', 2);
SELECT reground.label_decomposition(evaluation_id, 5, 2, labelled_by => 'ann'), reground.label_decomposition(evaluation_id, 6, 1, 'one is implied', 'bob'), reground.label_decomposition(evaluation_id, 5, 0, labelled_by => 'ann') FROM of_m1 WHERE (side, statement_no) = ('answer', 1);
SELECT labelled_by, labelled_role, tenant, human_statements, omitted_statements, note FROM reground.decomposition_labels ORDER BY 1;
SELECT count(*), count(note), min(labelled_role) FROM reground.factuality_labels;
-- By hand: |4 - 5| / 4.5 and |4 - 6| / 5, mean 0.311111; 1 of 11 omitted. Majorities e e n n, none for a tie, e; verdicts e e c n, e: F1 of e 1 (3 labels),
-- of n 2/3 (2 labels), weighted (3 + 4/3) / 5 = 0.866667. Kappa: observed 4/5, by chance (3·3 + 0·1 + 2·1) / 25 = 11/25, so (9/25) / (14/25) = 0.642857.
-- Fleiss over the four verdicts with three labels, eee een nnc nnn: agreement (1 + 1/3 + 1/3 + 1) / 4 = 2/3, shares 5/12, 1/12, 6/12, by chance 62/144, so 0.414634.
SELECT measure, round(value::numeric, 6) AS value, low < value AS above_low, high > value AS below_high, samples, source_low, source_high FROM reground.factuality_agreement('splitter', 'judge of facts');
SELECT measure, value, samples FROM reground.factuality_agreement(entail_model => 'other');
SELECT f, regexp_replace(r::text, '\d{3,}', 'N') AS refusal FROM unnest(ARRAY[$$SELECT reground.label_verdict(0, 'neutral')$$, $$SELECT reground.label_verdict(1, 'true')$$, $$SELECT reground.label_verdict(1, NULL)$$,
    $$SELECT reground.label_decomposition(0, 1, 0)$$, $$SELECT reground.label_decomposition(1, 1, 2)$$, $$SELECT reground.label_decomposition(1, -1, 0)$$, $$SELECT reground.label_decomposition(1, 10001, 0)$$, $$SELECT reground.label_decomposition(1, NULL, 0)$$]) AS f, regress.refusal(f) AS r;
SELECT count(*) > 0 AS seen, count(DISTINCT tenant) AS tenants FROM reground.factuality;
SELECT conversation_ref, outcome FROM reground.factuality WHERE question_ref = 'open';
SELECT state, regexp_replace(message, '\d+', 'N') AS message, hint FROM regress.refusal(format('SELECT reground.label_decomposition(%s, 1, 0)', (SELECT evaluation_id FROM reground.factuality WHERE question_ref = 'open')));
RESET ROLE;
DROP VIEW of_m1;

-- Erasure: the conversation takes its evaluations with it, and tasks in work; other conversations and the facts stay.
SET ROLE regress_facts_a;
SELECT reground.evaluate_factuality(regress.turn('facts-1', 1), 'tea', 'splitter', 'judge of facts') > 0 AS eight;
RESET ROLE;
SET ROLE regress_facts_worker;
SELECT task_id, lease_token FROM reground.claim_tasks('psql', '{decompose}') \gset
RESET ROLE;
SET ROLE regress_facts_a;
SELECT * FROM reground.forget_conversation('facts-1') WHERE relation::text ~ 'fact|decomp|task';
SELECT conversation_ref, question_ref FROM measured;
SELECT count(*) FROM reground.factuality_verdicts AS v WHERE NOT EXISTS (SELECT FROM reground.factuality AS f WHERE f.evaluation_id = v.evaluation_id);
RESET ROLE;
SET ROLE regress_facts_worker;
SELECT state, regexp_replace(message, '\d+', 'N') AS message FROM regress.refusal(format($$SELECT reground.complete_task(%s, %L, '{"content": "{\"statements\": []}"}')$$, :task_id, :'lease_token'));
RESET ROLE;
SET ROLE regress_facts_admin;
SELECT * FROM reground.forget_tenant('regress_facts_a') WHERE relation::text ~ 'fact|gold|decomp|task|usage';
SELECT * FROM reground.forget_tenant('regress_facts_b');
SELECT reground.drop_model('splitter'), reground.drop_model('judge of facts');
RESET ROLE;
SELECT count(*) FROM reground.factuality_evaluations;
DROP OWNED BY regress_facts_a, regress_facts_b, regress_facts_admin, regress_facts_auditor, regress_facts_worker;
DROP ROLE regress_facts_a, regress_facts_b, regress_facts_admin, regress_facts_auditor, regress_facts_worker;
