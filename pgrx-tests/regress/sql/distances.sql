-- Metrics, column types and indexes: the index and the exact scan return the same rows.
CREATE SCHEMA distances;
SET search_path = distances, public;
SET client_min_messages = error;

-- The same four points with each metric and type.
CREATE FUNCTION corpus(name text, kind text, metric text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM reground.create_corpus(name, dimensions => 3, embedding_type => kind, metric => metric);
    PERFORM reground.put_document(name, 'd', passages => '[{"content": "a"}, {"content": "b"}, {"content": "c"}, {"content": "d"}]');
    PERFORM reground.put_embeddings(name, ARRAY['1', '2', '3', '4'], ARRAY['[1,0,0]', '[3,4,0]', '[0,0.5,0.5]', '[-1,0,0]']::vector[]);
END
$$;
SELECT corpus(kind || '_' || metric, kind, metric) FROM unnest(ARRAY['vector', 'halfvec']) AS kind, unnest(ARRAY['cosine', 'l2', 'inner_product']) AS metric;
CREATE FUNCTION nearest(name text, settings jsonb DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('%s:%s', chunk_id, round(vector_distance::numeric, 3)), ' ' ORDER BY vector_rank) FROM reground.search(name, NULL, '[1,1,0]', settings => $2)
$$;
SELECT metric, nearest('vector_' || metric) AS vector, nearest('halfvec_' || metric) AS halfvec FROM unnest(ARRAY['cosine', 'l2', 'inner_product']) AS metric;
-- The same in SQL.
SELECT string_agg(format('%s:%s', chunk_id, round((embedding <=> '[1,1,0]')::numeric, 3)), ' ' ORDER BY embedding <=> '[1,1,0]') AS cosine,
       string_agg(format('%s:%s', chunk_id, round((embedding <-> '[1,1,0]')::numeric, 3)), ' ' ORDER BY embedding <-> '[1,1,0]') AS l2,
       string_agg(format('%s:%s', chunk_id, round((embedding <#> '[1,1,0]')::numeric, 3)), ' ' ORDER BY embedding <#> '[1,1,0]') AS inner_product
FROM vector_cosine;

-- check_corpus names the index for each metric; with it, both searches agree.
SELECT corpus, hint FROM unnest(ARRAY['vector', 'halfvec']) AS kind, unnest(ARRAY['cosine', 'l2', 'inner_product']) AS metric, concat(kind, '_', metric) AS corpus,
    reground.check_corpus(corpus) WHERE item = 'vector index' ORDER BY kind DESC, metric;
SELECT hint FROM unnest(ARRAY['vector', 'halfvec']) AS kind, unnest(ARRAY['cosine', 'l2', 'inner_product']) AS metric,
    reground.check_corpus(concat(kind, '_', metric)) WHERE item = 'vector index' ORDER BY kind DESC, metric \gexec
SELECT corpus, nearest(corpus, '{"vector_search": "exact"}') = nearest(corpus, '{"vector_search": "index"}') AS same, c.status
FROM unnest(ARRAY['vector', 'halfvec']) AS kind, unnest(ARRAY['cosine', 'l2', 'inner_product']) AS metric, concat(kind, '_', metric) AS corpus,
    reground.check_corpus(corpus) AS c WHERE item = 'vector index' ORDER BY kind DESC, metric;

-- 300 points: HNSW with enough candidates, compared with the exact scan; the index is used.
SELECT reground.create_corpus('cloud', dimensions => 4);
SELECT chunk_count FROM reground.put_document('cloud', 'd', passages => (SELECT jsonb_agg(jsonb_build_object('content', 'point ' || n)) FROM generate_series(1, 300) AS n));
UPDATE cloud SET embedding = ARRAY[sin(chunk_id), cos(chunk_id * 1.7), sin(chunk_id * 2.3), cos(chunk_id * 0.4)]::real[]::vector;
CREATE INDEX cloud_hnsw ON cloud USING hnsw (embedding vector_cosine_ops);
CREATE FUNCTION cloud(settings jsonb) RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(chunk_id || ' ' || round(vector_distance::numeric, 5) ORDER BY vector_rank) FROM reground.search('cloud', NULL, '[0.5,-0.5,0.5,1]', max_results => 10, settings => $1)
$$;
-- An exact search does not read the index, even where any other scan is expensive.
SET enable_seqscan = off;
SELECT array_length(cloud('{"vector_search": "exact"}'), 1) AS rows;
RESET enable_seqscan;
SELECT pg_stat_force_next_flush();
SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'cloud_hnsw';
SELECT cloud('{"vector_search": "exact"}') = cloud('{"vector_search": "index"}') AS same;
SELECT pg_stat_force_next_flush();
SELECT idx_scan > 0 AS index_used FROM pg_stat_user_indexes WHERE indexrelname = 'cloud_hnsw';
SHOW hnsw.ef_search;
-- An index on the embeddings cast to halfvec is found and used.
DROP INDEX cloud_hnsw;
CREATE INDEX cloud_half ON cloud USING hnsw ((embedding::halfvec(4)) halfvec_cosine_ops);
SELECT status, detail FROM reground.check_corpus('cloud') WHERE item = 'vector index';
SELECT array_length(cloud('{"vector_search": "index"}'), 1) AS rows;
SELECT pg_stat_force_next_flush();
SELECT idx_scan > 0 AS index_used FROM pg_stat_user_indexes WHERE indexrelname = 'cloud_half';

-- pgvector refuses NaN and infinite values.
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('cloud', NULL, '[1,NaN,0,0]')$$);
SELECT * FROM regress.refusal($$SELECT reground.put_embeddings('cloud', ARRAY['1'], ARRAY['[1,Infinity,0,0]']::vector[])$$);
SELECT * FROM regress.refusal($$SELECT reground.put_embeddings('halfvec_l2', ARRAY['1'], ARRAY['[1e9,0,0]']::vector[])$$);
SELECT reground.drop_corpus(corpus, true) FROM reground.corpora WHERE relation::text ~ '^(vector|halfvec)_|^cloud$';
