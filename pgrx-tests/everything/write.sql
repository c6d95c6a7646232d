-- Rows in all tables of the extension, in a database whose reground.tenant_from is app.tenant_id.
-- Each statement ends with its line.

SET app.tenant_id = 'acme';

-- Objects of the application: a registered table with indexes, and a reranker.
CREATE TABLE articles (id integer PRIMARY KEY, body text NOT NULL, lang text, place vector(2));
INSERT INTO articles VALUES (1, 'Goats climb trees.', 'en', '[1,0]'), (2, 'Ziegen klettern.', 'de', '[0,1]');
CREATE INDEX ON articles USING hnsw (place vector_cosine_ops);
CREATE INDEX articles_body ON articles USING reground_bm25 (body) WITH (text_config = 'pg_catalog.simple', k1 = '0.9');
CREATE INDEX articles_lower ON articles USING reground_bm25 (lower(body)) WHERE lang = 'en';
CREATE FUNCTION rank(query text, passages text[]) RETURNS real[] LANGUAGE sql
    RETURN ARRAY(SELECT 1.0 / n FROM generate_series(1, cardinality(passages)) AS n)::real[];

-- Corpora of each kind; documents with versions and deletions.
SELECT reground.create_corpus('farm', dimensions => 2, settings => '{"max_sources": 6}');
SELECT reground.create_corpus('halves', dimensions => 2, embedding_type => 'halfvec', metric => 'l2', text_config => 'pg_catalog.simple', tenant => 'acme');
SELECT reground.create_corpus('words', chunk_size => 40, chunk_overlap => 10, chunk_unit => 'characters', tenant => 'bolt');
SELECT reground.add_corpus('articles', 'articles', 'id', 'body', embedding => 'place');
CREATE FUNCTION judge(query text, earlier jsonb) RETURNS jsonb LANGUAGE sql RETURN NULL::jsonb;
SELECT reground.alter_corpus('farm', settings => '{"reranker": "public.rank(text,text[])", "intent_function": "judge"}');
CREATE TABLE leaflets (id integer PRIMARY KEY, body text NOT NULL, lang text);
INSERT INTO leaflets VALUES (1, 'Die Ziegen klettern.', 'de'), (2, 'The goats climb.', 'en'), (3, '山羊会爬树。', 'zh'), (4, 'Kozy', 'klingon');
CREATE INDEX leaflets_body ON leaflets USING reground_bm25 (reground.in_language(body, lang)) WITH (text_config = 'simple');
SELECT reground.add_corpus('leaflets', 'leaflets', 'id', 'body', text_config => 'simple', text_config_column => 'lang');
SELECT reground.create_corpus('tongues', text_config_per_document => true);
CREATE INDEX leaflets_titled ON leaflets USING reground_bm25 (reground.in_language(ARRAY[lang, body], lang)) WITH (text_config = 'simple', weights = '3');
SELECT reground.create_corpus('manuals', title_weight => 5);
SELECT reground.put_document('manuals', 'hens', title => 'Hens', content => E'# Eggs\n\nHens lay them.');
SELECT reground.put_document('manuals', 'geese', title => 'Geese', passages => '[{"content": "They fly.", "heading": "Journeys"}]');
SELECT reground.put_document('manuals', 'gone', content => 'It is gone.');
SELECT reground.delete_document('manuals', 'gone');
SELECT reground.put_document('tongues', 'ziegen', content => 'Die Ziegen klettern.', language => 'de');
SELECT reground.put_document('tongues', '山羊', content => '山羊会爬树。', text_config => 'reground.bigrams');
SELECT reground.put_document('tongues', 'gone', content => 'It is gone.');
SELECT reground.delete_document('tongues', 'gone');
SELECT reground.put_document('farm', 'cows', passages => '[{"content": "Cows give milk.", "page_start": 1}]', title => 'Cows', uri => 'https://farm.example/cows');
SELECT reground.put_document('farm', 'sheep', passages => '[{"content": "Sheep give wool."}, {"content": "Sheep eat grass."}]', metadata => '{"kind": "é\\n\"quoted\""}');
SELECT reground.put_document('farm', 'sheep', passages => '[{"content": "Sheep give wool."}, {"content": "Sheep eat hay."}]');
SELECT reground.put_document('farm', 'dodo', content => 'Dodos give nothing.');
SELECT reground.delete_document('farm', 'dodo');
SELECT reground.put_document('halves', 'half', content => 'Half of it is true.', modified_at => '2026-01-02 03:04:05.678901+00');
SELECT reground.put_document('halves', 'gone', content => 'It is gone.');
SELECT reground.delete_document('halves', 'gone');
SET app.tenant_id = 'bolt';
SELECT reground.put_document('words', 'tale', content => E'Once upon a time\tthere was\\a fox.\fAnd then it was gone.', page_count => 2);
SELECT reground.put_document('words', 'gone', content => 'It is gone.');
SELECT reground.delete_document('words', 'gone');
SET app.tenant_id = 'acme';
SELECT reground.put_embeddings('farm', ARRAY['1', '2', '3'], ARRAY['[1,0]', '[0,1]', '[0.6,0.8]']::vector[], model => 'embedder');
SELECT reground.put_embeddings('halves', ARRAY['1'], ARRAY['[0.5,0.25]']::vector[]);
SELECT reground.put_edges('farm', '[{"source": "Cows", "relation": "give", "target": "milk", "chunk_id": 1, "weight": 0.1}, {"source": "C\u00d6WS", "target": "Sheep", "chunk_id": "2"}]');

