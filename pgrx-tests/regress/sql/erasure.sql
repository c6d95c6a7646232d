-- Erasure on request: the content to erase is gone everywhere, and nothing else changes.
CREATE SCHEMA erasure;
SET search_path = erasure, public;
SELECT reground.create_corpus('erasure', schema => 'erasure');
SELECT (reground.put_document('erasure', 'tea', passages => '[{"content": "Green tea steeps for two minutes.", "page_start": 1}, {"content": "Black tea steeps for four minutes.", "page_start": 2}]', title => 'Tea', uri => 'https://farm.example/tea')).version;
SELECT (reground.put_document('erasure', 'rye', content => 'Rye bread rises slowly in the cold.')).version;
SELECT reground.set_model('erasure splitter', 'decompose', 'openai'), reground.set_model('erasure checker', 'entail', 'openai'), reground.put_gold_facts('erasure', '{Tea steeps.}');
-- Evaluates the current answer of a turn, and labels the evaluation. The tasks of the verdicts stay in the queue.
CREATE PROCEDURE evaluate(turn_id bigint) LANGUAGE plpgsql AS $$
DECLARE
    evaluation bigint = reground.evaluate_factuality(turn_id, 'erasure', 'erasure splitter', 'erasure checker');
BEGIN
    PERFORM reground.complete_task(c.task_id, c.lease_token, '{"content": "{\"statements\": [\"Green tea steeps.\"]}"}') FROM reground.claim_tasks('psql', models => '{erasure splitter}') AS c;
    PERFORM reground.label_decomposition(evaluation, 1, 0), reground.label_verdict(verdict_id, 'entailed') FROM reground.factuality_verdicts AS v WHERE v.evaluation_id = evaluation;
END
$$;
SELECT reground.set_model('erasure judge', 'judge', 'openai'), reground.set_judging('erasure judge');

-- Two equal conversations with rows in every table.
CREATE PROCEDURE talk(conversation text) LANGUAGE plpgsql AS $$
DECLARE
    settings jsonb = '{"provenance": "merkle", "merge_adjacent": false}';
    citation bigint;
BEGIN
    PERFORM FROM reground.begin_turn(conversation, 'How long does green tea steep?', 'erasure', settings => settings);
    PERFORM FROM reground.end_turn(regress.turn(conversation), 'Green tea steeps for three minutes [A1].', 'm1');
    PERFORM FROM reground.end_turn(regress.turn(conversation), 'Green tea steeps for two minutes [A1].', 'm2');
    SELECT max(citation_id) INTO citation FROM reground.message_citations;
    PERFORM reground.label_citation(citation, 'accurate', 'as it says');
    PERFORM reground.report_citation(citation, 'I do not like tea');
    CALL erasure.evaluate(regress.turn(conversation));
    -- One vote of three; the tasks of the others wait.
    PERFORM reground.queue_judgements('erasure judge', citation_ids => ARRAY[citation]);
    PERFORM reground.complete_task(t.task_id, t.lease_token, '{"probability": 0.9}') FROM reground.claim_tasks('worker', models => '{erasure judge}', max_tasks => 1) AS t;
    PERFORM FROM reground.begin_turn(conversation, 'And how does bread rise?', 'erasure', settings => settings || '{"reranker": "deferred"}');
    PERFORM FROM reground.apply_rerank(regress.turn(conversation), '[{"index": 0, "content": "Rye bread rises slowly, they say.", "score": 1}]');
    PERFORM FROM reground.shadow_turn(regress.turn(conversation), '{"candidates": 3}');
    PERFORM FROM reground.retrieve(regress.turn(conversation), 'black tea');
    PERFORM FROM reground.end_turn(regress.turn(conversation), 'Rye bread rises slowly [B1]. Elephants never forget a face.');
    PERFORM FROM reground.repair_answer((SELECT m.message_id FROM reground.messages AS m WHERE m.turn_id = regress.turn(conversation) AND NOT m.superseded), 'mark');
    PERFORM FROM reground.begin_turn(conversation, 'And toast?', 'erasure', settings => settings);
