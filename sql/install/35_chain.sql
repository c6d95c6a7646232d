-- The chain of hashes of each conversation whose turns ask for it (provenance merkle), and what stays of turns whose traces went.

-- No foreign keys: what is deleted elsewhere must be missed here, and not be deleted too.
CREATE TABLE reground.provenance_chain (
    conversation_id bigint NOT NULL,
    link_no         bigint NOT NULL,
    tenant          text NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('turn', 'answer')),
    turn_id         bigint NOT NULL,
    message_id      bigint,
    salts           bytea[] NOT NULL,
    leaves          bytea[] NOT NULL,
    previous        bytea NOT NULL,
    digest          bytea NOT NULL,
    linked_at       timestamptz NOT NULL,
    PRIMARY KEY (conversation_id, link_no)
);
CREATE INDEX provenance_chain_linked ON reground.provenance_chain USING brin (linked_at);
COMMENT ON TABLE  reground.provenance_chain IS 'A link for each turn (what was asked and shown) and each answer (with the verdicts on its citations), each made of the digest of the one before: whatever is changed later, verify_chain finds. Rows are only added; retention removes the oldest behind a checkpoint.';
COMMENT ON COLUMN reground.provenance_chain.conversation_id IS 'Its conversation.';
COMMENT ON COLUMN reground.provenance_chain.link_no IS 'Position in the chain, from 1.';
COMMENT ON COLUMN reground.provenance_chain.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.provenance_chain.kind IS 'turn or answer.';
COMMENT ON COLUMN reground.provenance_chain.turn_id IS 'The turn.';
COMMENT ON COLUMN reground.provenance_chain.message_id IS 'The answer.';
COMMENT ON COLUMN reground.provenance_chain.salts IS 'A random salt for each content. Of a turn: the question, what else is kept of the turn, and each source of the context. Of an answer: the answer, the verdict on it, and each citation. NULL where the content was erased, so that nobody can try out what it was.';
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
    made_at         timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (conversation_id, link_no)
);
COMMENT ON TABLE  reground.chain_checkpoints IS 'The last link of those that retention removed: where verify_chain begins.';
COMMENT ON COLUMN reground.chain_checkpoints.conversation_id IS 'Its conversation.';
COMMENT ON COLUMN reground.chain_checkpoints.link_no IS 'Position of the link in the chain.';
COMMENT ON COLUMN reground.chain_checkpoints.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.chain_checkpoints.digest IS 'Digest of the link.';
COMMENT ON COLUMN reground.chain_checkpoints.linked_at IS 'When the link was made.';
COMMENT ON COLUMN reground.chain_checkpoints.made_at IS 'When it was removed.';
