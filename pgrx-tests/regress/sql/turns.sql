-- The life of a turn: begin, show, end, explain; and the stored rows.
CREATE SCHEMA turns;
SET search_path = turns, public;
SELECT reground.create_corpus('farm', dimensions => 3);
SELECT version FROM reground.put_document('farm', 'cows', title => 'Cows', uri => 'https://farm.example/cows', published => '2026-05-01 12:00+00',
    passages => '[{"content": "Cows graze on grass and clover.", "page_start": 1, "page_end": 2, "metadata": {"by": "Ann"}}, {"content": "A cow gives thirty litres of milk a day.", "page_start": 4}]');
SELECT version FROM reground.put_document('farm', 'sheep', title => 'Sheep', passages => '[{"content": "Sheep give wool once a year."}]');
SELECT version FROM reground.put_document('farm', 'bees', title => 'Bees', passages => '[{"content": "A hive makes honey from clover."}]');
SELECT reground.put_embeddings('farm', ARRAY['1', '2', '3', '4'], ARRAY['[1,0,0]', '[0.9,0.1,0]', '[0,1,0]', '[0,0,1]']::vector[]);

-- begin_turn: each source has a marker; the letter stands for the document, the number for the passage.
CREATE TEMPORARY TABLE begun AS SELECT * FROM reground.begin_turn('turns-1', 'How much milk does a cow give?', 'farm', '[0.9,0.1,0]', tags => '{"channel": "web"}');
SELECT marker, corpus, doc_id, chunk_id, title, uri, locator, published, origin FROM begun;
SELECT marker, content, facts, round(score::numeric, 4) AS score, tokens, metadata FROM begun;
SELECT state, turn_no, query, intent, source_count, warnings, tags, message_id IS NULL AS unanswered FROM reground.turn_audit WHERE conversation_ref = 'turns-1';

-- explain_turn: each candidate once, with its ranks and the reason for its drop.
SELECT candidate_no, doc_id, chunk_id, origin, lexical_rank, vector_rank, in_context, marker, dropped_stage, drop_reason FROM reground.explain_turn(regress.turn('turns-1'));

-- end_turn: one row per citation.
CREATE TEMPORARY TABLE ended AS
    SELECT * FROM reground.end_turn(regress.turn('turns-1'), 'A cow gives thirty litres of milk a day [A1]. Sheep give wool [B1]. It rains [Z9].', message_ref => 'msg-1', model => 'x-large',
        usage => '{"input": 100}', tags => '{"ab": "b"}');
SELECT marker, raw, doc_id, chunk_id, title, locator, claim, quote, status, holds, hallucination_mode, score FROM ended;
SELECT marker, round(coordinate_fidelity::numeric, 4) AS fidelity, round(support::numeric, 4) AS support, diagnostic, source_state, repaired,
    answer_start, answer_end, byte_start, byte_end, utf16_start, utf16_end FROM ended;
SELECT count(DISTINCT message_id) AS messages, count(DISTINCT citation_id) AS citations FROM ended;
SELECT state, message_ref, model, usage, tags, citation_count, malformed_count, round(cfs::numeric, 4) AS cfs, round(stage_cfs::numeric, 4) AS stage_cfs, round(grounded_cfs::numeric, 4) AS grounded_cfs,
    decision, reasons, superseded FROM reground.turn_audit WHERE conversation_ref = 'turns-1';
SELECT decision, reasons FROM reground.messages WHERE message_id = (SELECT max(message_id) FROM ended);
SELECT corpus, doc_id, chunk_id, carry_score, inactive_turns, cited FROM regress.sources WHERE conversation_ref = 'turns-1' ORDER BY doc_id, chunk_id;
SELECT marker, doc_id, chunk_id, version, first_turn_no, binding_no FROM regress.markers WHERE conversation_ref = 'turns-1' ORDER BY binding_no;
SELECT tags, message_ref, turn_no, citation_no, marker, lost_stage, source_version, length(source_hash) AS hash FROM reground.citation_audit WHERE conversation_ref = 'turns-1' ORDER BY citation_no;

-- The corpus is that of the turn before; markers keep their meaning, and known passages keep their marker.
SELECT marker, doc_id, chunk_id, origin FROM reground.begin_turn('turns-1', 'What do bees make?', embedding => '[0,0,1]');
SELECT count(*) AS bindings, count(DISTINCT (doc_id, chunk_id)) AS passages FROM regress.markers WHERE conversation_ref = 'turns-1';
SELECT marker, status FROM reground.end_turn(regress.turn('turns-1'), 'Honey.');
SELECT diagnostic, cfs, citation_count, decision, reasons FROM reground.turn_audit WHERE conversation_ref = 'turns-1' AND turn_no = 2;

-- A turn that is begun and read in one statement.
SELECT reground.prompt_context(b.turn_id) LIKE '%honey%' AS shown FROM (SELECT DISTINCT turn_id FROM reground.begin_turn('turns-2', 'honey', 'farm', '[0,0,1]')) AS b;

