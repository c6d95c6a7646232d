-- Reports as HTML pages, and metrics.

CREATE FUNCTION reground.conversation_report(conversation_ref text, tenant text DEFAULT NULL)
    RETURNS text LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'conversation_report_wrapper';
COMMENT ON FUNCTION reground.conversation_report(text, text) IS
'Returns a conversation as one self-contained HTML page. tenant: required for an auditor if several tenants have a conversation with this id. Errors: 22023 if it is missing then, P0002 if the conversation does not exist.';

CREATE FUNCTION reground.corpus_report(corpus text, since timestamptz DEFAULT pg_catalog.date_trunc('day', pg_catalog.now() - interval '7 days', 'UTC'), until timestamptz DEFAULT NULL, tenant text DEFAULT NULL)
    RETURNS text LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'corpus_report_wrapper';
COMMENT ON FUNCTION reground.corpus_report(text, timestamptz, timestamptz, text) IS
'Returns the current answers of the turns whose leading corpus it is as one self-contained HTML page, by default since seven days ago (UTC). tenant: only answers of this tenant. Errors: 22023 if several corpora have this name, P0002 if the corpus does not exist.';

CREATE FUNCTION reground.openmetrics()
    RETURNS text LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'openmetrics_wrapper';
COMMENT ON FUNCTION reground.openmetrics() IS
'Returns metrics as OpenMetrics text (application/openmetrics-text; version=1.0.0; charset=utf-8): totals of answers, citations, time, tokens and cost as of the last refresh_audit, of the caller''s tenant; of all tenants for an auditor, who also gets alerts, queues, wrong positions and maintenance.';

-- Erasure on request.

CREATE TYPE reground.erasure_receipt AS (
    relation regclass,
    erased   bigint,
    redacted bigint
);
COMMENT ON TYPE reground.erasure_receipt IS 'Row of forget_conversation, forget_user, forget_document, forget_tenant and forget_tenant_keys: a relation that was changed. The type only grows at its end.';
COMMENT ON COLUMN reground.erasure_receipt.relation IS 'The relation.';
COMMENT ON COLUMN reground.erasure_receipt.erased IS 'Number of deleted rows.';
COMMENT ON COLUMN reground.erasure_receipt.redacted IS 'Number of rows whose text was removed.';

CREATE FUNCTION reground.forget_conversation(conversation_ref text)
    RETURNS SETOF reground.erasure_receipt
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1 AS 'MODULE_PATHNAME', 'forget_conversation_wrapper';
COMMENT ON FUNCTION reground.forget_conversation(text) IS
'Erases a conversation of the tenant with everything stored for it, except its counts in the rollups and metric_totals. Errors: P0002 if neither the conversation nor an archived turn of it exists.';

CREATE FUNCTION reground.forget_user(user_ref text)
    RETURNS SETOF reground.erasure_receipt
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 5 AS 'MODULE_PATHNAME', 'forget_user_wrapper';
COMMENT ON FUNCTION reground.forget_user(text) IS
'Erases a user of the tenant: all conversations in which the user asked, as forget_conversation does, questions of others in them included, and the reports of the user. Errors: P0002 if nothing names the user.';

CREATE FUNCTION reground.forget_document(corpus text, doc_id text)
    RETURNS SETOF reground.erasure_receipt
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1 AS 'MODULE_PATHNAME', 'forget_document_wrapper';
COMMENT ON FUNCTION reground.forget_document(text, text) IS
'Removes the text of a document from contexts, facts, quotes, markers and API citations; ids, positions, hashes, verdicts and counts stay. A document of create_corpus is deleted; rows of other tables are not. In a shared corpus without tenant_column, reground_admin and the owner of its table redact the records of all tenants, others their own. Answers are not changed. Errors: P0002 if neither the corpus nor a record of the document exists.';

CREATE FUNCTION reground.forget_tenant(tenant text)
    RETURNS SETOF reground.erasure_receipt
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 5 AS 'MODULE_PATHNAME', 'forget_tenant_wrapper';
COMMENT ON FUNCTION reground.forget_tenant(text) IS
'Erases a tenant: its conversations, archived turns, hash chains, probes, must-have facts, judge rules, usage of models, keys, rollups, metric_totals, baselines, alerts, the registration of its corpora, whose tables stay, and its documents in shared corpora with tenant_column made by create_corpus. For reground_admin. Errors: P0002 if the tenant has no rows, 55000 if a synchronised table has a row of the tenant.';

CREATE FUNCTION reground.forget_tenant_keys(tenant text)
    RETURNS SETOF reground.erasure_receipt
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 2 AS 'MODULE_PATHNAME', 'forget_tenant_keys_wrapper';
COMMENT ON FUNCTION reground.forget_tenant_keys(text) IS
'Destroys the keys of a tenant: titles, addresses, locators, pages and texts of sources that they seal read as erased from then on, also in backups without the keys. Ids, questions, answers, verdicts and counts stay. What is stored later gets a new key, by rotate_tenant_key if the session sets the master key and no other tenant has a key. Waits for open transactions that have stored something for the tenant. For reground_admin. Errors: P0002 if the tenant has no key, 25001 under REPEATABLE READ.';
