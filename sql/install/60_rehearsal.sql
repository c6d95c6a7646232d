-- Turns that are only rehearsed, and questions whose source is known.

-- The type vector is in the schema of pgvector.
SELECT pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ', e.extnamespace::regnamespace, ', pg_temp'), true)
FROM pg_catalog.pg_extension AS e WHERE e.extname = 'vector';
CREATE FUNCTION reground.rehearse_turn(query text, corpus text DEFAULT NULL, embedding vector DEFAULT NULL, filter jsonb DEFAULT NULL, settings jsonb DEFAULT NULL, conversation text DEFAULT NULL)
    RETURNS TABLE (candidate_no integer, corpus text, doc_id text, chunk_id text, members text[], origin text, lexical_rank integer, lexical_score double precision,
                   vector_rank integer, vector_distance double precision, graph_rank integer, fused double precision, reranked double precision, relevance double precision, carry_score double precision,
                   in_context boolean, left_at text, reason text, gave_way_to text)
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'rehearse_turn_wrapper';
SET LOCAL search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION reground.rehearse_turn IS
'What begin_turn would do now, with nothing written: every candidate as explain_turn has it, those of the context first. For trying settings on a live conversation, and on a standby. Without a conversation, as the first turn of one; a deferred rerank is left out. P0002 for a conversation or corpus that there is not.';

-- The type vector is in the schema of pgvector.
SELECT pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ', e.extnamespace::regnamespace, ', pg_temp'), true)
FROM pg_catalog.pg_extension AS e WHERE e.extname = 'vector';
CREATE FUNCTION reground.put_probe(probe text, corpus text, query text, doc_id text, chunk_id text DEFAULT NULL, embedding vector DEFAULT NULL, filter jsonb DEFAULT NULL, settings jsonb DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'put_probe_wrapper';
SET LOCAL search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION reground.put_probe IS 'Stores a question and the document, or passage, that must be in its context, in place of the probe of that name. P0002 for a corpus that there is not; 22023 for a filter, an embedding or settings that it could not be asked with.';

CREATE FUNCTION reground.drop_probe(probe text)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'drop_probe_wrapper';
COMMENT ON FUNCTION reground.drop_probe(text) IS 'Drops a probe with its results; false where there was none.';

CREATE FUNCTION reground.run_probes(corpus text DEFAULT NULL)
    RETURNS TABLE (probe text, corpus text, found boolean, "position" integer, lost_at text, reason text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'run_probes_wrapper';
COMMENT ON FUNCTION reground.run_probes(text) IS 'Sends the tenant''s probes of a corpus, or all, through the pipeline as first turns, as the caller, and keeps what became of each in probe_results (I11): found in the context and where, or the stage that lost it and why. Nothing else is written.';