END
$$;
CALL talk('erasure-1');
CALL talk('erasure-2');
-- Rows that retention leaves.
INSERT INTO reground.turn_archive (turn_id, tenant, conversation_ref, turn_no, corpus, begun_at, candidate_count, source_count)
SELECT t.turn_id, t.tenant, v.conversation_ref, t.turn_no, t.corpus, t.begun_at, 0, 0 FROM reground.turns AS t JOIN reground.conversations AS v USING (conversation_id) WHERE v.conversation_ref ~ '^erasure-';
INSERT INTO reground.turn_archive (turn_id, tenant, conversation_ref, turn_no, corpus, begun_at, candidate_count, source_count) VALUES (-1, reground.current_tenant(), 'erasure-1', 9, 'erasure', now(), 0, 0);
INSERT INTO reground.chain_checkpoints (conversation_id, link_no, tenant, digest, linked_at) SELECT conversation_id, -link_no, tenant, digest, linked_at FROM reground.provenance_chain WHERE conversation_id IN (SELECT conversation_id FROM reground.conversations WHERE conversation_ref = 'erasure-1') AND link_no = 1;
SELECT reground.set_model('erasure', task => 'rerank', api => 'local');
INSERT INTO reground.model_tasks (tenant, kind, model, turn_id, subject) SELECT tenant, 'rerank', 'erasure', turn_id, 'candidates' FROM reground.turns WHERE turn_id IN (regress.turn('erasure-1'), regress.turn('erasure-2'));

-- Every table with rows of a conversation, found in the catalog, so that later tables are included. A partition is read through its
-- parent. A row belongs to a conversation by its conversation, turn, answer, citation, evaluation or statement.
CREATE TABLE things (conversation_ref text, thing text, id bigint, PRIMARY KEY (thing, id));
INSERT INTO things
SELECT v.conversation_ref, t.* FROM reground.conversations AS v CROSS JOIN LATERAL (
    SELECT 'conversation_id', v.conversation_id
    UNION ALL SELECT 'turn_id', turn_id FROM reground.turns AS t WHERE t.conversation_id = v.conversation_id
    UNION ALL SELECT 'message_id', message_id FROM reground.messages AS m WHERE m.conversation_id = v.conversation_id
    UNION ALL SELECT 'citation_id', citation_id FROM reground.message_citations AS c WHERE c.conversation_id = v.conversation_id
    UNION ALL SELECT 'evaluation_id', evaluation_id FROM reground.factuality AS f WHERE f.conversation_ref = v.conversation_ref
    UNION ALL SELECT 'verdict_id', verdict_id FROM reground.factuality_verdicts JOIN reground.factuality AS f USING (evaluation_id) WHERE f.conversation_ref = v.conversation_ref) AS t
WHERE v.conversation_ref IN ('erasure-1', 'erasure-2');
CREATE FUNCTION rows_of(conversation text) RETURNS TABLE (relation text, rows bigint) LANGUAGE plpgsql AS $$
DECLARE
    reference record;
BEGIN
    FOR reference IN
        SELECT c.relname, array_agg(a.attname::text) AS columns FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            AND a.attname IN ('conversation_id', 'turn_id', 'message_id', 'citation_id', 'evaluation_id', 'verdict_id') AND NOT a.attisdropped GROUP BY 1
    LOOP
        relation := reference.relname;
        EXECUTE format('SELECT count(*) FROM reground.%I AS x WHERE EXISTS (SELECT FROM erasure.things AS t WHERE t.conversation_ref = %L AND (t.thing, t.id) IN (%s))',
            relation, conversation, (SELECT string_agg(format('(%L, x.%I)', name, name), ', ') FROM unnest(reference.columns) AS name)) INTO rows;
        RETURN NEXT;
    END LOOP;
END
$$;
CREATE TABLE before AS SELECT 'erasure-1' AS conversation_ref, * FROM rows_of('erasure-1') UNION ALL SELECT 'erasure-2', * FROM rows_of('erasure-2');
SELECT relation AS "without a row to erase" FROM before WHERE rows = 0 AND conversation_ref = 'erasure-1';
CREATE TABLE rolled AS SELECT coalesce(sum(answers), 0) AS answers FROM reground.answer_rollup WHERE corpus = 'erasure';

