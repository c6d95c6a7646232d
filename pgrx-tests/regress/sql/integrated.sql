-- How a turn uses the results and the facts of the turns before it.
CREATE SCHEMA integrated;
SET search_path = integrated, public;
SELECT reground.create_corpus('integrated', dimensions => 3);
SELECT doc_id, version FROM (VALUES ('tea', 'Tea is steeped for three minutes.'), ('milk', 'Milk is heated to sixty degrees.'), ('salt', 'Salt melts snow.'),
    ('kettle', 'A kettle boils water in four minutes. Descale it with vinegar every month. Never leave it empty.')) AS v(doc_id, body),
    reground.put_document('integrated', doc_id, passages => jsonb_build_array(jsonb_build_object('content', body)));
SELECT reground.put_embeddings('integrated', ARRAY['1', '2', '3', '4'], ARRAY['[1,0,0]', '[0,1,0]', '[0,0,1]', '[0.5,0.5,0.7]']::vector[]);
-- One turn: begins it, answers it, and returns its sources.
CREATE FUNCTION ask(conversation text, query text, embedding vector, answer text, settings jsonb DEFAULT '{}', filter jsonb DEFAULT NULL) RETURNS TABLE (marker text, doc_id text, origin text) LANGUAGE plpgsql
SET client_min_messages = error AS $$
DECLARE
    turn bigint;
BEGIN
    CREATE TEMPORARY TABLE rows ON COMMIT DROP AS SELECT * FROM reground.begin_turn(conversation, query, 'integrated', embedding, filter,
        settings => '{"candidates": 1, "query_from": "turn", "carry_over": false}'::jsonb || ask.settings);
    SELECT max(turn_id) INTO turn FROM rows;
    PERFORM reground.end_turn(turn, answer);
    RETURN QUERY SELECT r.marker, r.doc_id, r.origin FROM rows AS r;
END
$$;

-- Sources of earlier turns are ranked together with new ones, by both questions. The vector search returns one passage: milk is found, and tea is ranked again.
SELECT * FROM ask('integrated-1', 'How is tea steeped?', '[1,0,0]', 'For three minutes [A1].');
SELECT * FROM ask('integrated-1', 'And for milk, how long is it?', '[0.6,0.8,0]', 'It is heated [B1].');
SELECT * FROM ask('integrated-2', 'How is tea steeped?', '[1,0,0]', 'For three minutes [A1].', '{"fusion": "integrated"}');
SELECT * FROM ask('integrated-2', 'And for milk, how long is it?', '[0.6,0.8,0]', 'It is heated [B1].', '{"fusion": "integrated"}');
SELECT doc_id, origin, lexical_rank, round(lexical_score::numeric, 3) AS lexical_score, vector_rank, round(vector_distance::numeric, 3) AS distance FROM reground.explain_turn(regress.turn('integrated-2')) ORDER BY candidate_no;
-- Only the order uses both questions.
-- A new topic is not ranked with the old sources, and a source that the filter excludes is not added.
SELECT * FROM ask('integrated-2', 'New topic: what melts snow?', '[0,0,1]', 'Salt [C1].', '{"fusion": "integrated"}');
SELECT * FROM ask('integrated-3', 'How is tea steeped?', '[1,0,0]', 'For three minutes [A1].', '{"fusion": "integrated"}');
SELECT * FROM ask('integrated-3', 'And for milk, how long is it?', '[0.6,0.8,0]', 'It is heated [B1].', '{"fusion": "integrated"}', '{"doc_id": "milk"}');
-- The source is ranked by both questions; its relevance and its trace are those of this question.
SELECT count(*) AS sources FROM ask('integrated-6', 'How is tea steeped?', '[1,0,0]', 'For three minutes [A1].', '{"fusion": "integrated"}');
SELECT doc_id FROM reground.begin_turn('integrated-6', 'And what melts snow on it?', 'integrated', '[0,0,1]', intent => 'drill_down',
    settings => '{"fusion": "integrated", "carry_threshold": 0.5, "carry_activation": "context", "reserved_slots": 2, "candidates": 1, "query_from": "turn"}');
