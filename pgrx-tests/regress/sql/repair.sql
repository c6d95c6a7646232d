-- Corrected answers: the three modes, what they store, and what they leave alone.
SELECT reground.create_corpus('guide');
SELECT count(*) FROM (VALUES ('backup', 'Backups run nightly and take 20 minutes.'), ('server', 'The server listens on port 5432 and writes a log.'),
    ('password', 'Passwords expire after ninety days unless the policy differs.')) AS v(doc_id, content)
    CROSS JOIN LATERAL reground.put_document('guide', v.doc_id, content => v.content);
\set passages '[{"content": "Backups run nightly and take 20 minutes.", "marker": "A1"}, {"content": "The server listens on port 5432 and writes a log.", "marker": "B1"}, {"content": "Passwords expire after ninety days unless the policy differs.", "marker": "C1"}]'

-- Without a turn.
SELECT mode, r.answer, r.change_no, r.change, r.reason, r.citation_no, r.sentence, r.before, r.after, r.marker, r.status_before, r.status_after, r.support_before < 0.4 AS failed, r.support_after > 0.6 AS supported
FROM unnest('{mark,repoint,strict}'::text[]) AS mode
    CROSS JOIN LATERAL reground.repair_text('Backups run nightly and take 20 minutes [B1]. The server listens on port 5432 [B1, Z9]. Passwords expire after ninety days. Elephants never forget a face [C1].',
        :'passages', mode, text_config => 'english') AS r ORDER BY mode = 'strict', mode, change_no;
-- The ranges are those of the texts.
WITH t AS (SELECT 'é Backups run nightly and take 20 minutes [B1]. Passwords expire after ninety days.' AS text)
SELECT r.before, substr(t.text, r.before_start + 1, r.before_end - r.before_start) AS in_answer, r.after, substr(max(r.answer) OVER (), r.after_start + 1, r.after_end - r.after_start) AS in_copy
FROM t, reground.repair_text(t.text, :'passages', text_config => 'english') AS r;
-- An answer with many changes is returned once.
SELECT count(*) AS changes, count(r.answer) AS answers, min(length(r.answer)) > 1200000 AS long
FROM reground.repair_text((SELECT string_agg('Elephants never forget ' || i || '.', ' ') FROM generate_series(1, 1000) AS i) || E'\n\n' || repeat('Is this a question that nobody asks? ', 32000), :'passages', 'mark', text_config => 'english') AS r;
-- Nothing to correct.
SELECT r.* FROM reground.repair_text('Backups run nightly [A1].', :'passages', text_config => 'english') AS r;
SELECT r.answer, r.change FROM reground.repair_text('', :'passages') AS r;
SELECT f.state, f.message, f.hint FROM unnest(ARRAY[$$SELECT reground.repair_text('a', '[]', 'none')$$, $$SELECT reground.repair_text('a', '[]', NULL)$$, $$SELECT reground.repair_text(NULL, '[]')$$, $$SELECT reground.repair_answer(NULL)$$, $$SELECT reground.repair_answer(0, 'none')$$,
    $$SELECT reground.repair_answer(0)$$, $$SELECT reground.repair_text('a', '[{}]')$$]) AS s, regress.refusal(s) AS f;

-- A stored answer. The original stays, and the copy has verdicts of its own.
SELECT marker, doc_id FROM reground.begin_turn('corrected', 'When do backups run, where does the server listen, and when do passwords expire?', corpus => 'guide') ORDER BY marker;
SELECT max(marker) FILTER (WHERE doc_id = 'backup') AS backup, max(marker) FILTER (WHERE doc_id = 'server') AS server, max(marker) FILTER (WHERE doc_id = 'password') AS password
    FROM reground.turn_sources(regress.turn('corrected')) \gset
SELECT format('Backups run nightly and take 20 minutes [%s]. The server listens on port 5432 [Z9]. Elephants never forget a face.', :'server') AS answer \gset
SELECT raw, status, best_other_marker = CASE citation_no WHEN 1 THEN :'backup' ELSE :'server' END AS is_best_other FROM reground.end_turn(regress.turn('corrected'), :'answer', model => 'm');
SELECT message_id AS original FROM reground.messages WHERE turn_id = regress.turn('corrected') \gset
SELECT r.message_id > :original AS copied, r.answer = format('Backups run nightly and take 20 minutes [%s]. The server listens on port 5432 [%s].', :'backup', :'server') AS corrected,
    r.change_no, r.change, r.reason, r.citation_no, r.marker IN (:'backup', :'server') AS marked, r.status_before, r.status_after
