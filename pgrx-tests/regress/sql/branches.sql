-- A conversation branches: the sources of the chosen turn are restored, and history follows the path of the new branch.
SELECT reground.create_corpus('branching', settings => '{"carry_threshold": 0.1}');
SELECT count(*) FROM (VALUES ('oak', 'Oaks carry acorns in autumn.'), ('ash', 'Ashes carry keys on every twig.'), ('elm', 'Elms carry seeds in early spring.'), ('fir', 'Firs carry upright cones.')) AS v(doc_id, content)
    CROSS JOIN LATERAL reground.put_document('branching', v.doc_id, content => v.content);
CREATE FUNCTION pg_temp.cited(conversation text, answer text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    bound record;
BEGIN
    FOR bound IN SELECT m.marker, m.doc_id FROM regress.markers AS m WHERE m.conversation_ref = cited.conversation LOOP
        answer := replace(answer, '{' || bound.doc_id || '}', '[' || bound.marker || ']');
    END LOOP;
    RETURN answer;
END $$;
CREATE FUNCTION pg_temp.say(conversation text, question text, answer text, parent bigint DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    id bigint;
BEGIN
    -- {ash} in an answer stands for the marker of that document.
    SELECT min(b.turn_id) INTO id FROM reground.begin_turn(say.conversation, question, corpus => 'branching', parent_turn_id => say.parent, settings => '{"max_sources": 2}') AS b;
    RETURN QUERY SELECT concat_ws(' ', e.doc_id, e.status) FROM reground.end_turn(id, pg_temp.cited(say.conversation, answer)) AS e ORDER BY e.answer_start;
END $$;
CREATE TEMPORARY VIEW path AS SELECT v.conversation_ref, t.turn_no, p.turn_no AS parent, t.superseded, t.state FROM reground.turns AS t JOIN reground.conversations AS v USING (conversation_id)
    LEFT JOIN reground.turns AS p ON p.turn_id = t.parent_turn_id;
SELECT * FROM pg_temp.say('edit', 'What do oaks carry?', 'Oaks carry acorns {oak}.');
SELECT * FROM pg_temp.say('edit', 'And ashes?', 'Ashes carry keys {ash}.');
SELECT * FROM pg_temp.say('edit', 'And elms?', 'Elms carry seeds {elm}.');
CREATE TEMPORARY TABLE left_by AS SELECT t.turn_no, (SELECT jsonb_agg(s - 'pin_order' ORDER BY s ->> 'doc_id') FROM jsonb_array_elements(t.sources_after) AS s) AS sources FROM reground.turns AS t JOIN reground.conversations AS v USING (conversation_id) WHERE v.conversation_ref = 'edit';
CREATE TEMPORARY VIEW live AS SELECT v.conversation_ref, jsonb_agg(to_jsonb(s) - '{conversation_id, tenant, last_used_at, pin_order}'::text[] ORDER BY s.doc_id) AS sources FROM reground.conversation_sources AS s JOIN reground.conversations AS v USING (conversation_id) GROUP BY 1;
-- The second question is edited: the new turn follows the first turn, and turns 2 and 3 leave the path.
SELECT marker, doc_id, origin FROM reground.begin_turn('edit', 'And firs?', parent_turn_id => regress.turn('edit', 1), settings => '{"max_sources": 2}') ORDER BY marker;
SELECT turn_no, parent, superseded, state FROM pg_temp.path WHERE conversation_ref = 'edit' ORDER BY turn_no;
SELECT l.sources = b.sources AS as_after_the_first FROM pg_temp.live AS l, left_by AS b WHERE l.conversation_ref = 'edit' AND b.turn_no = 1;
SELECT turn_no, role, content FROM reground.history('edit', max_tokens => 1000);
SELECT doc_id, status FROM reground.end_turn(regress.turn('edit', 4), pg_temp.cited('edit', 'Firs carry cones {fir}.')) ORDER BY marker;
SELECT turn_no, role, content FROM reground.history('edit', max_tokens => 1000);
SELECT history_tokens = (SELECT sum(t.query_tokens + m.answer_tokens) FROM reground.turns AS t JOIN reground.messages AS m USING (turn_id) WHERE t.conversation_id = v.conversation_id AND t.turn_no IN (1, 4)) AS of_the_path FROM reground.conversations AS v WHERE conversation_ref = 'edit';
-- The next turn follows the new one; its expansion terms come from the path.
SELECT * FROM pg_temp.say('edit', 'How do they stand?', 'Upright cones {fir}.');
SELECT turn_no, parent, superseded FROM pg_temp.path WHERE conversation_ref = 'edit' ORDER BY turn_no;
SELECT count(*) FILTER (WHERE borrowed ILIKE '%elm%' OR borrowed ILIKE '%ash%' OR borrowed ILIKE '%key%') AS borrowed_elsewhere FROM (SELECT query_expansion ->> 'terms' AS borrowed FROM reground.turns WHERE turn_id = regress.turn('edit', 5)) AS r;
-- A turn follows turn 3 again: the state after turn 3 is restored.
SELECT count(*) > 0 AS begun FROM reground.begin_turn('edit', 'Once more, elms?', parent_turn_id => regress.turn('edit', 3));
SELECT turn_no, parent, superseded FROM pg_temp.path WHERE conversation_ref = 'edit' ORDER BY turn_no;
SELECT l.sources = b.sources AS as_after_the_third FROM pg_temp.live AS l, left_by AS b WHERE l.conversation_ref = 'edit' AND b.turn_no = 3;
SELECT DISTINCT turn_no FROM reground.history('edit', max_tokens => 1000) ORDER BY turn_no;
-- Markers belong to the conversation: no marker is bound twice, on any branch.
SELECT marker, doc_id, first_turn_no FROM regress.markers WHERE conversation_ref = 'edit' ORDER BY binding_no;

-- The first question is edited: only pins were present before it.
SELECT reground.pin('edit', doc_id => 'fir');
SELECT count(*) > 0 AS begun FROM reground.begin_turn('edit', 'What do ashes carry?', parent_turn_id => 0);
SELECT turn_no, parent, superseded FROM pg_temp.path WHERE conversation_ref = 'edit' AND NOT superseded;
SELECT doc_id, pinned FROM regress.sources WHERE conversation_ref = 'edit';
SELECT count(*) AS history FROM reground.history('edit', max_tokens => 1000);
SELECT context_turn_no FROM reground.turns WHERE turn_id = regress.turn('edit', 7);

-- An answer to a turn off the path is recorded and does not change the state of the path.
SELECT * FROM pg_temp.say('late', 'What do oaks carry?', 'Oaks carry acorns {oak}.');
SELECT count(*) > 0 AS begun FROM reground.begin_turn('late', 'And ashes?');
SELECT count(*) > 0 AS begun FROM reground.begin_turn('late', 'And elms?', parent_turn_id => regress.turn('late', 1));
CREATE TEMPORARY TABLE stood AS SELECT l.sources, v.history_tokens, v.last_ended_turn_id FROM pg_temp.live AS l JOIN reground.conversations AS v ON v.conversation_ref = l.conversation_ref WHERE l.conversation_ref = 'late';
SELECT doc_id, status FROM reground.end_turn(regress.turn('late', 2), pg_temp.cited('late', 'Ashes carry keys {ash}.'));
SELECT l.sources = s.sources AS same_sources, v.history_tokens = s.history_tokens AS same_tokens, v.last_ended_turn_id = s.last_ended_turn_id AS same_end FROM stood AS s, pg_temp.live AS l JOIN reground.conversations AS v ON v.conversation_ref = l.conversation_ref WHERE l.conversation_ref = 'late';
-- A turn that follows it gets the sources that it left: its own source is new, the first has decayed once more.
SELECT count(*) > 0 AS begun FROM reground.begin_turn('late', 'Keys of what kind?', parent_turn_id => regress.turn('late', 2));
SELECT doc_id, carry_score, inactive_turns, cited FROM regress.sources WHERE conversation_ref = 'late' ORDER BY doc_id;
SELECT DISTINCT turn_no FROM reground.history('late', max_tokens => 1000) ORDER BY turn_no;
-- A shadow of a turn off the path is refused, because its memory would differ.
SELECT * FROM regress.refusal($$SELECT * FROM reground.shadow_turn(regress.turn('late', 3), '{}', 'off')$$);
-- A repeated request returns the same turn and does not branch again.
SELECT count(*) > 0 AS begun FROM reground.begin_turn('late', 'Edited', request_id => 'e1', parent_turn_id => regress.turn('late', 1));
SELECT * FROM pg_temp.say('late', 'More of oaks?', 'Acorns {oak}.');
SELECT count(*) > 0 AS begun FROM reground.begin_turn('late', 'Edited', request_id => 'e1', parent_turn_id => regress.turn('late', 1));
SELECT turn_no, parent, superseded FROM pg_temp.path WHERE conversation_ref = 'late' ORDER BY turn_no;
SELECT r.* FROM (VALUES (1, $$SELECT * FROM reground.begin_turn('late', 'Edited', request_id => 'e1', parent_turn_id => 0)$$), (2, $$SELECT * FROM reground.begin_turn('late', 'x', parent_turn_id => -1)$$),
    (3, $$SELECT * FROM reground.begin_turn('late', 'x', parent_turn_id => regress.turn('edit', 1))$$), (4, $$SELECT * FROM reground.begin_turn('late', 'x', parent_turn_id => regress.turn('late', 3))$$)) AS v(n, statement), LATERAL regress.refusal(v.statement) AS r ORDER BY n;
-- Branches do not change the links of the chain.
SELECT count(*) FROM reground.begin_turn('held', 'oaks', corpus => 'branching', settings => '{"provenance": "merkle", "max_sources": 1}');
SELECT count(*) FROM reground.end_turn(regress.turn('held'), 'Acorns [A1].');
SELECT count(*) FROM reground.begin_turn('held', 'ashes', settings => '{"provenance": "merkle", "max_sources": 1}');
SELECT count(*) FROM reground.begin_turn('held', 'elms', parent_turn_id => regress.turn('held', 1), settings => '{"provenance": "merkle", "max_sources": 1}');
SELECT link_no, kind, turn_no, status FROM reground.verify_chain('held');
-- A branch starts from the sources of the answer in force, also if it was given later: for a turn off the path and for an older turn on it.
SELECT * FROM pg_temp.say('anew', 'What do oaks carry?', 'Oaks carry acorns {oak}.');
SELECT * FROM pg_temp.say('anew', 'And ashes and elms?', 'Ashes carry keys {ash}.');
SELECT count(*) > 0 AS begun FROM reground.begin_turn('anew', 'And firs?', parent_turn_id => regress.turn('anew', 1));
SELECT doc_id, status FROM reground.end_turn(regress.turn('anew', 2), pg_temp.cited('anew', 'Elms carry seeds {elm}.'), 'again');
SELECT doc_id FROM regress.sources WHERE conversation_ref = 'anew' ORDER BY 1;
SELECT count(*) > 0 AS begun FROM reground.begin_turn('anew', 'Seeds of what kind?', parent_turn_id => regress.turn('anew', 2));
SELECT doc_id FROM regress.sources WHERE conversation_ref = 'anew' AND cited ORDER BY 1;
-- The age of sources continues on other branches: a return does not make them young.
UPDATE reground.conversation_sources SET last_used_at = now() - interval '100 days' WHERE conversation_id = (SELECT conversation_id FROM reground.conversations WHERE conversation_ref = 'anew');
UPDATE reground.turns SET ended_at = now() - interval '100 days' WHERE conversation_id = (SELECT conversation_id FROM reground.conversations WHERE conversation_ref = 'anew');
SELECT count(*) > 0 AS begun FROM reground.begin_turn('anew', 'Seeds?', parent_turn_id => regress.turn('anew', 2));
SELECT count(*) AS young FROM reground.conversation_sources AS s JOIN reground.conversations AS v USING (conversation_id) WHERE v.conversation_ref = 'anew' AND s.last_used_at > now() - interval '99 days';
-- A branch after an imported turn: the sources of the turns before it, and the corpus of the conversation.
SELECT count(*) FROM reground.record_turn('anew', 'What of pines?', 'Pines have needles [1].', '[{"content": "Pines have needles."}]');
SELECT count(*) > 0 AS begun FROM reground.begin_turn('anew', 'Seeds then?', parent_turn_id => regress.turn('anew'));
SELECT doc_id FROM regress.sources WHERE conversation_ref = 'anew' AND cited ORDER BY 1;
SELECT corpus FROM reground.conversations WHERE conversation_ref = 'anew';
