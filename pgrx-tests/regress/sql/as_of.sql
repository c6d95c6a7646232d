-- Searches and turns at an earlier time, and the effect of the age of documents.
SET client_min_messages = warning;
CREATE SCHEMA as_of;
SET search_path = as_of, public;
SELECT reground.create_corpus('lore', dimensions => 2, settings => '{"max_sources": 3}');
SELECT obj_description('lore_history'::regclass);
SELECT history FROM reground.corpora WHERE corpus = 'lore';
-- Each statement is a transaction of its own, so each has a later time.
SELECT version, added FROM reground.put_document('lore', 'tea', passages => '[{"content": "Green tea steeps for two minutes."}, {"content": "Black tea steeps for five minutes."}]', title => 'Tea');
SELECT reground.put_embeddings('lore', array_agg(chunk_id), array_agg(CASE WHEN content ~ 'Green' THEN '[1,0]' ELSE '[0,1]' END::vector)) FROM reground.pending_embeddings('lore');
SELECT version, reused, added, removed FROM reground.put_document('lore', 'tea', passages => '[{"content": "White tea steeps for one minute."}, {"content": "Black  tea steeps for five minutes."}]', title => 'Tea', metadata => '{"team": 1}');
SELECT version, changed FROM reground.put_document('lore', 'tea', passages => '[{"content": "White tea steeps for one minute."}, {"content": "Black  tea steeps for five minutes."}]', title => 'Teas', metadata => '{"team": 2}');
SELECT reground.delete_document('lore', 'tea');
SELECT reground.delete_document('lore', 'tea') AS again;
SELECT version, added FROM reground.put_document('lore', 'tea', passages => '[{"content": "Red tea steeps for ten minutes."}]', title => 'Red');
-- A passage that stays leaves its place only; one with other white space leaves its text, too.
SELECT chunk_id, version, ordinal, content, tokens, embedding, is_last FROM lore_history ORDER BY chunk_id, version;
SELECT version, title, replaced_at IS NULL AS current, jsonb_array_length(earlier_descriptions) AS earlier, earlier_descriptions #> '{0,title}' AS title_before FROM lore_documents ORDER BY version;
SELECT d.version, d.indexed_at = v.indexed_at AS same_start, d.replaced_at IS NOT DISTINCT FROM v.replaced_at AS same_end FROM lore_documents AS d JOIN reground.documents AS v USING (doc_id, version) JOIN reground.corpora AS k USING (corpus_id) WHERE k.corpus = 'lore' ORDER BY 1;
CREATE TABLE times AS SELECT 'before' AS name, min(indexed_at) - interval '1 microsecond' AS time FROM lore_documents
    UNION ALL SELECT 'first', indexed_at FROM lore_documents WHERE version = 1
    UNION ALL SELECT 'second', indexed_at FROM lore_documents WHERE version = 2
    UNION ALL SELECT 'described', (earlier_descriptions #>> '{0,until}')::timestamptz FROM lore_documents WHERE version = 2
    UNION ALL SELECT 'deleted', replaced_at FROM lore_documents WHERE version = 2
    UNION ALL SELECT 'third', indexed_at FROM lore_documents WHERE version = 3
    UNION ALL SELECT 'now', clock_timestamp();
SELECT t.name, s.content, s.title, s.vector_rank, s.metadata FROM times AS t LEFT JOIN LATERAL reground.search('lore', 'tea steeps', '[1,0]', as_of => t.time) AS s ON true ORDER BY t.time, s.content;
SELECT t.name, s.content FROM times AS t, LATERAL reground.search('lore', 'tea steeps', '[1,0]', as_of => t.time, filter => '{"metadata": {"team": 1}}') AS s ORDER BY t.time, s.content;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT * FROM reground.search('lore', 'tea', as_of => now() + interval '1 hour')$$, $$SELECT * FROM reground.search('lore', 'tea', as_of => 'infinity')$$,
    $$SELECT * FROM reground.begin_turn('as-of-0', 'tea', 'lore', as_of => 'infinity')$$, $$SELECT * FROM reground.dry_run_turn('tea', 'lore', as_of => 'infinity')$$]) AS f, regress.refusal(f) AS r;
SELECT count(*) FROM reground.search('lore', 'tea', as_of => '-infinity');
CREATE TABLE own (id integer PRIMARY KEY, body text, day text);
INSERT INTO own VALUES (1, 'Tea of the harbour.', '2020-01-01'), (2, 'Tea of the harbour!', '2026-01-01'), (3, 'Tea of a harbour.', 'long ago'), (4, 'Tea of two harbours.', NULL);
SELECT reground.add_corpus('own', 'own', chunk_id => 'id', content => 'body', published => 'day');
SELECT r.* FROM regress.refusal($$SELECT * FROM reground.search('own', 'tea', as_of => now())$$) AS r;

