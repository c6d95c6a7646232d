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
COMMENT ON TABLE  reground.corpora IS 'Registered corpora: which relation holds the passages, and which column means what. Nothing of the relation is copied.';
COMMENT ON COLUMN reground.corpora.corpus_id IS 'Surrogate key.';
COMMENT ON COLUMN reground.corpora.tenant IS 'The tenant that it belongs to; NULL is shared by all (the relation''s own row-level security then filters its passages).';
COMMENT ON COLUMN reground.corpora.corpus IS 'Name, as the functions take it.';
COMMENT ON COLUMN reground.corpora.relation IS 'The relation that holds the passages.';
COMMENT ON COLUMN reground.corpora.documents IS 'The relation that holds the documents, where there is one.';
COMMENT ON COLUMN reground.corpora.managed IS 'True if create_corpus made the relations, so that put_document may write them.';
COMMENT ON COLUMN reground.corpora.mapping IS 'Meaning → column: {"content": {"in": "passages", "column": "body"}, …}.';
COMMENT ON COLUMN reground.corpora.dimensions IS 'Dimensions of the embedding column; NULL without one.';
COMMENT ON COLUMN reground.corpora.embedding_type IS 'vector or halfvec; NULL without an embedding column.';
COMMENT ON COLUMN reground.corpora.metric IS 'Distance between embeddings: cosine, l2 or inner_product.';
COMMENT ON COLUMN reground.corpora.text_config IS 'Text search configuration of the lexical branch, schema-qualified.';
COMMENT ON COLUMN reground.corpora.chunking IS 'How put_document splits: {"size": 512, "overlap": 128, "unit": "tokens"}.';
COMMENT ON COLUMN reground.corpora.settings IS 'Settings of the corpus, weaker than a conversation''s; see the view reground.settings.';
COMMENT ON COLUMN reground.corpora.reranker_role IS 'The role that set the reranker: it is called as that role.';
COMMENT ON COLUMN reground.corpora.intent_role IS 'The role that set the intent function: it is called as that role.';
COMMENT ON COLUMN reground.corpora.created_at IS 'When it was registered.';

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
COMMENT ON TABLE  reground.documents IS 'Identity, version and bounds of each document that put_document stored, a row a version. Text and description are in the corpus'' own NAME_documents.';
COMMENT ON COLUMN reground.documents.corpus_id IS 'Its corpus.';
COMMENT ON COLUMN reground.documents.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.documents.version IS 'From 1, one more with each change of the text.';
COMMENT ON COLUMN reground.documents.tenant IS 'The corpus'' tenant; NULL is shared.';
COMMENT ON COLUMN reground.documents.uri IS 'Canonical URI (RFC 3986, without fragment and tracking parameters), or a stable path.';
COMMENT ON COLUMN reground.documents.page_count IS 'Pages; NULL where the text has none. Citations beyond it are out_of_bounds.';
COMMENT ON COLUMN reground.documents.char_count IS 'Unicode characters of the normalised text.';
COMMENT ON COLUMN reground.documents.chunk_count IS 'Passages of this version.';
COMMENT ON COLUMN reground.documents.overlap_cost IS 'Characters stored in passages beyond those of the document, as a share of the document (I2).';
COMMENT ON COLUMN reground.documents.content_hash IS 'SHA-256 (hex) of the normalised text, exactly: other white space moves the offsets.';
COMMENT ON COLUMN reground.documents.modified_at IS 'When the original changed, as the application says; else when it was put.';
COMMENT ON COLUMN reground.documents.indexed_at IS 'When this version was put.';
COMMENT ON COLUMN reground.documents.replaced_at IS 'When a later version or a deletion took its place; NULL is current.';
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
COMMENT ON TABLE  reground.edges IS 'The mini knowledge graph of each corpus (C4): what a passage says of two entities. put_edges fills it; edges go with the passage, the document or the corpus that they were put for.';
COMMENT ON COLUMN reground.edges.corpus_id IS 'Its corpus.';
COMMENT ON COLUMN reground.edges.doc_id IS 'The application''s id of the passage''s document.';
COMMENT ON COLUMN reground.edges.chunk_id IS 'The application''s id of the passage that says it.';
COMMENT ON COLUMN reground.edges.source_entity IS 'The source as entities are told apart by: NFC, lower case, white space folded.';
COMMENT ON COLUMN reground.edges.relation IS 'What relates the two.';
COMMENT ON COLUMN reground.edges.target_entity IS 'The target as entities are told apart by.';
COMMENT ON COLUMN reground.edges.tenant IS 'The corpus'' tenant; NULL is shared.';
COMMENT ON COLUMN reground.edges.source IS 'Name of the entity that it leaves, as it was given.';
COMMENT ON COLUMN reground.edges.target IS 'Name of the entity that it leads to, as it was given.';
COMMENT ON COLUMN reground.edges.weight IS 'Above 0; the strongest nominate first.';
COMMENT ON COLUMN reground.edges.created_at IS 'When it was first put.';
