-- What functions and views return about the rows of everything/write.sql, as tenant acme.
SELECT to_jsonb(c)::text FROM reground.citation_audit AS c ORDER BY c.citation_id;
SELECT to_jsonb(n)::text FROM reground.provenance_nodes AS n ORDER BY n.turn_id, n.node, n.chunk_id;
SELECT to_jsonb(f)::text FROM reground.source_facts AS f ORDER BY f.turn_id, f.marker, f.fact_no;
SELECT to_jsonb(f)::text FROM reground.fact_sheets AS f ORDER BY f.message_id, f.marker, f.fact_no;
SELECT to_jsonb(s)::text FROM reground.stale_citations AS s ORDER BY s.citation_id;
SELECT to_jsonb(u)::text FROM reground.source_usage() AS u ORDER BY u.corpus, u.doc_id;
SELECT to_jsonb(s)::text FROM reground.sample_for_review(NULL) AS s ORDER BY s.citation_id;
SELECT to_jsonb(q)::text FROM reground.citation_quality('document_type') AS q ORDER BY 1;
SELECT t.turn_id, s::text FROM reground.turns AS t, reground.turn_sources(t.turn_id) AS s WHERE t.tenant = 'acme' ORDER BY t.turn_id, s.marker;
SELECT t.turn_id, reground.prompt_context(t.turn_id) FROM reground.turns AS t WHERE t.tenant = 'acme' AND t.state <> 'deferred' ORDER BY t.turn_id;
SELECT t.turn_id, c::text FROM reground.turns AS t, reground.turn_conflicts(t.turn_id) AS c WHERE t.tenant = 'acme' AND t.state <> 'deferred' ORDER BY 1, 2;
SELECT m.message_id, e::text FROM reground.messages AS m, reground.citation_evidence(m.message_id) AS e WHERE m.tenant = 'acme' ORDER BY m.message_id, e.citation_no;
SELECT v.conversation_ref, reground.conversation_report(v.conversation_ref, 'acme'), reground.history(v.conversation_ref), reground.context_text(v.conversation_ref, 'and milk?')
FROM reground.conversations AS v WHERE v.tenant = 'acme' ORDER BY v.conversation_ref;
SELECT reground.corpus_report('farm', tenant => 'acme');
SELECT to_jsonb(c)::text FROM reground.citation_rollup AS c ORDER BY c::text COLLATE "C";
SELECT v.conversation_ref, c.link_no, c.status, c.detail FROM reground.conversations AS v, reground.verify_chain(v.conversation_ref) AS c WHERE v.tenant = 'acme' ORDER BY 1, 2;
