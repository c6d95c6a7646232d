-- What an admin and an auditor call after corpora.sql and user.sql. Written as described there.

SELECT * FROM reground.explain_turn({turn});
SELECT * FROM reground.explain_turn({first_turn});
SELECT * FROM reground.trace_citation({citation});
SELECT * FROM reground.trace_citation({first_citation});
SELECT reground.label_citation({citation}, 'accurate', 'as the source has it', 'ann');
SELECT reground.review_report((SELECT pg_catalog.max(r.report_id) FROM reground.citation_reports AS r), true, 'so it is', 'ann');
SELECT * FROM reground.sample_for_review(5, since => '2025-01-01', seed => 'a');
SELECT * FROM reground.sample_for_review(status => 'resolved_current');
-- no rows
SELECT * FROM reground.sample_for_review(model => '{r}_judge');
SELECT reground.judge_sample(), reground.set_judging('{r}_judge', 1, 5, '{role}'), reground.drop_judging('{r}_judge', '{role}');
SELECT * FROM reground.history_hits({turn});
SELECT * FROM reground.history_hits({first_turn}, relevant_chunk_ids => '{1}');
SELECT * FROM reground._history_hits('[["1"], ["2"], ["3"], ["4"]]', '[[["4"], ["7"]]]', '{4}');
SELECT * FROM reground.compare_shadows();
SELECT * FROM reground.compare_shadows(since => '2025-01-01', until => 'tomorrow');
SELECT * FROM reground.verify_turn({turn});
SELECT * FROM reground.verify_turn({first_turn});
SELECT * FROM reground.verify_chain('{r}-pinned');
-- no rows
SELECT * FROM reground.bm25_check('public.{r}_articles_body', heapallindexed => true);
SELECT reground.bm25_merge('public.{r}_articles_body');
SELECT * FROM reground.bm25_segments('public.{r}_articles_body');
SELECT * FROM reground.bm25_segments('public.{r}_leaflets_body');
SELECT reground.refresh_audit(2);
SELECT reground.refresh_audit();
SELECT reground.rebuild_audit();
SELECT * FROM reground.take_baseline('2025-01-01', 'tomorrow');
SELECT reground.set_alert_rule('{r}_mine', 'cfs_mean', 1, min_answers => 1, per_corpus => true), reground.set_alert_rule('low_tail', threshold => 0.8), reground.set_alert_rule('{r}_other', 'cfs_mean', 1, period => '1 day', whole_period => false, min_answers => 1, per_corpus => false, severity => 'warning', enabled => true, meaning => 'all of them');
SELECT * FROM reground.check_alerts();
SELECT * FROM reground.diagnose({alert});
SELECT reground.drop_alert_rule('{r}_mine'), reground.drop_alert_rule('{r}_other');
SELECT ARRAY(SELECT m.task FROM reground.run_maintenance() AS m);
SELECT reground.set_maintenance('retention', enabled => true, period => '1 day'), reground.set_maintenance('retention');
-- no rows
SELECT m.error FROM reground.run_maintenance('check_alerts') AS m WHERE m.error IS NOT NULL;
-- no rows
SELECT m.error FROM reground.run_maintenance('probes') AS m WHERE m.error IS NOT NULL;
-- no rows
SELECT m.error FROM reground.run_maintenance('check_coordinates') AS m WHERE m.error IS NOT NULL UNION ALL SELECT f.error FROM reground.coordinate_faults AS f WHERE f.error IS NOT NULL;
-- no rows
SELECT m.error FROM reground.run_maintenance('retention') AS m WHERE m.error IS NOT NULL;

-- The queue.
SELECT * FROM reground.worker_models();
SELECT * FROM reground.claim_tasks('{r}', kinds => '{decompose}', models => '{{r}_splitter}', max_tasks => 1);
SELECT reground.fail_task({task}, '{lease}', 'refused', retry_after => '0');
SELECT * FROM reground.claim_tasks('{r}', models => '{{r}_splitter}', lease => '1 minute');
SELECT reground.complete_task({task}, '{lease}', '{"content": "{\"statements\": [\"Cows give milk.\"]}"}', 10, 1);
SELECT * FROM reground.claim_tasks('{r}', models => '{{r}_checker}', max_tasks => 1);
SELECT reground.complete_task({task}, '{lease}', '{"content": "{\"verdict\": \"entailed\"}"}');
SELECT reground.retry_tasks('{r}_checker', 'entail');
SELECT reground.queue_embeddings();
SELECT reground.label_verdict({verdict}, 'neutral', 'not sure', 'ann'), reground.label_verdict({verdict}, 'entailed', labelled_by => 'ann');
SELECT reground.label_decomposition({evaluation}, 2, 1, 'one is missing', 'ann');
SELECT * FROM reground.factuality_agreement();
