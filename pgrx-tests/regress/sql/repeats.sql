-- Repeated calls: the same turn, the same message or a clear error; and regenerations.
CREATE SCHEMA repeats;
SET search_path = repeats, public;
SELECT reground.create_corpus('repeats', dimensions => 2);
SELECT version FROM reground.put_document('repeats', 'sun', passages => '[{"content": "The sun rises in the east."}]');
SELECT version FROM reground.put_document('repeats', 'moon', passages => '[{"content": "The moon moves the tides."}]');
SELECT reground.put_embeddings('repeats', ARRAY['1', '2'], ARRAY['[1,0]', '[0,1]']::vector[]);
CREATE VIEW answers AS SELECT conversation_ref, turn_no, message_ref, citation_count, superseded FROM reground.turn_audit;

-- A repeated request is one turn with the same rows, also after it has been answered.
CREATE TEMPORARY TABLE first AS SELECT * FROM reground.begin_turn('repeats-1', 'Where does the sun rise?', 'repeats', '[1,0]', request_id => 'req-1');
CREATE TEMPORARY TABLE second AS SELECT * FROM reground.begin_turn('repeats-1', 'Where does the sun rise?', 'repeats', '[1,0]', request_id => 'req-1');
SELECT (SELECT count(*) FROM first) AS rows, count(*) AS differences FROM (TABLE first EXCEPT TABLE second) AS d;
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('repeats-1', 'Where does the moon rise?', 'repeats', '[1,0]', request_id => 'req-1')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('repeats-1', 'Where does the sun rise?', 'repeats', '[0,1]', request_id => 'req-1')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('repeats-1', 'Where does the sun rise?', 'repeats', '[1,0]', request_id => 'req-1', filter => '{"doc_id": "sun"}')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('repeats-1', 'Where does the sun rise?', 'repeats', '[1,0]', request_id => 'req-1', tags => '{"a": 1}')$$);
-- Another conversation may use the same request id.
SELECT count(*) AS rows FROM reground.begin_turn('repeats-2', 'tides', 'repeats', '[0,1]', request_id => 'req-1');

-- The same message twice is one message.
CREATE TEMPORARY TABLE answered AS SELECT * FROM reground.end_turn(regress.turn('repeats-1'), 'It rises in the east [A1].', message_ref => 'm-1', model => 'small');
CREATE TEMPORARY TABLE again AS SELECT * FROM reground.end_turn(regress.turn('repeats-1'), 'It rises in the east [A1].', message_ref => 'm-1', model => 'small');
SELECT (SELECT count(*) FROM answered) AS rows, count(*) AS differences FROM (TABLE answered EXCEPT TABLE again) AS d;
SELECT * FROM regress.refusal($$SELECT * FROM reground.end_turn(regress.turn('repeats-1'), 'It rises in the west [A1].', message_ref => 'm-1')$$);
CREATE TEMPORARY TABLE third AS SELECT * FROM reground.begin_turn('repeats-1', 'Where does the sun rise?', 'repeats', '[1,0]', request_id => 'req-1');
SELECT count(*) AS differences FROM (TABLE first EXCEPT TABLE third) AS d;
SELECT turn_no, message_ref, citation_count, superseded FROM answers WHERE conversation_ref = 'repeats-1';
SELECT doc_id, carry_score, inactive_turns, cited FROM regress.sources WHERE conversation_ref = 'repeats-1' ORDER BY doc_id;

-- Another message_ref is a regeneration: it supersedes the first, and the memory is computed again from the start of the turn.
SELECT marker, status FROM reground.end_turn(regress.turn('repeats-1'), 'The moon moves the tides [B1].', message_ref => 'm-2');
SELECT turn_no, message_ref, citation_count, superseded FROM answers WHERE conversation_ref = 'repeats-1' ORDER BY message_ref;
SELECT message_ref, superseded, count(*) FROM reground.citation_audit WHERE conversation_ref = 'repeats-1' GROUP BY message_ref, superseded ORDER BY message_ref;
SELECT doc_id, carry_score, inactive_turns, cited FROM regress.sources WHERE conversation_ref = 'repeats-1' ORDER BY doc_id;
-- The first message_ref again: the same rows, still superseded.
SELECT marker, status FROM reground.end_turn(regress.turn('repeats-1'), 'It rises in the east [A1].', message_ref => 'm-1');
SELECT turn_no, message_ref, superseded FROM answers WHERE conversation_ref = 'repeats-1' ORDER BY message_ref;

