-- Answers are parsed, checked, streamed and measured; only begin_turn and end_turn write.
CREATE SCHEMA checking;
SET search_path = checking, public;
SET default_text_search_config = 'pg_catalog.english';

-- Citations in a text of any origin.
SELECT citation_no, form, raw, marker, number, name, page_start, page_end, problem, claim
FROM reground.extract_citations('Cows give milk [A1, p. 3]. Sheep give wool 【4:0†source】. Goats climb [cite: 2, 3]. See (Smith et al., 2020) and [A1,]. Nothing: [x], `m[1]`, [2024].');
-- One position in three units.
SELECT raw, answer_start, answer_end, byte_start, byte_end, utf16_start, utf16_end FROM reground.extract_citations('🐄 gibt Milch für alle [A1].');
-- Families are disabled; patterns and titles are added.
SELECT form, raw FROM reground.extract_citations('It is so [1]. It is so [A1].', '{"families": {"ordinal": false}}');
SELECT form, raw, name, page_start, page_end FROM reground.extract_citations('As TK-12 says (page 4), and the Q3 report too.',
    '{"patterns": [{"name": "ticket", "regex": "(?P<id>TK-[0-9]+) says \\(page (?P<page>[0-9]+)\\)"}], "titles": [{"name": "q3.pdf", "aliases": ["the Q3 report"]}]}');
SELECT raw, number FROM reground.extract_citations('See CASE-7, CASE-4000000000 and CASE-99999999999999999999.', '{"patterns": [{"name": "case", "regex": "CASE-(?P<number>[0-9]+)"}]}');
SELECT raw, page_start, page_end, paragraph_end, line_start, line_end FROM reground.extract_citations('See [A1, p. 4000000000], [A1, pp. 2-99999999999] and [a.pdf, p. 1, para 3000000000, lines 3000000000-4000000000].');
SELECT * FROM reground.extract_citations('x', '{"families": {"colour": true}}');
SELECT * FROM reground.extract_citations('x', '{"patterns": [{"name": "a", "regex": "("}]}');
SELECT * FROM reground.extract_citations('x', '{"patterns": [{"name": "a", "regex": "b"}]}');
SELECT * FROM reground.extract_citations('x', '{"locators": {"levels": ["a", "a"], "patterns": ["{a}"]}}');
SELECT * FROM reground.extract_citations(NULL);

-- An answer of another system with the passages of its model: cited by number, marker, name and page.
CREATE TABLE shown AS SELECT '[{"content": "The server needs 8 GB of memory."},
    {"content": "Backups run every night at three. They are not encrypted.", "doc_id": "backup.md", "title": "Backups", "page_start": 2, "page_end": 3},
    {"content": "Passwords expire after ninety days.", "marker": "Z7", "chunk_id": 42}]'::jsonb AS passages;
CREATE FUNCTION checked(answer text, settings jsonb DEFAULT NULL) RETURNS TABLE (raw text, marker text, doc_id text, chunk_id text, status text, hallucination_mode text, support numeric, best_other_marker text, form text)
LANGUAGE sql AS $$
    SELECT c.raw, c.marker, c.doc_id, c.chunk_id, c.status, c.hallucination_mode, round(c.support::numeric, 2), c.best_other_marker, c.form FROM shown, reground.check_answer(checked.answer, passages, settings => checked.settings) AS c