-- Conversations of two tenants: pins, a turn with two answers, an abandoned, an open and a deferred turn; drift events.
SET app.tenant_id = 'bolt';
SELECT reground.begin_turn('talk', 'the fox?', 'words');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'It is gone [A1].', message_ref => 'm1');
SET app.tenant_id = 'acme';
SELECT reground.alter_conversation('talk', '{"max_sources": 5, "provenance": "merkle", "reranker": "public.rank(text,text[])", "intent_function": "judge"}');
SELECT reground.pin('talk', doc_id => 'sheep', corpus => 'farm');
SELECT reground.pin('talk', chunk_id => '1', corpus => 'articles');
SELECT reground.begin_turn('talk', 'who gives milk?', 'farm', '[1,0]', filter => '{"doc_id": ["cows", "sheep"]}', request_id => 'r1', tags => '{"a": [1, null]}');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Cows give milk [B1]. Pigs fly [Z9].', message_ref => 'm1', model => 'some', usage => '{"tokens": 12}');
SELECT reground.repair_answer((SELECT max(message_id) FROM reground.messages), 'mark');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Cows give milk, so says [Source: cows, p. 1] (Smith, 2020).', message_ref => 'm2');
SELECT reground.begin_turn('talk', 'and dodos?', 'farm', '[0,1]');
SELECT reground.abandon_turn((SELECT max(turn_id) FROM reground.turns));
SELECT reground.begin_turn('drift', 'hay or wool?', 'farm', '[0,1]', settings => '{"reranker": "deferred"}');
SELECT reground.apply_rerank((SELECT max(turn_id) FROM reground.turns), '[{"index": 0, "content": "Sheep give wool, they say.", "score": 1}, {"content": "Nobody said this.", "score": 0.5}]');
SELECT reground.begin_turn('later', 'goats?', 'articles', '[1,0]', settings => '{"reranker": "deferred"}', request_id => 'r3');
SELECT reground.begin_turn('talk', 'and wool?', 'farm', '[0,1]', request_id => 'r2');

-- A trace in each partition, as after sixteen weeks.
INSERT INTO reground.turn_traces SELECT (r).*
FROM (SELECT jsonb_populate_record(t, jsonb_build_object('bucket', week, 'turn_id', 1000 + week)) AS r
      FROM generate_series(0, 15) AS week, (SELECT t FROM reground.turn_traces AS t ORDER BY turn_id LIMIT 1) AS one(t)) AS rows;

-- Cues for another language.
INSERT INTO reground.support_cues (language, kind, cue) VALUES ('eo', 'negation', 'ne'), ('eo', 'decimal', ','),
    ('en', 'negation', 'not');