-- The receipt counts the erased rows of every table.
CREATE TABLE receipt AS SELECT * FROM reground.forget_conversation('erasure-1');
SELECT relation, erased > 0 AS erased, redacted FROM receipt ORDER BY relation::text COLLATE "C";
SELECT b.relation, b.rows, r.erased FROM before AS b FULL JOIN receipt AS r ON r.relation = format('reground.%I', b.relation)::regclass
WHERE b.rows + (b.relation = 'turn_archive')::integer IS DISTINCT FROM r.erased AND b.conversation_ref = 'erasure-1';
SELECT * FROM rows_of('erasure-1') WHERE rows > 0;
SELECT b.relation FROM before AS b JOIN rows_of('erasure-2') AS n USING (relation) WHERE b.conversation_ref = 'erasure-2' AND n.rows <> b.rows;
SELECT count(*) FROM reground.turn_archive WHERE conversation_ref = 'erasure-1';
SELECT status, count(*) FROM reground.verify_chain('erasure-2') GROUP BY 1;
-- Answers in the queue were counted first: the answers in force, not the superseded ones.
SELECT sum(a.answers) - (SELECT answers FROM rolled) AS counted FROM reground.answer_rollup AS a WHERE corpus = 'erasure';
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_conversation('erasure-1')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_conversation(NULL)$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_conversation('')$$);
-- A new conversation may use the same name.
SELECT marker FROM reground.begin_turn('erasure-1', 'And bread?', 'erasure', settings => '{"max_sources": 1}');
SELECT turn_no FROM reground.turns WHERE turn_id = regress.turn('erasure-1');

-- A document: its text is removed from all rows of conversations; questions and answers belong to the conversation and stay.
CREATE ROLE regress_erasure_a IN ROLE reground_user;
CREATE ROLE regress_erasure_b IN ROLE reground_user;
CREATE ROLE regress_erasure_admin IN ROLE reground_admin;
GRANT USAGE ON SCHEMA erasure, regress TO regress_erasure_a, regress_erasure_b, regress_erasure_admin;
GRANT SELECT ON erasure.erasure, erasure.erasure_documents TO regress_erasure_a, regress_erasure_b, regress_erasure_admin;
GRANT SELECT ON reground.shadow_turns TO regress_erasure_a, regress_erasure_b;
SELECT (reground.put_document('erasure', 'sencha', passages => '[{"content": "Xylosencha steeps for 2 minutes.", "page_start": 1, "metadata": {"author": "Xylograph"}}, {"content": "Xylogyokuro steeps longer.", "page_start": 2}]', title => 'Xylotitle', uri => 'https://xylo.example/tea')).version;
SELECT (reground.put_document('erasure', 'sencha', passages => '[{"content": "Xylosencha steeps for 3 minutes.", "page_start": 1, "metadata": {"author": "Xylograph"}}, {"content": "Xylogyokuro steeps longer.", "page_start": 2}]', title => 'Xylotitle', uri => 'https://xylo.example/tea')).version;
SELECT added FROM reground.put_edges('erasure', (SELECT jsonb_build_array(jsonb_build_object('source', 'Xylosencha', 'target', 'tea', 'chunk_id', min(chunk_id)::text)) FROM erasure WHERE doc_id = 'sencha'));
CREATE PROCEDURE drink(conversation text) LANGUAGE plpgsql AS $$
DECLARE
    settings jsonb = '{"provenance": "merkle", "merge_adjacent": false}';