$$;
SELECT * FROM checked('The server needs 8 GB of memory [1]. Backups run every night at three [2]. Passwords expire after ninety days [Z7].');
SELECT * FROM checked('Passwords expire after ninety days [3]. Backups run at three [Source: backup.md, p. 2]. Backups run at three [backup]. It is so [9].');
-- Other numbers, a negation, content of another source, content of no source.
SELECT * FROM checked('The server needs 64 GB of memory [1]. Backups are encrypted [2]. Passwords expire after ninety days [1]. Elephants trumpet at dawn [1].');
SELECT c.support_parts->'numbers_missing' AS missing, c.support_parts->'numbers_contradicted' AS contradicted FROM shown, reground.check_answer('The server needs 64 GB of memory [1].', passages) AS c;
SELECT c.support_parts->'negated_words' AS denied, c.support_parts->>'language' AS language FROM shown, reground.check_answer('Backups are encrypted [2].', passages) AS c;
SELECT c.support_parts->'negated_words' AS denied, c.support_parts->>'language' AS language FROM shown, reground.check_answer('Backups are encrypted [2].', passages, text_config => 'simple') AS c;
-- The language is a setting, and its cues are rows.
SELECT c.support_parts->'negated_words' AS denied, c.support_parts->>'language' AS language FROM shown, reground.check_answer('Backups are encrypted [2].', passages, '{"language": "en"}', 'simple') AS c;
BEGIN;
INSERT INTO reground.support_cues VALUES ('cow', 'negation', 'night'), ('cow', 'number', 'moo=12'), ('cow', 'scale', 'herd=1000');
SELECT c.support_parts->>'language' AS language, c.support_parts->'negated_words' AS denied FROM shown, reground.check_answer('Backups run at three [2].', passages, '{"language": "cow"}') AS c;
ROLLBACK;
-- Invalid cues are refused.
INSERT INTO reground.support_cues VALUES ('cow', 'number', 'moo=inf');
INSERT INTO reground.support_cues VALUES ('cow', 'scale', 'herd=many');
INSERT INTO reground.support_cues VALUES ('cow', 'measure', 'hands');
-- The sentence of the passage that supports the citation.
SELECT c.quote FROM shown, reground.check_answer('Backups run every night at three [2].', passages) AS c;
-- A list of sources is judged by the statements before it.
CREATE FUNCTION listed(answer text) RETURNS TABLE (raw text, scope text, claim text, status text, support numeric, answer jsonb, detail text)
LANGUAGE sql AS $$
    SELECT c.raw, c.scope, c.claim, c.status, round(c.support::numeric, 2), c.support_parts -> 'answer', c.detail FROM shown, reground.check_answer(listed.answer, passages) AS c
$$;
SELECT * FROM listed(E'The moon is made of cheese.\n\nCitation: [Z7]');
SELECT * FROM listed(E'The server needs 8 GB of memory. Passwords expire after ninety days. The moon is made of cheese.\n\nSources: [1], [2], [Z7]');
SELECT * FROM listed(E'The server needs 8 GB of memory [1]. The moon is made of cheese [2].\n\n## References\n[1] The manual\n[2] Backups');
SELECT * FROM listed(E'Yes.\n\nSources: [1]');
-- Names of files, paragraphs and lines; a document with the name of a marker.
SELECT * FROM checked('Backups run at three [backup.md, p. 2]. Backups run at three [Source backup.md, p. 3, para 1]. Backups run at three [Source: backup.md, p.]. Backups run at three [Backups]. Backups run at three [see backup.md].');
SELECT c.raw, c.doc_id, c.status FROM reground.check_answer('Cows give milk [Source: Q3]. Cows give milk [Q3, p. 2]. Cows give milk [Source: Q4].', '[{"content": "Cows give milk.", "doc_id": "Q3"}]') AS c;
SELECT raw, marker, name, page_start, page_end, paragraph_start, paragraph_end, line_start, line_end, scope FROM reground.extract_citations(E'It is so [A1, p. 3, lines 1-2] [big.pdf, p. 7, para 1].\nSources: [A1]');
SELECT * FROM checked('Nothing is cited.');
SELECT * FROM checked('');
-- Invalid arguments.
SELECT * FROM reground.check_answer('x', '{"content": "no list"}');
SELECT * FROM reground.check_answer('x', '[{"content": " "}]');
SELECT * FROM reground.check_answer('x', '[{"content": "a", "marker": "2"}, {"content": "b"}]');
SELECT * FROM reground.check_answer('x', '[{"content": "a", "page_start": 0}]');
SELECT * FROM reground.check_answer('x', '[]', settings => '{"support_threshold": 2}');
SELECT * FROM reground.check_answer('x', '[]', corpus => 'nowhere');
SELECT * FROM reground.check_answer(NULL, '[]');
SELECT * FROM reground.check_answer('x', NULL);

