\echo Use "ALTER EXTENSION reground UPDATE" to load this file. \quit

SET LOCAL search_path = pg_catalog, pg_temp;

-- Sessions notice the update by a changed row of pg_attribute.
ALTER TABLE reground.corpora ALTER COLUMN corpus_id SET STATISTICS -1;

-- The keys of these tables have NULLs, so they cannot be the identity of a published row.
ALTER TABLE reground.answer_rollup REPLICA IDENTITY FULL;
ALTER TABLE reground.citation_rollup REPLICA IDENTITY FULL;
ALTER TABLE reground.turn_rollup REPLICA IDENTITY FULL;
ALTER TABLE reground.alert_baselines REPLICA IDENTITY FULL;
ALTER TABLE reground.model_usage REPLICA IDENTITY FULL;

COMMENT ON COLUMN reground.model_usage.failures IS 'Number of failed attempts.';

-- Comments that did not say what the code does.
COMMENT ON FUNCTION reground.current_tenant() IS
'Returns the tenant of this statement: the value of the setting named by reground.tenant_from, or the current role if reground.tenant_from is not set. NULL if the named setting is empty; then no row of a tenant is visible or can be written.';
COMMENT ON VIEW reground.settings IS 'All settings of a turn. The first value that is set wins: argument, conversation, corpus, server (SET reground.NAME), default; visible of lexical_statistics always wins.';
COMMENT ON FUNCTION reground.delete_document IS
'Deletes a document from the current passages and returns whether it existed. Its versions stay for as_of as far as keep_versions allows, and its citations get the source_state deleted; forget_document erases its text. Errors: 55000 if create_corpus did not make the corpus.';
COMMENT ON FUNCTION reground.search IS
'Searches a corpus by BM25 and pgvector and returns the fused ranking. filter: conditions on columns of the relation or of its documents: {"lang": "en", "year": {">=": 2020}, "kind": ["a", "b"]}. settings: see the view settings. Without an embedding the search is lexical only and warns; without a query it is vector only. embedding_model: registered model that computed the embedding. as_of: searches the versions of that time, for corpora made by create_corpus. Errors: 0A000 for as_of and another corpus, 22023 if as_of is in the future, 22023 if the corpus has another embedding_model.';
COMMENT ON TABLE reground.model_status IS 'Circuit breakers: consecutive failures of each model; each task of a failed call counts. A success deletes the row.';
COMMENT ON COLUMN reground.model_status.failures IS 'Consecutive failures because of the model; each task of a failed call counts.';
COMMENT ON COLUMN reground.model_health.breaker IS 'closed (works), open (receives no tasks) or half_open (the next task tries it).';
COMMENT ON COLUMN reground.model_health.failures IS 'Consecutive failures because of the model; each task of a failed call counts.';
COMMENT ON FUNCTION reground.complete_task IS
'Stores the result of a leased task and deletes the task. result: {"embedding": [...]} for embed, {"scores": [...]} for rerank, {"content": "..."} for the others, for judge and entail also {"probability": p} or {"spans": [...]}. Errors: 55000 if the lease has ended, 22023 if the result cannot be used.';
COMMENT ON TABLE reground.conversation_markers IS 'The passage that each marker of a conversation names. A marker always names the same passage; cited changes, forget_document removes title, uri and the structured locator, and seal_rows seals them.';
COMMENT ON COLUMN reground.message_citations.fact_summary IS 'The quote, else the first fact of the source.';
COMMENT ON COLUMN reground.message_citations.factor_generation IS 'Stage factor: the citation resolves and its source supports the claim, or its status is insufficient_attribution.';
COMMENT ON COLUMN reground.message_citations.repaired IS 'Whether the marker or the name of the document was corrected, because exactly one source fits.';
COMMENT ON COLUMN reground.turn_source.facts IS 'Sentences of the passage that fit the query best, in their order, or facts that the application supplies.';
COMMENT ON COLUMN reground.turn_source.score IS 'Relevance to the query, 0 to 1; NULL for added passages and remembered sources.';
COMMENT ON COLUMN reground.turn_source.metadata IS 'Metadata of the document and of the passage; of equal keys, those of the passage.';
COMMENT ON COLUMN reground.judged_citation.repaired IS 'Whether the marker or the name of the document was corrected, because exactly one source fits.';
COMMENT ON FUNCTION reground.begin_turn IS
'Begins a turn and returns its sources in prompt order, or one row with marker NULL if there are none. corpus and corpora (several, the leading one first) default to those of the previous turn, then to the only corpus of the tenant. rewrite: stand-alone form of the query for retrieval. request_id: a second call with the same id returns the same turn. intent: new_topic, drill_down, compare or same_sources. parent_turn_id: turn that this one follows, default the latest, 0 for none. embedding_model: registered model that computed the embeddings. context_embedding: embedding of context_text. user_ref: the application''s id of the user. as_of: searches the versions of that time, as in search. Errors: 0A000 for as_of and a corpus that create_corpus did not make, 22023 if as_of is in the future, 22023 if the corpora compare embeddings differently or have another embedding_model, 23505 for other arguments under the same request_id, 25006 on a standby, 55000 if the parent has no answer.';
COMMENT ON FUNCTION reground.turn_conflicts IS
'Returns pairs of sentences of two sources of a turn that contradict each other, at most 256 for each text search configuration and language. kind: number, date (another year) or negation. marker, other_marker: the sources. statement_start to other_statement_end: positions in the passages, half-open, in characters. number, other_number: the first two values that differ; NULL for a negation. Errors: 55000 before apply_rerank, P0002 if the turn does not exist.';
COMMENT ON FUNCTION reground.profile() IS
'Returns the time of this session''s last successful call of begin_turn, retrieve, add_passages, feed_answer, end_turn, check_answer, record_turn, record_turns, reusable_answer, repair_answer, repair_text, search or explain_search, by stage. self_us: wall-clock microseconds of the stage itself; other collects the rest. No rows before the first call.';
COMMENT ON COLUMN reground.citation_audit.repaired IS 'Whether the marker or the name of the document was corrected, because exactly one source fits.';
COMMENT ON COLUMN reground.provenance_chain.salts IS 'Random salt of each content. A turn has the question, its other columns, and each initial source; a retrieval its arguments, the columns of the turn and each added source; an answer its text, its verdict, and each citation. NULL for erased contents.';
COMMENT ON COLUMN reground.alert_rules.min_answers IS 'Smallest number of answers on which the rule fires or resolves; for rules relative to the weeks before, the smallest number of citations, answers or reranked turns of those weeks.';
COMMENT ON COLUMN reground.active_alert_rules.min_answers IS 'Smallest number of answers on which the rule fires or resolves; for rules relative to the weeks before, the smallest number of citations, answers or reranked turns of those weeks.';
COMMENT ON COLUMN reground.alerts.state IS 'firing or resolved. An alert resolves when its value is better than the threshold by a tenth of the distance to the best value, after a whole period without a bad hour, or when the rule no longer watches; if it is relative to the weeks before, when half of the evidence is gone (traffic: at half of the expected answers).';
COMMENT ON COLUMN reground.probe_results.reason IS 'Why the candidate was dropped, gone if the corpus has no such passage, or cannot_be_asked; NULL if no branch found it.';
COMMENT ON FUNCTION reground.corpus_report(text, timestamptz, timestamptz, text) IS
'Returns the current answers of the turns whose leading corpus it is as one self-contained HTML page, by default since seven days ago (UTC). tenant: only answers of this tenant. Errors: 22023 if several corpora have this name, P0002 if the corpus does not exist.';
COMMENT ON FUNCTION reground.forget_document(text, text) IS
'Removes the text of a document from contexts, facts, quotes, markers and API citations; ids, positions, hashes, verdicts and counts stay. A document of create_corpus is deleted; rows of other tables are not. In a shared corpus without tenant_column, reground_admin and the owner of its table redact the records of all tenants, others their own. Answers are not changed. Errors: P0002 if neither the corpus nor a record of the document exists.';
COMMENT ON FUNCTION reground.forget_tenant(text) IS
'Erases a tenant: its conversations, archived turns, hash chains, probes, must-have facts, judge rules, usage of models, keys, rollups, metric_totals, baselines, alerts, the registration of its corpora, whose tables stay, and its documents in shared corpora with tenant_column made by create_corpus. For reground_admin. Errors: P0002 if the tenant has no rows, 55000 if a synchronised table has a row of the tenant.';
COMMENT ON COLUMN reground.judge_rules.sample IS 'Share, 0 to 1, of the citations that hold or are undecided that is judged. Citations that do not hold are judged first.';
COMMENT ON FUNCTION reground.set_judging IS
'Lets a model judge citations of a tenant (NULL: the current one) from now on, or changes how many. Their claims, questions and cited passages are sent to the model. sample: share, 0 to 1, of the citations that hold or are undecided; all that do not hold are judged. max_per_hour: most citations queued in an hour. For reground_admin. Errors: P0002 if the model does not exist, 22023 if it has another task, or for invalid values.';

