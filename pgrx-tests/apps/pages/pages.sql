-- One row per page: name | expected counts | the page as base64 of UTF-8, so that no tool changes it.
CREATE TEMPORARY VIEW cited AS
    SELECT t.corpus AS searched, m.model, m.message_id, m.decision, c.holds, CASE WHEN c.doc_id IS NULL THEN NULL ELSE coalesce(reground._document_type(c.uri, c.doc_id), '(none)') END AS document_type, c.citation_id
    FROM reground.messages AS m JOIN reground.turns AS t USING (turn_id) LEFT JOIN reground.message_citations AS c USING (message_id)
    WHERE NOT m.superseded AND m.created_at >= date_trunc('day', now() - interval '7 days', 'UTC');
SELECT p.name, pg_catalog.jsonb_build_object('title', p.title, 'citations', p.citations, 'turns', p.turns, 'plots', p.plots, 'intervals', p.intervals, 'worst', p.worst)::text,
       pg_catalog.translate(pg_catalog.encode(pg_catalog.convert_to(p.page, 'UTF8'), 'base64'), E'\n', '')
FROM (
    SELECT c.name, 'Conversation ' || c.shown AS title, (SELECT count(*) FROM reground.citation_audit AS a WHERE a.conversation_ref = v.conversation_ref) AS citations,
           v.turn_count AS turns, 4 AS plots, 0 AS intervals, 0 AS worst, reground.conversation_report(v.conversation_ref) AS page
    FROM (VALUES ('conversation', 'helpdesk-2041', 'helpdesk-2041'), ('conversation-hostile', nasty('conversation'), NULL), ('conversation-long', long('conversation'), NULL),
                 ('conversation-pinned', 'helpdesk-pinned', 'helpdesk-pinned')) AS c(name, id, shown)
    JOIN reground.conversations AS v ON v.conversation_ref = c.id
    UNION ALL
    -- An interval for each model, document type and stage with a judged citation.
    SELECT c.name, 'Corpus ' || c.corpus, 0, 0, CASE WHEN EXISTS (SELECT FROM cited WHERE searched = c.corpus) THEN 3 ELSE 0 END,
           (SELECT count(*) FROM (SELECT FROM cited WHERE searched = c.corpus GROUP BY model HAVING count(holds) > 0) AS m)
               + (SELECT count(*) FROM (SELECT count(holds) AS judged FROM cited WHERE searched = c.corpus AND document_type IS NOT NULL GROUP BY document_type ORDER BY count(*) DESC LIMIT 12) AS t WHERE judged > 0)
               + CASE WHEN EXISTS (SELECT FROM cited WHERE searched = c.corpus) THEN 5 ELSE 0 END,
           (SELECT least(12, count(DISTINCT message_id)) FROM cited WHERE searched = c.corpus AND (decision = 'regenerate' OR citation_id IS NOT NULL AND holds IS NOT TRUE)), reground.corpus_report(c.corpus)
    FROM (VALUES ('corpus', 'handbook'), ('corpus-empty', 'empty'), ('corpus-hostile', 'hostile <b>corpus</b>'), ('corpus-long', 'Donaudampfschifffahrtselektrizitatenhauptbetrieb'), ('corpus-one', 'one')) AS c(name, corpus)) AS p
ORDER BY p.name;
