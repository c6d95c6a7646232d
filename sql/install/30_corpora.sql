-- What can be retrieved from: relations of the application, what we know of their documents, and what these say of entities.

CREATE TABLE reground.corpora (
    corpus_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant          text,
    corpus          text NOT NULL CHECK (corpus <> ''),
    relation        regclass NOT NULL,
    documents       regclass,
    managed         boolean NOT NULL,
    mapping         jsonb NOT NULL,
    dimensions      integer,
    embedding_type  text CHECK (embedding_type IN ('vector', 'halfvec')),
    metric          text NOT NULL DEFAULT 'cosine' CHECK (metric IN ('cosine', 'l2', 'inner_product')),
    text_config     text NOT NULL,
    chunking        jsonb NOT NULL DEFAULT '{}',
    settings        jsonb NOT NULL DEFAULT '{}',
    reranker_role   regrole,
    intent_role     regrole,
    created_at      timestamptz NOT NULL DEFAULT pg_catalog.now(),
    UNIQUE NULLS NOT DISTINCT (tenant, corpus)
);
COMMENT ON TABLE reground.corpora IS 'Registered corpora: the relation of the passages, and the meaning of its columns. Passages are not copied.';
COMMENT ON COLUMN reground.corpora.corpus_id IS 'Id of the corpus.';
COMMENT ON COLUMN reground.corpora.tenant IS 'Tenant that the corpus belongs to; NULL for a shared corpus (row-level security of the relation then filters its passages).';
COMMENT ON COLUMN reground.corpora.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.corpora.relation IS 'Relation that contains the passages.';
COMMENT ON COLUMN reground.corpora.documents IS 'Relation that contains the documents; NULL without one.';
COMMENT ON COLUMN reground.corpora.managed IS 'Whether create_corpus made the relations, so that put_document may write them.';
COMMENT ON COLUMN reground.corpora.mapping IS 'Meaning of the columns: {"content": {"in": "passages", "column": "body"}, …}.';
COMMENT ON COLUMN reground.corpora.dimensions IS 'Dimensions of the embedding column; NULL without one.';
COMMENT ON COLUMN reground.corpora.embedding_type IS 'vector or halfvec; NULL without an embedding column.';
COMMENT ON COLUMN reground.corpora.metric IS 'Distance between embeddings: cosine, l2 or inner_product.';
COMMENT ON COLUMN reground.corpora.text_config IS 'Text search configuration of the lexical branch, schema-qualified.';
COMMENT ON COLUMN reground.corpora.chunking IS 'How put_document splits texts: {"size": 512, "overlap": 128, "unit": "tokens"}.';
COMMENT ON COLUMN reground.corpora.settings IS 'Settings of the corpus. Settings of a conversation override them; see the view settings.';
COMMENT ON COLUMN reground.corpora.reranker_role IS 'Role that set the reranker; the function is called as this role.';
COMMENT ON COLUMN reground.corpora.intent_role IS 'Role that set the intent function; the function is called as this role.';
COMMENT ON COLUMN reground.corpora.created_at IS 'When the corpus was registered.';