-- Without a message_ref, the same answer is a retry and another answer a regeneration.
SELECT marker, doc_id FROM reground.begin_turn('repeats-1', 'And the tides?', embedding => '[0,1]');
SELECT status FROM reground.end_turn(regress.turn('repeats-1'), 'The moon [A1].');
SELECT status FROM reground.end_turn(regress.turn('repeats-1'), 'The moon [A1].');
SELECT count(*) AS messages FROM answers WHERE conversation_ref = 'repeats-1' AND turn_no = 2;
SELECT status FROM reground.end_turn(regress.turn('repeats-1'), 'The moon moves the tides [B1].');
SELECT count(*) AS messages, count(*) FILTER (WHERE superseded) AS superseded FROM answers WHERE conversation_ref = 'repeats-1' AND turn_no = 2;
-- The message_ref of another turn is refused.
SELECT * FROM regress.refusal($$SELECT * FROM reground.end_turn(regress.turn('repeats-1'), 'It rises in the east [A1].', message_ref => 'm-1')$$);

-- The memory before a turn is stored if it is not what the turn before has left.
CREATE VIEW kept AS SELECT v.conversation_ref, t.turn_no, t.sources_before IS NOT NULL AS has_sources_before FROM reground.turns AS t JOIN reground.conversations AS v USING (conversation_id);
SELECT turn_no, has_sources_before FROM kept WHERE conversation_ref = 'repeats-1' ORDER BY turn_no;

-- A regeneration of an older turn changes only its citations.
CREATE TEMPORARY TABLE memory AS SELECT * FROM regress.sources WHERE conversation_ref = 'repeats-1';
SELECT marker, status FROM reground.end_turn(regress.turn('repeats-1', 1), 'East [A1], east again [A1].', message_ref => 'm-3');
SELECT count(*) AS moved FROM (SELECT * FROM regress.sources WHERE conversation_ref = 'repeats-1' EXCEPT TABLE memory) AS d;
SELECT turn_no, message_ref, superseded FROM answers WHERE conversation_ref = 'repeats-1' AND turn_no = 1 ORDER BY message_ref;
-- The next turn keeps the memory that it started with.
SELECT turn_no, has_sources_before FROM kept WHERE conversation_ref = 'repeats-1' ORDER BY turn_no;

-- Turns that end in another order start from the memory of that moment, also when they are regenerated.
SELECT doc_id, marker FROM reground.begin_turn('repeats-4', 'Where does the sun rise?', 'repeats', '[1,0]', settings => '{"max_sources": 1}');
SELECT doc_id, marker FROM reground.begin_turn('repeats-4', 'What moves the tides?', embedding => '[0,1]', settings => '{"max_sources": 1}');
SELECT marker, status FROM reground.end_turn(regress.turn('repeats-4', 2), 'The moon moves the tides [B1].');
SELECT marker, status FROM reground.end_turn(regress.turn('repeats-4', 1), 'It rises in the east [A1].');
SELECT doc_id, inactive_turns, cited FROM regress.sources WHERE conversation_ref = 'repeats-4' ORDER BY doc_id;
SELECT marker, status FROM reground.end_turn(regress.turn('repeats-4', 1), 'The sun rises in the east [A1].');
SELECT doc_id, inactive_turns, cited FROM regress.sources WHERE conversation_ref = 'repeats-4' ORDER BY doc_id;
SELECT turn_no, has_sources_before FROM kept WHERE conversation_ref = 'repeats-4' ORDER BY turn_no;

-- A source that was unpinned between two turns is not older after a regeneration.
SELECT doc_id FROM reground.begin_turn('repeats-5', 'Where does the sun rise?', 'repeats', '[1,0]', settings => '{"max_sources": 1}');
SELECT reground.pin('repeats-5', 'moon', corpus => 'repeats');
SELECT marker, status FROM reground.end_turn(regress.turn('repeats-5'), 'It rises in the east [A1].');
SELECT reground.unpin('repeats-5', 'moon', corpus => 'repeats');
SELECT doc_id FROM reground.begin_turn('repeats-5', 'And in the east?', embedding => '[1,0]', settings => '{"max_sources": 1}');
SELECT marker, status FROM reground.end_turn(regress.turn('repeats-5'), 'It rises in the east [A1].');
CREATE TEMPORARY TABLE once AS SELECT doc_id, carry_score, inactive_turns, pinned FROM regress.sources WHERE conversation_ref = 'repeats-5';
SELECT marker, status FROM reground.end_turn(regress.turn('repeats-5'), 'The sun rises in the east [A1].');
SELECT doc_id, inactive_turns FROM once ORDER BY doc_id;
SELECT count(*) AS moved FROM (SELECT doc_id, carry_score, inactive_turns, pinned FROM regress.sources WHERE conversation_ref = 'repeats-5' EXCEPT TABLE once) AS d;

-- A whole turn in a transaction that is rolled back leaves nothing.
BEGIN;
SET LOCAL client_min_messages = error;
SELECT count(*) AS rows FROM reground.begin_turn('repeats-3', 'sun', 'repeats', '[1,0]', request_id => 'r');
SELECT count(*) AS rows FROM reground.end_turn(regress.turn('repeats-3'), '[A1]');
ROLLBACK;
SELECT count(*) FROM reground.conversations WHERE conversation_ref = 'repeats-3';
SELECT reground.drop_corpus('repeats', true);
