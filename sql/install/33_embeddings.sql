-- The texts that were embedded, and embeddings that a worker keeps up to date.

CREATE TABLE reground.passage_embeddings (
    corpus_id   bigint NOT NULL REFERENCES reground.corpora ON DELETE CASCADE,
    model       text NOT NULL,
    chunk_id    text COLLATE "C" NOT NULL,
    input_hash  bytea NOT NULL,
    embedded_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    PRIMARY KEY (corpus_id, model, chunk_id)
);
COMMENT ON TABLE reground.passage_embeddings IS 'The text that the embedding of each passage was computed from. The vector is in the relation of the corpus.';
COMMENT ON COLUMN reground.passage_embeddings.corpus_id IS 'Id of the corpus.';
COMMENT ON COLUMN reground.passage_embeddings.model IS 'Name of the registered model of the corpus; empty if the application computes the embeddings.';
COMMENT ON COLUMN reground.passage_embeddings.chunk_id IS 'Id of the passage.';
COMMENT ON COLUMN reground.passage_embeddings.input_hash IS 'SHA-256 of the text (UTF-8).';
COMMENT ON COLUMN reground.passage_embeddings.embedded_at IS 'When the vector was stored, or found.';

CREATE TABLE reground.embedding_checks (
    corpus_id  bigint NOT NULL REFERENCES reground.corpora ON DELETE CASCADE,
    model      text NOT NULL REFERENCES reground.models,
    checked_at timestamptz,
    passages   bigint,
    stale      bigint,
    changes    bigint,
    seconds    double precision,
    last_error text,
    PRIMARY KEY (corpus_id, model)
);
COMMENT ON TABLE reground.embedding_checks IS 'Last comparison of the texts of each corpus with what was embedded.';
COMMENT ON COLUMN reground.embedding_checks.corpus_id IS 'Id of the corpus.';
COMMENT ON COLUMN reground.embedding_checks.model IS 'Name of the model.';
COMMENT ON COLUMN reground.embedding_checks.checked_at IS 'When the texts were compared; NULL before the first time.';
COMMENT ON COLUMN reground.embedding_checks.passages IS 'Passages with a text, at that time; before the first comparison, when the model was named.';
COMMENT ON COLUMN reground.embedding_checks.stale IS 'Passages without a vector of their text, at that time; before the first comparison, when the model was named.';
COMMENT ON COLUMN reground.embedding_checks.changes IS 'Counter of changes of the relation before the comparison; NULL to compare again soon.';
COMMENT ON COLUMN reground.embedding_checks.seconds IS 'Duration of the comparison, in seconds.';
COMMENT ON COLUMN reground.embedding_checks.last_error IS 'Error of the comparison; NULL if it succeeded.';

CREATE VIEW reground.embedding_progress WITH (security_invoker = true) AS
    SELECT c.corpus, c.tenant, k.model, k.model IS NOT DISTINCT FROM c.embedding_model AS is_current, k.passages,
           -- The first comparison adopts the vectors that exist and queues the others.
           CASE WHEN k.checked_at IS NULL THEN greatest(e.embedded, k.passages - k.stale) ELSE e.embedded END AS embedded,
           CASE WHEN k.checked_at IS NULL THEN coalesce(greatest(t.waiting, k.stale), 0) ELSE coalesce(t.waiting, 0) END AS waiting, coalesce(t.dead, 0) AS dead, k.stale, k.checked_at, k.last_error
    FROM reground.embedding_checks AS k
    JOIN reground.corpora AS c USING (corpus_id)
    CROSS JOIN LATERAL (SELECT pg_catalog.count(*) AS embedded FROM reground.passage_embeddings AS e WHERE e.corpus_id = k.corpus_id AND e.model = k.model) AS e
    LEFT JOIN LATERAL (
        SELECT pg_catalog.count(*) FILTER (WHERE t.state <> 'dead') AS waiting, pg_catalog.count(*) FILTER (WHERE t.state = 'dead') AS dead
        FROM reground.model_tasks AS t WHERE t.kind = 'embed' AND t.corpus_id = k.corpus_id AND t.model = k.model) AS t ON true;
COMMENT ON VIEW reground.embedding_progress IS 'Progress of the embeddings of each corpus and model.';
COMMENT ON COLUMN reground.embedding_progress.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.embedding_progress.tenant IS 'Tenant of the corpus; NULL if it is shared.';
COMMENT ON COLUMN reground.embedding_progress.model IS 'Name of the model.';
COMMENT ON COLUMN reground.embedding_progress.is_current IS 'Whether searches use this model; false while a new model is being prepared.';
COMMENT ON COLUMN reground.embedding_progress.passages IS 'Passages with a text, as of checked_at; before the first comparison, as of the call that named the model.';
COMMENT ON COLUMN reground.embedding_progress.embedded IS 'Passages with a vector.';
COMMENT ON COLUMN reground.embedding_progress.waiting IS 'Tasks that wait or are being done; before the first comparison, also passages without a vector.';
COMMENT ON COLUMN reground.embedding_progress.dead IS 'Tasks that were given up; see retry_tasks.';
COMMENT ON COLUMN reground.embedding_progress.stale IS 'Passages without a vector of their present text, as of checked_at; before the first comparison, as of the call that named the model.';
COMMENT ON COLUMN reground.embedding_progress.checked_at IS 'When texts and vectors were compared last; NULL before the first comparison.';
COMMENT ON COLUMN reground.embedding_progress.last_error IS 'Error of the last comparison; NULL if it succeeded.';

CREATE FUNCTION reground.queue_embeddings(corpus text DEFAULT NULL)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'queue_embeddings_wrapper';
COMMENT ON FUNCTION reground.queue_embeddings IS
'Queues the passages whose embedding is missing or of an older text, switches corpora to a new model when it has embedded everything, and returns the number of tasks queued. NULL: all corpora of all tenants that have changed since the last call. Reads and writes each relation as its owner. An error of one corpus is stored in embedding_checks.';
