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
COMMENT ON TABLE  reground.provenance_chain IS 'A link for each turn (what was asked and shown), each further retrieval of it (what was searched for or handed over, and added) and each answer (with the verdicts on its citations), each made of the digest of the one before: whatever is changed later, verify_chain finds. Rows are only added; retention removes the oldest behind a checkpoint.';
COMMENT ON COLUMN reground.provenance_chain.conversation_id IS 'Its conversation.';
COMMENT ON COLUMN reground.provenance_chain.link_no IS 'Position in the chain, from 1.';
COMMENT ON COLUMN reground.provenance_chain.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.provenance_chain.kind IS 'turn, retrieval or answer.';
COMMENT ON COLUMN reground.provenance_chain.turn_id IS 'The turn.';
COMMENT ON COLUMN reground.provenance_chain.message_id IS 'The answer.';
COMMENT ON COLUMN reground.provenance_chain.retrieval_no IS 'The retrieval, by its number within the turn (turn_retrievals).';
COMMENT ON COLUMN reground.provenance_chain.salts IS 'A random salt for each content. Of a turn: the question, what else is kept of the turn, and each source of the context that it began with. Of a retrieval: what it was, and each source that it added. Of an answer: the answer, the verdict on it, and each citation. NULL where the content was erased, so that nobody can try out what it was.';
COMMENT ON COLUMN reground.provenance_chain.leaves IS 'SHA-256 of each content, after the byte 0 and its salt.';
COMMENT ON COLUMN reground.provenance_chain.previous IS 'digest of the link before; 32 zeros in the first.';
COMMENT ON COLUMN reground.provenance_chain.digest IS 'SHA-256 over the byte 2, previous, what the link says of itself, and the Merkle root of its leaves (RFC 6962).';
COMMENT ON COLUMN reground.provenance_chain.linked_at IS 'When the link was made.';

CREATE TABLE reground.chain_checkpoints (
    conversation_id bigint NOT NULL,
    link_no         bigint NOT NULL,
    tenant          text NOT NULL,
    digest          bytea NOT NULL,
    linked_at       timestamptz NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (conversation_id, link_no)
);
COMMENT ON TABLE  reground.chain_checkpoints IS 'The last link of those that retention removed: where verify_chain begins.';
COMMENT ON COLUMN reground.chain_checkpoints.conversation_id IS 'Its conversation.';
COMMENT ON COLUMN reground.chain_checkpoints.link_no IS 'Position of the link in the chain.';
COMMENT ON COLUMN reground.chain_checkpoints.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.chain_checkpoints.digest IS 'Digest of the link.';
COMMENT ON COLUMN reground.chain_checkpoints.linked_at IS 'When the link was made.';
COMMENT ON COLUMN reground.chain_checkpoints.made_at IS 'When it was removed.';

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
COMMENT ON TABLE  reground.turn_archive IS 'A compact row for each turn whose trace retention has removed (I19); it outlives the turn itself.';
COMMENT ON COLUMN reground.turn_archive.turn_id IS 'The turn.';
COMMENT ON COLUMN reground.turn_archive.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.turn_archive.conversation IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.turn_archive.turn IS 'Position in the conversation, from 1.';
COMMENT ON COLUMN reground.turn_archive.corpus IS 'Where it searched.';
COMMENT ON COLUMN reground.turn_archive.model IS 'What wrote the answer that stands, as the application says.';
COMMENT ON COLUMN reground.turn_archive.begun_at IS 'When it began.';
COMMENT ON COLUMN reground.turn_archive.candidates IS 'Candidates in its trace.';
COMMENT ON COLUMN reground.turn_archive.sources IS 'Sources in its context.';
COMMENT ON COLUMN reground.turn_archive.citations IS 'Citations in the answer that stands; NULL without an answer.';
COMMENT ON COLUMN reground.turn_archive.holding IS 'Of these, those that holding.';
COMMENT ON COLUMN reground.turn_archive.cfs IS 'Citation fidelity score of the answer.';
COMMENT ON COLUMN reground.turn_archive.decision IS 'accept or regenerate.';
COMMENT ON COLUMN reground.turn_archive.markers IS 'What the answer cites, each once, as parallel arrays: markers.';
COMMENT ON COLUMN reground.turn_archive.corpora IS 'Corpora.';
COMMENT ON COLUMN reground.turn_archive.doc_ids IS 'Documents.';
COMMENT ON COLUMN reground.turn_archive.chunk_ids IS 'Passages.';
COMMENT ON COLUMN reground.turn_archive.hashes IS 'The first 8 bytes of the hash of each, one after the other; zeros where none is known.';
