-- Turns that are only rehearsed, and questions whose source is known.

CREATE FUNCTION reground.dry_run_turn(query text, corpus text DEFAULT NULL, embedding vector DEFAULT NULL, filter jsonb DEFAULT NULL, settings jsonb DEFAULT NULL, conversation_ref text DEFAULT NULL)
    RETURNS SETOF reground.turn_candidate
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dry_run_turn_wrapper';
COMMENT ON FUNCTION reground.dry_run_turn IS
'Returns the candidates that begin_turn would have now, without writing. Without a conversation_ref the turn is the first of a conversation. A deferred rerank is skipped. Errors: P0002 if the conversation or corpus does not exist.';

CREATE FUNCTION reground.put_probe(probe text, corpus text, query text, doc_id text, chunk_id text DEFAULT NULL, embedding vector DEFAULT NULL, filter jsonb DEFAULT NULL, settings jsonb DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'put_probe_wrapper';
COMMENT ON FUNCTION reground.put_probe IS
'Stores a question with the document, or passage, that its context must contain; replaces the probe with the same name. Errors: 22023 for an invalid filter, embedding or setting, P0002 if the corpus does not exist.';

CREATE FUNCTION reground.drop_probe(probe text)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'drop_probe_wrapper';
COMMENT ON FUNCTION reground.drop_probe(text) IS
'Deletes a probe with its results and returns whether it existed.';

CREATE FUNCTION reground.run_probes(corpus text DEFAULT NULL)
    RETURNS TABLE (probe text, corpus text, found boolean, "position" integer, lost_stage text, reason text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'run_probes_wrapper';
COMMENT ON FUNCTION reground.run_probes(text) IS
'Runs the tenant''s probes of a corpus, or all, as first turns with the rights of the caller, and stores the results in probe_results (I11).';