-- No results: one row without a source; the turn can still be ended.
SET client_min_messages = error;
SELECT marker, doc_id, content, facts, origin, turn_id IS NOT NULL AS has_turn FROM reground.begin_turn('turns-3', 'zeppelins', 'farm');
SELECT reground.prompt_context(regress.turn('turns-3'));
SELECT marker, status, raw FROM reground.end_turn(regress.turn('turns-3'), 'I do not know [A1].');
SELECT warnings FROM reground.turn_audit WHERE conversation_ref = 'turns-3';
SELECT message_id IS NOT NULL AS has_message, citation_id FROM reground.end_turn(regress.turn('turns-3'), '');
RESET client_min_messages;

-- A turn may begin while another is open; each is answered separately.
SELECT DISTINCT turn_id IS NOT NULL AS begun FROM reground.begin_turn('turns-4', 'milk', 'farm', '[1,0,0]');
SELECT DISTINCT turn_id IS NOT NULL AS begun FROM reground.begin_turn('turns-4', 'wool', 'farm', '[0,1,0]');
SELECT turn_no, state FROM reground.turn_audit WHERE conversation_ref = 'turns-4' ORDER BY turn_no;
SELECT status FROM reground.end_turn(regress.turn('turns-4', 2), 'Wool grows on sheep [A1].');
SELECT status FROM reground.end_turn(regress.turn('turns-4', 1), 'Cows [A1].');
SELECT turn_no, state FROM reground.turn_audit WHERE conversation_ref = 'turns-4' ORDER BY turn_no;

-- An abandoned turn changes no memory and cannot be answered.
SELECT DISTINCT origin FROM reground.begin_turn('turns-1', 'wool', embedding => '[0,1,0]') ORDER BY 1;
CREATE TEMPORARY TABLE before_abandon AS SELECT * FROM regress.sources WHERE conversation_ref = 'turns-1';
SELECT reground.abandon_turn(regress.turn('turns-1'));
SELECT reground.abandon_turn(regress.turn('turns-1'));
SELECT count(*) AS moved FROM (SELECT * FROM regress.sources WHERE conversation_ref = 'turns-1' EXCEPT TABLE before_abandon) AS changed;
SELECT * FROM regress.refusal($$SELECT * FROM reground.end_turn(regress.turn('turns-1'), 'late')$$);
SELECT * FROM regress.refusal($$SELECT reground.abandon_turn(regress.turn('turns-1', 1))$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.apply_rerank(regress.turn('turns-1'), NULL)$$);

-- An unknown turn, in each function that takes one.
SELECT f, r.* FROM unnest(ARRAY['SELECT reground.prompt_context(0)', 'SELECT * FROM reground.end_turn(0, $$x$$)', 'SELECT reground.abandon_turn(0)', 'SELECT * FROM reground.apply_rerank(0, NULL)',
    'SELECT reground.prompt_context(-9223372036854775808)']) AS f, regress.refusal(f) AS r;
SELECT count(*) FROM reground.explain_turn(0);

-- A transaction that is open for more than a second gives a warning.
BEGIN;
SELECT count(*) > 0 AS begun FROM reground.begin_turn('turns-5', 'milk', 'farm', '[1,0,0]');
SELECT pg_sleep(1.2);
SELECT status FROM reground.end_turn(regress.turn('turns-5'), 'Milk [A1].');
ROLLBACK;
SELECT count(*) AS left_behind FROM reground.conversations WHERE conversation_ref = 'turns-5';

-- A read-only transaction is refused, with a hint.
BEGIN READ ONLY;
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('turns-6', 'milk', 'farm', '[1,0,0]')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.end_turn(1, 'x')$$);
SELECT reground.prompt_context(regress.turn('turns-2')) LIKE '%honey%' AS can_be_read;
COMMIT;

-- With several corpora, the first turn must name one.
SELECT reground.create_corpus('garden');
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('turns-7', 'milk')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('turns-7', 'milk', 'nowhere')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('turns-7', 'milk', 'farm', '[1]')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('turns-7', 'milk', 'farm', intent => 'small_talk')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('turns-7', 'milk', 'farm', filter => '{"nope": 1}')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('turns-7', ' ', 'farm')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('', 'milk', 'farm')$$);
SELECT count(*) AS left_behind FROM reground.conversations WHERE conversation_ref = 'turns-7';
SELECT reground.drop_corpus('garden', true);
SELECT reground.drop_corpus('farm', true);
-- After the corpus was dropped, shown and cited sources stay, and an open turn can be ended.
SELECT reground.prompt_context(regress.turn('turns-2')) LIKE '%honey%' AS can_be_read;
SELECT marker, doc_id, status FROM reground.end_turn(regress.turn('turns-2'), 'A hive makes honey from clover [A1].');
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('turns-2', 'honey')$$);
