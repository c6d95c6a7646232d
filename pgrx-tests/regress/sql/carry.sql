-- Sources stay in memory, decay by 0.7 per turn, and expire; a cited source is renewed.
CREATE SCHEMA carry;
SET search_path = carry, public;
SELECT reground.create_corpus('carry', dimensions => 4);
SELECT doc_id, version FROM (VALUES ('ash', 'Ash wood bends.'), ('birch', 'Birch bark peels.'), ('cedar', 'Cedar smells sweet.'), ('date', 'Date palms need heat.')) AS v(doc_id, body),
    reground.put_document('carry', doc_id, passages => jsonb_build_array(jsonb_build_object('content', body)));
SELECT reground.put_embeddings('carry', ARRAY['1', '2', '3', '4'], ARRAY['[1,0,0,0]', '[0,1,0,0]', '[0,0,1,0]', '[0,0,0,1]']::vector[]);
-- One fresh source per turn, so that carried sources are visible.
SELECT reground.alter_conversation('carry-1', '{"candidates": 1}');
CREATE FUNCTION ask(conversation text, query text, embedding vector, answer text, intent text DEFAULT NULL) RETURNS TABLE (marker text, doc_id text, origin text) LANGUAGE plpgsql
-- The warning about an open transaction comes after one second, which a slow machine may need.
SET client_min_messages = error AS $$
DECLARE
    turn bigint;
BEGIN
    CREATE TEMPORARY TABLE rows ON COMMIT DROP AS SELECT * FROM reground.begin_turn(conversation, query, 'carry', embedding, intent => ask.intent);
    SELECT max(turn_id) INTO turn FROM rows;
    PERFORM reground.end_turn(turn, answer);
    RETURN QUERY SELECT r.marker, r.doc_id, r.origin FROM rows AS r;
END
$$;
-- Turns 1 to 4: the score after each turn is 0.7, 0.49, 0.343, then the source is gone.
SELECT * FROM ask('carry-1', 'ash bends', '[1,0,0,0]', 'Ash wood bends [A1].', intent => 'new_topic');
SELECT doc_id, carry_score, inactive_turns FROM regress.sources WHERE conversation_ref = 'carry-1' ORDER BY doc_id;
SELECT * FROM ask('carry-1', 'birch bark', '[0,1,0,0]', 'Birch bark peels [B1].', intent => 'new_topic');
SELECT doc_id, carry_score, inactive_turns FROM regress.sources WHERE conversation_ref = 'carry-1' ORDER BY doc_id;
SELECT * FROM ask('carry-1', 'birch bark peels', '[0,1,0,0]', 'Peels [B1].', intent => 'new_topic');
SELECT doc_id, carry_score, inactive_turns FROM regress.sources WHERE conversation_ref = 'carry-1' ORDER BY doc_id;
SELECT * FROM ask('carry-1', 'birch', '[0,1,0,0]', 'Birch [B1].', intent => 'new_topic');
SELECT doc_id, carry_score, inactive_turns FROM regress.sources WHERE conversation_ref = 'carry-1' ORDER BY doc_id;
-- The source has expired and its marker is still bound: it gets A1 again.
SELECT * FROM ask('carry-1', 'ash', '[1,0,0,0]', 'Ash [A1].', intent => 'new_topic');
SELECT doc_id, carry_score, inactive_turns FROM regress.sources WHERE conversation_ref = 'carry-1' ORDER BY doc_id;

-- A follow-up carries sources that are relevant to it (τ 0.5) in the reserved slots; a new topic carries none.
SELECT reground.alter_conversation('carry-2', '{"candidates": 1, "query_from": "turn"}');
SELECT * FROM ask('carry-2', 'cedar smells', '[0,0,1,0]', 'Sweet [A1].');
SELECT * FROM ask('carry-2', 'and how does bark peel?', '[0,0.8,0.6,0]', 'Birch bark peels [B1]. Cedar smells sweet [A1].', intent => 'drill_down');
SELECT doc_id, carry_score, inactive_turns, cited FROM regress.sources WHERE conversation_ref = 'carry-2' ORDER BY doc_id;
SELECT * FROM ask('carry-2', 'date palms', '[0,0,0,1]', 'Palms need heat [C1]; cedar smells sweet [A1].', intent => 'new_topic');
SELECT doc_id, carry_score, inactive_turns FROM regress.sources WHERE conversation_ref = 'carry-2' ORDER BY doc_id;
-- The status names a carried source; a source outside the context cannot be cited.
SELECT turn_no, marker, doc_id, status FROM reground.citation_audit WHERE conversation_ref = 'carry-2' ORDER BY turn_no, citation_no;
SELECT turn_no, intent, intent_confidence FROM reground.turns JOIN reground.conversations USING (conversation_id) WHERE conversation_ref = 'carry-2' ORDER BY turn_no;
SELECT doc_id, origin, in_context, dropped_stage, drop_reason, round(carry_score::numeric, 2) AS carry_score FROM reground.explain_turn(regress.turn('carry-2')) ORDER BY candidate_no;

-- The settings carry_threshold and carry_over.
SELECT reground.alter_conversation('carry-3', '{"candidates": 1, "query_from": "turn", "carry_threshold": 0.9}');
SELECT * FROM ask('carry-3', 'cedar smells', '[0,0,1,0]', 'Sweet [A1].');
SELECT * FROM ask('carry-3', 'and birch?', '[0,0.8,0.6,0]', 'Peels [B1].', intent => 'drill_down');
SELECT reground.alter_conversation('carry-4', '{"candidates": 1, "query_from": "turn", "carry_over": false}');
SELECT * FROM ask('carry-4', 'cedar smells', '[0,0,1,0]', 'Sweet [A1].');
SELECT * FROM ask('carry-4', 'and birch?', '[0,0.8,0.6,0]', 'Peels [B1].', intent => 'drill_down');

-- With carry_activation cited, only cited sources are active.
SELECT reground.alter_conversation('carry-5', '{"carry_activation": "cited", "carry_decay": 0.5, "carry_ttl_turns": 2}');
SELECT * FROM ask('carry-5', 'ash birch', '[0.8,0.6,0,0]', 'Ash [A1].');
SELECT doc_id, carry_score, inactive_turns, cited FROM regress.sources WHERE conversation_ref = 'carry-5' ORDER BY doc_id;
SELECT * FROM ask('carry-5', 'ash birch', '[0.8,0.6,0,0]', 'Birch [B1].');
SELECT doc_id, carry_score, inactive_turns, cited FROM regress.sources WHERE conversation_ref = 'carry-5' ORDER BY doc_id;

-- Carried sources count towards the budget.
SELECT reground.alter_conversation('carry-6', '{"max_tokens": 30, "facts_per_source": 0}');
SELECT doc_id, tokens FROM reground.begin_turn('carry-6', 'ash birch cedar date', 'carry', '[1,1,1,1]');
SELECT context_tokens <= 30 AS within FROM reground.turn_audit WHERE conversation_ref = 'carry-6';
SELECT doc_id, dropped_stage, drop_reason FROM reground.explain_turn(regress.turn('carry-6')) WHERE NOT in_context ORDER BY candidate_no;
SELECT reground.drop_corpus('carry', true);
