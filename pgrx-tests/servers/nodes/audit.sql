-- What an analyst reads, without ids of rows, which differ between servers, and without the column `node`.
SELECT 'answer_rollup', hour, tenant, corpus, model, cfs_bin, answers FROM answer_rollup ORDER BY 2, 3, 4, 5, 6;
SELECT 'citation_rollup', hour, tenant, corpus, model, document_type, status, lost_stage, citations FROM citation_rollup ORDER BY 2, 3, 4, 5, 6, 7, 8;
SELECT 'turn_rollup', hour, tenant, corpus, model, answers, empty_contexts, uncited, rerank_turns, reranked, rerank_lost, log_ms FROM turn_rollup ORDER BY 2, 3, 4, 5;
SELECT 'metric_totals', tenant, corpus, model, metric, label, total FROM metric_totals ORDER BY 2, 3, 4, 5, 6;
SELECT 'cfs_hourly', hour, tenant, corpus, model, answers, cited_answers, cfs_mean, cfs_p1, cfs_p5, cfs_p50, cfs_p95, cfs_p99 FROM cfs_hourly ORDER BY 2, 3, 4, 5;
SELECT 'citations_hourly', hour, tenant, corpus, model, document_type, citations, judged, holding, malformed, lost_coordinates, lost_retrieval, lost_rerank, lost_context, lost_generation
FROM citations_hourly ORDER BY 2, 3, 4, 5, 6;
SELECT 'citation_audit', tenant, conversation_ref, turn_no, message_ref, model, tags, query, citation_no, marker, raw, form, scope, corpus, doc_id, chunk_id, title, uri, locator, claim, quote,
    status, holds, hallucination_mode, score, coordinate_fidelity, support, support_parts, diagnostic, detail, best_other_marker, lost_stage, repaired, source_state, source_version, source_hash,
    superseded, answer_start, answer_end, created_at, origin, turn_superseded
FROM citation_audit ORDER BY 2, 3, 4, citation_no;
SELECT 'turn_audit', tenant, conversation_ref, turn_no, state, corpus, query, intent, intent_confidence, intent_signals, source_count, context_tokens, warnings, tags, message_ref, model, usage,
    citation_count, malformed_count, cfs, stage_cfs, grounded_cfs, diagnostic, decision, reasons, superseded, begun_at, answered_at, origin, turn_superseded, user_ref
FROM turn_audit ORDER BY 2, 3, 4;
SELECT 'quality', value, citations, judged, holding, rate, low, high, round(mean_support::numeric, 12), labelled, labelled_accurate, reported FROM quality_of_tenants ORDER BY 2;
SELECT 'turn_archive', tenant, conversation_ref, turn_no, corpus, model, begun_at, candidate_count, source_count, citation_count, holding_count, cfs, decision, markers, corpora, doc_ids, chunk_ids, hash_prefixes
FROM turn_archive ORDER BY 2, 3, 4;
-- A citation is in the turn of its tenant.
SELECT 'joined', count(*) FROM citation_audit AS c JOIN turn_audit AS t USING (tenant, turn_id);