BEGIN
    PERFORM reground.pin(conversation, doc_id => 'sencha', corpus => 'erasure');
    PERFORM FROM reground.begin_turn(conversation, 'How long does it steep?', 'erasure', settings => settings);
    PERFORM FROM reground.end_turn(regress.turn(conversation), 'It steeps for 5 minutes [A1], others for more [B1].', 'm1');
    PERFORM FROM reground.repair_answer((SELECT m.message_id FROM reground.messages AS m WHERE m.turn_id = regress.turn(conversation) AND NOT m.superseded), 'mark');
    PERFORM FROM reground.end_turn(regress.turn(conversation, 1), 'It steeps for minutes.', 'm2',
        citations => '[{"type": "text", "text": "It steeps for minutes.", "citations": [{"type": "char_location", "cited_text": "Xylosencha steeps for 3 minutes.", "document_index": 0, "document_title": "Xylotitle", "start_char_index": 0, "end_char_index": 5}]}]');
    PERFORM FROM reground.begin_turn(conversation, 'How does rye bread rise?', 'erasure', settings => settings || '{"max_sources": 1, "carry_over": false, "max_pinned": 0}');
    PERFORM FROM reground.retrieve(regress.turn(conversation), 'what steeps longer?');
    PERFORM FROM reground.add_passages(regress.turn(conversation), '[{"content": "Xylophones are no tea.", "doc_id": "phone", "title": "Xylomusic", "uri": "https://xylo.example/phone"}, {"content": "Drums are no tea.", "doc_id": "drum"}]');
    PERFORM FROM reground.begin_turn(conversation, 'And what steeps longer?', 'erasure', settings => settings || '{"reranker": "deferred"}');
    PERFORM FROM reground.shadow_turn(regress.turn(conversation), '{"candidates": 3}');
END
$$;
-- Tables that contain a text: those of the extension, found in the catalog, and those of the corpus.
CREATE FUNCTION holds(pattern text, of_tenant text DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    name text;
    found boolean;
BEGIN
    FOR name IN SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.relnamespace IN ('reground'::regnamespace, 'erasure'::regnamespace) AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY c.oid::regclass::text COLLATE "C" LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s AS x WHERE to_jsonb(x)::text ~ $1 AND ($2 IS NULL OR to_jsonb(x) ->> ''tenant'' = $2))', name) INTO found USING pattern, of_tenant;
        IF found THEN
            RETURN NEXT name;
        END IF;
    END LOOP;
END
$$;
SET ROLE regress_erasure_a;
CALL drink('tea');
SET ROLE regress_erasure_b;
CALL drink('tea');
RESET ROLE;
SELECT * FROM holds('(?i)xylo');
SELECT v.tenant, v.status, count(*) FROM reground.verify_chain('tea') AS v GROUP BY 1, 2 ORDER BY 1, 2;
CREATE TABLE verdicts AS SELECT citation_id, status, holds, score, support, locator, source_hash, quote_start FROM reground.message_citations;

-- A tenant cannot erase a shared document; only the copies in its own conversations are removed.
SET ROLE regress_erasure_a;
SELECT * FROM reground.forget_document('erasure', 'sencha');
SELECT * FROM reground.forget_document('erasure', 'sencha');
-- Passages of a tool belong to no corpus.
SELECT * FROM reground.forget_document('', 'phone');
RESET ROLE;
SELECT * FROM holds('(?i)xylo', 'regress_erasure_a');
SELECT * FROM holds('(?i)xylo');
SELECT v.tenant, v.kind, v.turn_no, v.status, v.detail FROM reground.verify_chain('tea') AS v ORDER BY v.tenant, v.link_no;
SELECT citation_id FROM verdicts EXCEPT SELECT n.citation_id FROM reground.message_citations AS n JOIN verdicts AS v USING (citation_id)
WHERE (n.status, n.holds, n.score, n.support, n.locator, n.source_hash, n.quote_start) IS NOT DISTINCT FROM (v.status, v.holds, v.score, v.support, v.locator, v.source_hash, v.quote_start);
SET ROLE regress_erasure_a;
-- The open turn continues without the document; given answers stay and are returned again.
SELECT doc_id FROM reground.apply_rerank(regress.turn('tea', 3), '[{"index": 0, "content": "Something like it.", "score": 1}]') WHERE doc_id = 'sencha';
SELECT message_id IS NOT NULL AS told, quote FROM reground.end_turn(regress.turn('tea', 1), 'It steeps for 5 minutes [A1], others for more [B1].', 'm1');
SELECT answer FROM reground.messages ORDER BY message_id;
RESET ROLE;
SELECT doc_id, stored_hash IS NOT NULL AS hashed, content_state FROM reground.verify_turn((SELECT min(turn_id) FROM reground.turns WHERE tenant = 'regress_erasure_a')) WHERE doc_id = 'sencha';