-- Retention of conversations. Erasure finds the archived turns of a user whose conversations are gone.
ALTER TABLE reground.turn_archive ADD COLUMN user_ref text;
UPDATE reground.turn_archive AS a SET user_ref = t.user_ref FROM reground.turns AS t WHERE t.turn_id = a.turn_id AND t.user_ref IS NOT NULL;
CREATE INDEX turn_archive_conversation ON reground.turn_archive (tenant, conversation_ref);
CREATE INDEX turn_archive_user ON reground.turn_archive (tenant, user_ref) WHERE user_ref IS NOT NULL;
COMMENT ON TABLE reground.turn_archive IS 'Summary of each turn whose conversation or trace retention removed. It remains when the turn is deleted.';
COMMENT ON COLUMN reground.turn_archive.candidate_count IS 'Number of candidates in the trace; 0 without a trace.';
COMMENT ON COLUMN reground.turn_archive.user_ref IS 'The application''s id of the user who asked.';
COMMENT ON FUNCTION reground.run_retention(timestamptz) IS
'Archives and removes conversations whose last turn, answer or pin is older than reground.conversation_retention_days (0: none), traces and chain links older than reground.trace_retention_days, and archived turns older than reground.archive_retention_days. Call it daily, in its own transaction. Returns one row per changed relation; the action "kept: not whole" counts conversations whose chain is not valid. For reground_admin. Errors: 42501 for a time in the future, except for superusers.';
COMMENT ON FUNCTION reground.rebuild_audit() IS
'Empties the rollups, counts all current live answers again and returns their number. A notice says how many answers were counted before and are gone. Blocks other refreshes.';
COMMENT ON FUNCTION reground.forget_conversation(text) IS
'Erases a conversation of the tenant with everything stored for it, except its counts in the rollups and metric_totals. Errors: P0002 if neither the conversation nor an archived turn of it exists.';

-- A role that may create functions in the schema could add some that superusers would call.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_namespace AS n JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) n.nspowner
               WHERE n.nspname OPERATOR(pg_catalog.=) 'reground' AND NOT r.rolsuper)
        OR EXISTS (SELECT FROM pg_catalog.pg_namespace AS n, pg_catalog.aclexplode(n.nspacl) AS a
                   WHERE n.nspname OPERATOR(pg_catalog.=) 'reground' AND a.privilege_type OPERATOR(pg_catalog.=) 'CREATE' AND a.grantee OPERATOR(pg_catalog.<>) n.nspowner) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'insufficient_privilege',
            MESSAGE = 'a role other than a superuser may create objects in the schema reground',
            HINT    = 'Run ALTER SCHEMA reground OWNER TO CURRENT_USER and REVOKE CREATE ON SCHEMA reground FROM each such role. Drop functions in it that are not in the extension.';
    END IF;
