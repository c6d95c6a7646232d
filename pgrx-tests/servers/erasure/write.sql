-- A separate word for each place with content to erase; zqkeepx marks content that must stay.
-- Words: zqnamex zqaskx zqanswerx zqtagx zqtagtwox zqmessagex zqfilterx zqusagex zqrequestx zqrewritex zqnotex zqreviewerx zqreportx zqreporterx zqshadowx zqapix
-- Words: zqbodyx zqtitlex zqaddressx zqmetax zqoldx zqedgex zqcitedx
-- Words: zqfactx zqreferencex zqstatementx zqlabelx zqlabellerx zqcountx zqcounterx zqgoldx zqgoldfactx
-- Words: zqtenantx zqtalkx zqheardx zqprobex zqprobenamex zqownx zqsharedx zqearlierx

CREATE EXTENSION vector;
CREATE EXTENSION reground;
SET app.tenant_id = 'acme';
SELECT reground.create_corpus('farm', dimensions => 2);
SELECT reground.create_corpus('own', tenant => 'zqtenantx');
SELECT reground.create_corpus('shared', tenant_column => 'owner');

-- Without compression, the files contain each word as it is.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT a.attrelid::regclass AS relation, a.attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
               WHERE c.relnamespace IN ('reground'::regnamespace, 'public'::regnamespace) AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND a.attstorage IN ('x', 'm') LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STORAGE EXTERNAL', one.relation, one.attname);
    END LOOP;
END
$$;

-- A document in two versions, and others.
SELECT reground.put_document('farm', 'goats', content => 'Goats climb zqoldx trees.');
SELECT reground.put_document('farm', 'goats', passages => '[{"content": "Goats climb zqbodyx trees.", "page_start": 1, "metadata": {"author": "zqmetax"}}]', title => 'Goats zqtitlex', uri => 'https://farm.example/zqaddressx');
SELECT reground.put_document('farm', 'cows', content => 'Cows give zqkeepx milk.', title => 'Cows zqkeepx');
SELECT reground.put_embeddings('farm', ARRAY(SELECT chunk_id::text FROM farm), ARRAY(SELECT '[1,0]'::vector FROM farm));
SELECT reground.put_edges('farm', (SELECT jsonb_build_array(jsonb_build_object('source', 'zqedgex', 'target', 'goats', 'chunk_id', chunk_id::text)) FROM farm WHERE doc_id = 'goats'));

CREATE FUNCTION turn(conversation text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT max(turn_id) FROM reground.turns JOIN reground.conversations USING (conversation_id) WHERE conversation_ref = $1 AND turns.tenant = reground.current_tenant()
$$;

-- A conversation that stays, about the same document and others; written before and after the erased one, so that they share pages.
CREATE PROCEDURE keep(conversation text, cited text DEFAULT NULL) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM reground.begin_turn(conversation, 'Do goats zqkeepx climb, and cows give milk?', 'farm', '[1,0]', settings => '{"provenance": "merkle"}', tags => '{"kind": "zqkeepx"}');
    PERFORM FROM reground.end_turn(turn(conversation), 'Cows give zqkeepx milk [A1], and goats climb [B1].', 'zqkeepx ' || conversation, usage => '{"kept": "zqkeepx"}');
    IF cited IS NOT NULL THEN
        PERFORM FROM reground.end_turn(turn(conversation), 'Goats climb.', citations => jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'Goats climb.', 'citations', jsonb_build_array(jsonb_build_object(
            'type', 'char_location', 'cited_text', 'Goats climb', 'document_title', cited, 'document_index', 1, 'start_char_index', 0, 'end_char_index', 11)))));
    END IF;
    PERFORM FROM reground.begin_turn(conversation, 'Do goats climb?', 'farm', '[1,0]', settings => '{"reranker": "deferred"}');
END
$$;
CALL keep('keep-1');

SELECT FROM reground.alter_conversation('zqnamex', '{"provenance": "merkle"}');
SELECT FROM reground.begin_turn('zqnamex', 'What does a zqaskx cow give?', 'farm', '[1,0]', filter => '{"doc_id": ["cows", "zqfilterx"]}', request_id => 'zqrequestx', rewrite => 'cows zqrewritex milk', tags => '{"a": ["zqtagx"]}');
SELECT FROM reground.shadow_turn(turn('zqnamex'), '{"candidates": 3}', label => 'zqshadowx');
SELECT FROM reground.end_turn(turn('zqnamex'), 'Cows give zqanswerx milk [A1].', 'zqmessagex', model => 'some', usage => '{"a": "zqusagex"}', tags => '{"b": "zqtagtwox"}');
SELECT reground.label_citation((SELECT max(citation_id) FROM reground.message_citations), 'accurate', 'zqnotex', 'zqreviewerx');
SELECT reground.report_citation((SELECT max(citation_id) FROM reground.message_citations), 'zqreportx', 'zqreporterx');
SELECT FROM reground.begin_turn('zqnamex', 'And cows?', 'farm', '[1,0]', settings => '{"reranker": "deferred"}');
SELECT FROM reground.apply_rerank(turn('zqnamex'), '[{"index": 0, "content": "Cows give milk.", "score": 1}]');
SELECT FROM reground.end_turn(turn('zqnamex'), 'Milk.', citations => '[{"type": "text", "text": "Milk.", "citations": [{"type": "char_location", "cited_text": "zqapix", "document_index": 0, "start_char_index": 0, "end_char_index": 5}]}]');
SELECT reground.set_model('splitter', 'decompose', 'openai'), reground.set_model('checker', 'entail', 'openai');
SELECT reground.put_gold_facts('milk', '{Cows zqfactx give milk.}', 'Cows zqreferencex give milk.');
SELECT reground.evaluate_factuality(turn('zqnamex'), 'milk', 'splitter', 'checker');
SELECT reground.drop_gold_facts('milk');
SELECT reground.complete_task(task_id, lease_token, '{"content": "{\"statements\": [\"Cows give zqstatementx milk.\"]}"}') FROM reground.claim_tasks('psql', '{decompose}');
SELECT reground.label_verdict(verdict_id, 'neutral', 'zqlabelx', 'zqlabellerx'), reground.label_decomposition(evaluation_id, 1, 0, 'zqcountx', 'zqcounterx') FROM reground.factuality_verdicts;
CALL keep('keep-2', 'zqcitedx');

SET app.tenant_id = 'zqtenantx';
SELECT reground.put_document('own', 'own', content => 'Pigs zqownx grunt.');
SELECT reground.put_document('shared', 'pigs', content => 'Pigs zqearlierx grunt.');
SELECT reground.put_document('shared', 'pigs', content => 'Pigs zqsharedx grunt.');
SELECT FROM reground.begin_turn('talk', 'Do pigs zqtalkx grunt?', 'own');
SELECT FROM reground.end_turn(turn('talk'), 'Pigs zqheardx grunt [A1].');
SELECT reground.put_gold_facts('zqgoldx', '{Pigs zqgoldfactx grunt.}');
SELECT reground.put_probe('zqprobenamex', 'own', 'Do pigs zqprobex grunt?', 'own');
SELECT FROM reground.run_probes();
SET app.tenant_id = 'acme';
CALL keep('keep-3');

-- Statistics of the planner, and rollups of the answers.
SELECT reground.refresh_audit();
ANALYZE;
