-- Compares the rows of the extension with those of the application, in one snapshot. Prints only differences, and at the end what was
-- compared. It only reads, so it also runs on a standby.
BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;
SELECT 'turns', turn_id FROM reground.turns AS t FULL JOIN asked AS a USING (turn_id) WHERE t.turn_id IS NULL OR a.turn_id IS NULL;
SELECT 'answers', message_ref, m.superseded, s.superseded, m.citation_count, s.citations
FROM reground.messages AS m FULL JOIN (SELECT * FROM said WHERE NOT erased) AS s USING (message_ref)
WHERE (m.superseded, m.citation_count, m.turn_id, m.origin = 'live') IS DISTINCT FROM (s.superseded, s.citations::bigint, s.turn_id, s.live);
SELECT 'citations', m.message_id FROM reground.messages AS m WHERE m.citation_count <> (SELECT count(*) FROM reground.message_citations AS c WHERE c.message_id = m.message_id);
-- The rollups count current live answers, also those that were erased since the last rebuild_audit; the queue has the changes that they lack.
SELECT 'rollups', counted, expected FROM (SELECT
    (SELECT coalesce(sum(answers), 0) FROM reground.answer_rollup) + (SELECT coalesce(sum(change), 0) FROM reground.rollup_queue) AS counted,
    (SELECT count(*) FROM said WHERE live AND NOT superseded AND counted) AS expected) AS x WHERE counted <> expected;
SELECT 'rollups of citations', counted, expected FROM (SELECT
    (SELECT coalesce(sum(citations), 0) FROM reground.citation_rollup) + (SELECT coalesce(sum(q.change * m.citation_count), 0) FROM reground.rollup_queue AS q JOIN reground.messages AS m USING (message_id)) AS counted,
    (SELECT coalesce(sum(citations), 0) FROM said WHERE live AND NOT superseded AND counted) AS expected) AS x WHERE counted <> expected;
SELECT 'totals', counted, expected FROM (SELECT
    (SELECT coalesce(sum(total), 0) FROM reground.metric_totals WHERE metric = 'answers') + (SELECT count(*) FROM reground.rollup_queue WHERE change = 1) AS counted,
    (SELECT count(*) FROM said WHERE live) AS expected) AS x WHERE counted <> expected;
-- A trace remains or was archived.
SELECT 'traces', t.turn_id FROM reground.turns AS t WHERE t.origin = 'live' AND NOT EXISTS (SELECT FROM reground.turn_traces AS x WHERE x.turn_id = t.turn_id)
    AND NOT EXISTS (SELECT FROM reground.turn_archive AS a WHERE a.turn_id = t.turn_id);
SELECT 'length of the chain', c.conversation_ref, c.chain_length, a.links FROM reground.conversations AS c JOIN (SELECT conversation, sum(links) AS links FROM asked WHERE NOT imported GROUP BY 1) AS a ON a.conversation = c.conversation_ref
    WHERE c.chain_length <> a.links;
SELECT 'chain', c.conversation_ref, v.link_no, v.status, v.detail FROM reground.conversations AS c CROSS JOIN LATERAL reground.verify_chain(c.conversation_ref) AS v WHERE v.status <> 'ok';
-- The documents of the table that is synchronised in the transaction of the writer.
SELECT 'documents', coalesce(a.id::text, p.doc_id) FROM articles AS a FULL JOIN (SELECT doc_id, string_agg(content, E'\n\n' ORDER BY ordinal) AS body FROM "read" GROUP BY doc_id) AS p ON p.doc_id = a.id::text
    WHERE p.body IS DISTINCT FROM a.body;
SELECT 'left over', x.* FROM (SELECT 'markers', count(*) FROM reground.conversation_markers AS k WHERE NOT EXISTS (SELECT FROM reground.conversations AS c WHERE c.conversation_id = k.conversation_id)
    UNION ALL SELECT 'traces', count(*) FROM reground.turn_traces AS k WHERE NOT EXISTS (SELECT FROM reground.turns AS c WHERE c.turn_id = k.turn_id)
    UNION ALL SELECT 'archived', count(*) FROM reground.turn_archive AS k WHERE NOT EXISTS (SELECT FROM reground.turns AS c WHERE c.turn_id = k.turn_id)
    UNION ALL SELECT 'links', count(*) FROM reground.provenance_chain AS k WHERE NOT EXISTS (SELECT FROM reground.conversations AS c WHERE c.conversation_id = k.conversation_id)) AS x(kind, rows) WHERE rows > 0;
SELECT 'compared: ' || (SELECT count(*) FROM reground.turns) || ' turns, ' || (SELECT count(*) FROM said) || ' answers, ' || (SELECT count(*) FROM articles) || ' documents';
COMMIT;
