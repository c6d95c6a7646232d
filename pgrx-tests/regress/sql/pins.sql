-- Pinned sources come first, do not decay, and count towards the limits.
CREATE SCHEMA pins;
SET search_path = pins, public;
SELECT reground.create_corpus('pins', dimensions => 3);
SELECT reground.create_corpus('pins_too');
SELECT version FROM reground.put_document('pins', 'law', title => 'The law', passages => '[{"content": "Contracts are kept."}, {"content": "Fines are paid in gold."}]');
SELECT version FROM reground.put_document('pins', 'news', passages => '[{"content": "The harbour froze."}]');
SELECT version FROM reground.put_document('pins', 'diary', passages => '[{"content": "I walked to the harbour."}]');
SELECT version FROM reground.put_document('pins', 'map', passages => '[{"content": "North is up."}]');
SELECT version FROM reground.put_document('pins_too', 'news', passages => '[{"content": "Another paper."}]');
SELECT reground.put_embeddings('pins', ARRAY['1', '2', '3', '4', '5'], ARRAY['[0,0,1]', '[0,0.6,0.8]', '[1,0,0]', '[0.8,0.6,0]', '[0,1,0]']::vector[]);

-- pin creates the conversation if needed; the corpus must be unambiguous.
SELECT * FROM regress.refusal($$SELECT reground.pin('pins-1', doc_id => 'news')$$);
SELECT reground.pin('pins-1', doc_id => 'law');
SELECT reground.pin('pins-1', doc_id => 'news', corpus => 'pins');
SELECT * FROM regress.refusal($$SELECT reground.pin('pins-1', doc_id => 'nothing')$$);
SELECT * FROM regress.refusal($$SELECT reground.pin('pins-1', chunk_id => '99', corpus => 'pins')$$);
SELECT * FROM regress.refusal($$SELECT reground.pin('pins-1', chunk_id => 'x', corpus => 'pins')$$);
SELECT * FROM regress.refusal($$SELECT reground.pin('pins-1')$$);
SELECT * FROM regress.refusal($$SELECT reground.pin('', doc_id => 'law')$$);
SELECT * FROM regress.refusal($$SELECT reground.pin(NULL, doc_id => 'law')$$);
SELECT * FROM regress.refusal($$SELECT reground.pin('pins-1', doc_id => 'law', corpus => 'nowhere')$$);
SELECT corpus, doc_id, chunk_id, pinned, carry_score, inactive_turns FROM regress.sources WHERE conversation_ref = 'pins-1' ORDER BY doc_id;

-- Pins in their order, each document with its best passage for this query; then the found passages.
SELECT marker, doc_id, chunk_id, origin FROM reground.begin_turn('pins-1', 'harbour', 'pins', '[0.8,0.6,0]');
SELECT marker, status FROM reground.end_turn(regress.turn('pins-1'), 'Fines are paid in gold [A1].');
SELECT marker, doc_id, chunk_id, origin FROM reground.begin_turn('pins-1', 'contracts', 'pins', '[0,0,1]');
SELECT status FROM reground.end_turn(regress.turn('pins-1'), 'Contracts are kept [A2].');
SELECT doc_id, chunk_id, pinned, carry_score, inactive_turns FROM regress.sources WHERE conversation_ref = 'pins-1' AND pinned ORDER BY doc_id;
-- A new topic carries only pins.
SELECT doc_id, chunk_id, origin FROM reground.begin_turn('pins-1', 'north', 'pins', '[0,1,0]', intent => 'new_topic', settings => '{"candidates": 1}');

-- At most max_pinned pins are used; the trace gives the reason for the others.
SELECT reground.pin('pins-1', chunk_id => '4', corpus => 'pins');
SELECT reground.pin('pins-1', chunk_id => '5', corpus => 'pins');
SELECT reground.pin('pins-1', chunk_id => '5', corpus => 'pins');
SELECT doc_id, origin FROM reground.begin_turn('pins-1', 'zzz', 'pins', '[0,0,1]', settings => '{"max_pinned": 2}', intent => 'new_topic') WHERE origin = 'pinned';
SELECT doc_id, dropped_stage, drop_reason FROM reground.explain_turn(regress.turn('pins-1')) WHERE origin = 'pinned' AND NOT in_context ORDER BY candidate_no;
-- Pins count towards max_sources and max_tokens.
SELECT count(*) AS sources FROM reground.begin_turn('pins-1', 'harbour', 'pins', '[1,0,0]', settings => '{"max_sources": 2}');
SELECT doc_id, origin FROM reground.begin_turn('pins-1', 'harbour', 'pins', '[1,0,0]', settings => '{"max_tokens": 30, "facts_per_source": 0}');
SELECT context_tokens <= 30 AS within FROM reground.turns WHERE turn_id = regress.turn('pins-1');

-- unpin returns whether the source was pinned; from then on it decays.
SELECT reground.unpin('pins-1', doc_id => 'law'), reground.unpin('pins-1', doc_id => 'law'), reground.unpin('pins-1', chunk_id => '4');
SELECT reground.unpin('pins-1', doc_id => 'never');
SELECT * FROM regress.refusal($$SELECT reground.unpin('pins-none', doc_id => 'law')$$);
SELECT * FROM regress.refusal($$SELECT reground.unpin('pins-1')$$);
SELECT * FROM regress.refusal($$SELECT reground.unpin(NULL, doc_id => 'law')$$);
SELECT doc_id, chunk_id, pinned, inactive_turns FROM regress.sources WHERE conversation_ref = 'pins-1' AND (pinned OR doc_id = 'law') ORDER BY doc_id, chunk_id;

-- A deleted document is not shown, pinned or not; it can still be unpinned.
SELECT reground.delete_document('pins', 'news');
SELECT doc_id FROM reground.begin_turn('pins-1', 'harbour', 'pins', '[1,0,0]') WHERE doc_id = 'news';
SELECT drop_reason FROM reground.explain_turn(regress.turn('pins-1')) WHERE doc_id = 'news';
SELECT reground.unpin('pins-1', doc_id => 'news');
SELECT reground.drop_corpus(corpus, true) FROM unnest(ARRAY['pins', 'pins_too']) AS corpus;