-- reground_admin erases a document for all tenants, and needs the privilege to delete it.
SET ROLE regress_erasure_admin;
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_document('erasure', 'sencha')$$);
RESET ROLE;
GRANT DELETE ON erasure.erasure, erasure.erasure_documents TO regress_erasure_admin;
GRANT SELECT, DELETE ON erasure.erasure_history TO regress_erasure_admin;
SET ROLE regress_erasure_admin;
SELECT * FROM reground.forget_document('erasure', 'sencha');
SELECT * FROM reground.forget_document('erasure', 'sencha');
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_document('no such', 'sencha')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_document('', 'phone')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_document(NULL, 'sencha')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_document('erasure', NULL)$$);
SET ROLE regress_erasure_b;
SELECT relation, redacted FROM reground.forget_document('', 'phone');
RESET ROLE;
SELECT * FROM holds('(?i)xylo');
SELECT status, count(*) FROM reground.verify_chain('erasure-2') GROUP BY 1 ORDER BY 1;
SELECT v.tenant, v.kind, v.turn_no, v.status FROM reground.verify_chain('tea') AS v ORDER BY v.tenant, v.link_no;

-- The application changes its own table itself. A corpus that is no longer registered has records, too.
CREATE TABLE pages (id integer PRIMARY KEY, body text);
INSERT INTO pages VALUES (1, 'Yttriumzebras graze on dry grass.');
SELECT reground.add_corpus('erasure pages', 'pages', 'id', 'body');
SELECT marker FROM reground.begin_turn('erasure-3', 'who grazes on grass?', 'erasure pages');
SELECT * FROM reground.forget_document('erasure pages', '1');
SELECT * FROM holds('(?i)yttrium');
SELECT marker FROM reground.begin_turn('erasure-4', 'what does graze?', 'erasure pages');
SELECT reground.drop_corpus('erasure pages');
SELECT relation, redacted FROM reground.forget_document('erasure pages', '1');

