-- Corpora: registered relations, versions of their documents, and the knowledge graph.

CREATE TABLE reground.corpora (
    corpus_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant         text,
    corpus         text NOT NULL CHECK (corpus <> ''),
    relation       regclass NOT NULL,
    documents      regclass,
    history        regclass,
    managed        boolean NOT NULL,
    mapping        jsonb NOT NULL,
    dimensions     integer,
    embedding_type text CHECK (embedding_type IN ('vector', 'halfvec')),
    metric         text NOT NULL DEFAULT 'cosine' CHECK (metric IN ('cosine', 'l2', 'inner_product')),
    text_config    text NOT NULL,
    title_weight   integer NOT NULL CHECK (title_weight BETWEEN 0 AND 100),
    chunking       jsonb NOT NULL DEFAULT '{}',
    settings       jsonb NOT NULL DEFAULT '{}',
    reranker_role  regrole,
    intent_role    regrole,
    mapped_by      regrole,
    embedding_model      text,
    next_embedding_model text,
    keep_versions  integer CHECK (keep_versions >= 0),
    created_at     timestamptz NOT NULL DEFAULT pg_catalog.now(),
    UNIQUE NULLS NOT DISTINCT (tenant, corpus)
);
COMMENT ON TABLE reground.corpora IS 'Registered corpora: the relation of the passages, and the meaning of its columns. Passages are not copied.';
COMMENT ON COLUMN reground.corpora.corpus_id IS 'Id of the corpus.';
COMMENT ON COLUMN reground.corpora.tenant IS 'Tenant that the corpus belongs to; NULL for a shared corpus (row-level security of the relation then filters its passages).';
COMMENT ON COLUMN reground.corpora.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.corpora.relation IS 'Relation that contains the passages.';
COMMENT ON COLUMN reground.corpora.documents IS 'Relation that contains the documents; NULL without one.';
COMMENT ON COLUMN reground.corpora.history IS 'Table of the passages of earlier versions, for as_of; NULL for a registered corpus. Dropping the table ends the history.';
COMMENT ON COLUMN reground.corpora.managed IS 'Whether create_corpus made the relations, so that put_document may write them.';
COMMENT ON COLUMN reground.corpora.mapping IS 'Meaning of the columns: {"content": {"in": "passages", "column": "body"}, …}.';
COMMENT ON COLUMN reground.corpora.dimensions IS 'Dimensions of the embedding column; NULL without one.';
COMMENT ON COLUMN reground.corpora.embedding_type IS 'vector or halfvec; NULL without an embedding column.';
COMMENT ON COLUMN reground.corpora.metric IS 'Distance between embeddings: cosine, l2 or inner_product.';
COMMENT ON COLUMN reground.corpora.text_config IS 'Text search configuration of the lexical branch, schema-qualified.';
COMMENT ON COLUMN reground.corpora.title_weight IS 'How many times a word of a title or heading counts in the lexical branch; if above 0, titles and headings are also embedded with the text.';
COMMENT ON COLUMN reground.corpora.chunking IS 'How put_document splits texts: {"size": 512, "overlap": 128, "unit": "tokens"}.';
COMMENT ON COLUMN reground.corpora.settings IS 'Settings of the corpus. Settings of a conversation override them; see the view settings.';
COMMENT ON COLUMN reground.corpora.reranker_role IS 'Role that set the reranker; the function is called as this role.';
COMMENT ON COLUMN reground.corpora.intent_role IS 'Role that set the intent function; the function is called as this role.';
COMMENT ON COLUMN reground.corpora.mapped_by IS 'Role that mapped the columns; NULL after changes by several roles. Maintenance records positions of a registered table only if this role owns it.';
COMMENT ON COLUMN reground.corpora.embedding_model IS 'Model whose embeddings the worker keeps up to date; NULL if the application writes embeddings.';
COMMENT ON COLUMN reground.corpora.next_embedding_model IS 'Model that replaces embedding_model when it has embedded all passages.';
COMMENT ON COLUMN reground.corpora.keep_versions IS 'Newest versions of each document that are kept although nothing cites them; 0: all; NULL: all, or 1 with a synchronised table.';
COMMENT ON COLUMN reground.corpora.created_at IS 'When the corpus was registered.';