END
$$;

-- Queries with the statistics of all shards.

COMMENT ON FUNCTION reground._bm25query_recv IS
'Internal: binary input function of bm25query: the relation as oid, the JSON values of the text form and a zero byte, then the text.';
COMMENT ON TYPE reground.bm25query IS 'A BM25 query: its words, and the table or index whose statistics weight them. As text: the relation, a colon, a space, the words; before these a plus sign and, as far as given, the JSON string "statistics" and an object (the relation is a dash then), the JSON string "syntax", a JSON array of text search configurations and a JSON object with the expansion.';
CREATE FUNCTION reground.bm25_with_statistics(query reground.bm25query, relation regclass DEFAULT NULL) RETURNS reground.bm25query
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'bm25_with_statistics_wrapper';
COMMENT ON FUNCTION reground.bm25_with_statistics IS
'Returns a query with the present statistics of its table: of all partitions, and of all shards of a table that Citus distributes. Any index of any server with the same text search configuration, weights, k1 and b answers it, and the scores are comparable. relation: a table or index in place of that of the query. Errors: 42501 if row-level security hides rows of the table, 08000 if a shard cannot be read, 42704 without an index.';
REVOKE ALL ON FUNCTION reground.bm25_with_statistics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reground.bm25_with_statistics TO reground_user;

-- Distributed corpora.

DROP FUNCTION reground.create_corpus;
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
REVOKE ALL ON FUNCTION reground.create_corpus FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reground.create_corpus TO reground_admin;

-- Keys of tenants, and views and functions that open what they seal.

CREATE TABLE reground.tenant_keys (
    key_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant       text NOT NULL,
    wrapped      bytea,
    created_at   timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    sealed_at    timestamptz,
    sealed_until text,
    destroyed_at timestamptz,
    CHECK ((wrapped IS NULL) = (destroyed_at IS NOT NULL))
);
CREATE INDEX tenant_keys_tenant ON reground.tenant_keys (tenant, key_id);
COMMENT ON TABLE reground.tenant_keys IS 'Keys of tenants, encrypted with the master key, which is not in the database. The newest key of a tenant seals what is stored.';
COMMENT ON COLUMN reground.tenant_keys.key_id IS 'Number of the key, a part of each sealed value.';
COMMENT ON COLUMN reground.tenant_keys.tenant IS 'Tenant of the key.';
COMMENT ON COLUMN reground.tenant_keys.wrapped IS 'The key, encrypted with the master key; NULL if it was destroyed.';
COMMENT ON COLUMN reground.tenant_keys.created_at IS 'When the key was made.';
COMMENT ON COLUMN reground.tenant_keys.sealed_at IS 'When the maintenance task seal_rows had sealed all older rows of the tenant with the key; NULL before.';
COMMENT ON COLUMN reground.tenant_keys.sealed_until IS 'The rows that the task has sealed so far: a table and its last key.';
COMMENT ON COLUMN reground.tenant_keys.destroyed_at IS 'When the key was destroyed (forget_tenant_keys); NULL otherwise.';

CREATE FUNCTION reground._unsealed(tenant text, kind text, value text) RETURNS text
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'unsealed_wrapper';
COMMENT ON FUNCTION reground._unsealed(text, text, text) IS
'Internal: returns a stored value of a tenant as text: itself, the value that it seals, sealed without the key, or erased if the key was destroyed.';

CREATE FUNCTION reground.rotate_tenant_key(tenant text DEFAULT NULL)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'rotate_tenant_key_wrapper';
COMMENT ON FUNCTION reground.rotate_tenant_key(text) IS
'Makes a new key for a tenant, by default that of the caller, and returns its number. The maintenance task seal_rows then seals the stored rows with it; until then, and in backups, the older keys open them. The first key binds the database to its master key. For reground_admin. Errors: 42501 without the master key that the other keys have.';