-- Citations that an API returns beside the text, each with its own unit; the cited text is searched in the source.
SELECT form, raw, name, number, claim, quote, answer_start, answer_end FROM reground.import_citations('Die Kühe geben Milch. Schafe geben Wolle.',
    '{"content": [{"type": "text", "text": "Die Kühe geben Milch.", "citations": [{"type": "char_location", "document_index": 0, "document_title": "kühe.md", "start_char_index": 0, "end_char_index": 9, "cited_text": "Kühe geben Milch"}]}, {"type": "text", "text": " Schafe geben Wolle."}]}');
SELECT form, raw, answer_start, answer_end, byte_start, byte_end FROM reground.import_citations('Die Kühe geben Milch. Schafe geben Wolle.',
    '{"groundingChunks": [{"web": {"uri": "https://farm.example/schafe", "title": "Schafe"}}], "groundingSupports": [{"segment": {"startIndex": 23, "endIndex": 42, "text": "Schafe geben Wolle."}, "groundingChunkIndices": [0]}]}', 'gemini');
SELECT c.raw, c.marker, c.status, c.detail FROM shown, reground.check_answer('The server needs 8 GB of memory.', passages, citations => '[{"start": 0, "end": 10, "text": "The server", "document_ids": ["doc_0"]}]') AS c;
SELECT c.raw, c.status, c.detail FROM shown, (VALUES ('The server needs 8 GB'), ('The server needs 16 GB')) AS v(said),
    LATERAL reground.check_answer('The server needs 8 GB of memory.', passages, citations => jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'The server needs 8 GB of memory.',
        'citations', jsonb_build_array(jsonb_build_object('type', 'char_location', 'document_index', 0, 'start_char_index', 0, 'end_char_index', 9, 'cited_text', said))))) AS c ORDER BY said DESC;
SELECT c.raw, c.answer_end FROM shown, reground.check_answer('Short.', passages, citations => '[{"start": 2, "end": 900, "text": "x", "document_ids": ["doc_0"]}]') AS c;
SELECT * FROM reground.import_citations('x', '{"a": 1}');
SELECT * FROM reground.import_citations('x', '[]', 'nobody');

-- Locators of a work, by the schema of its corpus.
SELECT reground.create_corpus('scripture', settings => '{"citation_forms": {"locators": {"levels": ["book", "chapter", "verse"], "patterns": ["{book} {chapter}:{verse}"], "works": [{"name": "Genesis", "abbreviations": ["Gen."]}, {"name": "Exodus"}]}}}');
SELECT added FROM reground.put_document('scripture', 'kjv', passages => '[
    {"content": "In the beginning God created the heaven and the earth.", "metadata": {"locator": "Genesis 1:1-2"}},
    {"content": "And God said, Let there be light: and there was light.", "metadata": {"locator": "Genesis 1:3-5"}},
    {"content": "Thus the heavens and the earth were finished.", "metadata": {"locator": "Genesis 2:1-3"}},
    {"content": "Now these are the names of the children of Israel.", "metadata": {"locator": "Exodus 1:1-4"}}]');
SELECT marker, chunk_id FROM reground.begin_turn('checking-1', 'Let there be light', 'scripture', settings => '{"max_sources": 1}');
SELECT raw, marker, doc_id, chunk_id, status, hallucination_mode, score, detail FROM reground.end_turn(regress.turn('checking-1'),
    'God said let there be light (Gen. 1:3). The heavens were finished (Genesis 2:1). The earth was made of cheese (Gen. 2:2). He rested (Gen. 60:1). It began (Gen. 1:0). These are the names of the children of Israel (Exodus 1:1). The law stands in Leviticus 3:1.');
SELECT raw, form, support_parts->>'window' AS "window" FROM reground.citation_audit WHERE conversation_ref = 'checking-1' ORDER BY citation_no;
SELECT reground.alter_corpus('scripture', settings => '{"citation_forms": {"locators": {"levels": [], "patterns": []}}}');

