-- Pages to look at: whole in themselves, nothing fetched, nothing run.

CREATE FUNCTION reground.conversation_report(conversation_ref text, tenant text DEFAULT NULL)
    RETURNS text LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'conversation_report_wrapper';
COMMENT ON FUNCTION reground.conversation_report(text, text) IS
'Returns a conversation as one self-contained HTML page. tenant: required for an auditor if several tenants have a conversation with this id. Errors: 22023 if it is missing then, P0002 if the conversation does not exist.';

CREATE FUNCTION reground.corpus_report(corpus text, since timestamptz DEFAULT pg_catalog.date_trunc('day', pg_catalog.now() - interval '7 days', 'UTC'), until timestamptz DEFAULT NULL, tenant text DEFAULT NULL)
    RETURNS text LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'corpus_report_wrapper';
COMMENT ON FUNCTION reground.corpus_report(text, timestamptz, timestamptz, text) IS
'Returns the current answers of the turns that searched a corpus as one self-contained HTML page, by default since seven days ago (UTC). tenant: only answers of this tenant. Errors: 22023 if several corpora have this name, P0002 if the corpus does not exist.';