CREATE FUNCTION reground.change_master_key(new_master_key text)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'change_master_key_wrapper';
COMMENT ON FUNCTION reground.change_master_key(text) IS
'Encrypts the keys of all tenants with another master key, 64 hexadecimal digits, and returns their number. From the commit on, sessions need the new master key. Pass it as a parameter, so that no log contains it. For reground_admin. Errors: 25001 under REPEATABLE READ, 22023 for another text, 42501 if the present master key does not open all keys.';
ALTER TABLE reground.tenant_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON reground.tenant_keys USING (tenant = (SELECT reground.current_tenant()));
CREATE POLICY auditor ON reground.tenant_keys FOR SELECT TO reground_auditor USING (true);
CREATE POLICY admin ON reground.tenant_keys FOR SELECT TO reground_admin USING (true);
SELECT pg_catalog.pg_extension_config_dump('reground.tenant_keys'::regclass, '');
SELECT pg_catalog.pg_extension_config_dump('reground.tenant_keys_key_id_seq'::regclass, '');
COMMENT ON TYPE reground.erasure_receipt IS 'Row of forget_conversation, forget_user, forget_document, forget_tenant and forget_tenant_keys: a relation that was changed. The type only grows at its end.';
CREATE FUNCTION reground.forget_tenant_keys(tenant text)
    RETURNS SETOF reground.erasure_receipt
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 2 AS 'MODULE_PATHNAME', 'forget_tenant_keys_wrapper';
COMMENT ON FUNCTION reground.forget_tenant_keys(text) IS
'Destroys the keys of a tenant: titles, addresses, locators, pages and texts of sources that they seal read as erased from then on, also in backups without the keys. Ids, questions, answers, verdicts and counts stay. What is stored later gets a new key, by rotate_tenant_key if the session sets the master key and no other tenant has a key. Waits for open transactions that have stored something for the tenant. For reground_admin. Errors: P0002 if the tenant has no key, 25001 under REPEATABLE READ.';
REVOKE ALL ON FUNCTION reground._unsealed(text, text, text), reground.rotate_tenant_key, reground.change_master_key, reground.forget_tenant_keys FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reground.rotate_tenant_key, reground.change_master_key, reground.forget_tenant_keys TO reground_admin;
GRANT EXECUTE ON FUNCTION reground._unsealed(text, text, text) TO reground_user, reground_auditor;
ALTER TABLE reground.conversation_markers ADD COLUMN pages text;
COMMENT ON COLUMN reground.documents.uri IS 'Canonical address (RFC 3986, without fragment and tracking parameters), or a stable path. NULL if tenants have keys: then only the table NAME_documents of the corpus has it.';
COMMENT ON COLUMN reground.conversation_markers.pages IS 'First and last page, sealed; NULL if they are in page_start and page_end.';
-- Its tables still belong to the superuser, so no trigger of the owner of the database runs.
INSERT INTO reground.maintenance_tasks (task, built_in, enabled, period, meaning) VALUES
    ('seal_rows', true, true, '1 minute', 'seals stored rows of tenants with a new key, as far as the master key is at hand; processed: rows');

