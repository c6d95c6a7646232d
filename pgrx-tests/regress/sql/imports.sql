-- Turns of another system: judged as by check_answer, audited together with live turns, and not counted in service levels.
SELECT reground.create_corpus('imports');
SELECT count(*) FROM reground.put_document('imports', 'manual.md', content => 'The pump runs at 40 bar. It stops at 60 bar.', title => 'Pump manual', page_count => 3);
CREATE TEMPORARY TABLE old_bot AS SELECT * FROM (VALUES
    (1, 'case-1', 'How fast is it?', 'It runs at 40 bar [1]. It is blue [2]. It has wings [7].', '[{"content": "The pump runs at 40 bar.", "doc_id": "manual.md", "page_start": 2}, {"content": "The casing is grey.", "chunk_id": "c-2"}]'::jsonb, '2025-03-01 10:00+00'::timestamptz, 'imp-1', 'old-model', '{"team": "a"}'::jsonb),
    (2, 'case-1', 'And when does it stop?', 'It stops at 60 bar [1].', '[{"content": "It stops at 60 bar.", "doc_id": "manual.md"}]', '2025-03-01 10:05+00', 'imp-2', 'old-model', NULL),
    (3, 'case-2', 'Is there a warranty?', 'I do not know.', NULL, '2025-03-02 08:00+00', 'imp-3', NULL, NULL)) AS v(n, conversation_ref, query, answer, passages, at, message_ref, model, tags);