FROM reground.repair_answer(:original, 'strict') AS r;
CREATE TEMP TABLE first_rows AS SELECT r.* FROM reground.repair_answer(:original, 'strict') AS r;
SELECT count(*), count(DISTINCT message_id), (SELECT count(*) FROM reground.messages WHERE repair_of = :original) AS copies FROM (SELECT * FROM first_rows UNION SELECT r.* FROM reground.repair_answer(:original, 'strict') AS r) AS u;
SELECT message_id AS copy FROM first_rows LIMIT 1 \gset
SELECT m.message_id = :copy AS is_copy, m.repair_mode, m.model, m.superseded, m.decision, count(c.*) AS citations, count(*) FILTER (WHERE c.holds) AS holding
FROM reground.messages AS m LEFT JOIN reground.message_citations AS c USING (message_id) WHERE m.turn_id = regress.turn('corrected') GROUP BY m.message_id ORDER BY 1;
SELECT mode, changes, repointed, removed, added, marked, sentences_removed, citations_before, citations_after, holding_before, holding_after, decision_before, decision_after, grounded_cfs_after > grounded_cfs_before AS better
FROM reground.answer_repairs WHERE original_id = :original;
SELECT citation_no, status, quote IS NOT NULL AS quoted FROM reground.citation_evidence(:copy);
SELECT jsonb_array_length(reground.answer_parts(:copy, 'openai') #> '{0,annotations}') AS annotations;
-- The copy is in no figure, and does not become the answer of the turn.
SELECT count(*) FROM reground.citation_audit WHERE conversation_ref = 'corrected';
SELECT count(*), bool_and(message_id = :original) FROM reground.turn_audit WHERE conversation_ref = 'corrected';
SELECT count(*) FROM reground.answer_costs WHERE conversation_ref = 'corrected';
SELECT count(*) FROM reground.rollup_queue WHERE message_id = :copy;
SELECT strpos(reground.conversation_report('corrected'), 'Z9') > 0 AS has_original;
SELECT details ->> 'repair_of' = :'original' AS is_of_original FROM reground.provenance_nodes WHERE turn_id = regress.turn('corrected') AND kind = 'answer' ORDER BY 1;
SELECT count(*) FROM reground.end_turn(regress.turn('corrected'), :'answer', model => 'm');
BEGIN READ ONLY;
SELECT count(*) FROM reground.repair_answer(:original, 'strict');
SELECT f.state, f.message FROM regress.refusal(format('SELECT reground.repair_answer(%s, ''repoint'')', :original)) AS f;
COMMIT;
-- A report on the copy counts for the original.
SELECT reground.report_citation((SELECT min(citation_id) FROM reground.message_citations WHERE message_id = :copy), 'no'), reground.report_answer(:copy, 'no');
SELECT message_id = :original AS is_of_original FROM reground.citation_reports ORDER BY report_id DESC LIMIT 2;
SELECT f.state, f.message ~ 'is a corrected copy' AS named, f.hint ~ :'original' AS hinted FROM regress.refusal(format('SELECT reground.repair_answer(%s)', :copy)) AS f;
-- The default is repoint: the last sentence stays.
SELECT r.change, r.reason FROM reground.repair_answer(:original) AS r;
SELECT mode, changes FROM reground.answer_repairs WHERE original_id = :original ORDER BY 1;

-- The setting repair.
SELECT count(*) FROM reground.begin_turn('corrected', 'When do backups run?', settings => '{"repair": "mark"}');
SELECT count(*) FROM reground.end_turn(regress.turn('corrected'), format('Backups run nightly [%s]. Elephants never forget a face.', :'backup'));
SELECT r.answer = format('Backups run nightly [%s]. Elephants never forget a face [?].', :'backup') AS marked, o.mode, c.status, c.claim
FROM reground.answer_repairs AS o CROSS JOIN LATERAL (SELECT * FROM reground.repair_answer(o.original_id)) AS r JOIN reground.message_citations AS c ON c.message_id = o.message_id WHERE o.turn_no = 2 AND o.conversation_ref = 'corrected';
SELECT count(*) FROM reground.begin_turn('corrected', 'When do backups run?', settings => '{"repair": "mark", "store_answers": "hash", "provenance": "merkle"}');
SELECT count(*) FROM reground.end_turn(regress.turn('corrected'), 'Elephants never forget a face.');
SELECT m.answer, c.change, c.reason, c.sentence, c.before, c.after FROM reground.messages AS m JOIN reground.answer_changes AS c USING (message_id) WHERE m.turn_id = regress.turn('corrected');
SELECT r.answer, r.change FROM reground.repair_answer((SELECT repair_of FROM reground.messages WHERE turn_id = regress.turn('corrected') AND repair_of IS NOT NULL)) AS r;
SELECT f.state, f.hint FROM reground.messages AS m, regress.refusal(format('SELECT reground.repair_answer(%s, ''strict'')', m.message_id)) AS f WHERE m.turn_id = regress.turn('corrected') AND m.repair_of IS NULL;
SELECT kind, status FROM reground.verify_chain('corrected') ORDER BY link_no;
-- A new answer of the turn leaves the copies of the old one alone.
SELECT count(*) FROM reground.end_turn(regress.turn('corrected', 2), 'I do not know.', message_ref => 'again');
SELECT m.message_ref, m.repair_mode, m.superseded FROM reground.messages AS m WHERE m.turn_id = regress.turn('corrected', 2) ORDER BY m.message_id;
-- The final texts of a stream are the corrected answer.
SELECT count(*) FROM reground.begin_turn('corrected', 'When do backups run?', settings => '{"repair": "strict"}');
CREATE FUNCTION pg_temp.streamed(turn_id bigint, answer text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    fed record;
    kept text = '';
    position text;
BEGIN
    FOR length IN 1 .. length(answer) LOOP
        SELECT * INTO fed FROM reground.feed_answer(turn_id, substr(answer, 1, length), resume_from => position) LIMIT 1;
        kept = kept || fed.final_text;
        position = fed.resume;
    END LOOP;
    SELECT * INTO fed FROM reground.feed_answer(turn_id, answer, true, position) LIMIT 1;
    RETURN kept || fed.final_text;
END
$$;
SELECT format(E'Backups run nightly and take 20 minutes [Z9]. Elephants never forget a face.\n\n- The server listens on port 5432.\n- Lions roar [%1$s].\n\nPasswords expire after ninety days, see [Z8].\n\nSources: [%1$s], [Z9]\n', :'backup') AS answer \gset
SELECT pg_temp.streamed(regress.turn('corrected'), :'answer') AS streamed \gset
SELECT count(*) FROM reground.end_turn(regress.turn('corrected'), :'answer');
SELECT r.answer = :'streamed' AS same, r.answer <> :'answer' AS corrected FROM reground.messages AS m, reground.repair_answer(m.message_id) AS r WHERE m.turn_id = regress.turn('corrected') AND NOT m.superseded LIMIT 1;
-- Citations of an API have no string.
SELECT count(*) FROM reground.begin_turn('corrected', 'When do backups run?', settings => '{"repair": "strict"}');
SELECT count(*) FROM reground.end_turn(regress.turn('corrected'), 'Elephants never forget.', citations => '[{"type": "url_citation", "start_index": 0, "end_index": 9, "url": "http://x.y"}]');
SELECT r.change FROM reground.repair_answer((SELECT message_id FROM reground.messages WHERE turn_id = regress.turn('corrected'))) AS r;
-- Recorded answers.
SELECT count(*) FROM reground.record_turn('recorded', 'When do backups run?', 'Backups run nightly and take 20 minutes [2].', passages => :'passages', text_config => 'english');
SELECT r.answer, r.change, m.origin FROM reground.messages AS m, reground.repair_answer(m.message_id) AS r WHERE m.turn_id = regress.turn('recorded') AND m.repair_of IS NULL;
-- Another tenant sees none.
CREATE ROLE regress_mender;
GRANT reground_user TO regress_mender;
GRANT USAGE ON SCHEMA regress TO regress_mender;
SET ROLE regress_mender;
SELECT f.state FROM regress.refusal(format('SELECT reground.repair_answer(%s)', :original)) AS f;
SELECT count(*) FROM reground.answer_changes;
RESET ROLE;
