-- Levels of provenance: what is kept to prove where a citation comes from, and what is still as it was.
CREATE SCHEMA chain;
SET search_path = chain, public;
SELECT reground.create_corpus('chain', dimensions => 2, schema => 'chain');
SELECT (reground.put_document('chain', 'tea', passages => '[{"text": "Green tea steeps for two minutes.", "page_start": 1}, {"text": "Black tea steeps for four minutes.", "page_start": 2}]', title => 'Tea')).version;
SELECT (reground.put_document('chain', 'rye', passages => '[{"text": "Rye bread rises slowly in the cold."}]')).version;
SELECT (reground.put_document('chain', 'oats', content => 'Oats are rolled flat before they dry. They keep for a year.')).version;
SELECT reground.put_embeddings('chain', ARRAY(SELECT chunk_id::text FROM chain.chain ORDER BY chunk_id), ARRAY['[1,0]', '[0.8,0.6]', '[0,1]', '[0.6,-0.8]']::vector[]);

-- metadata: nothing besides; the hash of what was in the context is of its text.
SELECT marker, doc_id FROM reground.begin_turn('chain-0', 'How long does green tea steep?', 'chain', '[1,0]', settings => '{"max_sources": 2, "min_sources": 1}');
SELECT count(*) AS candidates, count(hash) AS hashed FROM reground.turn_candidates WHERE turn_id = regress.turn('chain-0');
SELECT marker, length(stored_hash) AS digits, state FROM reground.verify_turn(regress.turn('chain-0'));

