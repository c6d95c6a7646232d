-- Sealed sources: what is stored, who reads it, rotation, another master key, and destroyed keys.
-- Functions and views return the same for a tenant with and without a key; scripts/test-sealing.sh compares them on many rows.

CREATE SCHEMA keys;
SET search_path = keys, public;
SET reground.tenant_from = 'app.tenant_id';
SET app.tenant_id = 'regress_keys';
SELECT reground.create_corpus('keys', schema => 'keys');
SELECT count(*) FROM reground.put_document('keys', 'cows', title => 'Cows, secretly', uri => 'https://zqfarm.example/cows.pdf', passages => '[{"content": "Cows give milk.", "page_start": 7, "page_end": 8}]');
-- Words of the source in our tables.
CREATE VIEW plain AS
    SELECT 'turns' AS relation, count(*) FROM reground.turns AS t WHERE t::text ~ 'secretly|zqfarm|give milk|"pages": \{' AND t.tenant = 'regress_keys'
    UNION ALL SELECT 'markers', count(*) FROM reground.conversation_markers AS t WHERE (t::text ~ 'secretly|zqfarm' OR t.page_start IS NOT NULL) AND t.tenant = 'regress_keys'
    UNION ALL SELECT 'citations', count(*) FROM reground.message_citations AS t WHERE concat(t.title, t.uri, t.locator, t.quote, t.fact_summary) ~ 'secretly|zqfarm|pp[.]|give milk' AND t.tenant = 'regress_keys'
    UNION ALL SELECT 'messages', count(*) FROM reground.messages AS t WHERE t.citations::text ~ 'give milk' AND t.tenant = 'regress_keys'
    UNION ALL SELECT 'votes', count(*) FROM reground.judge_votes AS t WHERE t.passage ~ 'give milk' AND t.tenant = 'regress_keys';
CREATE VIEW shown AS
    SELECT c.conversation_ref, c.title, c.uri, c.locator, c.quote FROM reground.citation_audit AS c WHERE c.tenant = 'regress_keys' AND c.marker = 'A1' ORDER BY c.citation_id;
-- One conversation: an answer with a marker, one with citations of an API, and a vote.
CREATE PROCEDURE talk(name text) LANGUAGE plpgsql AS $$
DECLARE
    turn bigint;
    answer bigint;
BEGIN
    turn := (SELECT max(turn_id) FROM reground.begin_turn(name, 'what do cows give?', 'keys', settings => '{"provenance": "merkle"}'));
    answer := (SELECT max(message_id) FROM reground.end_turn(turn, 'They give milk [A1].'));
    turn := (SELECT max(turn_id) FROM reground.begin_turn(name, 'and what else do cows give?', 'keys', settings => '{"provenance": "merkle"}'));
    PERFORM reground.end_turn(turn, 'They give milk.',
        citations => '[{"type": "text", "text": "They give milk.", "citations": [{"type": "char_location", "cited_text": "Cows give milk.", "document_index": 0, "start_char_index": 0, "end_char_index": 15}]}]');
    INSERT INTO reground.judge_votes (citation_id, model, prompt, vote_no, tenant, verdict, confidence, passage, deterministic)
    SELECT min(citation_id), 'm', 'p', 1, 'regress_keys', 'accurate', 1, 'Cows give milk.', true FROM reground.message_citations WHERE message_id = answer;
END
$$;

-- Without a key, everything is stored as it is.
CALL talk('before');
SELECT * FROM plain;
SELECT * FROM shown;
SELECT count(*) FROM reground.tenant_keys;

-- A session with a master key does not store plain values, and a member of reground_admin makes the first key.
SELECT count(set_config('reground.master_key', repeat('5', 64), false));
SELECT r.* FROM regress.refusal($$CALL keys.talk('after')$$) AS r;
SELECT reground.rotate_tenant_key('regress_keys_b') > 0 AS made;
-- With the master key, a key is made at once, and what is stored is sealed, except the votes, which this test writes itself.
CALL talk('after');
SELECT tenant, wrapped IS NOT NULL AS wrapped, length(wrapped) AS bytes, sealed_at IS NOT NULL AS all_sealed FROM reground.tenant_keys ORDER BY key_id;
SELECT * FROM plain;
SELECT * FROM shown;
-- An address keeps the extension of its file, so that rates by type need no key.
SELECT t.uri ~ '^sealed:\d+:[\w-]+\.pdf$' AS sealed, reground._document_type(t.uri, t.doc_id) FROM reground.message_citations AS t JOIN reground.conversations AS v USING (conversation_id) WHERE v.conversation_ref = 'after' AND t.marker = 'A1';
SELECT locator, content FROM reground.turn_sources((SELECT max(turn_id) FROM reground.turns WHERE tenant = 'regress_keys'));
SELECT status FROM reground.verify_chain('after');

-- The task seals what was stored before. The hash chain is that of the plain values.
SELECT task, error FROM reground.run_maintenance('seal_rows');
SELECT * FROM plain;
SELECT * FROM shown;
SELECT status FROM reground.verify_chain('before');
SELECT tenant, sealed_at IS NOT NULL AS all_sealed, sealed_until FROM reground.tenant_keys ORDER BY key_id;
SELECT processed FROM reground.run_maintenance('seal_rows');

