-- The calls of hostile.sql for one corpus. Names and operators of PostgreSQL are hidden here, so the statements have only names with a schema.
\set name :corpus ' of a stranger'
\set found 'found in ' :corpus
\set found_before 'found before in ' :corpus
\set sources 'sources in ' :corpus
SELECT * FROM reground.put_document(:'name', 'cows', content => 'Cows give milk.', title => 'Cows', published => '2026-05-03 12:00+00', modified_at => '2026-05-03 12:00+00') \g /dev/null
SELECT * FROM reground.put_document(:'name', 'sheep', passages => '[{"content": "Sheep give wool."}, {"content": "Sheep eat grass.", "metadata": {"part": 0.1}}]', metadata => '{"kind": "animal"}', published => '2026-05-03 12:00+00') \g /dev/null
SELECT * FROM reground.put_document(:'name', 'goats', content => E'Goats climb trees.\fGoats eat thorns. They give milk, too.', title => 'Goats', published => '2026-05-03 12:00+00') \g /dev/null
SELECT * FROM reground.pending_embeddings(:'name') \g /dev/null
SELECT reground.put_embeddings(:'name', '{1,2,3,4}', '{"[0.1,0.7,0.3]","[0.123456789,0,1]","[0,1,0]","[1,0.5,0]"}') \g /dev/null
CREATE TEMPORARY TABLE :"found_before" AS SELECT s.doc_id, s.content, s.published, s.score, s.lexical_score, s.vector_distance FROM reground.search(:'name', 'who gives milk?', '[1,0,0]') AS s;
SELECT * FROM reground.put_document(:'name', 'sheep', passages => '[{"content": "Sheep give wool."}, {"content": "Sheep eat hay."}]', metadata => '{"kind": "animal"}', published => '2026-05-03 12:00+00') \g /dev/null
SELECT * FROM reground.put_document(:'name', 'cows', content => 'Cows give milk.', title => 'The cows', published => '2026-05-03 12:00+00') \g /dev/null
SELECT reground.delete_document(:'name', 'goats') \g /dev/null
SELECT * FROM reground.put_document(:'name', 'goats', content => 'Goats are back, with milk.', published => '2026-05-03 12:00+00') \g /dev/null
SELECT * FROM reground.search(:'name', 'milk', filter => '{"published": {">=": "2026-05-03"}}', settings => '{"fusion": "integrated", "lexical_search": "exact"}') \g /dev/null
SELECT * FROM reground.search(:'name', 'milk', '[1,0,0]', filter => '{"metadata": {"kind": "animal"}}', settings => '{"vector_search": "exact"}') \g /dev/null
SELECT * FROM reground.search(:'name', 'goats', '[1,0,0]', as_of => '2026-01-01 12:00+00') \g /dev/null
SELECT * FROM reground.explain_search(:'name', 'milk', '[1,0,0]') \g /dev/null
CREATE TEMPORARY TABLE :"found" AS SELECT s.doc_id, s.content, s.published, s.score, s.lexical_score, s.vector_distance FROM reground.search(:'name', 'who gives milk?', '[1,0,0]') AS s;
CREATE TEMPORARY TABLE :"sources" AS SELECT s.marker, s.doc_id, s.content, s.published FROM reground.begin_turn(:'name', 'who gives milk?', :'name', '[1,0,0]') AS s;
SELECT reground.alter_corpus(:'name', title_weight => 2) \g /dev/null
SELECT * FROM reground.check_corpus(:'name') \g /dev/null
SELECT * FROM reground.check_coordinates(:'name') \g /dev/null
SELECT * FROM reground.forget_document(:'name', 'goats') \g /dev/null