SELECT marker, raw, doc_id, chunk_id, locator, status, holds FROM reground.record_turn('case-0', 'How fast?', 'It runs at 40 bar [1]. It has wings [3].', '[{"content": "The pump runs at 40 bar.", "doc_id": "manual.md", "page_start": 2}]', at => '2025-01-01', message_ref => 'imp-0', model => 'old-model') ORDER BY answer_start;
-- The verdicts equal those of check_answer.
SELECT count(*) AS citations, bool_and((r.status, r.support, r.claim, r.quote, r.score) IS NOT DISTINCT FROM (c.status, c.support, c.claim, c.quote, c.score)) AS same
FROM reground.message_citations AS r JOIN reground.messages AS m USING (message_id), LATERAL reground.check_answer(m.answer, '[{"content": "The pump runs at 40 bar.", "doc_id": "manual.md", "page_start": 2}]') AS c
WHERE m.message_ref = 'imp-0' AND c.answer_start = r.answer_start;
-- Many turns in one call. A second call records nothing again.
CREATE TEMPORARY VIEW all_of_it AS SELECT jsonb_agg(to_jsonb(o) - 'n' ORDER BY n) AS turns FROM old_bot AS o;
SELECT r.element_no, r.citation_count, r.holding_count, round(r.cfs::numeric, 3) AS cfs, r.recorded FROM pg_temp.all_of_it, reground.record_turns(turns) AS r ORDER BY element_no;
SELECT r.element_no, r.citation_count, r.holding_count, round(r.cfs::numeric, 3) AS cfs, r.recorded, r.turn_id = t.turn_id AS same_turn FROM pg_temp.all_of_it, reground.record_turns(turns) AS r JOIN reground.messages AS m USING (message_id) JOIN reground.turns AS t ON t.turn_id = m.turn_id ORDER BY element_no;
SELECT marker, status FROM reground.record_turn('case-0', 'How fast?', 'It runs at 40 bar [1]. It has wings [3].', message_ref => 'imp-0') ORDER BY answer_start;
-- Repetitions within one call.
SELECT element_no, citation_count, recorded FROM reground.record_turns('[{"conversation_ref": "case-3", "query": "q", "answer": "It floats [1].", "message_ref": "x", "passages": [{"content": "It floats."}]}, {"conversation_ref": "case-3", "query": "q", "answer": "It floats [1].", "message_ref": "x"}, {"conversation_ref": "case-3", "query": "q", "answer": "It floats [1]."}]') ORDER BY element_no;
SELECT v.conversation_ref, t.turn_no, t.parent_turn_id IS NOT NULL AS follows, t.origin, t.state, t.begun_at AT TIME ZONE 'UTC' AS begun, m.origin AS of_the_answer, m.created_at = t.begun_at AS same_time, m.model, jsonb_array_length(t.context) AS shown, t.context_tokens > 0 AS counted, t.tags
FROM reground.turns AS t JOIN reground.conversations AS v USING (conversation_id) JOIN reground.messages AS m USING (turn_id) WHERE v.conversation_ref IN ('case-1', 'case-2') ORDER BY 1, 2;
-- The default time is now, for turn and answer; a time without a zone uses the TimeZone of the session.
BEGIN;
SET LOCAL TimeZone = 'Asia/Tokyo';
SELECT count(*) FROM reground.record_turns('[{"conversation_ref": "case-11", "query": "q", "answer": "It floats [1]."}, {"conversation_ref": "case-11", "query": "q", "answer": "It floats [1].", "at": "2025-05-01 09:00"}]');
SELECT count(*) FROM reground.record_turn('case-11', 'q', 'It floats [1].', at => '2025-05-02 09:00');
SELECT t.turn_no, coalesce(nullif(t.begun_at, now())::text, 'now') AS begun, t.ended_at = t.begun_at AND m.created_at = t.begun_at AND c.created_at = t.begun_at AS same_time
FROM reground.turns AS t JOIN reground.conversations AS v USING (conversation_id) JOIN reground.messages AS m USING (turn_id) JOIN reground.message_citations AS c USING (message_id) WHERE v.conversation_ref = 'case-11' ORDER BY 1;
COMMIT;
-- Audits of imported citations: by origin, and by the time of the answer.
SELECT marker, status, superseded FROM reground.citation_audit WHERE conversation_ref = 'case-1' ORDER BY turn_no, citation_no;
SELECT value, citations, holding FROM reground.citation_quality('origin', since => '2025-01-01', until => '2025-04-01');
SELECT value, citations, holding FROM reground.citation_quality('model', since => '2025-03-01', until => '2025-03-02');
SELECT answers_a, answers_b FROM reground.compare('cfs', 'origin', 'imported', 'live', until => '2025-04-01');
-- Service levels exclude imported answers.
SELECT samples FROM reground.sli(since => '2025-01-01', until => '2025-04-01');
SELECT count(*) AS queued FROM reground.rollup_queue AS q JOIN reground.messages AS m USING (message_id) WHERE m.origin = 'imported';
SELECT reground.rebuild_audit() > 0 AS rebuilt;
SELECT count(*) AS hours FROM reground.answer_rollup WHERE hour < '2025-04-01';
-- A document that an answer names is looked up in the corpus; a page that it does not have is out of bounds.
SELECT raw, corpus, doc_id, status FROM reground.record_turn('case-4', 'q', 'It stops at 60 bar [Source: manual.md, p. 9].', corpus => 'imports');
SELECT t.corpus, k.text_config FROM reground.turns AS t JOIN reground.conversations AS v USING (conversation_id), LATERAL (SELECT c.text_config FROM reground.corpora AS c WHERE c.corpus = t.corpus) AS k WHERE v.conversation_ref = 'case-4';
-- The conversation continues: imported turns are history and lend query terms; markers start again.
SELECT turn_no, role, content FROM reground.history('case-1', max_tokens => 1000);
SELECT marker, origin FROM reground.begin_turn('case-1', 'at which bar does it stop?', corpus => 'imports', settings => '{"query_history": 3}');
SELECT t.turn_no, p.turn_no AS parent FROM reground.turns AS t JOIN reground.turns AS p ON p.turn_id = t.parent_turn_id WHERE t.turn_id = regress.turn('case-1');
SELECT status FROM reground.end_turn(regress.turn('case-1'), 'It stops at 60 bar [A1].');
SELECT history_tokens = (SELECT sum(t.query_tokens + m.answer_tokens) FROM reground.turns AS t JOIN reground.messages AS m USING (turn_id) WHERE t.conversation_id = v.conversation_id) AS counted, turn_count FROM reground.conversations AS v WHERE conversation_ref = 'case-1';
-- Citations of an API; markers with letters; a chain.
SELECT marker, status, quote FROM reground.record_turn('case-5', 'q', 'It runs at 40 bar.', '[{"content": "The pump runs at 40 bar.", "chunk_id": "d1"}]',
    citations => '{"content": [{"type": "text", "text": "It runs at 40 bar.", "citations": [{"type": "char_location", "cited_text": "The pump runs at 40 bar.", "document_index": 0, "document_title": null, "start_char_index": 0, "end_char_index": 24}]}]}');
