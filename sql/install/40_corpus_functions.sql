-- Corpora and their documents.

CREATE FUNCTION reground.create_corpus(
    corpus text, dimensions integer DEFAULT NULL, schema text DEFAULT pg_catalog.current_schema(),
    embedding_type text DEFAULT 'vector', metric text DEFAULT 'cosine', text_config regconfig DEFAULT 'pg_catalog.english',
    chunk_size integer DEFAULT 512, chunk_overlap integer DEFAULT 128, chunk_unit text DEFAULT 'tokens',
    settings jsonb DEFAULT '{}', tenant text DEFAULT NULL, text_config_per_document boolean DEFAULT false)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'create_corpus_wrapper';
COMMENT ON FUNCTION reground.create_corpus IS
'Makes a corpus with tables of its own in your schema, owned by you: NAME (passages) and NAME_documents (text, versions). dimensions NULL: no embeddings. embedding_type: vector or halfvec. metric: cosine, l2 or inner_product. Chunks of chunk_size with chunk_overlap, in tokens (o200k_base), characters or sentences. With text_config_per_document each document may be read by a text search configuration of its own (put_document''s text_config or language), the others by text_config. With equal arguments a second call does nothing; otherwise 42710.';

CREATE FUNCTION reground.add_corpus(
    corpus text, relation regclass, key text, content text, document text DEFAULT NULL, embedding text DEFAULT NULL,
    documents regclass DEFAULT NULL, document_key text DEFAULT NULL, title text DEFAULT NULL, uri text DEFAULT NULL,
    published text DEFAULT NULL, updated_at text DEFAULT NULL, version text DEFAULT NULL, ordinal text DEFAULT NULL,
    page_start text DEFAULT NULL, page_end text DEFAULT NULL, page_count text DEFAULT NULL,
    char_start text DEFAULT NULL, char_end text DEFAULT NULL, metadata text DEFAULT NULL,
    metric text DEFAULT 'cosine', text_config regconfig DEFAULT 'pg_catalog.english', settings jsonb DEFAULT '{}', tenant text DEFAULT NULL,
    text_config_column text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'add_corpus_wrapper';
COMMENT ON FUNCTION reground.add_corpus IS
'Registers a table or view that exists; nothing is copied. Each further argument names a column of relation; title, uri, published, updated_at, version, page_count and metadata one of documents where that is given and has it. text_config_column holds what each row is read by: a text search configuration or a language (regconfig, text, varchar or name; it is looked for in relation first), where that is NULL or unknown, text_config. Keys may be of any type. With equal arguments a second call does nothing; otherwise 42710. Run check_corpus afterwards.';

CREATE FUNCTION reground.alter_corpus(
    corpus text, settings jsonb DEFAULT NULL, mapping jsonb DEFAULT NULL, metric text DEFAULT NULL, text_config regconfig DEFAULT NULL,
    text_config_per_document boolean DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'alter_corpus_wrapper';
COMMENT ON FUNCTION reground.alter_corpus IS
'Changes what is given. settings are merged into those of the corpus (null removes one). mapping renames columns of a registered corpus: {"content": "body"} (null removes one). Another text_config or text_config_per_document has the tables of create_corpus read and indexed anew; documents that were put with a language are then read by it.';

CREATE FUNCTION reground.drop_corpus(corpus text, drop_tables boolean DEFAULT false)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'drop_corpus_wrapper';
COMMENT ON FUNCTION reground.drop_corpus IS
'Forgets a corpus, the identity of its documents and its edges. The tables stay unless drop_tables is true and create_corpus made them. Conversations keep what they cited.';

CREATE FUNCTION reground.check_coordinates(corpus text)
    RETURNS TABLE (chunk_id text, doc_id text, fault text, detail text) LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'check_coordinates_wrapper';
COMMENT ON FUNCTION reground.check_coordinates(text) IS 'The passages of a corpus that are not where they say they are (I2), of those that the caller may read; none where all is well. no_document: it has no such version; out_of_bounds: a place that the document does not have; text_elsewhere: the document''s text there is another; out_of_order: a later passage on an earlier page, or before the one before it. Reads the whole corpus. 55000 for one that create_corpus did not make.';

CREATE FUNCTION reground.check_corpus(corpus text)
    RETURNS TABLE (item text, status text, detail text, hint text) LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'check_corpus_wrapper';
COMMENT ON FUNCTION reground.check_corpus IS
'A row a finding: what is in order (ok), what costs quality or speed (warning), what keeps the corpus from working (error), with the command that mends it.';

CREATE FUNCTION reground.put_document(
    corpus text, doc_id text, content text DEFAULT NULL, passages jsonb DEFAULT NULL, uri text DEFAULT NULL, title text DEFAULT NULL,
    published timestamptz DEFAULT NULL, modified_at timestamptz DEFAULT NULL, media_type text DEFAULT NULL, language text DEFAULT NULL,
    page_starts integer[] DEFAULT NULL, page_count integer DEFAULT NULL, metadata jsonb DEFAULT NULL,
    text_config text DEFAULT NULL)
    RETURNS TABLE (version integer, changed boolean, chunks integer, kept integer, added integer, removed integer, pending integer, page_count integer, overlap_cost double precision)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'put_document_wrapper';
COMMENT ON FUNCTION reground.put_document IS
'Stores a document of a corpus that create_corpus made, from its text (normalised to NFC and chunked; the document''s text at a chunk''s offsets is the chunk) or from passages chunked elsewhere ([{text, id, page_start, page_end, char_start, char_end, metadata}], only text required). Pages come from form feeds, or from page_starts (0-based character offsets). text_config is the text search configuration or the language that it is read by, in a corpus made with text_config_per_document; NULL takes language. The same text again changes nothing but the description, which is replaced as a whole; another text makes a new version, whose unchanged chunks keep their id and embedding.';

CREATE FUNCTION reground.delete_document(corpus text, doc_id text)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'delete_document_wrapper';
COMMENT ON FUNCTION reground.delete_document IS
'Removes the passages and the text of a document; true if it was there. Its identity stays, so that citations of it say deleted.';

CREATE FUNCTION reground.pending_embeddings(corpus text, max_results integer DEFAULT 100)
    RETURNS TABLE (chunk_id text, doc_id text, content text) LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'pending_embeddings_wrapper';
COMMENT ON FUNCTION reground.pending_embeddings IS 'Passages that have no embedding yet, by key.';

-- The type vector is in the schema of pgvector.
SELECT pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ', e.extnamespace::regnamespace, ', pg_temp'), true)
FROM pg_catalog.pg_extension AS e WHERE e.extname = 'vector';
CREATE FUNCTION reground.put_embeddings(corpus text, keys text[], embeddings vector[], model text DEFAULT NULL)
    RETURNS integer LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'put_embeddings_wrapper';
SET LOCAL search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION reground.put_embeddings IS
'Stores embeddings made elsewhere, as many as keys, all of the corpus'' dimensions and finite; returns how many passages took one (a passage that has gone is passed over).';

CREATE FUNCTION reground.put_edges(corpus text, edges jsonb)
    RETURNS TABLE (added bigint, changed bigint)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'put_edges_wrapper';
COMMENT ON FUNCTION reground.put_edges IS
'Stores what passages say of two entities: [{"source": "Ada Lovelace", "relation": "worked with", "target": "Charles Babbage", "chunk_id": "17", "weight": 1}], of which source, target and chunk_id are required. The passage must be there; its doc_id may be given to be checked. The same entities (but for case and white space), relation and passage again change the weight. For whoever may write the passages. Turns look at the edges where the setting graph is on.';

CREATE FUNCTION reground.delete_edges(
    corpus text, doc_id text DEFAULT NULL, chunk_id text DEFAULT NULL, node text DEFAULT NULL, everything boolean DEFAULT false)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'delete_edges_wrapper';
COMMENT ON FUNCTION reground.delete_edges IS
'Removes the edges of a document, of a passage or of an entity (node, at either end), of all that are given together, or all of the corpus; returns how many. Those of documents that put_document or delete_document remove go by themselves.';

-- The type vector is in the schema of pgvector.
SELECT pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ', e.extnamespace::regnamespace, ', pg_temp'), true)
FROM pg_catalog.pg_extension AS e WHERE e.extname = 'vector';
CREATE FUNCTION reground.search(
    corpus text, query text, embedding vector DEFAULT NULL, max_results integer DEFAULT 10, filter jsonb DEFAULT NULL, settings jsonb DEFAULT NULL)
    RETURNS TABLE (chunk_id text, doc_id text, title text, locator text, content text, score double precision, lexical_rank integer, vector_rank integer,
                   lexical_score double precision, vector_distance double precision, uri text, published text, metadata jsonb)
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'search_wrapper';
SET LOCAL search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION reground.search IS
'Hybrid search: BM25 and pgvector, candidates of each fused by the scores that both give them (fusion scores: the weighted mean of 1/2 + z/6, z standardised over the candidates) or by reciprocal rank (fusion rrf: Σ weight / (rrf_k + rank)); ties by key. filter is jsonb on columns of the relation ({"lang": "en", "year": {">=": 2020}, "kind": ["a", "b"], "metadata": {"k": "v"}}) and goes into both branches. Without an embedding it warns and is lexical only; without a query text it is vector only. settings: see the view reground.settings.';
