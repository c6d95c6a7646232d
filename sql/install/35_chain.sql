-- The chain of hashes of each conversation whose turns ask for it (provenance merkle), and what stays of turns whose traces went.

-- No foreign keys: what is deleted elsewhere must be missed here, and not be deleted too.
CREATE TABLE reground.provenance_chain (
    conversation_id bigint NOT NULL,
    link_no         bigint NOT NULL,
    tenant          text NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('turn', 'retrieval', 'answer')),
    turn_id         bigint NOT NULL,
    message_id      bigint,
    salts           bytea[] NOT NULL,
    leaves          bytea[] NOT NULL,
    previous_digest bytea NOT NULL,
    digest          bytea NOT NULL,
    linked_at       timestamptz NOT NULL,
    retrieval_no    integer,
    PRIMARY KEY (conversation_id, link_no)
);
CREATE INDEX provenance_chain_linked ON reground.provenance_chain USING brin (linked_at);
COMMENT ON TABLE reground.provenance_chain IS 'Hash chain of each conversation with provenance merkle: one link per turn, further retrieval and answer. Each link contains the digest of the previous link, so verify_chain finds later changes. Only retention removes links, the oldest first, and leaves a checkpoint.';
COMMENT ON COLUMN reground.provenance_chain.conversation_id IS 'Id of the conversation.';
COMMENT ON COLUMN reground.provenance_chain.link_no IS 'Number of the link within the chain, from 1.';
COMMENT ON COLUMN reground.provenance_chain.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.provenance_chain.kind IS 'turn, retrieval or answer.';
COMMENT ON COLUMN reground.provenance_chain.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.provenance_chain.message_id IS 'Id of the answer; NULL for other links.';
COMMENT ON COLUMN reground.provenance_chain.salts IS 'Random salt of each content. A turn has the question, its other columns, and each initial source; a retrieval its arguments and each added source; an answer its text, its verdict, and each citation. NULL for erased contents.';
COMMENT ON COLUMN reground.provenance_chain.leaves IS 'SHA-256 of each content, after the byte 0 and its salt.';
COMMENT ON COLUMN reground.provenance_chain.previous_digest IS 'Digest of the previous link; 32 zero bytes in the first link.';
COMMENT ON COLUMN reground.provenance_chain.digest IS 'SHA-256 over the byte 2, previous_digest, the columns of the link, and the Merkle root of its leaves (RFC 6962).';
COMMENT ON COLUMN reground.provenance_chain.linked_at IS 'When the link was made.';
COMMENT ON COLUMN reground.provenance_chain.retrieval_no IS 'Number of the retrieval within the turn (turn_retrievals); NULL for other links.';

CREATE TABLE reground.chain_checkpoints (
    conversation_id bigint NOT NULL,
    link_no         bigint NOT NULL,
    tenant          text NOT NULL,
    digest          bytea NOT NULL,
    linked_at       timestamptz NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (conversation_id, link_no)
);
COMMENT ON TABLE reground.chain_checkpoints IS 'Last link that retention removed from a chain; verify_chain starts after it.';
COMMENT ON COLUMN reground.chain_checkpoints.conversation_id IS 'Id of the conversation.';
COMMENT ON COLUMN reground.chain_checkpoints.link_no IS 'Number of the link within the chain.';
COMMENT ON COLUMN reground.chain_checkpoints.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.chain_checkpoints.digest IS 'Digest of the link.';
COMMENT ON COLUMN reground.chain_checkpoints.linked_at IS 'When the link was made.';
COMMENT ON COLUMN reground.chain_checkpoints.created_at IS 'When the link was removed.';

CREATE TABLE reground.turn_archive (
    turn_id      bigint PRIMARY KEY,
    tenant       text NOT NULL,
    conversation_ref text NOT NULL,
    turn_no         integer NOT NULL,
    corpus       text NOT NULL,
    model        text,
    begun_at     timestamptz NOT NULL,
    candidate_count integer NOT NULL,
    source_count integer NOT NULL,
    citation_count integer,
    holding_count integer,
    cfs          double precision,
    decision     text,
    markers      text[] NOT NULL DEFAULT '{}',
    corpora      text[] NOT NULL DEFAULT '{}',
    doc_ids      text[] NOT NULL DEFAULT '{}',
    chunk_ids    text[] NOT NULL DEFAULT '{}',
    hash_prefixes bytea NOT NULL DEFAULT ''
);
CREATE INDEX turn_archive_begun ON reground.turn_archive USING brin (begun_at);
COMMENT ON TABLE reground.turn_archive IS 'Summary of each turn whose trace retention removed (I19). It remains when the turn is deleted.';
COMMENT ON COLUMN reground.turn_archive.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.turn_archive.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.turn_archive.conversation_ref IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.turn_archive.turn_no IS 'Number of the turn within its conversation, from 1.';
COMMENT ON COLUMN reground.turn_archive.corpus IS 'Leading corpus of the turn.';
COMMENT ON COLUMN reground.turn_archive.model IS 'Model that wrote the current answer.';
COMMENT ON COLUMN reground.turn_archive.begun_at IS 'When the turn began.';
COMMENT ON COLUMN reground.turn_archive.candidate_count IS 'Number of candidates in the trace.';
COMMENT ON COLUMN reground.turn_archive.source_count IS 'Number of sources in the context.';
COMMENT ON COLUMN reground.turn_archive.citation_count IS 'Number of citations in the current answer; NULL without an answer.';
COMMENT ON COLUMN reground.turn_archive.holding_count IS 'Number of these that hold.';
COMMENT ON COLUMN reground.turn_archive.cfs IS 'Citation fidelity score of the answer, 0 to 1 (I4); NULL without citations.';
COMMENT ON COLUMN reground.turn_archive.decision IS 'accept or regenerate (I20).';
COMMENT ON COLUMN reground.turn_archive.markers IS 'Markers cited by the answer, each once; parallel to the following arrays.';
COMMENT ON COLUMN reground.turn_archive.corpora IS 'Corpora of the cited sources.';
COMMENT ON COLUMN reground.turn_archive.doc_ids IS 'Documents of the cited sources.';
COMMENT ON COLUMN reground.turn_archive.chunk_ids IS 'Passages of the cited sources.';
COMMENT ON COLUMN reground.turn_archive.hash_prefixes IS 'First 8 bytes of the hash of each cited passage, concatenated; zeros if unknown.';
