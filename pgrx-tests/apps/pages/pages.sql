-- One row per page: name | expected counts | the page as base64 of UTF-8, so that no tool changes it.
SELECT p.name, pg_catalog.jsonb_build_object('title', p.title, 'citations', p.citations, 'turns', p.turns, 'plots', p.plots, 'intervals', p.intervals, 'worst', p.worst)::text,
       pg_catalog.translate(pg_catalog.encode(pg_catalog.convert_to(p.page, 'UTF8'), 'base64'), E'\n', '')
FROM (
    SELECT c.name, 'Conversation ' || c.shown AS title, (SELECT count(*) FROM reground.citation_audit AS a WHERE a.conversation_ref = v.conversation_ref) AS citations,
           v.turn_count AS turns, 3 AS plots, 0 AS intervals, 0 AS worst, reground.conversation_report(v.conversation_ref) AS page
    FROM (VALUES ('conversation', 'helpdesk-2041', 'helpdesk-2041'), ('conversation-hostile', nasty('conversation'), NULL), ('conversation-pinned', 'helpdesk-pinned', 'helpdesk-pinned')) AS c(name, id, shown)
    JOIN reground.conversations AS v ON v.conversation_ref = c.id
    UNION ALL
    SELECT c.name, 'Corpus ' || c.corpus, 0, 0, 2, (SELECT count(*) FROM reground.citation_quality('model')  AS q WHERE q.value IN (SELECT a.model FROM reground.turn_audit AS a WHERE a.corpus = c.corpus AND NOT a.superseded)) + 5
               + CASE WHEN EXISTS (SELECT FROM reground.turn_audit AS a WHERE a.corpus = c.corpus AND a.model IS NULL AND NOT a.superseded AND a.citation_count > 0) THEN 1 ELSE 0 END,
           (SELECT least(12, count(*)) FROM reground.turn_audit AS a WHERE a.corpus = c.corpus AND a.cfs < 1 AND NOT a.superseded), reground.corpus_report(c.corpus)
    FROM (VALUES ('corpus', 'handbook'), ('corpus-hostile', 'hostile <b>corpus</b>')) AS c(name, corpus)) AS p
ORDER BY p.name;
