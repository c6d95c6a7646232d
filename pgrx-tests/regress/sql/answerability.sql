-- Answerability: the value of begin_turn against its formula in plain SQL, the warning nothing_fits, and the searches that have none.
CREATE SCHEMA answerability;
SET search_path = answerability, public;
-- merge_adjacent would join the candidates that the formula reads.
SELECT reground.create_corpus('pasture', dimensions => 3, settings => '{"merge_adjacent": false, "carry_over": false}');
SELECT chunk_count FROM reground.put_document('pasture', 'cows', title => 'Cows', passages => '[{"content": "Cows graze on grass and clover."},
    {"content": "A cow gives thirty litres of milk a day."}, {"content": "Milk becomes butter and cheese."}]');
SELECT chunk_count FROM reground.put_document('pasture', 'sheep', title => 'Sheep', passages => '[{"content": "Sheep give wool once a year."},
    {"content": "Sheep graze on grass."}]');
SELECT reground.put_embeddings('pasture', ARRAY['1', '2', '3', '4', '5'], ARRAY['[1,0,0]', '[0.8,0.6,0]', '[0.6,0.8,0]', '[0,1,0]', '[0,0,1]']::vector[]);

-- Similarity of the three nearest passages, agreement of ten passages of both branches, missing words of a short follow-up.
CREATE FUNCTION formula(turn bigint, missing_words integer) RETURNS numeric LANGUAGE sql AS $$
    SELECT round((1 / (1 + exp(3.9 - 3.5 * (1 - avg(vector_distance) FILTER (WHERE vector_rank <= 3))
        - 2.6 * least(coalesce(sum(lexical_score) FILTER (WHERE vector_rank <= 10) / sum(lexical_score) FILTER (WHERE lexical_rank <= 10), 0), 1)
        - 0.65 * missing_words)))::numeric, 6)
    FROM reground.turn_candidates WHERE turn_id = turn AND origin = 'fresh'
$$;
CREATE FUNCTION shown(turn bigint, missing_words integer) RETURNS TABLE (answerability numeric, as_formula boolean, warnings text[], in_health boolean, warned boolean)
    LANGUAGE sql AS $$
    SELECT round(t.answerability::numeric, 2), round(t.answerability::numeric, 6) = formula(turn, missing_words), t.warnings, h.answerability = t.answerability, h.nothing_fits
    FROM reground.turns AS t JOIN reground.conversation_health AS h USING (turn_id) WHERE t.turn_id = turn
$$;

CREATE TEMPORARY TABLE asked AS SELECT * FROM reground.begin_turn('answer-1', 'How much milk does a cow give?', 'pasture', '[0.8,0.6,0]');
SELECT count(*) AS sources, count(DISTINCT a.answerability) AS different, bool_and(a.answerability = t.answerability) AS stored FROM asked AS a JOIN reground.turns AS t USING (turn_id);
SELECT * FROM shown(regress.turn('answer-1'), 0);
SELECT status FROM reground.end_turn(regress.turn('answer-1'), 'Thirty litres [A1].');

-- A short follow-up lacks two words; as a rewrite it is not short.
SELECT count(*) > 0 AS found FROM reground.begin_turn('answer-1', 'Butter?', embedding => '[0.6,0.8,0]');
SELECT * FROM shown(regress.turn('answer-1', 2), 2);
SELECT reground.abandon_turn(regress.turn('answer-1', 2));
SELECT count(*) > 0 AS found FROM reground.begin_turn('answer-1', 'Butter?', embedding => '[0.6,0.8,0]', rewrite => 'Is butter made of milk?');
SELECT * FROM shown(regress.turn('answer-1', 3), 0);

-- Nothing fits: no word is known, and no passage is near.
SELECT count(*) > 0 AS found FROM reground.begin_turn('answer-2', 'Which zeppelins cross oceans?', 'pasture', '[-0.6,-0.8,0]');
SELECT * FROM shown(regress.turn('answer-2'), 0);
-- The threshold is a setting; 0 is never.
SELECT count(*) > 0 AS found FROM reground.begin_turn('answer-3', 'Which zeppelins cross oceans?', 'pasture', '[-0.6,-0.8,0]', settings => '{"min_answerability": 0}');
SELECT warnings FROM reground.turns WHERE turn_id = regress.turn('answer-3');
SELECT count(*) > 0 AS found FROM reground.begin_turn('answer-4', 'How much milk does a cow give?', 'pasture', '[0.8,0.6,0]', settings => '{"min_answerability": 1}');
SELECT warnings FROM reground.turns WHERE turn_id = regress.turn('answer-4');

-- A deferred rerank: known with the candidates, and the same afterwards.
CREATE TEMPORARY TABLE deferred AS SELECT * FROM reground.begin_turn('answer-5', 'How much milk does a cow give?', 'pasture', '[0.8,0.6,0]', settings => '{"reranker": "deferred"}');
SELECT DISTINCT d.answerability = a.answerability AS same FROM deferred AS d, asked AS a;
SELECT DISTINCT r.answerability = a.answerability AS same FROM reground.apply_rerank(regress.turn('answer-5'), NULL) AS r, asked AS a;

-- retrieve has that of its own search, and its warning is added to the turn; added passages have none.
SELECT DISTINCT r.answerability < 0.25 AS low FROM reground.retrieve(regress.turn('answer-5'), 'Which zeppelins cross oceans?', embedding => '[-0.6,-0.8,0]') AS r;
SELECT round(answerability::numeric, 2) AS answerability, warnings FROM reground.turns WHERE turn_id = regress.turn('answer-5');
SELECT answerability FROM reground.add_passages(regress.turn('answer-5'), '[{"content": "Goats give milk, too."}]');

-- None without an embedding, under rank fusion, and for a turn that reuses its sources.
SET client_min_messages = error;
SELECT DISTINCT answerability FROM reground.begin_turn('answer-6', 'milk', 'pasture');
RESET client_min_messages;
SELECT DISTINCT answerability FROM reground.begin_turn('answer-7', 'milk', 'pasture', '[0.8,0.6,0]', settings => '{"fusion": "rrf"}');
SELECT DISTINCT answerability IS NULL AS none FROM reground.begin_turn('answer-8', 'milk', 'pasture', '[0.8,0.6,0]', settings => '{"strategy": "first_turn"}');
SELECT count(*) AS citations FROM reground.end_turn(regress.turn('answer-8'), 'Milk.');
SELECT DISTINCT answerability FROM reground.begin_turn('answer-8', 'And wool?', embedding => '[0,1,0]', settings => '{"strategy": "first_turn"}');