-- Without the master key, views and reports say so, and functions refuse.
RESET reground.master_key;
SELECT * FROM shown;
SELECT fact FROM reground.source_facts WHERE tenant = 'regress_keys';
SELECT title FROM reground.source_usage() WHERE corpus = 'keys';
SELECT DISTINCT passage FROM reground.judge_verdicts WHERE tenant = 'regress_keys';
SELECT details -> 'title' AS title, details -> 'page_start' AS page, locator FROM reground.provenance_nodes WHERE tenant = 'regress_keys' AND kind = 'context';
SELECT reground.conversation_report('after') ~ 'sealed' AS sealed, reground.conversation_report('after') ~ 'secretly|zqfarm' AS plain;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.begin_turn('after', 'and then?', 'keys')$$, $$SELECT reground.begin_turn('new', 'and then?', 'keys')$$,
    $$SELECT reground.prompt_context((SELECT max(turn_id) FROM reground.turns WHERE tenant = 'regress_keys'))$$, $$SELECT reground.verify_chain('after')$$,
    $$SELECT reground.rotate_tenant_key()$$, $$SELECT reground.change_master_key(repeat('6', 64))$$]) AS f, regress.refusal(f) AS r;
SELECT task, processed, error FROM reground.run_maintenance('seal_rows');
-- A task of a judge waits for a worker that has the key; the attempt does not count.
SELECT reground.set_model('keys judge', 'judge', 'openai'), reground.set_judging('keys judge');
SELECT reground.queue_judgements('keys judge', corpus => 'keys');
SELECT count(*) FROM reground.claim_tasks('keys worker', models => '{keys judge}', max_tasks => 1);
SELECT state, attempts, last_error, due_at > now() AS later, count(*) FROM reground.model_tasks WHERE model = 'keys judge' GROUP BY 1, 2, 3, 4 ORDER BY 3;
SELECT count(set_config('reground.master_key', repeat('5', 64), false));
UPDATE reground.model_tasks SET due_at = now() WHERE model = 'keys judge';
SELECT request::text ~ 'Cows give milk' AS opened, attempts FROM reground.claim_tasks('keys worker', models => '{keys judge}', max_tasks => 1);
SELECT reground.drop_model('keys judge');
RESET reground.master_key;
-- A search stores nothing and needs no key.
SELECT doc_id, title FROM reground.search('keys', 'milk');

-- Another master key opens nothing, and makes no key, not even for another tenant.
SELECT count(set_config('reground.master_key', repeat('6', 64), false));
SELECT * FROM shown;
SELECT r.state FROM regress.refusal($$SELECT reground.begin_turn('after', 'and then?', 'keys')$$) AS r;
SELECT r.state FROM regress.refusal($$SELECT reground.rotate_tenant_key('regress_keys_b')$$) AS r;
SELECT set_config('reground.master_key', 'x', false);
SELECT r.* FROM regress.refusal($$SELECT * FROM shown$$) AS r;
SELECT f, r.* FROM unnest(ARRAY[
    $$SELECT reground.change_master_key('x')$$, $$SELECT reground.change_master_key(NULL)$$, $$SELECT reground.rotate_tenant_key('')$$, $$SELECT reground.forget_tenant_keys('nobody')$$]) AS f, regress.refusal(f) AS r;
SELECT count(set_config('reground.master_key', repeat('5', 64), false));
-- ALTER ROLE would store the master key where everyone reads it.
ALTER ROLE CURRENT_USER SET reground.master_key = 'x';
\c
SET search_path = keys, public;
SET reground.tenant_from = 'app.tenant_id';
SET app.tenant_id = 'regress_keys';
SELECT count(set_config('reground.master_key', repeat('5', 64), false));
SELECT r.* FROM regress.refusal($$SELECT * FROM shown$$) AS r;
ALTER ROLE CURRENT_USER RESET reground.master_key;
SELECT * FROM shown;

-- A value that was copied from another tenant, or another column, stays sealed.
BEGIN;
UPDATE reground.message_citations SET title = quote WHERE tenant = 'regress_keys';
SELECT title ~ '^sealed:' AS sealed FROM shown;
ROLLBACK;
SELECT reground._unsealed('regress_keys_b', 'title', title) = title AS sealed FROM reground.message_citations WHERE tenant = 'regress_keys' ORDER BY citation_id;
-- So does text of a user that looks like one.
SELECT count(*) FROM reground.put_document('keys', 'looks', title => 'sealed:1:AAAA', content => 'sealed:0:Hens lay eggs.');
SELECT title, content FROM reground.begin_turn('looks', 'what do hens lay?', 'keys', settings => '{"max_sources": 1}');
SELECT title FROM reground.conversation_markers WHERE tenant = 'regress_keys' AND doc_id = 'looks' AND title !~ '^sealed:\d+:[\w-]{20,}';
SELECT title, content FROM reground.turn_sources((SELECT max(turn_id) FROM reground.turns WHERE tenant = 'regress_keys'));

