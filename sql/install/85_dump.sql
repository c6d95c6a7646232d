-- What pg_dump takes along: every table, and every identity sequence, or ids would start again.
-- (The partitions of turn_traces are registered where they are made; citation_statuses is filled by this script.)

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['corpora', 'documents', 'edges', 'conversations', 'turns', 'drift_events', 'turn_retrievals', 'conversation_sources', 'conversation_markers',
                                'source_facts', 'messages', 'message_citations', 'citation_labels', 'citation_reports',
                                'rollup_queue', 'answer_rollup', 'citation_rollup', 'alert_baselines', 'alerts', 'probes', 'probe_results', 'shadow_turns', 'provenance_chain', 'chain_checkpoints', 'turn_archive'] LOOP
        PERFORM pg_catalog.pg_extension_config_dump(pg_catalog.format('reground.%I', name)::regclass, '');
    END LOOP;
    PERFORM pg_catalog.pg_extension_config_dump('reground.support_cues'::regclass, 'WHERE NOT built_in');
    PERFORM pg_catalog.pg_extension_config_dump('reground.alert_rules'::regclass, 'WHERE NOT built_in');
    FOREACH name IN ARRAY ARRAY['corpora.corpus_id', 'conversations.conversation_id', 'turns.turn_id', 'drift_events.drift_id',
                                'messages.message_id', 'message_citations.citation_id', 'citation_reports.report_id',
                                'rollup_queue.queue_id', 'alerts.alert_id'] LOOP
        PERFORM pg_catalog.pg_extension_config_dump(
            pg_catalog.pg_get_serial_sequence('reground.' || pg_catalog.split_part(name, '.', 1), pg_catalog.split_part(name, '.', 2))::regclass, '');
    END LOOP;
END
$$;
