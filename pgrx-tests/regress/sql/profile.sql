-- The times of the last call of each function in this session.
\c -
CREATE SCHEMA clocks;
SET search_path = clocks, public;
-- No function was called yet.
SELECT count(*) FROM reground.profile();
SELECT reground.create_corpus('clocks', dimensions => 2);
SELECT chunk_count FROM reground.put_document('clocks', 'tick', content => 'A clock ticks once a second.');
SELECT reground.put_embeddings('clocks', ARRAY['1'], ARRAY['[1,0]']::vector[]);
SELECT count(*) FROM reground.begin_turn('time', 'what ticks?', 'clocks', '[1,0]');
SELECT function, stage, calls, self_us >= 0 AS measured FROM reground.profile();
SELECT marker, status FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns WHERE query = 'what ticks?'), 'A clock ticks [A1].');
SELECT function, stage, calls, self_us >= 0 AS measured FROM reground.profile();
-- A failed call does not replace the last successful one; a call inside a reranker counts as reranking.
SELECT * FROM reground.end_turn(-1, 'x');
SELECT DISTINCT function FROM reground.profile();
CREATE FUNCTION searching(query text, passages text[]) RETURNS real[] LANGUAGE sql
    AS $$ SELECT array_agg(1::real) FROM unnest(passages), LATERAL (SELECT count(*) FROM reground.begin_turn('inner', query, 'clocks', '[1,0]')) AS s $$;
SELECT count(*) FROM reground.begin_turn('time', 'what ticks again?', 'clocks', '[1,0]', settings => '{"reranker": "clocks.searching"}');
SELECT function, sum(calls) FILTER (WHERE stage = 'rerank') AS reranks, sum(calls) FILTER (WHERE stage = 'lexical list') AS lists FROM reground.profile() GROUP BY function;