-- A tenant: no row of it is left in any table with a tenant column; rows of others do not change.
SET ROLE regress_erasure_a;
SELECT reground.put_probe('mine', 'erasure', 'milk', 'rye');
SELECT found FROM reground.run_probes();
SELECT reground.pin('tea', doc_id => 'rye', corpus => 'erasure');
SELECT reground.report_citation((SELECT min(citation_id) FROM reground.message_citations), 'no');
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_tenant('regress_erasure_b')$$);
SELECT reground.put_gold_facts('erasure', '{Tea steeps.}');
SELECT reground.evaluate_factuality(regress.turn('tea', 1), 'erasure', 'erasure splitter', 'erasure checker') > 0 AS evaluated;
RESET ROLE;
SELECT reground.complete_task(c.task_id, c.lease_token, '{"content": "{\"statements\": [\"It steeps.\"]}"}') FROM reground.claim_tasks('psql', models => '{erasure splitter}') AS c;
SELECT reground.label_decomposition(v.evaluation_id, 1, 0), reground.label_verdict(v.verdict_id, 'entailed') FROM reground.factuality_verdicts AS v WHERE v.tenant = 'regress_erasure_a' AND v.side = 'answer';
SELECT reground.create_corpus('erasure own', schema => 'erasure', tenant => 'regress_erasure_a');
GRANT SELECT, INSERT, UPDATE, DELETE ON "erasure own", "erasure own_documents", "erasure own_history" TO regress_erasure_a;
SET ROLE regress_erasure_a;
SELECT (reground.put_document('erasure own', 'rye', content => 'Rye bread rises slowly.')).version;
SELECT added FROM reground.put_edges('erasure own', '[{"source": "Rye", "target": "bread", "chunk_id": "1"}]');
RESET ROLE;
SELECT reground.refresh_audit() > 0 AS counted;
SELECT error FROM reground.run_maintenance('check_coordinates');
INSERT INTO reground.alert_baselines (tenant, corpus, cfs_p5, answers, since, until) VALUES ('regress_erasure_a', 'erasure own', 1, 1, now(), now());
INSERT INTO reground.alerts (rule, tenant, corpus, state, severity, indicator, value, threshold, samples, since, first_bad_hour) VALUES ('r', 'regress_erasure_a', 'erasure own', 'resolved', 'warning', 'cfs_p5', 0, 1, 1, now(), now());
INSERT INTO reground.rollup_queue (tenant, message_id, change) VALUES ('regress_erasure_a', -1, 1);
INSERT INTO reground.chain_checkpoints (conversation_id, link_no, tenant, digest, linked_at) VALUES (-1, 1, 'regress_erasure_a', '', now());
INSERT INTO reground.turn_archive (turn_id, tenant, conversation_ref, turn_no, corpus, begun_at, candidate_count, source_count) VALUES (-2, 'regress_erasure_a', 'gone', 9, 'erasure', now(), 0, 0);
INSERT INTO reground.model_tasks (tenant, kind, model, corpus_id, subject) SELECT tenant, 'embed', 'erasure', corpus_id, '1' FROM reground.corpora WHERE corpus = 'erasure own';
INSERT INTO reground.model_usage (hour, model, worker, tenant, tasks) VALUES (now(), 'erasure', 'w', 'regress_erasure_a', 1);
SELECT reground.label_citation((SELECT min(citation_id) FROM reground.message_citations WHERE tenant = 'regress_erasure_a'), 'accurate');
SELECT reground.set_judging('erasure judge', tenant => 'regress_erasure_a');
INSERT INTO reground.judge_votes (citation_id, model, prompt, vote_no, tenant, verdict, confidence, deterministic) SELECT min(citation_id), 'erasure judge', 'p', 1, 'regress_erasure_a', 'accurate', 1, false FROM reground.message_citations WHERE tenant = 'regress_erasure_a';
INSERT INTO reground.model_tasks (tenant, kind, model, turn_id, subject) SELECT 'regress_erasure_a', 'judge', 'erasure judge', max(turn_id), '-1/1' FROM reground.turns WHERE tenant = 'regress_erasure_a';
INSERT INTO reground.model_usage (hour, model, worker, tenant) VALUES (now(), 'erasure judge', 'worker', 'regress_erasure_a');
INSERT INTO reground.tenant_keys (tenant, wrapped) VALUES ('regress_erasure_a', 'x');
INSERT INTO reground.synchronised_tables (corpus_id, tenant, source, columns, mode)
SELECT corpus_id, tenant, '"erasure own"'::regclass, '{"key": "id", "content": "body"}', 'queued' FROM reground.corpora WHERE corpus = 'erasure own';
INSERT INTO reground.sync_queue (tenant, corpus_id, doc_id) SELECT tenant, corpus_id, 'rye' FROM reground.corpora WHERE corpus = 'erasure own';
CREATE FUNCTION rows_of_tenants() RETURNS TABLE (relation text, tenant text, rows bigint) LANGUAGE plpgsql AS $$
BEGIN
    FOR relation IN
        SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attname = 'tenant' AND NOT a.attisdropped
    LOOP
        RETURN QUERY EXECUTE format('SELECT %L, t.tenant, (SELECT count(*) FROM reground.%I AS x WHERE x.tenant = t.tenant) FROM (VALUES (''regress_erasure_a''), (''regress_erasure_b'')) AS t(tenant)', relation, relation);
    END LOOP;
END
$$;
CREATE TABLE before_tenant AS SELECT * FROM rows_of_tenants();
SELECT relation AS "without a row to erase" FROM before_tenant WHERE tenant = 'regress_erasure_a' AND rows = 0 ORDER BY 1;
SET ROLE regress_erasure_admin;
CREATE TEMPORARY TABLE receipt_of_tenant AS SELECT * FROM reground.forget_tenant('regress_erasure_a');
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_tenant('regress_erasure_a')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_tenant(NULL)$$);
RESET ROLE;
SELECT b.relation, b.rows, r.erased, r.redacted FROM before_tenant AS b LEFT JOIN receipt_of_tenant AS r ON r.relation = format('reground.%I', b.relation)::regclass
WHERE b.tenant = 'regress_erasure_a' AND (b.rows, 0) IS DISTINCT FROM (coalesce(r.erased, 0), coalesce(r.redacted, 0));
SELECT n.relation, n.tenant FROM rows_of_tenants() AS n JOIN before_tenant AS b USING (relation, tenant) WHERE n.rows <> CASE n.tenant WHEN 'regress_erasure_b' THEN b.rows ELSE 0 END;
DROP OWNED BY regress_erasure_a, regress_erasure_b, regress_erasure_admin;
DROP ROLE regress_erasure_a, regress_erasure_b, regress_erasure_admin;
SELECT reground.drop_corpus('erasure', true);
SELECT reground.drop_model('erasure'), reground.drop_model('erasure splitter'), reground.drop_model('erasure checker');

