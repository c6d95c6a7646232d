-- Each row is a difference between the distributed table and the one of the coordinator: turns that carry sources, a pin, answers that cite passages and
-- documents.
SET client_min_messages = error;
SELECT reground.forget_conversation(conversation_ref) FROM reground.conversations \g /dev/null
SELECT reground.begin_turn(corpus, 'What of w5 and w17?', corpus => corpus, embedding => '[1,2,3,4,5,6,7,8]', settings => '{"vector_search": "exact"}')
FROM unnest('{plain,spread}'::text[]) AS corpus \g /dev/null
SELECT reground.end_turn(turn_id, 'So it is [A1]. Others say so [B1], and d3 too [d3]. [Title 12]') FROM reground.turns \g /dev/null
SELECT reground.pin(corpus, 'd20') FROM unnest('{plain,spread}'::text[]) AS corpus \g /dev/null
SELECT reground.begin_turn(corpus, 'And w9?', corpus => corpus, embedding => '[8,7,6,5,4,3,2,1]', settings => '{"vector_search": "exact"}')
FROM unnest('{plain,spread}'::text[]) AS corpus \g /dev/null
SELECT reground.end_turn(turn_id, 'Here [A1], there [B1], and nowhere [Z9].') FROM reground.turns WHERE turn_no = 2 \g /dev/null
CREATE FUNCTION pg_temp.stored(of_conversation text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object(
        'citations', (SELECT jsonb_agg(jsonb_build_object('n', c.citation_no, 'marker', c.marker, 'doc', c.doc_id, 'chunk', c.chunk_id, 'title', c.title, 'status', c.status,
            'holds', c.holds, 'state', c.source_state, 'quote', c.quote) ORDER BY c.turn_no, c.citation_no) FROM reground.citation_audit AS c WHERE c.conversation_ref = of_conversation),
        'candidates', (SELECT jsonb_agg(jsonb_build_object('chunk', c.chunk_id, 'origin', c.origin, 'lexical', c.lexical_rank, 'vector', c.vector_rank, 'dropped', c.dropped_stage)
            ORDER BY t.turn_no, c.candidate_no) FROM reground.turn_candidates AS c JOIN reground.turns AS t USING (turn_id)
            JOIN reground.conversations AS v USING (conversation_id) WHERE v.conversation_ref = of_conversation))
$$;
SELECT 'conversation', one, other FROM (SELECT pg_temp.stored('plain') AS one, pg_temp.stored('spread') AS other) AS r WHERE one IS DISTINCT FROM other OR one ->> 'citations' IS NULL;
