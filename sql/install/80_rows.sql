-- Row-level security: a tenant sees its own rows, an auditor reads all. Writes go through the functions, as the owner.

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['conversations', 'turns', 'turn_traces', 'drift_events', 'turn_retrievals', 'conversation_sources', 'conversation_markers',
                                'source_facts', 'messages', 'message_citations', 'citation_labels', 'citation_reports',
                                'rollup_queue', 'answer_rollup', 'citation_rollup', 'probes', 'probe_results', 'shadow_turns', 'provenance_chain', 'chain_checkpoints', 'turn_archive'] LOOP
        EXECUTE pg_catalog.format('ALTER TABLE reground.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE pg_catalog.format('CREATE POLICY tenant ON reground.%I USING (tenant = (SELECT reground.current_tenant()))', name);
        EXECUTE pg_catalog.format('CREATE POLICY auditor ON reground.%I FOR SELECT TO reground_auditor USING (true)', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['corpora', 'documents', 'edges'] LOOP
        EXECUTE pg_catalog.format('ALTER TABLE reground.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE pg_catalog.format('CREATE POLICY tenant ON reground.%I USING (tenant IS NULL OR tenant = (SELECT reground.current_tenant()))', name);
        EXECUTE pg_catalog.format('CREATE POLICY auditor ON reground.%I FOR SELECT TO reground_auditor USING (true)', name);
    END LOOP;
END
$$;
-- How far counting is behind is the admin's to know too; a row says nothing of an answer but whose it is.
CREATE POLICY admin ON reground.rollup_queue FOR SELECT TO reground_admin USING (true);