CREATE TABLE reground.documents (
    corpus_id    bigint NOT NULL REFERENCES reground.corpora ON DELETE CASCADE,
    doc_id       text NOT NULL,
    version      integer NOT NULL CHECK (version >= 1),
    tenant       text,
    uri          text,
    page_count   integer,
    char_count   integer NOT NULL,
    chunk_count  integer NOT NULL,
    overlap_cost double precision NOT NULL,
    content_hash text NOT NULL,
    modified_at  timestamptz NOT NULL,
    indexed_at   timestamptz NOT NULL DEFAULT pg_catalog.now(),
    replaced_at  timestamptz,
    deleted_at   timestamptz,
    source_hash  text,
    PRIMARY KEY (corpus_id, doc_id, version)
);
CREATE UNIQUE INDEX documents_current ON reground.documents (corpus_id, doc_id) WHERE replaced_at IS NULL;
COMMENT ON TABLE reground.documents IS 'Identity, version and size of each document stored with put_document, one row per version. The texts are in the table NAME_documents of the corpus.';
COMMENT ON COLUMN reground.documents.corpus_id IS 'Id of the corpus.';
COMMENT ON COLUMN reground.documents.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.documents.version IS 'Version, from 1; each change of the text adds one.';
COMMENT ON COLUMN reground.documents.tenant IS 'Tenant of the corpus, or of the document in a corpus with tenant_column; NULL if it is shared.';
COMMENT ON COLUMN reground.documents.uri IS 'Canonical address (RFC 3986, without fragment and tracking parameters), or a stable path. NULL if tenants have keys: then only the table NAME_documents of the corpus has it.';
COMMENT ON COLUMN reground.documents.page_count IS 'Number of pages; NULL without pages. Citations of later pages are out_of_bounds.';
COMMENT ON COLUMN reground.documents.char_count IS 'Unicode characters of the normalised text.';
COMMENT ON COLUMN reground.documents.chunk_count IS 'Number of passages of this version.';
COMMENT ON COLUMN reground.documents.overlap_cost IS 'Characters stored in passages beyond those of the document, as a share of the document.';
COMMENT ON COLUMN reground.documents.content_hash IS 'SHA-256 (hex) of the exact normalised text, white space included.';
COMMENT ON COLUMN reground.documents.modified_at IS 'When the original changed, as given by the application; by default when it was put.';
COMMENT ON COLUMN reground.documents.indexed_at IS 'When this version was put.';
COMMENT ON COLUMN reground.documents.replaced_at IS 'When a later version or a deletion replaced this version; NULL for the current version.';
COMMENT ON COLUMN reground.documents.deleted_at IS 'When the document was deleted.';
COMMENT ON COLUMN reground.documents.source_hash IS 'SHA-256 (hex) of the mapped columns of the row of a synchronised table; NULL for other documents.';

CREATE TABLE reground.passage_positions (
    corpus_id      bigint NOT NULL REFERENCES reground.corpora ON DELETE CASCADE,
    chunk_id       text COLLATE "C" NOT NULL,
    row_tenant     text COLLATE "C" NOT NULL,
    ordinal        integer,
    char_start     integer,
    char_end       integer,
    page_start     integer,
    page_end       integer,
    content_hash   bytea NOT NULL,
    source_hash    bytea,
    recorded_at    timestamptz NOT NULL DEFAULT pg_catalog.now(),
    PRIMARY KEY (corpus_id, chunk_id, row_tenant)
);
COMMENT ON TABLE reground.passage_positions IS 'Position of each passage of a registered table at the first check by the task check_coordinates, or at the first one after the text, version or time of the passage changed.';
COMMENT ON COLUMN reground.passage_positions.corpus_id IS 'Id of the corpus.';
COMMENT ON COLUMN reground.passage_positions.chunk_id IS 'Id of the passage.';
COMMENT ON COLUMN reground.passage_positions.row_tenant IS 'Tenant of the row; empty without tenant_column.';
COMMENT ON COLUMN reground.passage_positions.ordinal IS 'Position among the passages of the document.';
COMMENT ON COLUMN reground.passage_positions.char_start IS 'First character in the document, from 0.';
COMMENT ON COLUMN reground.passage_positions.char_end IS 'One past the last character.';
COMMENT ON COLUMN reground.passage_positions.page_start IS 'First page, from 1.';
COMMENT ON COLUMN reground.passage_positions.page_end IS 'Last page.';
COMMENT ON COLUMN reground.passage_positions.content_hash IS 'SHA-256 of the text (UTF-8).';
COMMENT ON COLUMN reground.passage_positions.source_hash IS 'SHA-256 of the mapped version and time of change; NULL if none is mapped.';
COMMENT ON COLUMN reground.passage_positions.recorded_at IS 'When the position was recorded.';

