SELECT reground.complete_task(task_id, lease_token, '{"content": "{\"statements\": [\"The vault is in zyzzyva hall.\"]}"}') FROM reground.claim_tasks('worker', '{decompose}');
SELECT reground.label_verdict(verdict_id, 'neutral', 'zyzzyva', 'reviewer'), reground.label_decomposition(evaluation_id, 1, 0, 'zyzzyva', 'reviewer') FROM reground.factuality_verdicts WHERE statement ~ 'zyzzyva';
SELECT reground.label_citation(min(citation_id), 'accurate', 'zyzzyva', 'reviewer') FROM reground.message_citations;
INSERT INTO reground.judge_votes (citation_id, model, prompt, vote_no, tenant, verdict, confidence, passage, explanation, deterministic)
SELECT min(citation_id), 'judge', 'judge-1', 1, 'acme', 'partial', 0.5, 'zyzzyva', 'zyzzyva', false FROM reground.message_citations;