SELECT marker, status FROM reground.record_turn('case-5', 'q', 'It runs at 40 bar [B7].', '[{"content": "The pump runs at 40 bar.", "marker": "B7"}]', settings => '{"provenance": "merkle"}');
SELECT kind, status FROM reground.verify_chain('case-5');
SELECT metric, value FROM reground.answer_metrics((SELECT message_id FROM reground.messages WHERE message_ref = 'imp-2')) WHERE metric IN ('reference_validity', 'context_utilisation') ORDER BY 1;
-- Settings of a conversation apply to turns that are imported into it.
SELECT reground.alter_conversation('case-quiet', '{"store_answers": "hash", "provenance": "merkle", "support_threshold": 0.99}');
SELECT element_no, citation_count, holding_count FROM reground.record_turns((SELECT jsonb_agg(jsonb_build_object('conversation_ref', c, 'query', 'q', 'answer', 'It runs at forty bar [1].', 'passages', '[{"content": "The pump runs at 40 bar all day."}]'::jsonb)) FROM unnest('{case-loud,case-quiet,case-loud}'::text[]) AS c));
SELECT status FROM reground.record_turn('case-quiet', 'q', 'It runs at 40 bar [1].', '[{"content": "The pump runs at 40 bar."}]');
SELECT status FROM reground.record_turn('case-quiet', 'q', 'It is painted red [1].', '[{"content": "The pump is painted red."}]', settings => '{"store_answers": "full"}');
SELECT v.conversation_ref, m.answer, t.settings ->> 'store_answers' AS store, t.settings ->> 'provenance' AS provenance, t.settings -> 'support_threshold' AS threshold FROM reground.messages AS m JOIN reground.turns AS t USING (turn_id) JOIN reground.conversations AS v ON v.conversation_id = m.conversation_id WHERE v.conversation_ref IN ('case-quiet', 'case-loud') ORDER BY m.message_id;
SELECT kind, status FROM reground.verify_chain('case-quiet') ORDER BY link_no;
SELECT count(*) AS links FROM reground.verify_chain('case-loud');
-- Measures use the stored verdict; alerts ignore reports on it; without a version the state of the source is unknown.
SELECT status FROM reground.record_turn('case-measured', 'q', 'It runs at 40 bar [1].', '[{"content": "The pump runs at 40 bar.", "marker": "B7"}]', message_ref => 'measured');
SELECT metric, value FROM reground.messages, reground.answer_metrics(message_id) WHERE message_ref = 'measured' AND metric IN ('reference_validity', 'context_utilisation') ORDER BY 1;
-- Letters that another system gave to several documents, and letters that the conversation has used: the next marker is new in both cases.
SELECT count(*) FROM reground.record_turn('case-shared', 'q', 'x [S1].', passages => '[{"content": "one", "marker": "S1", "doc_id": "x"}, {"content": "two", "marker": "S2", "doc_id": "y"}, {"content": "three", "marker": "T1", "doc_id": "z"}, {"content": "four", "marker": "S4", "doc_id": "z"}]');
SELECT count(*) FROM reground.begin_turn('case-shared', 'hello', corpus => 'imports', settings => '{"strategy": "none"}');
SELECT marker, doc_id FROM reground.add_passages(regress.turn('case-shared'), '[{"content": "five", "doc_id": "x"}, {"content": "six", "doc_id": "y"}, {"content": "seven", "doc_id": "z"}, {"content": "eight", "doc_id": "y"}]');
SELECT marker, doc_id FROM reground.add_passages(regress.turn('case-shared'), '[{"content": "nine", "doc_id": "w"}, {"content": "ten", "doc_id": "y"}, {"content": "eleven", "doc_id": "x"}]');
SELECT count(*) FROM reground.begin_turn('case-between', 'hello', corpus => 'imports', settings => '{"strategy": "none"}');
SELECT marker, doc_id FROM reground.add_passages(regress.turn('case-between'), '[{"content": "one", "doc_id": "x"}]');
SELECT count(*) FROM reground.end_turn(regress.turn('case-between'), 'One [A1].');
SELECT count(*) FROM reground.record_turn('case-between', 'q', 'x [A2].', passages => '[{"content": "one", "marker": "A1", "doc_id": "p"}, {"content": "two", "marker": "A2", "doc_id": "q"}, {"content": "three", "marker": "B7", "doc_id": "q"}]');
SELECT count(*) FROM reground.begin_turn('case-between', 'hello', corpus => 'imports', settings => '{"strategy": "none"}');
SELECT marker, doc_id FROM reground.add_passages(regress.turn('case-between'), '[{"content": "four", "doc_id": "q"}, {"content": "five", "doc_id": "x"}, {"content": "six", "doc_id": "p"}]');

