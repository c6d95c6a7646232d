-- Synchronised tables: corpora whose documents are the rows of a table.

CREATE TABLE reground.synchronised_tables (
    corpus_id   bigint PRIMARY KEY REFERENCES reground.corpora ON DELETE CASCADE,
    tenant      text,
    source      regclass NOT NULL,
    columns     jsonb NOT NULL,
    mode        text NOT NULL CHECK (mode IN ('immediate', 'queued')),
    compared_at timestamptz,
    last_error  text,
    created_at  timestamptz NOT NULL DEFAULT pg_catalog.now(),
    relation_id oid,
    column_numbers jsonb NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE reground.synchronised_tables IS 'Tables whose rows are the documents of a corpus, registered with sync_table.';
COMMENT ON COLUMN reground.synchronised_tables.corpus_id IS 'Id of the corpus.';
COMMENT ON COLUMN reground.synchronised_tables.tenant IS 'Tenant of the corpus; NULL if it is shared.';
COMMENT ON COLUMN reground.synchronised_tables.source IS 'The table. Its triggers call _sync_rows.';
COMMENT ON COLUMN reground.synchronised_tables.columns IS 'Names of the columns of the table by meaning: {"key": "id", "content": "body", …}. A renamed column is stored here by the next comparison.';
COMMENT ON COLUMN reground.synchronised_tables.mode IS 'immediate: documents are stored in the transaction of the writer. queued: by run_maintenance.';
COMMENT ON COLUMN reground.synchronised_tables.compared_at IS 'When the table and the documents were compared last.';
COMMENT ON COLUMN reground.synchronised_tables.last_error IS 'Error of the last run of maintenance, or of rows that wait; NULL if it succeeded.';
COMMENT ON COLUMN reground.synchronised_tables.created_at IS 'When the table was registered.';
COMMENT ON COLUMN reground.synchronised_tables.relation_id IS 'OID of the table when column_numbers were stored. If the table has another OID, as after a restore, the names in columns count.';
COMMENT ON COLUMN reground.synchronised_tables.column_numbers IS 'Numbers of the columns of the table by meaning. A renamed column is found by its number.';

CREATE TABLE reground.sync_queue (
    queue_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant     text,
    corpus_id  bigint NOT NULL REFERENCES reground.corpora ON DELETE CASCADE,
    doc_id     text,
    attempts   integer NOT NULL DEFAULT 0,
    due_at     timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    queued_at  timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    last_error text
);
CREATE INDEX sync_queue_corpus ON reground.sync_queue (corpus_id, queue_id);
-- The index has a hash of the key, because a key can be too long for an index.
CREATE INDEX sync_queue_document ON reground.sync_queue (corpus_id, pg_catalog.hashtextextended(doc_id, 0));
COMMENT ON TABLE reground.sync_queue IS 'Rows of synchronised tables whose documents have to be stored or deleted. The present row is read when the entry is processed.';
COMMENT ON COLUMN reground.sync_queue.queue_id IS 'Key.';
COMMENT ON COLUMN reground.sync_queue.tenant IS 'Tenant of the corpus; NULL if it is shared.';
COMMENT ON COLUMN reground.sync_queue.corpus_id IS 'Id of the corpus.';
COMMENT ON COLUMN reground.sync_queue.doc_id IS 'Key of the row; NULL to compare the whole table.';
COMMENT ON COLUMN reground.sync_queue.attempts IS 'Failed attempts.';
COMMENT ON COLUMN reground.sync_queue.due_at IS 'Earliest time of the next attempt.';
COMMENT ON COLUMN reground.sync_queue.queued_at IS 'When the row first changed since the last attempt.';
COMMENT ON COLUMN reground.sync_queue.last_error IS 'Error of the last attempt; NULL before the first one.';

CREATE FUNCTION reground._sync_rows()
    RETURNS trigger LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', '_sync_rows_wrapper';
COMMENT ON FUNCTION reground._sync_rows() IS
'Trigger of a synchronised table: stores or queues the documents of the changed rows. On a table that does not belong to the synchronisation, it does nothing and warns once in a session. Errors: 55000 unless a trigger after a statement calls it.';

CREATE FUNCTION reground.sync_table(
    corpus text, relation regclass, key text, content text, title text DEFAULT NULL, uri text DEFAULT NULL, published text DEFAULT NULL,
    modified_at text DEFAULT NULL, language text DEFAULT NULL, metadata text DEFAULT NULL, tenant_column text DEFAULT NULL,
    principals_column text DEFAULT NULL, mode text DEFAULT 'immediate')
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sync_table_wrapper';
COMMENT ON FUNCTION reground.sync_table IS
'Makes the rows of a table the documents of a corpus made by create_corpus, keeps them up to date with triggers, and returns the number of documents stored. key to principals_column name columns of relation; key is unique, and a row without content has no document. mode: immediate (in the transaction of the writer) or queued (run_maintenance stores the documents, those of the present rows too). Without keep_versions, the corpus keeps one version of each document. A second call with equal arguments adds triggers to new partitions and compares all rows. Errors: 42809 for a relation that cannot have the triggers or a key that is not unique, 42804 for a column whose type cannot be converted, 42501 unless the caller has the rights of the owner of the table and of the corpus, 55000 if the corpus has other documents or another table.';

CREATE FUNCTION reground.stop_sync(corpus text)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'stop_sync_wrapper';
COMMENT ON FUNCTION reground.stop_sync(text) IS
'Ends the synchronisation of a corpus and removes the triggers. The documents stay and can then be written with put_document. Errors: 55000 if the corpus has no synchronised table.';

CREATE FUNCTION reground.resync(corpus text DEFAULT NULL)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'resync_wrapper';
COMMENT ON FUNCTION reground.resync(text) IS
'Compares all rows of the synchronised table of a corpus with its documents by hash, repairs the differences, processes the queue, and returns the number of documents stored or deleted. NULL: all corpora of the tenant with such a table; one that cannot be read gives a warning. Errors: 55000 if the corpus has no synchronised table.';