-- Rotation: new rows have the new key, and old ones are read with the old key until the task has sealed them again.
SELECT reground.rotate_tenant_key() > min(key_id) AS is_new FROM reground.tenant_keys WHERE tenant = 'regress_keys';
CALL talk('rotated');
SELECT count(DISTINCT split_part(title, ':', 2)) AS keys FROM reground.message_citations WHERE tenant = 'regress_keys';
SELECT * FROM shown;
SELECT task, error FROM reground.run_maintenance('seal_rows');
SELECT count(DISTINCT split_part(title, ':', 2)) AS keys, count(*) FILTER (WHERE title LIKE format('sealed:%s:%%', (SELECT max(key_id) FROM reground.tenant_keys))) AS newest FROM reground.message_citations WHERE tenant = 'regress_keys';
SELECT * FROM shown;
SELECT DISTINCT v.status FROM unnest(ARRAY['before', 'after', 'rotated']) AS c(name), reground.verify_chain(c.name) AS v;

-- Another master key for all.
SELECT reground.change_master_key(repeat('7', 64));
SELECT title FROM shown;
SELECT count(set_config('reground.master_key', repeat('7', 64), false));
SELECT title FROM shown;

-- forget_document needs no key: the position that a locator names is kept only with it.
SELECT locator FROM shown WHERE conversation_ref = 'after';
SELECT relation, redacted FROM reground.forget_document('keys', 'cows') ORDER BY relation::text COLLATE "C";
SELECT * FROM shown WHERE conversation_ref = 'after';
SELECT DISTINCT v.status FROM reground.verify_chain('after') AS v;
SELECT count(*) FROM reground.put_document('keys', 'cows', title => 'Cows, secretly', uri => 'https://zqfarm.example/cows.pdf', passages => '[{"content": "Cows give milk.", "page_start": 7, "page_end": 8}]');
CALL talk('last');

-- Destroyed keys.
SELECT * FROM reground.forget_tenant_keys('regress_keys');
SELECT tenant, wrapped IS NOT NULL AS wrapped, destroyed_at IS NOT NULL AS destroyed FROM reground.tenant_keys ORDER BY key_id;
SELECT * FROM shown WHERE conversation_ref = 'last';
SELECT fact FROM reground.source_facts WHERE tenant = 'regress_keys' LIMIT 1;
SELECT title, content, locator FROM reground.turn_sources((SELECT max(turn_id) FROM reground.turn_audit WHERE conversation_ref = 'last'));
SELECT status, detail FROM reground.verify_chain('last');
SELECT reground.conversation_report('last') ~ 'erased' AS erased;
-- Nothing plain is stored, and what is erased stays so when rows are sealed again.
SET reground.master_key = '';
SELECT r.state FROM regress.refusal($$CALL keys.talk('last')$$) AS r;
SELECT count(set_config('reground.master_key', repeat('7', 64), false));
-- The conversation goes on, with a new key. The pages of A1 are gone, so the passage gets a new marker.
CALL talk('last');
SELECT turn_no, marker, status, title, uri, locator FROM reground.citation_audit WHERE conversation_ref = 'last' ORDER BY citation_id;
SELECT task, error FROM reground.run_maintenance('seal_rows');
SELECT count(*) FROM shown WHERE title = 'erased';
SELECT count(*), count(wrapped) FROM reground.tenant_keys;
-- Values of another tenant: in an imported source, copied into a row, and sealed again.
SELECT content AS token FROM (SELECT jsonb_path_query_first(context, '$[*].passage.content') #>> '{}' AS content FROM reground.turns WHERE tenant = 'regress_keys' ORDER BY turn_id DESC LIMIT 1) AS t \gset
SET app.tenant_id = 'regress_keys_b';
SELECT count(*) FROM reground.record_turn('copied', 'what do lions eat?', 'They eat meat [1].', jsonb_build_array(jsonb_build_object('content', 'Lions eat meat.', 'metadata', jsonb_build_object('passage', :'token', 'title', :'token'))));
UPDATE reground.turns SET context = context || jsonb_build_array(jsonb_set(context -> 0, '{passage,content}', to_jsonb(:'token'::text))) WHERE tenant = 'regress_keys_b';
SELECT count(reground.rotate_tenant_key());
SELECT task, error FROM reground.run_maintenance('seal_rows');
SELECT s.content = :'token' AS is_token, s.metadata = jsonb_build_object('passage', :'token', 'title', :'token') AS as_given
FROM reground.turn_sources((SELECT turn_id FROM reground.turns WHERE tenant = 'regress_keys_b')) AS s ORDER BY s.content = :'token';
SET app.tenant_id = 'regress_keys';
SELECT count(*) FROM reground.forget_tenant('regress_keys_b');
SELECT relation, erased FROM reground.forget_tenant('regress_keys') WHERE relation = 'reground.tenant_keys'::regclass;
RESET reground.master_key;
DROP SCHEMA keys CASCADE;
