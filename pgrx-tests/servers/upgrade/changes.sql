-- Changes while the database is copied by logical replication: rows of most tables are inserted, updated and deleted.

SET app.tenant_id = 'acme';

SELECT reground.put_document('farm', 'pigs', passages => '[{"content": "Pigs eat acorns."}, {"content": "Pigs cannot fly, é."}]', title => 'Pigs');
SELECT reground.put_embeddings('farm', ARRAY(SELECT chunk_id::text FROM farm WHERE doc_id = 'pigs'), ARRAY['[1,0]', '[0,1]']::vector[], model => 'embedder');
SELECT reground.begin_turn('streamed', 'what do pigs eat?', 'farm', '[1,0]', settings => '{"provenance": "merkle"}');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Pigs eat acorns [A1].');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Pigs eat acorns [A1], and they fly [Z9].');
SELECT reground.label_citation((SELECT max(citation_id) FROM reground.message_citations), 'hallucinated', 'they do not', 'ann');
SELECT reground.pin('streamed', doc_id => 'pigs', corpus => 'farm');
SELECT reground.put_document('farm', 'pigs', passages => '[{"content": "Pigs eat acorns and apples."}]', title => 'Pigs');
SELECT reground.begin_turn('streamed', 'and apples?', 'farm', '[1,0]', settings => '{"provenance": "merkle"}');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'They eat them [A1].');
SELECT reground.unpin('streamed', doc_id => 'pigs', corpus => 'farm');
SELECT reground.begin_turn('forgotten', 'who gives wool?', 'farm', '[0,1]');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Sheep give wool [A1].');
SELECT reground.refresh_audit();
SELECT reground.rebuild_audit();
SELECT reground.take_baseline(now() - interval '1 day', now() + interval '1 hour');
SELECT reground.check_alerts();
SELECT reground.forget_conversation('forgotten');
SELECT reground.forget_document('farm', 'pigs');
SELECT reground.complete_task(task_id, lease_token, '{"probability": 0.2}') FROM reground.claim_tasks('worker', models => '{chat}', max_tasks => 1);
SELECT reground.run_probes();

-- Tables of the application: a registered one with BM25 and HNSW indexes, and a synchronised one.
UPDATE articles SET body = 'Goats climb trees and roofs.' WHERE id = 1;
INSERT INTO articles VALUES (3, 'Geese fly south.', 'en', '[0.5,0.5]');
DELETE FROM articles WHERE id = 2;
UPDATE stalls SET body = 'Cheese, bread and wine, é.' WHERE id = 1;
INSERT INTO stalls VALUES (3, 'Olives.', NULL);
DELETE FROM stalls WHERE id = 2;
-- Retention truncates partitions. They are filled again, for the next calls.
CREATE TEMP TABLE kept AS SELECT * FROM reground.turn_traces;
SELECT count(*) FROM reground.run_retention(now() + interval '91 days');
INSERT INTO reground.turn_traces SELECT * FROM kept ON CONFLICT DO NOTHING;