-- A streamed answer: the displayable part, the certain citations, and their status at the end of a paragraph.
SELECT reground.create_corpus('shop');
SELECT added FROM reground.put_document('shop', 'guide', title => 'Guide', passages => '[{"content": "The server needs eight gigabytes of memory."}, {"content": "Backups run every night at three."}]');
SELECT marker, chunk_id FROM reground.begin_turn('checking-2', 'server memory and backups', 'shop') ORDER BY chunk_id;
SELECT left(a.text, f.displayable_chars) AS shown, f.citation_no, f.marker, f.doc_id, f.status
FROM unnest(ARRAY['The server', 'The server needs eight gigabytes of memory [', 'The server needs eight gigabytes of memory [A1', 'The server needs eight gigabytes of memory [A1].',
                  E'The server needs eight gigabytes of memory [A1].\n\nBackups', E'The server needs eight gigabytes of memory [A1].\n\nBackups run']) WITH ORDINALITY AS a(text, n), LATERAL reground.feed_answer(regress.turn('checking-2'), a.text) AS f ORDER BY a.n;
SELECT citation_no, marker, chunk_id, status, round(support::numeric, 2) AS support FROM reground.feed_answer(regress.turn('checking-2'), 'The server needs eight gigabytes of memory [A1]. Backups run [A2].', complete => true);
-- From the position of an earlier call on, a citation with a verdict is returned once.
SELECT citation_no, marker, status, resume FROM reground.feed_answer(regress.turn('checking-2'), E'The server needs eight gigabytes of memory [A1].\n\nBackups run every');
SELECT citation_no, marker, status, displayable_chars, resume FROM reground.feed_answer(regress.turn('checking-2'), E'The server needs eight gigabytes of memory [A1].\n\nBackups run every night at three [A2].\n\nIt is', resume_from => '0.0.0.0.1.0');
SELECT citation_no, marker, status, answer_start, displayable_chars, resume
FROM reground.feed_answer(regress.turn('checking-2'), E'The server needs eight gigabytes of memory [A1].\n\nBackups run every night at three [A2].\n\nIt is so.', resume_from => '50.50.50.1.1.0');
SELECT citation_no, marker, status FROM reground.feed_answer(regress.turn('checking-2'), E'The server needs eight gigabytes of memory [A1].\n\nBackups run every night at three [A2].', complete => true, resume_from => '0.0.0.0.1.0');
SELECT r.text, f.* FROM unnest(ARRAY['', 'x', '9.9.9.0.0', '1.2.1.0.0.0', '900.900.900.0.0.0', '99999999999.1.1.0.0.0', '-1.0.0.0.0.0']) AS r(text),
    LATERAL regress.refusal(format('SELECT * FROM reground.feed_answer(%s, %L, resume_from => %L)', regress.turn('checking-2'), 'short', r.text)) AS f;
SELECT * FROM reground.feed_answer(regress.turn('checking-2'), NULL);
SELECT * FROM reground.feed_answer(0, 'x');
SELECT reground.citation_grammar(regress.turn('checking-2'));
SELECT reground.citation_grammar(regress.turn('checking-2'), 'regex');
SELECT jsonb_path_query(reground.citation_grammar(regress.turn('checking-2'), 'json_schema')::jsonb, '$.**.enum') AS markers;
SELECT reground.citation_grammar(regress.turn('checking-2'), 'bnf');