CREATE OR REPLACE VIEW reground.source_facts WITH (security_invoker = true) AS
    -- A fact that is a part of the passage is stored by its range.
    SELECT t.turn_id, s.source ->> 'marker' AS marker, f.fact_no::integer, t.tenant,
           coalesce(reground._unsealed(t.tenant, 'text', f.fact ->> 'text'),
                    CASE WHEN p.is_open THEN pg_catalog.substr(p.content, r.first + 1, r.last - r.first) ELSE p.content END) AS fact, r.first + w.start AS fact_start, r.last + w.start AS fact_end,
           coalesce(pg_catalog.regexp_replace(s.source #>> '{passage,published}', 'T00:00:00\+00:00$', ''),
                    pg_catalog.split_part(s.source #>> '{passage,modified}', 'T', 1)) AS published,
           (s.source #>> '{passage,version}')::integer AS version, s.source #>> '{passage,content_hash}' AS content_hash
    FROM reground.turns AS t
    CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(t.context) AS s(source)
    CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(s.source -> 'facts') WITH ORDINALITY AS f(fact, fact_no)
    CROSS JOIN LATERAL (SELECT (f.fact #>> '{chars,start}')::integer, (f.fact #>> '{chars,end}')::integer) AS r(first, last)
    CROSS JOIN LATERAL (SELECT coalesce((s.source #>> '{passage,window_of,start}')::integer, 0)) AS w(start)
    -- Without its key, a passage reads as one word.
    CROSS JOIN LATERAL (SELECT reground._unsealed(t.tenant, 'text', s.source #>> '{passage,content}') OFFSET 0) AS c(content)
    CROSS JOIN LATERAL (SELECT c.content, s.source #>> '{passage,content}' NOT LIKE 'sealed:%' OR c.content NOT IN ('sealed', 'erased') AS is_open) AS p;

CREATE OR REPLACE VIEW reground.citation_audit WITH (security_invoker = true) AS
    SELECT c.citation_id, v.tenant, v.conversation_ref, t.turn_no, c.turn_id, c.message_id, m.message_ref, m.model,
           t.tags || m.tags AS tags, t.query, c.citation_no, c.marker, c.raw, c.form, c.scope, c.corpus, c.doc_id, c.chunk_id,
           reground._unsealed(c.tenant, 'title', c.title) AS title, reground._unsealed(c.tenant, 'address', c.uri) AS uri, reground._unsealed(c.tenant, 'locator', c.locator) AS locator,
           c.claim, reground._unsealed(c.tenant, 'text', c.quote) AS quote,
           c.status, c.holds, c.hallucination_mode, c.score, c.coordinate_fidelity, c.support, c.support_parts, c.diagnostic, c.detail, c.best_other_marker, c.lost_stage, c.repaired,
           coalesce(reground._source_state(c.tenant, c.corpus, c.doc_id, c.source_version), (SELECT r.state FROM reground._cited_row(c.citation_id) AS r)) AS source_state,
           c.source_version, c.source_hash, m.superseded, c.answer_start, c.answer_end, m.created_at, t.origin, t.superseded AS turn_superseded
    FROM reground.message_citations AS c
    JOIN reground.messages AS m ON m.message_id = c.message_id AND m.repair_of IS NULL
    JOIN reground.turns AS t ON t.turn_id = m.turn_id
    -- Joined through messages, which has an index on the conversation, so that a filter on one conversation is fast.
    JOIN reground.conversations AS v ON v.conversation_id = m.conversation_id;

CREATE OR REPLACE VIEW reground.fact_sheets WITH (security_invoker = true) AS
    SELECT f.tenant, v.conversation_ref, t.turn_no, m.message_id, f.marker, f.fact_no, f.fact, f.published, k.corpus, k.doc_id, k.chunk_id, f.version, f.content_hash,
           reground._unsealed(k.tenant, 'locator', k.locator) AS locator
    FROM reground.messages AS m
    JOIN reground.turns AS t USING (turn_id)
    JOIN reground.conversations AS v ON v.conversation_id = t.conversation_id
    JOIN reground.source_facts AS f ON f.turn_id = m.turn_id
    JOIN reground.conversation_markers AS k ON k.conversation_id = t.conversation_id AND k.marker = f.marker
    WHERE NOT m.superseded AND EXISTS (SELECT FROM reground.message_citations AS x WHERE x.message_id = m.message_id AND x.marker = f.marker AND x.holds);

CREATE OR REPLACE VIEW reground._turn_passages WITH (security_invoker = true) AS
    SELECT p.tenant, p.turn_id, p.corpus, p.doc_id, p.chunk_id, coalesce(p.version, d.version) AS version, p.hash, p.title, p.uri, p.in_context
    FROM (
        SELECT p.tenant, p.turn_id, p.corpus, p.doc_id, p.chunk_id, pg_catalog.max(p.version) AS version, pg_catalog.max(p.hash) AS hash, pg_catalog.max(p.title) AS title, pg_catalog.max(p.uri) AS uri,
               pg_catalog.bool_or(p.in_context) AS in_context
        FROM (
            SELECT x.tenant, x.turn_id, x.corpus, x.doc_id, m.member AS chunk_id, NULL::integer AS version, NULL::text AS hash, NULL::text AS title, NULL::text AS uri, false AS in_context
            FROM reground.turn_candidates AS x, pg_catalog.unnest(x.member_chunk_ids) AS m(member)
            UNION ALL
            SELECT t.tenant, t.turn_id, e #>> '{passage,corpus}', e #>> '{passage,doc_id}', m.member, (e #>> '{passage,version}')::integer,
                   -- The hash of several passages together, or of a part, is not that of the passage.
                   coalesce(e #>> '{passage,window_of,content_hash}', CASE WHEN pg_catalog.jsonb_array_length(e -> 'member_chunk_ids') = 1 THEN e #>> '{passage,content_hash}' END),
                   reground._unsealed(t.tenant, 'title', e #>> '{passage,title}'), reground._unsealed(t.tenant, 'address', e #>> '{passage,uri}'), true
            FROM reground.turns AS t, pg_catalog.jsonb_array_elements(t.context) AS e, pg_catalog.jsonb_array_elements_text(e -> 'member_chunk_ids') AS m(member)
            UNION ALL
            SELECT c.tenant, c.turn_id, c.corpus, c.doc_id, c.chunk_id, c.source_version, NULL,
                   reground._unsealed(c.tenant, 'title', c.title), reground._unsealed(c.tenant, 'address', c.uri), false FROM reground.message_citations AS c WHERE c.doc_id IS NOT NULL) AS p
        GROUP BY p.tenant, p.turn_id, p.corpus, p.doc_id, p.chunk_id) AS p
    -- The version that a turn has searched, if its context does not have the document.
    LEFT JOIN LATERAL (
        SELECT d.version FROM reground.turns AS t, reground.corpora AS k, reground.documents AS d
        WHERE t.turn_id = p.turn_id AND k.corpus = p.corpus AND (k.tenant IS NULL OR k.tenant = p.tenant) AND d.corpus_id = k.corpus_id AND d.doc_id = p.doc_id
            AND d.indexed_at <= coalesce(t.as_of, t.begun_at)
        ORDER BY k.tenant IS NULL, d.version DESC LIMIT 1) AS d ON p.version IS NULL;

CREATE OR REPLACE VIEW reground.provenance_nodes WITH (security_invoker = true) AS
    SELECT c.tenant, c.turn_id, reground._node('citation', c.citation_id::text) AS node, 6 AS stage_no, 'citation' AS kind, c.corpus, c.doc_id, c.chunk_id, c.marker,
           reground._unsealed(c.tenant, 'locator', c.locator) AS locator, c.source_version AS version, c.source_hash AS hash,
           pg_catalog.jsonb_build_object('raw', c.raw, 'status', c.status, 'holds', c.holds, 'score', c.score, 'support', c.support, 'lost_stage', c.lost_stage,
                                         'answer_start', c.answer_start, 'answer_end', c.answer_end) AS details
    FROM reground.message_citations AS c
    UNION ALL
    SELECT m.tenant, m.turn_id, reground._node('answer', m.message_id::text), 5, 'answer', NULL, NULL, NULL, NULL, NULL, NULL, m.answer_hash,
           pg_catalog.jsonb_build_object('message_ref', m.message_ref, 'model', m.model, 'citation_count', m.citation_count, 'cfs', m.cfs, 'superseded', m.superseded, 'repair_of', m.repair_of)
    FROM reground.messages AS m
    UNION ALL
    SELECT t.tenant, t.turn_id, reground._node('context', t.turn_id::text, e ->> 'marker'), 4, 'context', e #>> '{passage,corpus}', e #>> '{passage,doc_id}',
           e #>> '{passage,chunk_id}', e ->> 'marker', reground._unsealed(t.tenant, 'locator', k.locator), (e #>> '{passage,version}')::integer, e #>> '{passage,content_hash}',
           pg_catalog.jsonb_build_object('position', e -> 'position', 'origin', e -> 'origin', 'relevance', e -> 'relevance', 'title', reground._unsealed(t.tenant, 'title', e #>> '{passage,title}'),
                                         'page_start', p.pages -> 'start', 'page_end', p.pages -> 'end',
                                         'char_start', e #> '{passage,chars,start}', 'char_end', e #> '{passage,chars,end}', 'tokens', e #> '{passage,tokens}')
               || CASE WHEN t.query_similarities IS NULL THEN '{}' ELSE pg_catalog.jsonb_build_object('query_similarity', t.query_similarities[(e ->> 'position')::integer]) END
    FROM reground.turns AS t CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(t.context) AS e
        LEFT JOIN reground.conversation_markers AS k ON (k.conversation_id, k.marker) = (t.conversation_id, e ->> 'marker')
        CROSS JOIN LATERAL (SELECT reground._unsealed(t.tenant, 'pages', e #>> '{passage,pages}') OFFSET 0) AS u(pages)
        CROSS JOIN LATERAL (SELECT CASE WHEN u.pages LIKE '{%' THEN u.pages::jsonb END AS pages) AS p
    UNION ALL
    -- The context can have another text of a dropped candidate.
    SELECT x.tenant, x.turn_id, reground._node('reranked', x.turn_id::text, x.candidate_no::text), 3, 'reranked', x.corpus, x.doc_id, x.chunk_id, x.marker, NULL,
           CASE WHEN x.in_context OR NOT p.in_context THEN p.version END, coalesce(x.hash_prefix, CASE WHEN x.in_context OR NOT p.in_context THEN p.hash END),
           pg_catalog.jsonb_build_object('rerank_score', x.rerank_score, 'dropped_stage', x.dropped_stage, 'drop_reason', x.drop_reason)
    FROM reground.turn_candidates AS x
        LEFT JOIN reground._turn_passages AS p ON (p.turn_id, p.corpus, p.doc_id, p.chunk_id) = (x.turn_id, x.corpus, x.doc_id, x.chunk_id)
    WHERE x.rerank_score IS NOT NULL
    UNION ALL
    SELECT x.tenant, x.turn_id, reground._node('candidate', x.turn_id::text, x.candidate_no::text), 2, 'candidate', x.corpus, x.doc_id, x.chunk_id, x.marker, NULL,
           CASE WHEN x.in_context OR NOT p.in_context THEN p.version END, coalesce(x.hash_prefix, CASE WHEN x.in_context OR NOT p.in_context THEN p.hash END),
           pg_catalog.jsonb_build_object('origin', x.origin, 'lexical_rank', x.lexical_rank, 'vector_rank', x.vector_rank, 'graph_rank', x.graph_rank, 'fused_score', x.fused_score,
                                         'carry_score', x.carry_score, 'dropped_stage', x.dropped_stage, 'drop_reason', x.drop_reason)
    FROM reground.turn_candidates AS x
        LEFT JOIN reground._turn_passages AS p ON (p.turn_id, p.corpus, p.doc_id, p.chunk_id) = (x.turn_id, x.corpus, x.doc_id, x.chunk_id)
    UNION ALL
    SELECT p.tenant, p.turn_id, reground._node('chunk', p.corpus, p.chunk_id), 1, 'chunk', p.corpus, p.doc_id, p.chunk_id, NULL, NULL, p.version, p.hash,
           pg_catalog.jsonb_build_object('in_context', p.in_context, 'title', p.title)
    FROM reground._turn_passages AS p WHERE p.chunk_id IS NOT NULL
    UNION ALL
    -- A registered table has no stored documents.
    SELECT p.tenant, p.turn_id, reground._node('document', p.corpus, p.doc_id), 0, 'document', p.corpus, p.doc_id, NULL, NULL, NULL, p.version, d.content_hash,
           pg_catalog.jsonb_build_object('title', p.title, 'uri', p.uri, 'pages', d.page_count, 'characters', d.char_count, 'passages', d.chunk_count, 'indexed_at', d.indexed_at, 'modified_at', d.modified_at)
    FROM (SELECT p.tenant, p.turn_id, p.corpus, p.doc_id, pg_catalog.max(p.version) AS version, pg_catalog.max(p.title) AS title, pg_catalog.max(p.uri) AS uri
          FROM reground._turn_passages AS p GROUP BY p.tenant, p.turn_id, p.corpus, p.doc_id) AS p
        LEFT JOIN LATERAL (
            SELECT d.* FROM reground.corpora AS k JOIN reground.documents AS d ON d.corpus_id = k.corpus_id
            WHERE k.corpus = p.corpus AND (k.tenant IS NULL OR k.tenant = p.tenant) AND d.doc_id = p.doc_id AND d.version = p.version
            ORDER BY k.tenant IS NULL LIMIT 1) AS d ON true;

CREATE OR REPLACE FUNCTION reground.source_usage(since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (corpus text, doc_id text, title text, contexts bigint, citations bigint, holding bigint, conversations bigint, last_cited timestamptz)
    LANGUAGE sql STABLE PARALLEL RESTRICTED
    BEGIN ATOMIC
        SELECT u.corpus, u.doc_id, pg_catalog.max(u.title), pg_catalog.sum(u.contexts)::bigint, pg_catalog.sum(u.citations)::bigint, pg_catalog.sum(u.holding)::bigint,
               pg_catalog.max(u.conversations), pg_catalog.max(u.last_cited)
        FROM (
            SELECT e #>> '{passage,corpus}' AS corpus, e #>> '{passage,doc_id}' AS doc_id, pg_catalog.max(reground._unsealed(t.tenant, 'title', e #>> '{passage,title}')) AS title, pg_catalog.count(DISTINCT t.turn_id) AS contexts,
                   0::bigint AS citations, 0::bigint AS holding, pg_catalog.count(DISTINCT t.conversation_id) AS conversations, NULL::timestamptz AS last_cited
            FROM reground.turns AS t, pg_catalog.jsonb_array_elements(t.context) AS e
            WHERE t.state IN ('open', 'ended') AND t.begun_at >= coalesce(source_usage.since, '-infinity') AND t.begun_at < coalesce(source_usage.until, 'infinity')
            GROUP BY 1, 2
            UNION ALL
            SELECT c.corpus, c.doc_id, pg_catalog.max(reground._unsealed(c.tenant, 'title', c.title)), 0, pg_catalog.count(*), pg_catalog.count(*) FILTER (WHERE c.holds), 0, pg_catalog.max(c.created_at)
            FROM reground.message_citations AS c JOIN reground.messages AS m ON m.message_id = c.message_id AND NOT m.superseded
            WHERE c.doc_id IS NOT NULL AND c.created_at >= coalesce(source_usage.since, '-infinity') AND c.created_at < coalesce(source_usage.until, 'infinity')
            GROUP BY 1, 2) AS u
        WHERE (SELECT reground._notice_scope())
        GROUP BY u.corpus, u.doc_id
        ORDER BY 5 DESC, 4 DESC, 1, 2;
    END;

CREATE OR REPLACE VIEW reground.judge_verdicts WITH (security_invoker = true) AS
    SELECT v.citation_id, v.tenant, v.model, v.prompt, v.verdict, v.verdict IS NULL AS undecided, v.votes, a.agreeing, a.confidence, a.coordinates_match,
           reground._unsealed(v.tenant, 'text', a.passage) AS passage, a.explanation, v.judged_at
    FROM (SELECT x.citation_id, x.tenant, x.model, x.prompt, pg_catalog.count(*) AS votes, pg_catalog.max(x.judged_at) AS judged_at,
                 reground._judge_majority(pg_catalog.array_agg(x.verdict ORDER BY x.vote_no), pg_catalog.bool_or(x.deterministic)) AS verdict
          FROM reground.judge_votes AS x GROUP BY x.citation_id, x.tenant, x.model, x.prompt) AS v
    CROSS JOIN LATERAL (
        SELECT pg_catalog.count(*) AS agreeing, pg_catalog.avg(y.confidence) AS confidence,
               CASE pg_catalog.sign(pg_catalog.count(*) FILTER (WHERE y.coordinates_match) - pg_catalog.count(*) FILTER (WHERE NOT y.coordinates_match)) WHEN 1 THEN true WHEN -1 THEN false END AS coordinates_match,
               (pg_catalog.array_agg(y.passage ORDER BY y.passage IS NULL, y.vote_no))[1] AS passage,
               (pg_catalog.array_agg(y.explanation ORDER BY y.explanation IS NULL, y.vote_no))[1] AS explanation
        FROM reground.judge_votes AS y
        WHERE (y.citation_id, y.model, y.prompt, y.verdict) = (v.citation_id, v.model, v.prompt, v.verdict)) AS a;

CREATE OR REPLACE FUNCTION reground.sample_for_review(max_results integer DEFAULT 20, since timestamptz DEFAULT NULL, status text DEFAULT NULL, seed text DEFAULT '', model text DEFAULT NULL)
    RETURNS TABLE (citation_id bigint, tenant text, conversation_ref text, turn_no integer, query text, claim text, raw text, status text, holds boolean, support double precision,
                   quote text, corpus text, doc_id text, chunk_id text, title text, uri text, created_at timestamptz)
    LANGUAGE sql STABLE PARALLEL RESTRICTED
    BEGIN ATOMIC
        WITH drawn AS (
            SELECT c.citation_id, c.holds, j.verdict, pg_catalog.hashtextextended(sample_for_review.seed || c.citation_id::text, 0) AS draw
            FROM reground.message_citations AS c
            JOIN reground.messages AS m ON m.message_id = c.message_id AND NOT m.superseded
            LEFT JOIN LATERAL (SELECT v.verdict FROM reground.judge_verdicts AS v WHERE v.citation_id = c.citation_id AND v.model = sample_for_review.model
                               ORDER BY v.judged_at DESC LIMIT 1) AS j ON sample_for_review.model IS NOT NULL
            WHERE (sample_for_review.since IS NULL OR c.created_at >= sample_for_review.since)
                AND (sample_for_review.status IS NULL OR c.status = sample_for_review.status)
                AND (sample_for_review.model IS NULL OR c.citation_id IN (SELECT w.citation_id FROM reground.judge_votes AS w WHERE w.model = sample_for_review.model))
                AND NOT EXISTS (SELECT FROM reground.citation_labels AS l WHERE l.citation_id = c.citation_id)),
        -- The first of each stratum, then the second of each, and so on.
        placed AS (
            SELECT d.citation_id, d.draw,
                   CASE WHEN sample_for_review.model IS NOT NULL THEN pg_catalog.row_number() OVER (PARTITION BY d.verdict, d.holds ORDER BY d.draw, d.citation_id) END AS place
            FROM drawn AS d),
        picked AS (
            SELECT p.citation_id, p.draw, p.place FROM placed AS p
            ORDER BY p.place, p.draw, p.citation_id
            LIMIT CASE WHEN sample_for_review.max_results > 0 THEN sample_for_review.max_results WHEN sample_for_review.max_results <= 0 THEN 0 END)
        SELECT c.citation_id, c.tenant, v.conversation_ref, t.turn_no, t.query, c.claim, c.raw, c.status, c.holds, c.support,
               reground._unsealed(c.tenant, 'text', c.quote), c.corpus, c.doc_id, c.chunk_id, reground._unsealed(c.tenant, 'title', c.title), reground._unsealed(c.tenant, 'address', c.uri),
               c.created_at
        FROM picked AS p
        JOIN reground.message_citations AS c ON c.citation_id = p.citation_id
        JOIN reground.turns AS t ON t.turn_id = c.turn_id
        JOIN reground.conversations AS v ON v.conversation_id = c.conversation_id
        ORDER BY p.place, p.draw, p.citation_id;
    END;

ALTER FUNCTION reground.trace_citation(bigint) PARALLEL RESTRICTED;

-- The owner of the database owns the tables, so that it can dump and restore them. pg_database_owner stands for it, also after the database
-- gets another owner. The functions still belong to the superuser that creates the extension: a superuser who reads a view must not run
-- a function that the owner of the database has replaced.

DO $$
DECLARE
    relation record;
    changed oid[];
BEGIN
    -- Tables with grants of users.
    SELECT pg_catalog.array_agg(DISTINCT c.oid) INTO changed
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
    JOIN (VALUES (true), (false)) AS whole (table_) ON whole.table_ OR a.attacl IS NOT NULL
    CROSS JOIN LATERAL pg_catalog.aclexplode(CASE WHEN whole.table_ THEN c.relacl ELSE a.attacl END) AS x
    WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind IN ('r', 'p') AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_init_privs AS p, pg_catalog.aclexplode(p.initprivs) AS y
        WHERE (p.classoid, p.objoid, p.objsubid) = ('pg_class'::regclass, c.oid, CASE WHEN whole.table_ THEN 0 ELSE a.attnum END)
            AND (y.grantee, y.privilege_type) = (x.grantee, x.privilege_type));
    FOR relation IN SELECT oid, relacl FROM pg_catalog.pg_class WHERE relnamespace = 'reground'::regnamespace AND relkind IN ('r', 'p') LOOP
        EXECUTE pg_catalog.format('ALTER TABLE %s OWNER TO pg_database_owner', relation.oid::regclass);
        -- A grant makes the privileges of a table those of the extension, which pg_dump does not dump. It must dump those of users.
        IF relation.relacl IS NOT NULL AND NOT relation.oid = ANY (coalesce(changed, '{}')) THEN
            EXECUTE pg_catalog.format('GRANT SELECT ON %s TO pg_database_owner', relation.oid::regclass);
        END IF;
    END LOOP;
    IF NOT 'reground.passage_positions'::regclass = ANY (coalesce(changed, '{}')) THEN
        GRANT SELECT (corpus_id, chunk_id, row_tenant, ordinal, char_start, char_end, page_start, page_end, recorded_at) ON reground.passage_positions TO reground_auditor, reground_admin;
    END IF;
    IF NOT 'reground.passage_embeddings'::regclass = ANY (coalesce(changed, '{}')) THEN
        GRANT SELECT (corpus_id, model, chunk_id, embedded_at) ON reground.passage_embeddings TO reground_auditor, reground_admin;
    END IF;
    IF NOT 'reground.model_tasks'::regclass = ANY (coalesce(changed, '{}')) THEN
        GRANT SELECT (task_id, tenant, kind, model, corpus_id, turn_id, subject, state, attempts, due_at, last_error, queued_at) ON reground.model_tasks TO reground_user;
    END IF;
END
$$;

GRANT SELECT (key_id, tenant, created_at, sealed_at, sealed_until, destroyed_at) ON reground.tenant_keys TO reground_auditor, reground_admin;

-- A later owner of the database gets rows that the present owner wrote. So a function that owners cannot replace returns the present owner.
DO $$
BEGIN
    EXECUTE (SELECT pg_catalog.format('CREATE FUNCTION reground._trusted_owner() RETURNS oid LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN %s::oid', datdba)
             FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database());
END
$$;
COMMENT ON FUNCTION reground._trusted_owner() IS
'Internal: returns the oid of the owner of the database when the extension was created. Our functions run only as roles whose rights both this owner and the present owner have.';
REVOKE ALL ON FUNCTION reground._trusted_owner() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reground._trusted_owner() TO reground_user;

-- The owner of the database. Privileges on settings and memberships belong to the whole cluster, so the owner gets them as a member of
-- reground_owner: pg_database_owner also stands for the owners of other databases.
GRANT USAGE ON SCHEMA reground TO pg_database_owner;
-- Only what our statements use. A GRANT in an update makes all privileges of the object those of the extension, so later dumps omit the
-- grants of users.
GRANT SELECT ON reground.active_alert_rules, reground.answer_costs, reground.embedding_progress, reground.factuality, reground.judge_verdicts, reground.maintenance_status,
    reground.model_backlog, reground.source_facts, reground.turn_candidates, reground._turn_passages TO pg_database_owner;
DO $$
DECLARE
    function regprocedure;
BEGIN
    FOR function IN SELECT oid FROM pg_catalog.pg_proc WHERE pronamespace = 'reground'::regnamespace AND proname LIKE '\_%' LOOP
        EXECUTE pg_catalog.format('GRANT EXECUTE ON FUNCTION %s TO pg_database_owner', function);
    END LOOP;
END
$$;
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'reground_owner') THEN
        CREATE ROLE reground_owner NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    -- Another database creates it now.
    NULL;
END
$$;
-- Only if they are missing: a grant locks the role for all databases until the extension is created.
DO $$
BEGIN
    IF NOT pg_catalog.pg_has_role('reground_admin', 'reground_user', 'MEMBER') THEN
        GRANT reground_user TO reground_admin;
    END IF;
    IF NOT pg_catalog.pg_has_role('reground_owner', 'reground_worker', 'MEMBER WITH ADMIN OPTION') THEN
        GRANT reground_user, reground_auditor, reground_admin, reground_worker TO reground_owner WITH ADMIN OPTION;
    END IF;
END
$$;
DO $$
DECLARE
    owner oid := (SELECT datdba FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database());
BEGIN
    IF NOT pg_catalog.has_parameter_privilege('reground_owner', 'reground.conversation_retention_days', 'SET') THEN
        GRANT SET ON PARAMETER reground.tenant, reground.tenant_from, reground.principals_from, reground.conversation_retention_days, reground.trace_retention_days, reground.archive_retention_days
            TO reground_owner;
    END IF;
    -- Memberships cannot be circular.
    IF NOT (SELECT rolsuper FROM pg_catalog.pg_roles WHERE oid = owner) AND NOT pg_catalog.pg_has_role('reground_owner', owner, 'MEMBER') THEN
        EXECUTE pg_catalog.format('GRANT reground_owner TO %s', owner::regrole);
    END IF;
END
$$;
