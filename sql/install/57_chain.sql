-- Whether what a turn was made of is still what it was (I10), for the auditor.

CREATE FUNCTION reground.verify_turn(turn bigint)
    RETURNS TABLE (corpus text, doc_id text, chunk_id text, marker text, stored_hash text, current_hash text, state text)
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'verify_turn_wrapper';
COMMENT ON FUNCTION reground.verify_turn(bigint) IS
'Whether the passages that a turn saw are still what they were (for the auditor): a row for each source of its context, and for each other candidate where provenance was hash or more, with the hash of its text then (of candidates its first 8 bytes) and of what stands under its key now. state is unchanged, changed, gone (deleted, or not for the caller to see: relations are read as the caller), or unknown where the relation cannot be read. Reads only, works on a standby. P0002 when there is no such turn.';
