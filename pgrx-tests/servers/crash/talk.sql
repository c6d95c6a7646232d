-- A conversation with rows of every kind, which are read on the standby.
SELECT reground.create_corpus('barn', dimensions => 2, settings => '{"provenance": "merkle"}');
SELECT reground.put_document('barn', v.doc_id, content => v.content) FROM (VALUES ('goats', 'Goats climb trees in the morning.'), ('sheep', 'Sheep give wool in spring.'), ('cows', 'Cows give milk twice a day.')) AS v(doc_id, content);
SELECT reground.put_embeddings('barn', ARRAY['1', '2', '3'], ARRAY['[1,0]', '[0,1]', '[1,1]']::vector[]);
SELECT reground.put_probe('milk', 'barn', 'who gives milk?', 'cows');
SELECT reground.begin_turn('talk', 'What do goats do?', 'barn', '[1,0]');
SELECT reground.end_turn(1, 'Goats climb trees in the morning [A1]. Pigs fly [Z9].', model => 'small');
SELECT reground.repair_answer(1, 'strict');
SELECT reground.begin_turn('talk', 'and sheep?', embedding => '[0,1]');
SELECT reground.shadow_turn(2, '{"max_sources": 1}', 'narrow');
SELECT reground.refresh_audit();