CREATE TABLE reground.edges (
    corpus_id     bigint NOT NULL REFERENCES reground.corpora ON DELETE CASCADE,
    doc_id        text NOT NULL,
    chunk_id      text NOT NULL,
    source_entity text COLLATE "C" NOT NULL,
    relation      text NOT NULL,
    target_entity text COLLATE "C" NOT NULL,
    tenant        text,
    source        text NOT NULL,
    target        text NOT NULL,
    weight        double precision NOT NULL CHECK (weight > 0),
    created_at    timestamptz NOT NULL DEFAULT pg_catalog.now(),
    PRIMARY KEY (corpus_id, doc_id, chunk_id, source_entity, relation, target_entity)
);
CREATE INDEX edges_source ON reground.edges (corpus_id, source_entity, tenant, weight DESC, chunk_id);
CREATE INDEX edges_target ON reground.edges (corpus_id, target_entity, tenant, weight DESC, chunk_id);
COMMENT ON TABLE reground.edges IS 'Knowledge graph of each corpus: relations between two entities, each stated by a passage. Deleting the passage, the document or the corpus deletes its edges.';
COMMENT ON COLUMN reground.edges.corpus_id IS 'Id of the corpus.';
COMMENT ON COLUMN reground.edges.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.edges.chunk_id IS 'Id of the passage that states the relation.';
COMMENT ON COLUMN reground.edges.source_entity IS 'Normalised name of the source: NFC, lower case, single spaces.';
COMMENT ON COLUMN reground.edges.relation IS 'Relation between the two entities.';
COMMENT ON COLUMN reground.edges.target_entity IS 'Normalised name of the target.';
COMMENT ON COLUMN reground.edges.tenant IS 'Tenant of the corpus, or of the passage in a corpus with tenant_column; NULL if it is shared.';
COMMENT ON COLUMN reground.edges.source IS 'Name of the source entity, as given.';
COMMENT ON COLUMN reground.edges.target IS 'Name of the target entity, as given.';
COMMENT ON COLUMN reground.edges.weight IS 'Weight, above 0; edges of large weight nominate passages first.';
COMMENT ON COLUMN reground.edges.created_at IS 'When the edge was first stored.';

-- Functions of corpora, documents and search.

CREATE FUNCTION reground.create_corpus(
    corpus text, dimensions integer DEFAULT NULL, schema text DEFAULT pg_catalog.current_schema(),
    embedding_type text DEFAULT 'vector', metric text DEFAULT 'cosine', text_config regconfig DEFAULT 'pg_catalog.english',
    chunk_size integer DEFAULT 512, chunk_overlap integer DEFAULT 128, chunk_unit text DEFAULT 'tokens',
    settings jsonb DEFAULT '{}', tenant text DEFAULT NULL, text_config_per_document boolean DEFAULT false, embedding_model text DEFAULT NULL,
    title_weight integer DEFAULT 2, tenant_column text DEFAULT NULL, principals_column text DEFAULT NULL, keep_versions integer DEFAULT NULL,
    distribute boolean DEFAULT false)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'create_corpus_wrapper';