-- An index with a segment, a write buffer and removed rows.
CREATE TABLE notes (id integer PRIMARY KEY, body text NOT NULL);
INSERT INTO notes SELECT n, 'note ' || n || ' of ' || n % 7 FROM generate_series(1, 50) AS n;
CREATE INDEX notes_body ON notes USING reground_bm25 (body);
INSERT INTO notes SELECT n, 'late note ' || n FROM generate_series(51, 60) AS n;
DELETE FROM notes WHERE id % 9 = 0;

-- Removed rows are not dumped, so they must not count in scores before the dump either.
VACUUM (FREEZE, INDEX_CLEANUP on) farm, halves, words;
SELECT count(reground.bm25_merge(index)) FROM reground.bm25_indexes WHERE index <> 'notes_body'::regclass;
SELECT reground.label_citation((SELECT min(citation_id) FROM reground.message_citations), 'accurate', 'as the source has it', 'ann');
SELECT reground.report_citation((SELECT max(citation_id) FROM reground.message_citations), 'it says something else');
SELECT reground.report_answer((SELECT max(message_id) FROM reground.messages), 'it is wrong, é', 'ben'), reground.review_report((SELECT max(report_id) FROM reground.citation_reports), true, 'so it is, é', 'ann');
INSERT INTO reground.model_prices VALUES ('small', '2026-01-01', 0.5, 2);

-- A judge with a vote, and tasks that wait.
SELECT reground.set_model('chat', 'judge', 'openai'), reground.set_judging('chat', max_per_hour => 7);
SELECT reground.queue_judgements('chat', citation_ids => (SELECT array_agg(citation_id) FROM reground.message_citations WHERE holds));
SELECT reground.complete_task(task_id, lease_token, '{"probability": 0.9}') FROM reground.claim_tasks('worker', models => '{chat}', max_tasks => 1);

-- An answer whose text is not stored.
SELECT reground.begin_turn('hashed', 'who gives wool?', 'farm', '[0,1]', settings => '{"store_answers": "hash"}');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Sheep give wool.', citations => '[{"type": "text", "text": "Sheep give wool.", "citations": [{"type": "char_location", "cited_text": "Sheep give wool.", "document_index": 0, "start_char_index": 0, "end_char_index": 16}]}]');

-- Counted and uncounted answers; a rule, a baseline, an alert.
SELECT reground.begin_turn('invented', 'who gives milk?', 'farm', '[1,0]');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Pigs give milk [Z9].');
SELECT reground.refresh_audit(2);
SELECT reground.take_baseline(now() - interval '1 day', now() + interval '1 hour');
SELECT reground.set_alert_rule('mine', 'cfs_mean', 1, min_answers => 1, per_corpus => false), reground.set_alert_rule('low_tail', threshold => 0.8);
SELECT reground.check_alerts();
SELECT reground.begin_turn('uncounted', 'who gives milk?', 'farm', '[1,0]', user_ref => 'ann, é');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Cows give milk.');
-- An evaluation of the last answer: one verdict is there, two are queued. Labels.
SELECT reground.set_model('splitter', 'decompose', 'openai', key_name => 'k'), reground.set_model('checker', 'entail', 'anthropic');
SELECT reground.put_gold_facts('milk', '{Cows give milk.,Cows are not pigs.}', 'Cows give milk. They are no pigs, é.');
SELECT reground.evaluate_factuality((SELECT max(turn_id) FROM reground.turns WHERE state = 'ended'), 'milk', 'splitter', 'checker');
SELECT reground.complete_task(task_id, lease_token, '{"content": "{\"statements\": [\"Cows give milk, é.\"]}"}', 10, 1) FROM reground.claim_tasks('someone', '{decompose}');
SELECT reground.complete_task(task_id, lease_token, '{"content": "{\"verdict\": \"entailed\"}"}', 10, 1) FROM reground.claim_tasks('someone', '{entail}', max_tasks => 1);
SELECT reground.fail_task(task_id, lease_token, 'no answer, é', 'model') FROM reground.claim_tasks('someone', '{entail}', max_tasks => 1);
SELECT reground.label_verdict((SELECT min(verdict_id) FROM reground.factuality_verdicts), 'neutral', 'é', 'ann'), reground.label_decomposition((SELECT max(evaluation_id) FROM reground.factuality_evaluations), 2, 1, 'é', 'ann');
-- Embeddings by a model.
SELECT reground.set_model('mini', 'embed', 'local', dimensions => 2);
SELECT reground.create_corpus('embedded', embedding_model => 'mini');
SELECT reground.put_document('embedded', 'cows', content => 'Cows give milk, é.');
SELECT reground.put_document('embedded', 'gone', content => 'It is gone.');
SELECT reground.delete_document('embedded', 'gone');
SELECT reground.complete_task(task_id, lease_token, '{"embedding": [1, 0]}', 10) FROM reground.claim_tasks('someone', '{embed}');
SELECT reground.queue_embeddings();
-- A synchronised table, and a row that waits with an error.
CREATE TABLE stalls (id integer PRIMARY KEY, body text, tags jsonb);
SELECT reground.create_corpus('stalls_read', keep_versions => 2);
SELECT reground.sync_table('stalls_read', 'stalls', key => 'id', content => 'body', metadata => 'tags');
INSERT INTO stalls VALUES (1, 'Cheese, é.', '{"kind": "food"}'), (2, 'Its metadata are no object.', '[1]');
UPDATE stalls SET body = 'Cheese and bread, é.' WHERE id = 1;
SELECT reground.put_probe('milk', 'farm', 'who gives milk?', 'cows', embedding => '[1,0]', filter => '{"doc_id": "cows"}', settings => '{"max_sources": 3}');
SELECT reground.run_probes();
SELECT reground.set_maintenance('retention', period => '2 days'), reground.set_maintenance('check_alerts', enabled => false);
-- Recorded positions of a registered table.
CREATE TABLE sheets (id integer PRIMARY KEY, body text, page integer);
INSERT INTO sheets VALUES (1, 'Cows give milk, é.', 3), (2, 'Sheep give wool.', 4);
SELECT reground.add_corpus('sheets', 'sheets', 'id', 'body', page_start => 'page');
SELECT reground.run_maintenance('probes'), reground.run_maintenance('check_coordinates');