-- hash: the first 8 bytes for every candidate, as PostgreSQL computes them of the text with its white space folded.
SELECT marker, doc_id FROM reground.begin_turn('chain-1', 'How long does green tea steep?', 'chain', '[1,0]', settings => '{"max_sources": 2, "min_sources": 1, "provenance": "hash"}');
CREATE FUNCTION folded(content text) RETURNS text LANGUAGE sql AS $$ SELECT encode(sha256(convert_to(btrim(regexp_replace(content, '\s+', ' ', 'g')), 'UTF8')), 'hex') $$;
SELECT c.doc_id, c.in_context, c.hash = left(folded(p.content), 16) AS hashed FROM reground.turn_candidates AS c JOIN chain AS p ON p.chunk_id::text = c.chunk_id WHERE c.turn_id = regress.turn('chain-1', 1) ORDER BY c.candidate_no;
SELECT x.doc_ids, octet_length(x.hashes) = 8 * cardinality(x.passages) AS compact FROM reground.turn_traces AS x WHERE x.turn_id = regress.turn('chain-1', 1);
SELECT n.kind, n.doc_id, n.hash = left(folded(p.content), length(n.hash)) AS hashed, length(n.hash) AS digits FROM reground.provenance_nodes AS n JOIN chain AS p ON p.chunk_id::text = n.chunk_id WHERE n.turn_id = regress.turn('chain-1', 1) AND n.hash IS NOT NULL ORDER BY n.stage, n.node;
SELECT marker, status FROM reground.end_turn(regress.turn('chain-1', 1), 'Green tea steeps for two minutes [A1].');
SELECT t.kind, length(t.hash) AS digits FROM reground.trace_citation((SELECT citation_id FROM reground.message_citations WHERE turn_id = regress.turn('chain-1', 1))) AS t;
SELECT v.doc_id, v.marker, v.stored_hash = left(v.current_hash, length(v.stored_hash)) AS same, v.state FROM reground.verify_turn(regress.turn('chain-1', 1)) AS v;
-- A text that is changed behind the extension's back has the old hash in its column: ours is of the text.
UPDATE chain SET content = 'Green tea steeps for ten minutes.' WHERE content LIKE 'Green%';
DELETE FROM chain WHERE doc_id = 'rye';
UPDATE chain SET content = 'Black tea  steeps for four minutes. ' WHERE content LIKE 'Black%';
SELECT v.doc_id, v.marker, v.current_hash = folded(p.content) AS current, v.state FROM reground.verify_turn(regress.turn('chain-1', 1)) AS v LEFT JOIN chain AS p ON p.chunk_id::text = v.chunk_id ORDER BY v.marker, v.doc_id;
SELECT doc_id, marker, state FROM reground.verify_turn(regress.turn('chain-0'));
SELECT marker FROM reground.begin_turn('chain-1', 'How long does green tea steep?', 'chain', '[1,0]', settings => '{"max_sources": 1, "min_sources": 1}');
SELECT marker FROM reground.begin_turn('chain-1', 'How long does green tea steep?', 'chain', '[1,0]', settings => '{"max_sources": 1, "min_sources": 1, "provenance": "hash"}');
SELECT t.number, t.context #>> '{0,passage,hash}' = folded(t.context #>> '{0,passage,text}') AS of_the_text FROM reground.turns AS t WHERE t.turn_id IN (regress.turn('chain-1', 2), regress.turn('chain-1', 3)) ORDER BY 1;
UPDATE chain SET content = 'Green tea steeps for two minutes.' WHERE content LIKE 'Green%';
-- A merged source is its passages.
SELECT reground.create_corpus('chain words', chunk_size => 40, chunk_overlap => 10, chunk_unit => 'characters', schema => 'chain', settings => '{"provenance": "hash"}');
SELECT (reground.put_document('chain words', 'malt', content => 'Barley malts in the dark for a week. Then it is dried with warm air. The kiln stays shut all night.')).chunks;
SELECT marker, doc_id FROM reground.begin_turn('chain-2', 'barley malts dried in the kiln', 'chain words');
SELECT doc_id, marker, state FROM reground.verify_turn(regress.turn('chain-2')) WHERE marker IS NOT NULL;
SELECT max(cardinality(members)) > 1 AS merged FROM reground.turn_candidates WHERE turn_id = regress.turn('chain-2');
UPDATE "chain words" SET content = replace(content, 'warm', 'cold');
SELECT doc_id, marker, state FROM reground.verify_turn(regress.turn('chain-2')) WHERE marker IS NOT NULL;
-- A table of the application's; one that is registered no more.
CREATE TABLE pages (id integer PRIMARY KEY, body text);
INSERT INTO pages VALUES (1, 'Zebras graze on dry grass.'), (2, 'Quartz clocks keep time.');
SELECT reground.add_corpus('chain pages', 'pages', 'id', 'body', settings => '{"provenance": "hash"}');
SELECT marker FROM reground.begin_turn('chain-3', 'zebras graze', 'chain pages');
SELECT stored_hash = folded('Zebras graze on dry grass.') AS of_the_text, state FROM reground.verify_turn(regress.turn('chain-3'));
UPDATE pages SET body = 'Zebras eat meat.' WHERE id = 1;
SELECT state FROM reground.verify_turn(regress.turn('chain-3'));
SELECT reground.drop_corpus('chain pages');
SELECT state, current_hash FROM reground.verify_turn(regress.turn('chain-3'));
-- semantic: every cosine is pgvector's; the hashes are there too.
UPDATE chain SET content = regexp_replace(content, ' +', ' ', 'g');
SELECT marker, doc_id FROM reground.begin_turn('chain-5', 'How long does tea steep?', 'chain', '[0.6,0.8]', settings => '{"provenance": "semantic", "merge_adjacent": false}');
CREATE VIEW shown AS SELECT t.turn_id, e.place::integer, e.source ->> 'marker' AS marker, p.embedding FROM reground.turns AS t, jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, place) JOIN chain AS p ON p.chunk_id::text = e.source #>> '{passage,key}';
SELECT s.marker, round(t.query_similarities[s.place]::numeric, 5) = round((1 - (s.embedding <=> '[0.6,0.8]'))::numeric, 5) AS to_query FROM reground.turns AS t JOIN shown AS s USING (turn_id) WHERE turn_id = regress.turn('chain-5') ORDER BY s.place;
SELECT array_agg(round(s::numeric, 5) ORDER BY n) = (SELECT array_agg(round((1 - (a.embedding <=> b.embedding))::numeric, 5) ORDER BY a.place, b.place) FROM shown AS a JOIN shown AS b USING (turn_id) WHERE turn_id = regress.turn('chain-5') AND a.place < b.place) AS to_each_other, count(*)
FROM reground.turns, unnest(source_similarities) WITH ORDINALITY AS u(s, n) WHERE turn_id = regress.turn('chain-5');
SELECT count(*) AS candidates, count(hash) AS hashed FROM reground.turn_candidates WHERE turn_id = regress.turn('chain-5');
SELECT marker, status, best_other FROM reground.end_turn(regress.turn('chain-5'), 'Green tea steeps for two minutes [A1]. Oats are rolled flat before they dry [B1]. Pigs fly [Z9].');
SELECT s.citation_no, s.marker, round(s.query_similarity::numeric, 5) = round((1 - (o.embedding <=> '[0.6,0.8]'))::numeric, 5) AS query_similarity, s.nearest = n.marker AS nearest, round(s.nearest_similarity::numeric, 5) = n.cosine AS nearest_similarity
FROM reground.citation_similarities AS s JOIN shown AS o USING (turn_id, marker)
CROSS JOIN LATERAL (SELECT x.marker, round((1 - (x.embedding <=> o.embedding))::numeric, 5) AS cosine FROM shown AS x WHERE x.turn_id = s.turn_id AND x.marker <> s.marker ORDER BY 2 DESC LIMIT 1) AS n WHERE s.turn_id = regress.turn('chain-5') ORDER BY 1;
SELECT t.kind, round((t.details -> 'query_similarity')::numeric, 5) IS NOT NULL AS similar FROM reground.trace_citation((SELECT min(citation_id) FROM reground.message_citations WHERE turn_id = regress.turn('chain-5'))) AS t WHERE t.kind = 'context';
-- Every place of a pair is one, whatever the order.
SELECT n AS of, array_agg(reground._pair(b, a, n) ORDER BY a, b) = ARRAY(SELECT generate_series(1, n * (n - 1) / 2)) AS each_once FROM generate_series(2, 12) AS n, generate_series(1, n) AS a, generate_series(a + 1, n) AS b GROUP BY n ORDER BY n;
-- Without an embedding of the query, or of the passages, there is nothing to compare, and a warning that says so.
SELECT count(*) AS sources FROM reground.begin_turn('chain-6', 'green tea', 'chain', settings => '{"provenance": "semantic", "merge_adjacent": false}');
SELECT query_similarities, cardinality(source_similarities) > 0 AS to_each_other, warnings FROM reground.turns WHERE turn_id = regress.turn('chain-6');
UPDATE chain SET embedding = NULL;
SELECT count(*) AS sources FROM reground.begin_turn('chain-6', 'green tea', 'chain', '[1,0]', settings => '{"provenance": "semantic"}');
SELECT query_similarities, source_similarities FROM reground.turns WHERE turn_id = regress.turn('chain-6');
SELECT count(*) AS nothing FROM reground.turns WHERE turn_id = regress.turn('chain-0') AND (query_similarities IS NOT NULL OR source_similarities IS NOT NULL);

SELECT f, r.* FROM unnest(ARRAY['SELECT * FROM reground.verify_turn(-1)', 'SELECT * FROM reground.verify_turn(NULL)', $$SELECT reground.alter_conversation('chain-1', '{"provenance": "blockchain"}')$$]) AS f, regress.refusal(f) AS r;

DROP VIEW shown;
RESET search_path;
SELECT reground.drop_corpus('chain words', true);
SELECT reground.drop_corpus('chain', true);
DROP SCHEMA chain CASCADE;