COMMENT ON FUNCTION reground.create_corpus IS
'Creates a corpus with tables of its own in a schema, owned by the caller: NAME (passages), NAME_documents (texts and versions) and NAME_history (passages of earlier versions). If tenant is given and the table NAME exists, the tables of the tenant begin with NAME__TENANT. dimensions NULL: no embeddings. embedding_type: vector or halfvec. metric: cosine, l2 or inner_product. chunk_unit: tokens (o200k_base), characters or sentences. text_config_per_document: each document may have its own text search configuration. embedding_model: registered model whose embeddings a worker keeps up to date; it gives the dimensions. title_weight: how many times a word of a title or heading counts, 0 to 100; 0: titles are neither searched nor embedded. tenant_column: name of a column that put_document fills with the current tenant; each tenant reads and writes its own rows only. principals_column: name of a column of text arrays; a row is visible if it has one of current_principals(). keep_versions: newest versions of each document to keep; earlier ones are removed when nothing cites them; 0: all; NULL: all, or 1 with a synchronised table. distribute: Citus distributes the tables by document. A second call with equal arguments does nothing. Errors: 42710 if the corpus exists with other arguments, 0A000 for distribute without Citus.';

CREATE FUNCTION reground.add_corpus(
    corpus text, relation regclass, chunk_id text, content text, doc_id text DEFAULT NULL, embedding text DEFAULT NULL,
    documents regclass DEFAULT NULL, documents_doc_id text DEFAULT NULL, title text DEFAULT NULL, uri text DEFAULT NULL,
    published text DEFAULT NULL, modified_at text DEFAULT NULL, version text DEFAULT NULL, ordinal text DEFAULT NULL,
    page_start text DEFAULT NULL, page_end text DEFAULT NULL, page_count text DEFAULT NULL,
    char_start text DEFAULT NULL, char_end text DEFAULT NULL, metadata text DEFAULT NULL,
    metric text DEFAULT 'cosine', text_config regconfig DEFAULT 'pg_catalog.english', settings jsonb DEFAULT '{}', tenant text DEFAULT NULL,
    text_config_column text DEFAULT NULL, embedding_model text DEFAULT NULL, heading text DEFAULT NULL, title_weight integer DEFAULT 2,
    tenant_column text DEFAULT NULL, principals_column text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'add_corpus_wrapper';
COMMENT ON FUNCTION reground.add_corpus IS
'Registers an existing table or view as a corpus; nothing is copied. chunk_id to metadata, documents_doc_id, text_config_column and heading name columns of relation; title, uri, published, modified_at, version, page_count and metadata columns of documents, if it has them. text_config_column contains the text search configuration or language of each row; text_config applies if it is NULL or unknown. embedding_model: registered model whose embeddings a worker keeps up to date in the column embedding; vectors that exist are taken as this model''s. title_weight: how many times a word of a title or heading counts, 0 to 100; 0: they are neither searched nor embedded. tenant_column: column of relation (or of documents) with the tenant; only rows of the current tenant are read. principals_column: column of text arrays; only rows with one of current_principals() are read. Run check_corpus afterwards. A second call with equal arguments does nothing. Errors: 42710 if the corpus exists with other arguments.';

CREATE FUNCTION reground.alter_corpus(
    corpus text, settings jsonb DEFAULT NULL, mapping jsonb DEFAULT NULL, metric text DEFAULT NULL, text_config regconfig DEFAULT NULL,
    text_config_per_document boolean DEFAULT NULL, embedding_model text DEFAULT NULL, title_weight integer DEFAULT NULL,
    keep_versions integer DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'alter_corpus_wrapper';
COMMENT ON FUNCTION reground.alter_corpus IS
'Changes the given properties of a corpus. settings are merged into those of the corpus (null removes one). mapping maps columns of a registered corpus: {"content": "body"} (null removes one). A new text_config, text_config_per_document or title_weight rebuilds the index of tables made by create_corpus. A title_weight changed from or to 0 changes the embedded texts: a notice says how to embed them again. embedding_model: model whose embeddings a worker keeps up to date; another model than the present one embeds everything into a second column, and searches use it when all vectors exist; an empty name stops the updates. keep_versions: as in create_corpus; earlier versions of a document are removed when it is stored the next time.';

CREATE FUNCTION reground.drop_corpus(corpus text, drop_tables boolean DEFAULT false)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'drop_corpus_wrapper';
COMMENT ON FUNCTION reground.drop_corpus IS
'Removes the registration of a corpus, with the versions of its documents and its edges. The tables stay, unless drop_tables is true and create_corpus made them. Citations of the corpus stay.';

CREATE FUNCTION reground.check_coordinates(corpus text)
    RETURNS TABLE (chunk_id text, doc_id text, problem text, detail text) LANGUAGE c STABLE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'check_coordinates_wrapper';
COMMENT ON FUNCTION reground.check_coordinates(text) IS
'Returns the passages with a wrong position, among those that the caller may read. A position is compared with that stored with the document, in a registered table with that recorded by maintenance. problem: lost (a part is missing), moved (a part differs), out_of_bounds, other_text (the passage has another text than when it was stored), no_document (no such current version). Reads the whole corpus. Errors: 55000 if a relation was dropped, or if maintenance does not record positions of the corpus: a view, tables that the role that registered them does not own, or ids without a unique index.';

CREATE FUNCTION reground.accept_coordinates(corpus text)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'accept_coordinates_wrapper';
COMMENT ON FUNCTION reground.accept_coordinates(text) IS
'Removes the recorded positions of a registered table and returns their number: the next run of check_coordinates records the present ones. Errors: 22023 if create_corpus made the corpus.';

CREATE FUNCTION reground.check_corpus(corpus text)
    RETURNS TABLE (item text, status text, detail text, hint text) LANGUAGE c STABLE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'check_corpus_wrapper';
COMMENT ON FUNCTION reground.check_corpus IS
'Checks a corpus and returns one row per finding. status: ok, warning (costs quality or speed) or error (the corpus does not work). hint: command that repairs it.';

CREATE FUNCTION reground.put_document(
    corpus text, doc_id text, content text DEFAULT NULL, passages jsonb DEFAULT NULL, uri text DEFAULT NULL, title text DEFAULT NULL,
    published timestamptz DEFAULT NULL, modified_at timestamptz DEFAULT NULL, media_type text DEFAULT NULL, language text DEFAULT NULL,
    page_starts integer[] DEFAULT NULL, page_count integer DEFAULT NULL, metadata jsonb DEFAULT NULL,
    text_config text DEFAULT NULL, principals text[] DEFAULT NULL)
    RETURNS TABLE (version integer, changed boolean, chunk_count integer, reused integer, added integer, removed integer, pending_embeddings integer, page_count integer, overlap_cost double precision)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000 ROWS 1 AS 'MODULE_PATHNAME', 'put_document_wrapper';
COMMENT ON FUNCTION reground.put_document IS
'Stores a document of a corpus made by create_corpus, given as text (content) or as passages ([{content, chunk_id, heading, page_start, page_end, char_start, char_end, metadata}], only content required). page_starts: character offsets from 0 at which pages begin; NULL: form feeds. text_config: text search configuration or language, for corpora with text_config_per_document; NULL means language. A changed text makes a new version; unchanged passages keep their ids and embeddings (reused); a passage whose title or heading changed keeps its id and waits for a new embedding. overlap_cost: characters stored twice, as a share of the document. principals: who may read the document in all its versions, for corpora with principals_column; NULL: those who may read it already. Errors: 22023 for a new document of such a corpus without principals, 55000 if create_corpus did not make the corpus, 23505 if another tenant has a document of this doc_id.';

CREATE FUNCTION reground.delete_document(corpus text, doc_id text)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'delete_document_wrapper';
COMMENT ON FUNCTION reground.delete_document IS
'Deletes a document from the current passages and returns whether it existed. Its versions stay for as_of as far as keep_versions allows, and its citations get the source_state deleted; forget_document erases its text. Errors: 55000 if create_corpus did not make the corpus.';

CREATE FUNCTION reground.pending_embeddings(corpus text, max_results integer DEFAULT 100)
    RETURNS TABLE (chunk_id text, doc_id text, content text, content_hash text) LANGUAGE c STABLE PARALLEL UNSAFE ROWS 100 AS 'MODULE_PATHNAME', 'pending_embeddings_wrapper';
COMMENT ON FUNCTION reground.pending_embeddings IS
'Returns passages without an embedding, then those whose text has changed since it was embedded, each ordered by chunk_id. content: the text to embed, which begins with the title and the headings unless title_weight is 0. content_hash: its SHA-256 (hex), for put_embeddings.';

-- The type vector is in the schema of pgvector. Declare only functions in C under this search_path: they contain no operators.
SELECT pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ', e.extnamespace::regnamespace, ', pg_temp'), true)
FROM pg_catalog.pg_extension AS e WHERE e.extname = 'vector';
CREATE FUNCTION reground.put_embeddings(corpus text, chunk_ids text[], embeddings vector[], model text DEFAULT NULL, content_hashes text[] DEFAULT NULL)
    RETURNS integer LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'put_embeddings_wrapper';
COMMENT ON FUNCTION reground.put_embeddings IS
'Stores the embeddings of passages and returns the number of passages updated; passages that no longer exist are skipped. chunk_ids, embeddings and content_hashes have the same length. content_hashes: those that pending_embeddings returned; a passage whose text has changed since is skipped. Without them, the vectors are taken as those of the present texts. Errors: 22023 if a vector has other dimensions or is not finite, 55000 if the corpus has no embedding column.';

CREATE FUNCTION reground.put_edges(corpus text, edges jsonb)
    RETURNS TABLE (added bigint, changed bigint)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1 AS 'MODULE_PATHNAME', 'put_edges_wrapper';
COMMENT ON FUNCTION reground.put_edges IS
'Stores edges of the knowledge graph: [{"source": "Ada Lovelace", "relation": "worked with", "target": "Charles Babbage", "chunk_id": "17", "weight": 1}], where source, target and chunk_id are required; doc_id is checked if given. An edge with the same passage, entities and relation changes the weight of the stored one. Requires the privilege to write the passages. Turns use the edges with the setting graph.';

CREATE FUNCTION reground.delete_edges(
    corpus text, doc_id text DEFAULT NULL, chunk_id text DEFAULT NULL, entity text DEFAULT NULL, everything boolean DEFAULT false)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'delete_edges_wrapper';
COMMENT ON FUNCTION reground.delete_edges IS
'Deletes the edges that match all given arguments and returns their number. entity: name of an entity at either end. everything: all edges of the corpus.';

CREATE FUNCTION reground._search_rows(internal) RETURNS internal
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'search_rows_wrapper';
COMMENT ON FUNCTION reground._search_rows(internal) IS
'Internal: tells the planner that search returns max_results rows.';
CREATE FUNCTION reground.search(
    corpus text, query text DEFAULT NULL, embedding vector DEFAULT NULL, max_results integer DEFAULT 10, filter jsonb DEFAULT NULL, settings jsonb DEFAULT NULL,
    embedding_model text DEFAULT NULL, as_of timestamptz DEFAULT NULL)
    RETURNS TABLE (chunk_id text, doc_id text, title text, locator text, content text, score double precision, lexical_rank integer, vector_rank integer,
                   lexical_score double precision, vector_distance double precision, uri text, published text, metadata jsonb)
    LANGUAGE c STABLE PARALLEL UNSAFE COST 1000 ROWS 10 SUPPORT reground._search_rows AS 'MODULE_PATHNAME', 'search_wrapper';
COMMENT ON FUNCTION reground.search IS
'Searches a corpus by BM25 and pgvector and returns the fused ranking. filter: conditions on columns of the relation or of its documents: {"lang": "en", "year": {">=": 2020}, "kind": ["a", "b"]}. settings: see the view settings. Without an embedding the search is lexical only and warns; without a query it is vector only. embedding_model: registered model that computed the embedding. as_of: searches the versions of that time, for corpora made by create_corpus. Errors: 0A000 for as_of and another corpus, 22023 if as_of is in the future, 22023 if the corpus has another embedding_model.';
CREATE FUNCTION reground.explain_search(
    corpus text, query text DEFAULT NULL, embedding vector DEFAULT NULL, max_results integer DEFAULT 10, filter jsonb DEFAULT NULL, settings jsonb DEFAULT NULL,
    embedding_model text DEFAULT NULL, as_of timestamptz DEFAULT NULL)
    RETURNS TABLE (step_no integer, step text, rows bigint, ms double precision, plan text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000 ROWS 40 AS 'MODULE_PATHNAME', 'explain_search_wrapper';
COMMENT ON FUNCTION reground.explain_search IS
'Runs a search and returns the plan of each statement that reads the corpus, as EXPLAIN (ANALYZE, BUFFERS) shows it to the caller. Arguments as in search. step: stage of the search, as in profile(). rows: rows that the statement returned; ms: its execution time. Each statement runs twice. Errors: as in search.';
SET LOCAL search_path = pg_catalog, pg_temp;