-- A number of four digits is a citation only if a passage has this marker.
SELECT raw, marker, status, holds FROM reground.record_turn('case-long', 'q', 'It runs at 40 bar [4711]. It was built then [1998].', '[{"content": "The pump runs at 40 bar.", "marker": "4711"}]');

-- A custom citation form.
SELECT raw, form, doc_id, status FROM reground.record_turn('case-10', 'q', 'It runs at 40 bar (see doc#d1). It has wings (see doc#d9).', '[{"content": "The pump runs at 40 bar.", "chunk_id": "d1"}]',
    settings => '{"citation_forms": {"patterns": [{"name": "doc_number", "regex": "see doc#(?P<id>[a-z0-9]+)"}]}}') ORDER BY answer_start;
-- Markers in the history keep their meaning: new markers follow the old ones, whatever their style and order.
SELECT count(*) FROM reground.record_turns('[{"conversation_ref": "case-6", "query": "q", "answer": "It floats [9]. It sinks [B7].", "passages": [{"content": "It floats.", "marker": "9"}, {"content": "It sinks.", "marker": "B7"}, {"content": "It rests.", "marker": "2"}]},
    {"conversation_ref": "case-6", "query": "q", "answer": "It rests [2].", "passages": [{"content": "It sinks.", "marker": "2"}]}]');
SELECT marker, doc_id = chunk_id AS by_text, first_turn_no, binding_no FROM regress.markers WHERE conversation_ref = 'case-6' ORDER BY binding_no;
SELECT marker FROM reground.begin_turn('case-6', 'pump bar', corpus => 'imports', settings => '{"marker_style": "1"}');
SELECT marker, status FROM reground.end_turn(regress.turn('case-6'), 'It stops at 60 bar [10]. It floats [9]. It rests [2].') ORDER BY answer_start;
SELECT marker FROM reground.begin_turn('case-6', 'pump bar', settings => '{"carry_over": false}');
SELECT marker FROM reground.add_passages(regress.turn('case-6'), '[{"content": "It hums."}]');
-- Markers that no answer can cite are skipped.
SELECT count(*) FROM reground.record_turn('case-12', 'q', 'It floats [4711]. It sinks [A123456].', '[{"content": "It floats.", "marker": "4711"}, {"content": "It sinks.", "marker": "A123456"}, {"content": "It rests.", "marker": "7"}]');
SELECT marker FROM reground.begin_turn('case-12', 'pump bar', corpus => 'imports', settings => '{"marker_style": "1"}');
SELECT marker, status FROM reground.end_turn(regress.turn('case-12'), 'It stops at 60 bar [8].');
-- The number of a passage is not its chunk_id.
SELECT corpus, chunk_id = '1' AS by_number, source_state FROM reground.record_turn('case-7', 'q', 'It runs at 40 bar [1].', '[{"content": "The pump runs at 40 bar."}]', corpus => 'imports');
SELECT corpus, doc_id, chunk_id FROM reground.record_turn('case-7', 'q', 'It runs at 40 bar [1].', '[{"content": "The pump runs at 40 bar.", "chunk_id": 1, "doc_id": "manual.md"}]', corpus => 'imports');
-- A repeated import does not change a conversation that has continued.
SELECT count(*) FROM reground.begin_turn('case-1', 'and now?');
CREATE TEMPORARY TABLE stood AS SELECT to_jsonb(v) AS row FROM reground.conversations AS v WHERE conversation_ref = 'case-1';
SELECT r.element_no, r.recorded FROM all_of_it, reground.record_turns(turns || '[{"conversation_ref": "case-8", "query": "q", "answer": "New."}]') AS r ORDER BY element_no;
SELECT s.row = to_jsonb(v) AS as_it_stood FROM stood AS s, reground.conversations AS v WHERE v.conversation_ref = 'case-1';
-- A source that was shown and not cited is erased with its document.
SELECT count(*) FROM reground.record_turn('case-9', 'q', 'No idea.', '[{"content": "The pump has a SECRET.", "doc_id": "manual.md"}]', corpus => 'imports');
SELECT count(*) > 0 AS receipt FROM reground.forget_document('imports', 'manual.md');
SELECT count(*) AS left FROM reground.turns WHERE context::text LIKE '%SECRET%';

