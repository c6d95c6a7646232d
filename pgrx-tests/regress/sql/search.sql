-- Hybrid search: lexical and vector search, fused by score or by rank.
CREATE SCHEMA search;
SET search_path = search, public;
SELECT reground.create_corpus('zoo', dimensions => 3);
SELECT doc_id, p.added FROM (VALUES
    ('lions', 'Lions', '[{"content": "Lions sleep twenty hours a day.", "page_start": 3, "page_end": 4}, {"content": "A lion''s roar carries eight kilometres.", "page_start": 5}]'),
    ('bears', 'Bears', '[{"content": "Bears sleep all winter."}, {"content": "Bears eat berries and fish."}]'),
    ('otters', NULL,   '[{"content": "Otters hold hands when they sleep, and sleep afloat."}]')) AS v(doc_id, title, passages),
    reground.put_document('zoo', doc_id, passages => v.passages::jsonb, title => v.title, uri => 'https://zoo.example/' || doc_id, published => '2026-03-01 00:00+00') AS p;
SELECT reground.put_embeddings('zoo', ARRAY['1', '2', '3', '4', '5'], ARRAY['[1,0,0]', '[0,1,0]', '[0.8,0.6,0]', '[0,0,1]', '[0.6,0,0.8]']::vector[]);

CREATE TEMPORARY VIEW hybrid AS SELECT * FROM reground.search('zoo', 'which animals sleep?', '[1,0,0]');
SELECT chunk_id, doc_id, title, locator, uri, published, metadata FROM hybrid;
SELECT chunk_id, round(score::numeric, 6) AS score, lexical_rank, vector_rank, round(lexical_score::numeric, 4) AS lexical_score, round(vector_distance::numeric, 4) AS vector_distance FROM hybrid;
-- Score fusion in SQL: each list has the value 1/2 + z/6 with the z-score among the candidates, and the weights 0.3 and 0.7; passages without a query word have the score 0.
WITH z AS (
    SELECT score, lexical_score IS NULL AS wordless, (coalesce(lexical_score, 0) - avg(coalesce(lexical_score, 0)) OVER ()) / stddev_pop(coalesce(lexical_score, 0)) OVER () AS lexical,
        (avg(vector_distance) OVER () - vector_distance) / stddev_pop(vector_distance) OVER () AS vector
    FROM hybrid)
SELECT count(*) FILTER (WHERE wordless) AS wordless, bool_and(abs(score - 0.3 * (0.5 + lexical / 6) - 0.7 * (0.5 + vector / 6)) < 1e-7) AS fused FROM z;
-- Each search also scores the passages that only the other found.
SELECT count(*) AS candidates, count(vector_rank) AS found, count(vector_distance) AS measured
FROM reground.search('zoo', 'which animals sleep?', '[0,0,1]', max_results => 3, settings => '{"candidates": 3}');
SELECT chunk_id, lexical_rank, round(lexical_score::numeric, 4) AS lexical_score, vector_rank, round(vector_distance::numeric, 4) AS vector_distance
FROM reground.search('zoo', 'berries', '[1,0,0]', max_results => 1, settings => '{"candidates": 1, "vector_share": 0.1}');
-- Reciprocal rank fusion in SQL: the sum of weight / (60 + rank).
SELECT bool_and(abs(score - coalesce(1.0 / (60 + lexical_rank), 0) - coalesce(1.0 / (60 + vector_rank), 0)) < 1e-12) AS fused
FROM reground.search('zoo', 'which animals sleep?', '[1,0,0]', settings => '{"fusion": "rrf"}');

-- Only lexical search, with a warning; only vector search, without a query.
SELECT chunk_id, lexical_rank, vector_rank FROM reground.search('zoo', 'sleep');
SELECT chunk_id, lexical_rank, vector_rank FROM reground.search('zoo', embedding => '[0,0,1]', max_results => 2);
SELECT chunk_id, lexical_rank FROM reground.search('zoo', '   ', '[0,0,1]', max_results => 1);

SET client_min_messages = error;
-- No match; only stop words; punctuation; words of another language.
SELECT count(*) FROM reground.search('zoo', 'zeppelin');
SELECT count(*) FROM reground.search('zoo', 'the of and');
SELECT count(*) FROM reground.search('zoo', '& | ! ( ) :* <-> ''');
SELECT count(*) FROM reground.search('zoo', '烏龍 😀');
-- A repeated query word.
SELECT chunk_id FROM reground.search('zoo', 'bears bears berries');

-- The number of results; zero results.
SELECT count(*) FROM reground.search('zoo', 'sleep', '[1,0,0]', max_results => 2);
SELECT count(*) FROM reground.search('zoo', 'sleep', '[1,0,0]', max_results => 0);

-- The share of the vector branch, the rank constant, the number of candidates.
SELECT chunk_id FROM reground.search('zoo', 'bears', '[0,1,0]', settings => '{"vector_share": 1}', max_results => 2);
SELECT chunk_id FROM reground.search('zoo', 'bears', '[0,1,0]', settings => '{"vector_share": 0}', max_results => 2);
SELECT chunk_id, round(score::numeric, 4) AS score FROM reground.search('zoo', 'otters', '[0.6,0,0.8]', settings => '{"fusion": "rrf", "rrf_k": 1}', max_results => 1);
SELECT count(*) FILTER (WHERE lexical_rank IS NOT NULL) AS lexical, count(*) FILTER (WHERE vector_rank IS NOT NULL) AS vector
FROM reground.search('zoo', 'sleep', '[1,0,0]', max_results => 1, settings => '{"candidates": 1}');

-- Ties are ordered by key, so repeated calls return the same order.
SELECT array_agg(chunk_id) FROM reground.search('zoo', 'sleep', '[0,0,0]');
SELECT count(DISTINCT rows) AS orders FROM (SELECT (SELECT array_agg(chunk_id || score::text) FROM reground.search('zoo', 'sleep ' || left(repeat(' ', n), n), '[1,1,1]')) AS rows FROM generate_series(1, 5) AS n) AS runs;

-- search works in read-only transactions.
BEGIN READ ONLY;
SELECT chunk_id FROM reground.search('zoo', 'berries', '[0,0,1]', max_results => 1);
COMMIT;

-- Calls that are refused.
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('nowhere', 'x')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search(NULL, 'x')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('zoo', NULL)$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('zoo', 'x', max_results => NULL)$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('zoo', 'x', '[1,0]')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('zoo', 'x', max_results => -1)$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('zoo', 'x', max_results => 10001)$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('zoo', 'x', settings => '{"rrf_k": 0}')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('zoo', 'x', settings => '{"require_embedding": true}')$$);

-- The settings of the caller do not change.
SHOW search_path;
SHOW enable_indexscan;
SELECT reground.drop_corpus('zoo', true);
