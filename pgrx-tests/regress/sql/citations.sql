-- Each citation of an answer is a row with a status, whether it holds or not.
CREATE SCHEMA citations;
SET search_path = citations, public;
SELECT reground.create_corpus('manual', dimensions => 3);
SELECT version FROM reground.put_document('manual', 'install.md', title => 'Installing', uri => 'https://docs.example/install', page_count => 4,
    passages => '[{"content": "The server needs eight gigabytes of memory.", "page_start": 1, "page_end": 2}, {"content": "Backups run every night at three.", "page_start": 3}]');
SELECT version FROM reground.put_document('manual', 'admin.md', title => 'Administration', passages => '[{"content": "Passwords expire after ninety days."}]');
SELECT version FROM reground.put_document('manual', 'legal.md', title => 'Legal notes', page_count => 2, passages => '[{"content": "Licences are granted per seat.", "page_start": 1}]');
SELECT reground.put_embeddings('manual', ARRAY['1', '2', '3', '4'], ARRAY['[1,0,0]', '[0.9,0.1,0]', '[0,1,0]', '[0,0,1]']::vector[]);
CREATE FUNCTION judged(conversation text, answer text) RETURNS TABLE (raw text, marker text, doc_id text, status text, holds boolean, hallucination_mode text, score double precision, support numeric, diagnostic text, repaired boolean)
LANGUAGE sql AS $$
    SELECT raw, marker, doc_id, status, holds, hallucination_mode, score, round(support::numeric, 2), diagnostic, repaired FROM reground.end_turn(regress.turn($1), $2)
$$;

-- Turn 1: three sources, one of them found by both searches.
SELECT marker, doc_id, chunk_id FROM reground.begin_turn('citations-1', 'How much memory does the server need, and when do backups run?', 'manual', '[1,0,0]', settings => '{"max_sources": 3}');
-- Correct citations.
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [A1]. Backups run every night at three [A2].');
-- Two citations of one claim; lists; spellings that are repaired.
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory, and backups run every night at three [A1][A2].');
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory, and backups run every night at three [A1, A2].');
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [a1]. Backups run every night at three [ A 2 ].');
-- The claim is supported by another source of the context; by no source.
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [A2].');
SELECT * FROM judged('citations-1', 'Elephants trumpet loudly at dawn [A1].');
-- Markers that do not exist.
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [A9]. It is blue [Q3].');
-- By name and page: the correct page, a page of the document without support, a page that the document does not have.
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [Source: install.md, p. 2].');
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [Source: install.md, p. 4].');
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [Source: install.md, p. 99].');
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [Source: install.md, p. 0].');
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [Source: nowhere.md, p. 1].');
-- By address, in any spelling. Another host or another folder is another document.
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [Source: https://docs.example/install, p. 2].');
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [Source: HTTPS://Docs.Example:443/./install?utm_source=mail, p. 2].');
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [Source: https://elsewhere.example/install, p. 2].');
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [Source: https://docs.example/old/install, p. 2].');
SELECT * FROM judged('citations-1', 'The server needs eight gigabytes of memory [Source: elsewhere.example/install, p. 2].');
-- A document that supports the claim but is not in the context.
SELECT * FROM judged('citations-1', 'Licences are granted per seat [Source: legal.md, p. 1].');
-- Author and year; an unreadable citation; brackets that are not citations.
SELECT * FROM judged('citations-1', 'The server needs memory (Smith, 2020). More follows [A1');
SELECT * FROM judged('citations-1', 'An array is indexed as a[1], and [TODO] is a note; see [the docs](https://docs.example/x).');
SELECT * FROM judged('citations-1', '```
code [A1]
```
The server needs eight gigabytes of memory [A1].');

-- Positions in characters, bytes and UTF-16 code units.
SELECT c.raw, c.answer_start, c.byte_start, c.utf16_start, substring(a.answer FROM c.answer_start + 1 FOR c.answer_end - c.answer_start) = c.raw AS by_characters,
    convert_from(substring(convert_to(a.answer, 'UTF8') FROM c.byte_start + 1 FOR c.byte_end - c.byte_start), 'UTF8') = c.raw AS by_bytes
FROM (VALUES ('Naïve 😀 façade: the server needs eight gigabytes [A1]. 烏龍 backups run every night [A2].')) AS a(answer), reground.end_turn(regress.turn('citations-1'), a.answer) AS c;

-- A marker of an earlier turn that is not in the context of this turn is stale; a carried source is not.
SELECT marker, doc_id, origin FROM reground.begin_turn('citations-1', 'How long until passwords expire?', 'manual', '[0,1,0]', settings => '{"max_sources": 1}', intent => 'new_topic');
SELECT * FROM judged('citations-1', 'Passwords expire after ninety days [B1]. The server needs eight gigabytes of memory [A1].');
SELECT turn_no, marker, doc_id, status, title, lost_stage, best_other_marker FROM reground.citation_audit WHERE conversation_ref = 'citations-1' AND NOT superseded ORDER BY turn_no, citation_no;

-- The stage factors: after the first 0 all others are NULL, and lost_stage names that stage.
SELECT marker, status, factor_coordinates AS coordinates, factor_retrieval AS retrieval, factor_rerank AS rerank, factor_context AS context, factor_generation AS generation, lost_stage
FROM reground.message_citations WHERE turn_id = regress.turn('citations-1', 2) ORDER BY citation_no;

-- The policy: reasons to regenerate an answer.
SELECT count(*) AS rows FROM reground.begin_turn('citations-2', 'How much memory does the server need?', 'manual', '[1,0,0]', settings => '{"require_citations": true, "min_cfs": 0.9}');
SELECT * FROM judged('citations-2', 'Eight gigabytes.');
SELECT decision, reasons FROM reground.turn_audit WHERE conversation_ref = 'citations-2' AND NOT superseded;
SELECT * FROM judged('citations-2', 'The server needs eight gigabytes of memory [A1]. It is blue [Z9].');
SELECT decision, reasons FROM reground.turn_audit WHERE conversation_ref = 'citations-2' AND NOT superseded;
SELECT * FROM judged('citations-2', 'The server needs eight gigabytes of memory [A1].');
SELECT decision, reasons FROM reground.turn_audit WHERE conversation_ref = 'citations-2' AND NOT superseded;
-- The score of an answer is the mean over its citations without the malformed ones.
SELECT bool_and(a.cfs IS NOT DISTINCT FROM c.mean) AS cfs_is_the_mean FROM reground.turn_audit AS a
    CROSS JOIN LATERAL (SELECT avg(score) AS mean FROM reground.citation_audit WHERE citation_audit.message_id = a.message_id) AS c WHERE a.conversation_ref ~ '^citations-' AND a.message_id IS NOT NULL;
SELECT count(*) AS every_status_is_listed FROM reground.message_citations LEFT JOIN reground.citation_statuses USING (status) WHERE citation_statuses.status IS NULL;
SELECT reground.drop_corpus('manual', true);