SELECT r.* FROM (VALUES (1, $$SELECT * FROM reground.record_turn('case-0', 'q', 'Another text.', message_ref => 'imp-0')$$), (2, $$SELECT * FROM reground.record_turn(NULL, 'q', 'a')$$), (3, $$SELECT * FROM reground.record_turn('c', 'q', NULL)$$), (4, $$SELECT * FROM reground.record_turn(' ', 'q', 'a')$$),
    (5, $$SELECT * FROM reground.record_turn('c', 'q', 'a', '[{"content": "x", "marker": "doc-1"}]')$$), (6, $$SELECT * FROM reground.record_turns('{}')$$), (7, $$SELECT * FROM reground.record_turns('[{"conversation_ref": "never", "query": "q", "answer": "a"}, {"conversation_ref": "never", "query": "q"}]')$$),
    (8, $$SELECT * FROM reground.record_turns('[{"conversation_ref": "never", "query": "q", "answer": "a"}, {"conversation_ref": "never", "query": "q", "answer": "a", "passages": [{"texts": ""}]}]')$$), (9, $$SELECT * FROM reground.record_turns('[{"conversation_ref": "never", "query": "q", "answer": "a", "at": "yesterday-ish"}]')$$),
    (10, $$SELECT * FROM reground.record_turns('[{"conversation_ref": "never", "query": "q", "answer": "a", "message_ref": "n"}, {"conversation_ref": "never", "query": "q", "answer": "b", "message_ref": "n"}]')$$), (11, $$SELECT * FROM reground.record_turns(NULL)$$),
    (12, $$SELECT * FROM reground.record_turn('c', 'q', 'a', corpus => 'nowhere')$$), (15, $$SELECT * FROM reground.record_turn('c', 'q', 'a', at => 'infinity')$$), (16, $$SELECT * FROM reground.record_turns('[{"conversation_ref": "never", "query": "q", "answer": "a", "at": "2025-13-45"}]')$$),
    (17, $$SELECT * FROM reground.record_turns('[{"conversation_ref": "never", "query": "q", "answer": "a", "at": "03/04/2025"}]')$$), (13, $$SELECT * FROM reground.end_turn(regress.turn('case-2'), 'Another answer.')$$), (14, $$SELECT * FROM reground.retrieve(regress.turn('case-2'), 'x')$$),
    (18, $$SELECT * FROM reground.record_turn('case-0', 'How fast?', 'It runs at 40 bar [1]. It has wings [3].', message_ref => 'imp-0', citations => '[]')$$),
    (19, $$SELECT * FROM reground.record_turns('[{"conversation_ref": "never", "query": "q", "answer": "a", "message_ref": "n"}, {"conversation_ref": "never", "query": "q", "answer": "a", "message_ref": "n", "citations": []}]')$$))
    AS v(n, statement), LATERAL regress.refusal(v.statement) AS r ORDER BY n;
SELECT count(*) AS never FROM reground.conversations WHERE conversation_ref = 'never';
SELECT count(*) FROM reground.record_turns('[]');
