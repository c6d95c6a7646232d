-- Row-level security: a tenant sees its own rows, an auditor reads all. The functions write as the owner.

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['conversations', 'turns', 'turn_traces', 'drift_events', 'turn_retrievals', 'conversation_sources', 'conversation_markers',
                                'messages', 'message_citations', 'answer_changes', 'citation_labels', 'citation_reports',
                                'rollup_queue', 'answer_rollup', 'citation_rollup', 'turn_rollup', 'metric_totals', 'probes', 'probe_results', 'shadow_turns', 'provenance_chain', 'chain_checkpoints', 'turn_archive',
                                'model_tasks', 'model_usage',
                                'gold_questions', 'gold_facts', 'factuality_evaluations', 'factuality_verdicts', 'factuality_labels', 'decomposition_labels', 'judge_rules', 'judge_votes', 'tenant_keys'] LOOP
        EXECUTE pg_catalog.format('ALTER TABLE reground.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE pg_catalog.format('CREATE POLICY tenant ON reground.%I USING (tenant = (SELECT reground.current_tenant()))', name);
        EXECUTE pg_catalog.format('CREATE POLICY auditor ON reground.%I FOR SELECT TO reground_auditor USING (true)', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['corpora', 'documents', 'edges', 'synchronised_tables', 'sync_queue'] LOOP
        EXECUTE pg_catalog.format('ALTER TABLE reground.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE pg_catalog.format('CREATE POLICY tenant ON reground.%I USING (tenant IS NULL OR tenant = (SELECT reground.current_tenant()))', name);
        EXECUTE pg_catalog.format('CREATE POLICY auditor ON reground.%I FOR SELECT TO reground_auditor USING (true)', name);
    END LOOP;
END
$$;
-- Rows with text of a source that the reader may no longer read. The first function is called once a statement, and the others only for
-- roles from which a corpus may hide rows. Auditors read all records.

CREATE FUNCTION reground._hides_nothing() RETURNS boolean
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'hides_nothing_wrapper';
COMMENT ON FUNCTION reground._hides_nothing() IS
'Internal: returns whether the caller may read all records of the tenant: an auditor, or a role from which no corpus can hide rows.';

CREATE FUNCTION reground._is_shown_turn(turn_id bigint) RETURNS boolean
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'is_shown_turn_wrapper';
COMMENT ON FUNCTION reground._is_shown_turn(bigint) IS
'Internal: returns whether no source of the turn''s context and of its citations is hidden from the caller.';

CREATE FUNCTION reground._is_shown_source(conversation_id bigint, corpus text, doc_id text, chunk_id text) RETURNS boolean
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'is_shown_source_wrapper';
COMMENT ON FUNCTION reground._is_shown_source(bigint, text, text, text) IS
'Internal: returns whether a source of a conversation is not hidden from the caller; true if the conversation does not have it. chunk_id is empty for a whole document.';

DO $$
DECLARE
    shown record;
BEGIN
    FOR shown IN SELECT * FROM (VALUES
        ('{turns,turn_retrievals,messages,message_citations,factuality_evaluations}'::text[], 'reground._is_shown_turn(turn_id)'),
        ('{conversation_markers,conversation_sources}', 'reground._is_shown_source(conversation_id, corpus, doc_id, chunk_id)'),
        ('{citation_reports,answer_changes}', 'EXISTS (SELECT FROM reground.messages AS m WHERE m.message_id = %I.message_id)'),
        ('{citation_labels,judge_votes}',
            'EXISTS (SELECT FROM reground.message_citations AS c WHERE c.citation_id = %I.citation_id)'),
        ('{factuality_verdicts,decomposition_labels}',
            'EXISTS (SELECT FROM reground.factuality_evaluations AS e WHERE e.evaluation_id = %I.evaluation_id)'),
        ('{factuality_labels}',
            'EXISTS (SELECT FROM reground.factuality_verdicts AS v WHERE v.verdict_id = %I.verdict_id)')) AS v (names, rule) LOOP
        FOR place IN 1 .. pg_catalog.cardinality(shown.names) LOOP
            EXECUTE pg_catalog.format('CREATE POLICY shown ON reground.%I AS RESTRICTIVE FOR SELECT TO reground_user USING ((SELECT reground._hides_nothing()) OR %s)',
                shown.names[place], pg_catalog.format(shown.rule, shown.names[place]));
        END LOOP;
    END LOOP;
END
$$;
-- reground_admin watches the queues of all tenants. Their rows contain no texts.
CREATE POLICY admin ON reground.rollup_queue FOR SELECT TO reground_admin USING (true);
CREATE POLICY admin ON reground.model_tasks FOR SELECT TO reground_admin USING (true);
CREATE POLICY admin ON reground.model_usage FOR SELECT TO reground_admin USING (true);
CREATE POLICY admin ON reground.tenant_keys FOR SELECT TO reground_admin USING (true);
CREATE POLICY admin ON reground.judge_rules FOR SELECT TO reground_admin USING (true);

-- Dump configuration: every table, and every identity sequence, so that ids are not reused after a restore.
-- The partitions of turn_traces are configured where they are created; citation_statuses is filled by this script.

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['corpora', 'synchronised_tables', 'sync_queue', 'documents', 'passage_positions', 'edges', 'conversations', 'turns', 'drift_events', 'turn_retrievals', 'conversation_sources', 'conversation_markers',
                                'messages', 'message_citations', 'answer_changes', 'citation_labels', 'citation_reports',
                                'rollup_queue', 'answer_rollup', 'citation_rollup', 'turn_rollup', 'metric_totals', 'alert_baselines', 'alerts', 'maintenance_runs', 'coordinate_faults', 'probes', 'probe_results', 'shadow_turns', 'provenance_chain', 'chain_checkpoints', 'turn_archive',
                                'models', 'model_status', 'model_usage', 'model_tasks', 'passage_embeddings', 'embedding_checks',
                                'gold_questions', 'gold_facts', 'factuality_evaluations', 'factuality_verdicts', 'factuality_labels', 'decomposition_labels', 'judge_rules', 'judge_votes', 'tenant_keys'] LOOP
        PERFORM pg_catalog.pg_extension_config_dump(pg_catalog.format('reground.%I', name)::regclass, '');
    END LOOP;
    PERFORM pg_catalog.pg_extension_config_dump('reground.support_cues'::regclass, 'WHERE NOT built_in');
    PERFORM pg_catalog.pg_extension_config_dump('reground.model_prices'::regclass, '');
    PERFORM pg_catalog.pg_extension_config_dump('reground.alert_rules'::regclass, 'WHERE NOT built_in');
    PERFORM pg_catalog.pg_extension_config_dump('reground.maintenance_tasks'::regclass, 'WHERE NOT built_in');
    FOREACH name IN ARRAY ARRAY['corpora.corpus_id', 'sync_queue.queue_id', 'conversations.conversation_id', 'turns.turn_id', 'drift_events.drift_id',
                                'messages.message_id', 'message_citations.citation_id', 'citation_reports.report_id',
                                'rollup_queue.queue_id', 'alerts.alert_id', 'maintenance_runs.run_id', 'model_tasks.task_id',
                                'factuality_evaluations.evaluation_id', 'factuality_verdicts.verdict_id', 'tenant_keys.key_id'] LOOP
        PERFORM pg_catalog.pg_extension_config_dump(
            pg_catalog.pg_get_serial_sequence('reground.' || pg_catalog.split_part(name, '.', 1), pg_catalog.split_part(name, '.', 2))::regclass, '');
    END LOOP;
END
$$;

-- Privileges. Nobody has CREATE on the schema.

REVOKE ALL ON SCHEMA reground FROM PUBLIC;
GRANT USAGE ON SCHEMA reground TO reground_user, reground_auditor, reground_admin, reground_worker;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA reground FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA reground TO reground_user;
REVOKE EXECUTE ON FUNCTION reground.explain_turn(bigint), reground.trace_citation(bigint), reground.label_citation, reground.review_report, reground.sample_for_review,
    reground._history_hits(jsonb, jsonb, text[]), reground.history_hits(bigint, text[]), reground.create_corpus, reground.add_corpus, reground.alter_corpus, reground.drop_corpus, reground.accept_coordinates,
    reground.sync_table, reground.stop_sync, reground.resync, reground._sync_rows(),
    reground.bm25_check, reground.bm25_merge, reground.bm25_segments, reground._bm25_selectivity, reground._search_rows(internal),
    reground.refresh_audit, reground.rebuild_audit, reground.set_alert_rule, reground.drop_alert_rule, reground.take_baseline, reground.check_alerts, reground.diagnose,
    reground.run_maintenance, reground.set_maintenance, reground.compare_shadows(timestamptz, timestamptz) FROM reground_user;
REVOKE EXECUTE ON FUNCTION reground.set_model, reground.drop_model, reground.retry_tasks, reground.worker_models, reground.claim_tasks, reground.complete_task, reground.fail_task,
    reground.queue_embeddings FROM reground_user;
GRANT EXECUTE ON FUNCTION reground.set_model, reground.drop_model, reground.retry_tasks, reground.queue_embeddings TO reground_admin;
GRANT EXECUTE ON FUNCTION reground.worker_models, reground.claim_tasks, reground.complete_task, reground.fail_task, reground.queue_embeddings TO reground_worker;
REVOKE EXECUTE ON FUNCTION reground.set_judging, reground.drop_judging, reground.judge_sample FROM reground_user;
GRANT EXECUTE ON FUNCTION reground.set_judging, reground.drop_judging, reground.judge_sample TO reground_admin;
GRANT EXECUTE ON FUNCTION reground.judge_sample TO reground_worker;
GRANT EXECUTE ON FUNCTION reground.judge_agreement, reground.judge_confusion, reground._judge_majority TO reground_auditor;
GRANT SELECT ON reground.judge_rules TO reground_user, reground_auditor, reground_admin;
GRANT SELECT ON reground.judge_votes, reground.judge_verdicts TO reground_user, reground_auditor;
GRANT SELECT ON reground.models, reground.model_status, reground.model_usage, reground.model_tasks, reground.model_backlog, reground.model_health,
    reground.embedding_checks, reground.embedding_progress TO reground_auditor, reground_admin;
-- Without hashes, as below.
GRANT SELECT (corpus_id, chunk_id, row_tenant, ordinal, char_start, char_end, page_start, page_end, recorded_at) ON reground.passage_positions TO reground_auditor, reground_admin;
-- Without the wrapped key.
GRANT SELECT (key_id, tenant, created_at, sealed_at, sealed_until, destroyed_at) ON reground.tenant_keys TO reground_auditor, reground_admin;
-- Without input_hash: a guess of a short text could be confirmed.
GRANT SELECT (corpus_id, model, chunk_id, embedded_at) ON reground.passage_embeddings TO reground_auditor, reground_admin;
REVOKE EXECUTE ON FUNCTION reground.verify_turn(bigint), reground.verify_chain(text), reground.run_retention(timestamptz), reground.forget_tenant(text) FROM reground_user;
REVOKE EXECUTE ON FUNCTION reground.rotate_tenant_key, reground.change_master_key, reground.forget_tenant_keys FROM reground_user;
GRANT EXECUTE ON FUNCTION reground.rotate_tenant_key, reground.change_master_key, reground.forget_tenant_keys TO reground_admin;
REVOKE EXECUTE ON FUNCTION reground.label_verdict, reground.label_decomposition FROM reground_user;
GRANT EXECUTE ON FUNCTION reground.label_verdict, reground.label_decomposition, reground.factuality_report, reground.factuality_agreement, reground._factuality TO reground_auditor;
-- Roles that write a table execute the functions of its indexes and generated columns.
GRANT EXECUTE ON FUNCTION reground.in_language(text, text), reground.in_language(text, regconfig),
    reground.in_language(text[], text), reground.in_language(text[], regconfig), reground.find_text_config(text) TO PUBLIC;
GRANT EXECUTE ON FUNCTION reground.verify_turn(bigint), reground.verify_chain(text), reground._pair_index(integer, integer, integer) TO reground_auditor;
GRANT EXECUTE ON FUNCTION reground.run_retention(timestamptz), reground.forget_tenant(text) TO reground_admin;
GRANT EXECUTE ON FUNCTION reground.create_corpus, reground.add_corpus, reground.alter_corpus, reground.drop_corpus, reground.accept_coordinates,
    reground.sync_table, reground.stop_sync, reground.resync, reground._sync_rows(),
    reground.bm25_check, reground.bm25_merge, reground.bm25_segments,
    reground.refresh_audit, reground.rebuild_audit, reground.set_alert_rule, reground.drop_alert_rule, reground.take_baseline, reground.check_alerts, reground.diagnose,
    reground.run_maintenance, reground.set_maintenance TO reground_admin;
GRANT SELECT ON reground.bm25_indexes TO reground_admin;
GRANT EXECUTE ON FUNCTION reground.current_tenant(), reground._notice_scope(), reground._settings(), reground.explain_turn(bigint),
    reground._node(text, text, text), reground.trace_citation(bigint), reground.trace_document(text, text, timestamptz), reground._dimension_name(text, boolean), reground._dimension_key(text, boolean), reground._answers_by, reground._citations_by(text, timestamptz, timestamptz, boolean), reground.stage_survival(text, timestamptz, timestamptz),
    reground._of_answers, reground._compare, reground.compare, reground.in_canary, reground.retrieval_metrics, reground.text_metrics, reground._history_hits(jsonb, jsonb, text[]), reground.history_hits(bigint, text[]),
    reground.sli, reground.source_usage, reground._document_type, reground.diagnose, reground.conversation_report(text, text), reground.corpus_report(text, timestamptz, timestamptz, text), reground.openmetrics(),
    reground._wilson_interval(bigint, bigint, double precision), reground.citation_quality(text, timestamptz, timestamptz), reground.hallucination_mix(text, timestamptz, timestamptz), reground.report_rates, reground.review_report, reground.who_saw, reground._usage_tokens(jsonb, text[]), reground.label_citation, reground.sample_for_review,
    reground.compare_shadows(timestamptz, timestamptz), reground._source_state(text, text, text, integer), reground._cited_row(bigint), reground._unsealed(text, text, text) TO reground_auditor;

GRANT SELECT ON reground.corpora, reground.conversations, reground.turns, reground.turn_retrievals, reground.conversation_sources, reground.conversation_markers,
    reground.source_facts, reground.messages, reground.message_citations, reground.answer_changes, reground.answer_repairs, reground.citation_statuses, reground.support_cues, reground.settings, reground.citation_audit,
    reground.turn_audit, reground.conversation_health, reground.conversation_totals, reground.turn_overhead, reground.fact_sheets, reground.citation_labels, reground.citation_reports TO reground_user, reground_auditor;
GRANT SELECT, INSERT, UPDATE, DELETE ON reground.support_cues, reground.model_prices TO reground_admin;
GRANT SELECT ON reground.model_prices, reground.answer_costs TO reground_user, reground_auditor;
-- Not for reground_user: row-level security of the relation may hide the documents whose ids, addresses and entities these contain.
GRANT SELECT ON reground.documents, reground.edges, reground.synchronised_tables, reground.sync_queue TO reground_auditor, reground_admin;
GRANT SELECT ON reground.turn_traces, reground.drift_events, reground.turn_candidates, reground._turn_passages, reground.provenance_nodes, reground.provenance_edges, reground.stale_citations,
    reground.shadow_turns, reground.shadow_candidates, reground.shadow_audit
    TO reground_auditor;
-- Alerts contain data of all tenants.
GRANT SELECT ON reground.alert_rules, reground.active_alert_rules, reground.alert_baselines, reground.alerts, reground.rollup_queue, reground.audit_backlog TO reground_auditor, reground_admin;
-- Errors of tasks and counts per corpus can contain data of all tenants.
GRANT SELECT ON reground.maintenance_tasks, reground.maintenance_status, reground.maintenance_runs, reground.coordinate_faults TO reground_auditor, reground_admin;
GRANT SELECT ON reground.answer_rollup, reground.citation_rollup, reground.turn_rollup, reground.metric_totals, reground.cfs_hourly, reground.citations_hourly, reground.conversation_audit TO reground_user, reground_auditor;
GRANT SELECT ON reground.probes, reground.probe_results TO reground_user, reground_auditor;
GRANT SELECT ON reground.provenance_chain, reground.chain_checkpoints, reground.turn_archive TO reground_auditor;
GRANT SELECT ON reground.citation_similarities TO reground_user, reground_auditor;
-- The view factuality counts tasks. A lease belongs to its worker.
GRANT SELECT (task_id, tenant, kind, model, corpus_id, turn_id, subject, state, attempts, due_at, last_error, queued_at) ON reground.model_tasks TO reground_user;
GRANT SELECT ON reground.gold_questions, reground.gold_facts, reground.factuality_evaluations, reground.factuality_verdicts, reground.factuality_labels,
    reground.decomposition_labels, reground.factuality TO reground_user, reground_auditor;

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