-- Measures: of six sentences the question needs no source; two are correct, one cites the wrong passage, one cites nothing.
SELECT count(*) FROM reground.end_turn(regress.turn('checking-2'), 'The server needs eight gigabytes of memory [A1]. Backups run every night at three [A2]. The server needs eight gigabytes of memory [A2]. Elephants trumpet at dawn. Is that so? Pigs fly [Z9].', message_ref => 'm');
SELECT a.* FROM reground.messages AS m, reground.answer_metrics(m.message_id) AS a WHERE m.message_ref = 'm';
-- Over several answers, numerators and denominators are added; without a denominator the result is NULL.
SELECT a.metric, sum(a.numerator) / nullif(sum(a.denominator), 0) AS value FROM reground.messages AS m, reground.answer_metrics(m.message_id) AS a WHERE m.message_ref = 'm' AND a.metric ~ '^(alce|carry)' GROUP BY a.metric ORDER BY a.metric;
SELECT * FROM reground.answer_metrics(0);
-- Citations beside the text are measured as they were judged, although the text has no markers.
SELECT raw, status FROM reground.end_turn(regress.turn('checking-2'), 'The server needs eight gigabytes of memory.', message_ref => 'beside', citations => '[{"start": 0, "end": 10, "text": "The server", "document_ids": ["A1"]}]');
SELECT a.metric, a.numerator, a.denominator FROM reground.messages AS m, reground.answer_metrics(m.message_id) AS a WHERE m.message_ref = 'beside' AND a.metric IN ('reference_validity', 'alce_citation_recall');
-- The same text with the same citations is the same answer; with other citations it is another answer.
SELECT count(*) FROM reground.end_turn(regress.turn('checking-2'), 'The server needs eight gigabytes of memory.', message_ref => 'beside', citations => '[{"start": 0, "end": 10, "text": "The server", "document_ids": ["A1"]}]');
SELECT count(*) FROM reground.end_turn(regress.turn('checking-2'), 'The server needs eight gigabytes of memory.', message_ref => 'beside');
SELECT count(*) FROM reground.end_turn(regress.turn('checking-2'), 'The server needs eight gigabytes of memory.');
SELECT message_ref, citation_count, superseded FROM reground.messages WHERE turn_id = regress.turn('checking-2') AND answer LIKE 'The server needs eight%' ORDER BY message_id;

-- Paragraphs and lines are found in the text of the document, of the page if the text has pages.
BEGIN;
SELECT reground.create_corpus('checking_notes', settings => '{"provenance": "metadata"}');
SELECT reground.put_document('checking_notes', 'notes.txt', content => E'Cows give milk.\nSheep give wool.\n\nBees make honey.\fHens lay eggs.\nGeese lay eggs too.');
SELECT c.raw, c.doc_id, c.status, c.coordinate_fidelity FROM reground.check_answer('Sheep give wool [notes.txt, p. 1, line 2]. Sheep give wool [notes.txt, p. 1, line 9]. Bees make honey [Source: notes.txt, p. 1, para 2]. Bees make honey [Source: notes.txt, p. 1, para 3]. Hens lay eggs [notes.txt, line 5]. Hens lay eggs [notes.txt, line 9].', '[{"content": "Rain falls."}]', corpus => 'checking_notes') AS c;
SELECT marker, locator FROM reground.begin_turn('checking-lines', 'Which animals give wool?', corpus => 'checking_notes');
SELECT raw, marker, status, coordinate_fidelity FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Sheep give wool [A1, p. 1, line 2]. Sheep give wool [A1, p. 1, line 9]. Sheep give wool [Source: notes.txt, p. 1, lines 1-2].');
ROLLBACK;

-- The functions run in parallel workers and in read-only transactions.
BEGIN READ ONLY;
SELECT count(*) FROM shown, reground.check_answer('It is so [1].', passages);
SELECT count(*) FROM reground.feed_answer(regress.turn('checking-2'), 'x');
SELECT count(*) FROM reground.messages AS m, reground.answer_metrics(m.message_id) WHERE m.message_ref = 'm';
ROLLBACK;
CREATE TABLE answers AS SELECT n, 'The server needs 8 GB of memory [1]. Answer ' || n || ' cites [2] and [7].' AS answer FROM generate_series(1, 200) AS n;
SELECT CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'force_parallel_mode' ELSE 'debug_parallel_query' END AS parallel \gset
SET :parallel = on;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SELECT c.status, count(*) FROM answers, shown, LATERAL reground.check_answer(answers.answer, passages) AS c GROUP BY c.status ORDER BY c.status;
