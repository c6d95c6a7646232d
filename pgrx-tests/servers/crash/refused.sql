-- Functions that write are refused on a standby before they compute anything. Prints those that are not refused.
DO $$
DECLARE
    statement text;
BEGIN
    FOREACH statement IN ARRAY ARRAY['SELECT reground.begin_turn(''talk'', ''and goats?'')', 'SELECT reground.end_turn(2, ''Wool.'')', 'SELECT reground.abandon_turn(2)', 'SELECT reground.repair_answer(1, ''mark'')', 'SELECT reground.put_document(''barn'', ''x'', content => ''X.'')',
        'SELECT reground.delete_document(''barn'', ''cows'')', 'SELECT reground.pin(''talk'', doc_id => ''cows'')', 'SELECT reground.shadow_turn(2, ''{}'')', 'SELECT reground.run_probes()', 'SELECT reground.refresh_audit()',
        'SELECT reground.check_alerts()', 'SELECT reground.run_retention()', 'SELECT reground.run_maintenance()', 'SELECT reground.label_citation(1, ''accurate'')', 'SELECT reground.create_corpus(''other'')'] LOOP
        BEGIN
            EXECUTE statement;
            RAISE NOTICE '% is accepted', statement;
        EXCEPTION
            WHEN read_only_sql_transaction THEN NULL;
            WHEN OTHERS THEN RAISE NOTICE '%: % %', statement, SQLSTATE, SQLERRM;
        END;
    END LOOP;
END $$;