-- A chain with a checkpoint and an archived turn; then the partitions are filled again.
CREATE TABLE kept AS SELECT * FROM reground.turn_traces;
SELECT reground.begin_turn('chained', 'who gives wool?', 'farm', '[0,1]', settings => '{"provenance": "merkle"}');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Sheep give wool [A1].');
SELECT count(*) FROM reground.run_retention(now() + interval '91 days');
INSERT INTO reground.turn_traces SELECT * FROM kept;
-- A shadow of an open turn.
SELECT reground.begin_turn('shaded', 'who gives milk?', 'farm', '[1,0]', rewrite => 'which animal gives milk', context_embedding => '[0,1]');
SELECT count(*) FROM reground.shadow_turn((SELECT max(turn_id) FROM reground.turns), '{"max_sources": 1}', 'narrow');
DROP TABLE kept;
-- A recorded answer of another system.
SELECT reground.record_turn('elsewhere', 'who gives milk?', 'Cows [1].', '[{"content": "Cows give milk.", "title": "é"}]', at => '2025-01-31 10:00+01', message_ref => 'old-1', model => 'other', tags => '{"a": 1}');
-- A turn of an agent over two corpora, and an edited question.
SELECT reground.begin_turn('agent', 'who gives milk?', corpora => '{farm}', embedding => '[1,0]', settings => '{"provenance": "merkle"}');
SELECT reground.retrieve((SELECT max(turn_id) FROM reground.turns), 'wool', embedding => '[0,1]', filter => '{"doc_id": ["sheep", "cows"]}', max_results => 3);
SELECT reground.add_passages((SELECT max(turn_id) FROM reground.turns), '[{"content": "Milk costs more.", "uri": "https://news.example/é"}]');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Cows give milk [A1].');
SELECT reground.begin_turn('agent', 'and wool?', embedding => '[0,1]');
SELECT reground.begin_turn('agent', 'and honey?', embedding => '[0,1]', parent_turn_id => (SELECT max(turn_id) - 1 FROM reground.turns));
SELECT reground.begin_turn('chained', 'and milk?', 'farm', '[1,0]', settings => '{"provenance": "merkle"}');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Cows give milk [B1]. Pigs fly [Z9]. Sheep eat hay [Source: sheep].', model => 'some', usage => '{"tokens": 1.50}', tags => '{"é": "ü"}');