SELECT doc_id, origin, in_context, round(relevance::numeric, 3) AS relevance, lexical_score IS NOT NULL AS has_words, drop_reason FROM reground.explain_turn(regress.turn('integrated-6')) WHERE doc_id = 'tea' ORDER BY candidate_no;
-- Answers that rest on sources which only earlier turns found.
SELECT turn_no, carried_citation_count, history_effect FROM reground.conversation_health WHERE conversation_ref IN ('integrated-2') ORDER BY turn_no;
SELECT * FROM ask('integrated-4', 'How is tea steeped?', '[1,0,0]', 'For three minutes [A1].', '{"fusion": "integrated"}');
SELECT * FROM ask('integrated-4', 'And for milk, how long is it?', '[0.6,0.8,0]', 'Tea is steeped for three minutes [A1].', '{"fusion": "integrated"}');
SELECT turn_no, carried_citation_count, history_effect FROM reground.conversation_health WHERE conversation_ref IN ('integrated-4') ORDER BY turn_no;
SELECT answers, improved_percent, denoise_percent, diversify_percent FROM reground.conversation_totals WHERE conversation_ref = 'integrated-4';

-- The fact sheet of an answer; the next turn keeps its facts if the question does not mention the source.
SELECT doc_id FROM ask('integrated-5', 'How often must a kettle be descaled with vinegar?', '[0.5,0.5,0.7]', 'Descale it with vinegar every month [A1].', '{"facts_per_source": 1}');
SELECT doc_id FROM ask('integrated-5', 'and why?', '[0.5,0.5,0.7]', 'I cannot say.', '{"facts_per_source": 1}');
SELECT doc_id FROM ask('integrated-5', 'Is water boiled in minutes?', '[0.5,0.5,0.7]', 'In four minutes [A1].', '{"facts_per_source": 1}');
-- Facts come from the passage of the marker, however the answer cites it.
SELECT doc_id, version FROM (VALUES ('book')) AS v(doc_id), reground.put_document('integrated', doc_id, passages => '[{"content": "Zebras graze on dry grass.", "page_start": 1, "page_end": 1}, {"content": "Quartz clocks keep time by a crystal.", "page_start": 9, "page_end": 9}]');
SELECT reground.put_embeddings('integrated', ARRAY['5', '6'], ARRAY['[1,-1,0]', '[-1,-1,0]']::vector[]);
SELECT marker, doc_id FROM ask('integrated-7', 'Where do zebras graze?', '[1,-1,0]', 'Zebras graze on dry grass [A1]. Quartz clocks keep time [A1, p. 9]. Nobody knows [A1, p. 99].', '{"facts_per_source": 1}');
SELECT marker, doc_id, chunk_id, fact FROM reground.fact_sheets WHERE conversation_ref = 'integrated-7';
SELECT turn_no, marker, fact FROM reground.fact_sheets WHERE conversation_ref = 'integrated-5' ORDER BY turn_no;
SELECT t.turn_no, f.fact FROM reground.source_facts AS f JOIN reground.turns AS t USING (turn_id) JOIN reground.conversations AS c USING (conversation_id) WHERE c.conversation_ref = 'integrated-5' ORDER BY 1;

-- Each member of a comparison has its own lists; ranks and scores of a passage are those of the query, with and without an index.
SELECT s.way, (SELECT count(*) > 1 FROM reground.begin_turn('integrated-' || s.way, 'Compare tea with kettle: it boils water in how many minutes?', 'integrated', '[1,0,0]', settings => jsonb_build_object('lexical_search', s.way, 'candidates', 1))) AS asked
FROM unnest(ARRAY['auto', 'exact']) AS s(way);
SELECT intent, count(*) FROM reground.turns WHERE turn_id IN (regress.turn('integrated-auto'), regress.turn('integrated-exact')) GROUP BY intent;
SELECT a.doc_id, a.lexical_rank = e.lexical_rank AS rank, round(a.lexical_score::numeric, 6) = round(e.lexical_score::numeric, 6) AS score, round(a.fused_score::numeric, 6) = round(e.fused_score::numeric, 6) AS fused_score
FROM reground.explain_turn(regress.turn('integrated-auto')) AS a FULL JOIN reground.explain_turn(regress.turn('integrated-exact')) AS e USING (chunk_id) ORDER BY 1;
SELECT reground.drop_corpus('integrated', true);