-- store_answers hash: the citations are returned once, and no word of the answer is stored.
SELECT reground.create_corpus('erasure hash', schema => 'erasure', settings => '{"store_answers": "hash", "provenance": "merkle"}');
SELECT (reground.put_document('erasure hash', 'oats', content => 'Oats are rolled flat before they dry.', title => 'Oats')).version;
SELECT marker FROM reground.begin_turn('hash', 'What happens to oats?', 'erasure hash');
CREATE TABLE told AS SELECT * FROM reground.end_turn(regress.turn('hash'), 'Zyxquaker oats are rolled flat before 99 of them dry [A1]. Zyxmills say so (Zyxsmith, 2020) [Z9].', 'm1');
SELECT marker, raw, status, claim, quote, support_parts ->> 'numbers_missing' AS numbers FROM told ORDER BY citation_id;
-- The same call again returns the same message without the words.
CREATE TABLE again AS SELECT * FROM reground.end_turn(regress.turn('hash'), 'Zyxquaker oats are rolled flat before 99 of them dry [A1]. Zyxmills say so (Zyxsmith, 2020) [Z9].', 'm1');
SELECT marker, raw, status, claim, quote, (SELECT array_agg(k ORDER BY k) FROM jsonb_object_keys(support_parts) AS k) AS parts FROM again ORDER BY citation_id;
SELECT count(*) AS "told otherwise" FROM (SELECT to_jsonb(t) - ARRAY['raw', 'claim', 'quote', 'support_parts'] FROM told AS t EXCEPT SELECT to_jsonb(t) - ARRAY['raw', 'claim', 'quote', 'support_parts'] FROM again AS t) AS x;
SELECT * FROM regress.refusal($$SELECT * FROM reground.end_turn(regress.turn('hash'), 'Oats.', 'm1')$$);
DROP TABLE told, again;
SELECT * FROM holds('(?i)zyx');
SELECT answer, answer_hash = encode(sha256(convert_to('Zyxquaker oats are rolled flat before 99 of them dry [A1]. Zyxmills say so (Zyxsmith, 2020) [Z9].', 'UTF8')), 'hex') AS hashed, answer_tokens > 0 AS counted, citation_count FROM reground.messages WHERE turn_id = regress.turn('hash');
-- Citations of an API are recognised again by their hash.
SELECT marker FROM reground.begin_turn('hash', 'And what are they?');
CREATE TABLE message AS SELECT '[{"type": "text", "text": "Zyxrolled flat.", "citations": [{"type": "char_location", "cited_text": "Oats are rolled flat", "document_index": 0, "document_title": "Oats", "start_char_index": 0, "end_char_index": 20}]}]'::jsonb AS citations;
SELECT m.claim, m.quote FROM message AS x, reground.end_turn(regress.turn('hash'), 'Zyxrolled flat.', citations => x.citations) AS m;
SELECT m.claim, m.quote FROM message AS x, reground.end_turn(regress.turn('hash'), 'Zyxrolled flat.', citations => x.citations) AS m;
SELECT count(*), count(citations) AS kept, count(citations_hash) AS hashed FROM reground.messages WHERE turn_id = regress.turn('hash');
DROP TABLE message;
SELECT * FROM holds('(?i)zyx');
SELECT status, count(*) FROM reground.verify_chain('hash') GROUP BY 1;
-- Functions that read answers report that the answer is not stored.
SELECT entry_no, turn_no, role, content, tokens FROM reground.history('hash', max_tokens => 1000);
SELECT count(*) FROM reground.answer_metrics((SELECT min(message_id) FROM reground.messages WHERE turn_id = regress.turn('hash', 1)));
SELECT reground.conversation_report('hash') ~ 'The answer was not stored' AS said;
SELECT claim, raw, quote FROM reground.sample_for_review(NULL) WHERE conversation_ref = 'hash' ORDER BY raw;
SELECT marker FROM reground.begin_turn('hash', 'Are they dry?', settings => '{"query_from": "dialogue"}');
SELECT marker FROM reground.begin_turn('hash', 'And then?', settings => '{"store_answers": "full"}');
SELECT marker, claim FROM reground.end_turn(regress.turn('hash'), 'They dry [A1].');
SELECT t.turn_no, m.answer FROM reground.messages AS m JOIN reground.turns AS t USING (turn_id) WHERE t.turn_id IN (regress.turn('hash'), regress.turn('hash', 1)) ORDER BY 1;
SELECT * FROM regress.refusal($$SELECT reground.alter_conversation('hash', '{"store_answers": "none"}')$$);
-- The same for a recorded answer of another system.
SELECT FROM reground.record_turn('hash recorded', 'What of oats?', 'Zyxoats are rolled [1].', '[{"content": "Oats are rolled flat."}]', settings => '{"store_answers": "hash"}');
SELECT m.answer, length(m.answer_hash) AS digits, m.citation_count FROM reground.messages AS m JOIN reground.conversations AS v USING (conversation_id) WHERE v.conversation_ref = 'hash recorded';
SELECT * FROM holds('(?i)zyx');
SELECT relation FROM reground.forget_conversation('hash recorded');
SELECT reground.drop_corpus('erasure hash', true);
-- A role that may not delete a document, or cannot see it, erases nothing of the corpus.
CREATE ROLE regress_erasure_c IN ROLE reground_user;
CREATE TABLE theirs (id integer PRIMARY KEY, doc text, body text);
INSERT INTO theirs VALUES (1, 'd1', 'Barley is malted.');
SELECT reground.add_corpus('their barley', 'theirs', chunk_id => 'id', content => 'body', doc_id => 'doc', tenant => 'regress_erasure_c');
GRANT USAGE ON SCHEMA erasure TO regress_erasure_c;
GRANT SELECT ON theirs TO regress_erasure_c;
SELECT reground.create_corpus('hidden barley', tenant => 'regress_erasure_c');
SET reground.tenant_from = 'app.t'; SET app.t = 'regress_erasure_c';
SELECT count(*) FROM reground.put_document('hidden barley', 'd1', content => 'Barley is hidden.', uri => 'https://barley.example');
RESET reground.tenant_from;
GRANT SELECT, DELETE ON "hidden barley", "hidden barley_documents", "hidden barley_history" TO regress_erasure_c;
ALTER TABLE "hidden barley" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "hidden barley_documents" ENABLE ROW LEVEL SECURITY;
SET ROLE regress_erasure_c;
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_document('their barley', 'd1')$$);
SELECT * FROM reground.forget_document('hidden barley', 'd1');
RESET ROLE;
SELECT uri, deleted_at IS NULL AS there FROM reground.documents WHERE doc_id = 'd1' AND uri LIKE '%barley%';
SET reground.tenant_from = 'app.t';
SELECT reground.drop_corpus('hidden barley', true), reground.drop_corpus('their barley');
RESET reground.tenant_from; RESET app.t;
DROP TABLE theirs;
DROP OWNED BY regress_erasure_c;
DROP ROLE regress_erasure_c;
-- The date of a passage is text, too.
SELECT reground.create_corpus('dates');
SELECT count(*) FROM reground.begin_turn('dated', 'hello', corpus => 'dates', settings => '{"strategy": "none"}');
SELECT marker FROM reground.add_passages(regress.turn('dated'), '[{"content": "Oats are rolled.", "doc_id": "p", "published": "Waldo Zyxroe, 1990"}]');
SELECT count(*) > 0 AS receipt FROM reground.forget_document('', 'p');
SELECT * FROM holds('Zyxroe');
SELECT count(*) AS again FROM reground.forget_document('', 'p');
SELECT relation FROM reground.forget_conversation('dated');
SELECT reground.drop_corpus('dates', true);
SELECT reground.drop_judging('erasure judge'), reground.drop_model('erasure judge');