CREATE TABLE reground.documents (
    corpus_id     bigint NOT NULL REFERENCES reground.corpora ON DELETE CASCADE,
    doc_id        text NOT NULL,
    version       integer NOT NULL CHECK (version >= 1),
    tenant        text,
    uri           text,
    page_count    integer,
    char_count    integer NOT NULL,
    chunk_count   integer NOT NULL,
    overlap_cost  double precision NOT NULL,
    content_hash  text NOT NULL,
    modified_at   timestamptz NOT NULL,
    indexed_at    timestamptz NOT NULL DEFAULT pg_catalog.now(),
    replaced_at   timestamptz,
    deleted_at    timestamptz,
    PRIMARY KEY (corpus_id, doc_id, version)
);
CREATE UNIQUE INDEX documents_current ON reground.documents (corpus_id, doc_id) WHERE replaced_at IS NULL;
COMMENT ON TABLE reground.documents IS 'Identity, version and size of each document stored with put_document, one row per version. The texts are in the table NAME_documents of the corpus.';
COMMENT ON COLUMN reground.documents.corpus_id IS 'Id of the corpus.';
COMMENT ON COLUMN reground.documents.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.documents.version IS 'Version, from 1; each change of the text adds one.';
COMMENT ON COLUMN reground.documents.tenant IS 'Tenant of the corpus; NULL if it is shared.';
COMMENT ON COLUMN reground.documents.uri IS 'Canonical address (RFC 3986, without fragment and tracking parameters), or a stable path.';
COMMENT ON COLUMN reground.documents.page_count IS 'Number of pages; NULL without pages. Citations of later pages are out_of_bounds.';
COMMENT ON COLUMN reground.documents.char_count IS 'Unicode characters of the normalised text.';
COMMENT ON COLUMN reground.documents.chunk_count IS 'Number of passages of this version.';
COMMENT ON COLUMN reground.documents.overlap_cost IS 'Characters stored in passages beyond those of the document, as a share of the document (I2).';
COMMENT ON COLUMN reground.documents.content_hash IS 'SHA-256 (hex) of the exact normalised text, white space included.';
COMMENT ON COLUMN reground.documents.modified_at IS 'When the original changed, as given by the application; by default when it was put.';
COMMENT ON COLUMN reground.documents.indexed_at IS 'When this version was put.';
COMMENT ON COLUMN reground.documents.replaced_at IS 'When a later version or a deletion replaced this version; NULL for the current version.';
COMMENT ON COLUMN reground.documents.deleted_at IS 'When the document was deleted.';

CREATE TABLE reground.edges (
    corpus_id   bigint NOT NULL REFERENCES reground.corpora ON DELETE CASCADE,
    doc_id      text NOT NULL,
    chunk_id    text NOT NULL,
    source_entity  text COLLATE "C" NOT NULL,
    relation    text NOT NULL,
    target_entity  text COLLATE "C" NOT NULL,
    tenant      text,
    source      text NOT NULL,
    target      text NOT NULL,
    weight      double precision NOT NULL CHECK (weight > 0),
    created_at      timestamptz NOT NULL DEFAULT pg_catalog.now(),
    PRIMARY KEY (corpus_id, doc_id, chunk_id, source_entity, relation, target_entity)
);
CREATE INDEX edges_source ON reground.edges (corpus_id, source_entity, weight DESC, chunk_id);
CREATE INDEX edges_target ON reground.edges (corpus_id, target_entity, weight DESC, chunk_id);
COMMENT ON TABLE reground.edges IS 'Knowledge graph of each corpus (C4): relations between two entities, each stated by a passage. Deleting the passage, the document or the corpus deletes its edges.';
COMMENT ON COLUMN reground.edges.corpus_id IS 'Id of the corpus.';
COMMENT ON COLUMN reground.edges.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.edges.chunk_id IS 'Id of the passage that states the relation.';
COMMENT ON COLUMN reground.edges.source_entity IS 'Normalised name of the source: NFC, lower case, single spaces.';
COMMENT ON COLUMN reground.edges.relation IS 'Relation between the two entities.';
COMMENT ON COLUMN reground.edges.target_entity IS 'Normalised name of the target.';
COMMENT ON COLUMN reground.edges.tenant IS 'Tenant of the corpus; NULL if it is shared.';
COMMENT ON COLUMN reground.edges.source IS 'Name of the source entity, as given.';
COMMENT ON COLUMN reground.edges.target IS 'Name of the target entity, as given.';
COMMENT ON COLUMN reground.edges.weight IS 'Weight, above 0; edges of large weight nominate passages first.';
COMMENT ON COLUMN reground.edges.created_at IS 'When the edge was first stored.';
