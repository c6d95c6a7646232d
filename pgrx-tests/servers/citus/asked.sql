-- Questions, and the results of a search without what depends on the corpus.
SET client_min_messages = error;
CREATE TEMP TABLE asked AS
    SELECT n, (SELECT string_agg('w' || floor(power((n * 37 + k * 101) % 100 / 100.0, 3) * 800), ' ') FROM generate_series(0, n % 4) AS k) AS query,
           (SELECT array_agg(sin(n * k)) FROM generate_series(1, 8) AS k)::real[]::vector AS embedding
    FROM generate_series(1, 40) AS n;

-- Distances are rounded, because the same vectors are compared by other code paths.
CREATE FUNCTION pg_temp.found(corpus text, query text, embedding vector, settings jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_agg(jsonb_build_object('chunk_id', s.chunk_id, 'doc_id', s.doc_id, 'content', s.content, 'lexical_rank', s.lexical_rank, 'vector_rank', s.vector_rank,
        'lexical_score', round(s.lexical_score::numeric, 9), 'vector_distance', round(s.vector_distance::numeric, 9), 'score', round(s.score::numeric, 9)))
    FROM reground.search(corpus, query, embedding => embedding, max_results => 20, settings => settings) AS s
$$;