-- A turn stores the time; later searches of the turn and shadows use it, and carried sources are those of that time.
SELECT chunk_id IS NOT NULL AS found, marker, content, title FROM reground.begin_turn('as-of-1', 'How long does green tea steep?', 'lore', '[1,0]', as_of => (SELECT time FROM times WHERE name = 'first')) ORDER BY marker;
SELECT t.as_of = (SELECT time FROM times WHERE name = 'first') AS stored FROM reground.turns AS t WHERE t.turn_id = regress.turn('as-of-1');
SELECT marker, content FROM reground.retrieve(regress.turn('as-of-1'), 'black tea', embedding => '[0,1]') ORDER BY marker;
SELECT content FROM reground.shadow_turn(regress.turn('as-of-1'), '{"max_sources": 1}') AS s JOIN lore_history AS h ON h.chunk_id::text = s.chunk_id AND h.version = 1 WHERE in_context;
SELECT raw, status, holds, source_state FROM reground.end_turn(regress.turn('as-of-1'), 'It steeps for two minutes [A1].');
SELECT marker, content, origin FROM reground.begin_turn('as-of-1', 'And now?', embedding => '[1,0]') ORDER BY marker;
SELECT chunk_id IS NOT NULL AS known, drop_reason FROM reground.explain_turn(regress.turn('as-of-1')) WHERE drop_reason = 'gone';
SELECT reground.abandon_turn(regress.turn('as-of-1'));
SELECT marker, content, origin FROM reground.begin_turn('as-of-1', 'And then?', embedding => '[1,0]', as_of => (SELECT time FROM times WHERE name = 'first'), request_id => 'r') ORDER BY marker;
SELECT r.state FROM regress.refusal($$SELECT * FROM reground.begin_turn('as-of-1', 'And then?', embedding => '[1,0]', as_of => '2026-01-01', request_id => 'r')$$) AS r;
SELECT content FROM reground.dry_run_turn('green tea', 'lore', '[1,0]', as_of => (SELECT time FROM times WHERE name = 'first')) AS s JOIN lore_history AS h ON h.chunk_id::text = s.chunk_id AND h.version = 1 WHERE in_context ORDER BY 1;

-- forget_document removes all versions; without the table of the history nothing is kept.
SELECT relation, erased FROM reground.forget_document('lore', 'tea') WHERE relation::text ~ 'lore' ORDER BY relation::text;
SELECT (SELECT count(*) FROM lore_history) AS earlier, (SELECT count(*) FROM lore_documents) AS documents;
SELECT count(*) FROM times AS t, LATERAL reground.search('lore', 'tea steeps', '[1,0]', as_of => t.time) AS s;
DROP TABLE lore_history;
SELECT version FROM reground.put_document('lore', 'salt', 'Salt dissolves.');
SELECT version, removed FROM reground.put_document('lore', 'salt', 'Salt dissolves in water.');
SELECT reground.delete_document('lore', 'salt');
SELECT count(*) FROM lore_documents;
SELECT r.* FROM regress.refusal($$SELECT * FROM reground.search('lore', 'tea', as_of => now())$$) AS r;

-- Recency: the factor by age, bounded; a text that is no date counts as none.
SELECT reground.create_corpus('news');
SELECT count(*) FROM generate_series(0, 4) AS n, LATERAL reground.put_document('news', 'n' || n, 'The harbour opens in the year ' || n || '.', published => CASE n WHEN 4 THEN NULL ELSE now() - n * interval '100 days' END, modified_at => CASE n WHEN 0 THEN now() - interval '900 days' END);
SELECT s.doc_id, round((s.score / o.score)::numeric, 4) AS factor FROM reground.search('news', 'harbour opens', settings => '{"recency_half_life": 8640000, "fusion": "rrf"}') AS s JOIN reground.search('news', 'harbour opens', settings => '{"fusion": "rrf"}') AS o USING (chunk_id) ORDER BY 1;
SELECT doc_id FROM reground.search('news', 'harbour opens', settings => '{"recency_half_life": 8640000}', max_results => 1);
SELECT s.chunk_id, round((s.score / o.score)::numeric, 3) AS factor FROM reground.search('own', 'tea harbour', settings => '{"recency_half_life": 1, "fusion": "rrf"}') AS s JOIN reground.search('own', 'tea harbour', settings => '{"fusion": "rrf"}') AS o USING (chunk_id) ORDER BY 1;
SELECT count(*) > 0 AS found FROM reground.begin_turn('as-of-2', 'When does the harbour open?', 'news', settings => '{"recency_half_life": 8640000}');
SELECT doc_id, round(recency::numeric, 4) AS recency FROM reground.explain_turn(regress.turn('as-of-2')) ORDER BY 1;
SELECT bool_and(s.recency IS NOT DISTINCT FROM e.recency OR abs(s.recency - e.recency) < 1e-6) AS same FROM reground.shadow_turn(regress.turn('as-of-2'), '{"max_sources": 1}') AS s JOIN reground.explain_turn(regress.turn('as-of-2')) AS e USING (chunk_id);
SELECT recency IS NULL AS off FROM reground.dry_run_turn('When does the harbour open?', 'news') LIMIT 1;
SELECT r.* FROM unnest(ARRAY['0', '-1', '"soon"']) AS v, LATERAL regress.refusal(format($$SELECT * FROM reground.search('news', 'x', settings => '{"recency_half_life": %s}')$$, v)) AS r;
