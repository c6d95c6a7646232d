-- Answers that are returned again: only to the same question, from the same context, for a caller who would get that context.
SELECT reground.create_corpus('recipes', settings => '{"reuse_answers": true}');
SELECT count(*) FROM (VALUES ('bread', 'Bread rises for two hours in a warm kitchen before it is baked.'), ('soup', 'Soup simmers for an hour with the lid half open.')) AS v(doc_id, content)
    CROSS JOIN LATERAL reground.put_document('recipes', v.doc_id, content => v.content);
CREATE FUNCTION regress.ask(conversation text, question text, answer text, settings jsonb DEFAULT '{}', filter jsonb DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE marker text; turn bigint; BEGIN
    SELECT t.turn_id, max(t.marker) FILTER (WHERE t.doc_id = 'bread') INTO turn, marker FROM reground.begin_turn(conversation, question, corpus => 'recipes', settings => settings, filter => filter) AS t GROUP BY 1;
    RETURN (SELECT max(message_id) FROM reground.end_turn(turn, format(answer, marker)));
END $$;
\set question 'How long does bread rise in a warm kitchen?'
\set answer 'Bread rises for two hours in a warm kitchen [%s].'
CREATE VIEW regress.reusable AS SELECT count(*) AS answers, max(r.message_id) AS message_id, max(r.answer) AS answer FROM reground.reusable_answer('recipes', 'How long does bread rise in a warm kitchen?') AS r;
SELECT answers FROM regress.reusable;
SELECT regress.ask('reuse-1', :'question', :'answer') AS first \gset
SELECT answers, message_id = :first AS is_it, regexp_replace(answer, '[A-Z]1', 'M') AS answer FROM regress.reusable;
SELECT q, count(r.*) FROM unnest(ARRAY['  how LONG does bread rise in a warm kitchen? ', 'How long does bread rise in a cold kitchen?', 'How long does bread not rise in a warm kitchen?']) AS q LEFT JOIN LATERAL reground.reusable_answer('recipes', q) AS r ON true GROUP BY q ORDER BY q COLLATE "C";
-- A first turn has the same markers, so the answer can be given to it.
SELECT status FROM reground.begin_turn('reuse-again', :'question', corpus => 'recipes') AS t CROSS JOIN LATERAL reground.end_turn(t.turn_id, (SELECT answer FROM regress.reusable)) WHERE t.doc_id = 'bread';
SELECT answers, message_id > :first AS latest FROM regress.reusable;
BEGIN READ ONLY;
SELECT answers FROM regress.reusable;
COMMIT;
-- Off by default, and for a later turn, a filter, a refused answer, an answer without its text or citations, and a turn without the setting.
SELECT reground.alter_corpus('recipes', settings => '{"reuse_answers": null}');
SELECT answers FROM regress.reusable;
SELECT reground.alter_corpus('recipes', settings => '{"reuse_answers": true}');
DELETE FROM reground.conversations WHERE conversation_ref IN ('reuse-1', 'reuse-again');
SELECT regress.ask('reuse-2', 'How long does soup simmer?', 'Nobody knows.') > 0 AS first;
SELECT regress.ask('reuse-2', :'question', :'answer') > 0 AS later;
SELECT regress.ask('reuse-filter', :'question', :'answer', filter => '{"doc_id": "bread"}') > 0 AS filtered;
SELECT regress.ask('reuse-refused', :'question', 'Bread is made of stone [%s]. Stone is made of soup [Z9].') > 0 AS refused;
SELECT regress.ask('reuse-hash', :'question', :'answer', '{"store_answers": "hash"}') > 0 AS hashed;
SELECT regress.ask('reuse-uncited', :'question', 'Bread rises for two hours.') > 0 AS uncited;
SELECT regress.ask('reuse-off', :'question', :'answer', '{"reuse_answers": false}') > 0 AS off;
SELECT conversation_ref, turn_no, decision, reasons FROM reground.messages JOIN reground.turns USING (turn_id) JOIN reground.conversations AS c ON c.conversation_id = turns.conversation_id WHERE conversation_ref ~ '^reuse' ORDER BY 1, 2;
SELECT answers FROM regress.reusable;
-- A report takes an answer away until a review refuses it; a label does.
SELECT regress.ask('reuse-3', :'question', :'answer') AS third \gset
SELECT reground.report_answer(:third, 'too hot');
SELECT max(report_id) AS report FROM reground.citation_reports \gset
SELECT answers FROM regress.reusable;
SELECT reground.review_report(:report, false, reviewed_by => 'ann');
SELECT answers FROM regress.reusable;
SELECT citation_id AS citation FROM reground.message_citations WHERE message_id = :third \gset
SELECT reground.label_citation(:citation, 'accurate', labelled_by => 'ann');
SELECT answers FROM regress.reusable;
SELECT reground.label_citation(:citation, 'hallucinated', labelled_by => 'ben');
SELECT answers FROM regress.reusable;
DELETE FROM reground.citation_labels WHERE citation_id = :citation;
-- A cited text that changes, an uncited one, a better passage, a passage that is gone.
SELECT answers FROM regress.reusable;
BEGIN;
SELECT version FROM reground.put_document('recipes', 'bread', content => 'Bread rises for three hours in a warm kitchen before it is baked.');
SELECT answers FROM regress.reusable;
ROLLBACK;
BEGIN;
SELECT version FROM reground.put_document('recipes', 'rolls', content => 'Rolls of bread rise in a warm kitchen for an hour.');
SELECT answers FROM regress.reusable;
ROLLBACK;
BEGIN;
SELECT version FROM reground.put_document('recipes', 'bread', content => 'Bread rises for two hours in a warm kitchen before it is baked.', title => 'Old bread');
SELECT answers FROM regress.reusable;
ROLLBACK;
BEGIN;
SELECT reground.delete_document('recipes', 'bread');
SELECT answers FROM regress.reusable;
ROLLBACK;
SELECT answers FROM regress.reusable;
-- Facts, the date, a policy and a rerank that changed.
BEGIN;
SELECT version FROM reground.put_document('recipes', 'bread', passages => '[{"content": "Bread rises for two hours in a warm kitchen before it is baked.", "metadata": {"facts": ["Bread rises for nine hours."]}}]');
SELECT answers FROM regress.reusable;
ROLLBACK;
BEGIN;
SELECT version FROM reground.put_document('recipes', 'bread', content => 'Bread rises for two hours in a warm kitchen before it is baked.', published => '1950-01-01');
SELECT answers FROM regress.reusable;
ROLLBACK;
BEGIN;
SELECT reground.alter_corpus('recipes', settings => '{"min_support_rate": 0.9}');
SELECT answers FROM regress.reusable;
ROLLBACK;
BEGIN;
SELECT reground.alter_corpus('recipes', settings => '{"reranker": "deferred"}');
SELECT answers FROM regress.reusable;
SELECT turn_id AS deferred FROM reground.begin_turn('reuse-deferred', :'question', corpus => 'recipes') LIMIT 1 \gset
SELECT marker AS deferred_marker FROM reground.apply_rerank(:deferred, NULL) WHERE doc_id = 'bread' \gset
SELECT count(*) FROM reground.end_turn(:deferred, format(:'answer', :'deferred_marker'));
SELECT answers FROM regress.reusable;
ROLLBACK;
-- The same answer again: a report of one withdraws both.
BEGIN;
SELECT regress.ask('reuse-4', :'question', :'answer') AS fourth \gset
SELECT answers, message_id = :fourth AS is_latest FROM regress.reusable;
SELECT reground.report_citation((SELECT max(citation_id) FROM reground.message_citations), 'too hot');
SELECT answers FROM regress.reusable;
ROLLBACK;
-- Sources added to the turn, citations of an API, a rewrite, a time, an import, and a regenerated answer.
BEGIN;
DELETE FROM reground.conversations WHERE conversation_ref = 'reuse-3';
SELECT answers FROM regress.reusable;
SELECT turn_id AS added FROM reground.begin_turn('reuse-5', :'question', corpus => 'recipes') LIMIT 1 \gset
SELECT count(*) FROM reground.add_passages(:added, '[{"content": "Sourdough rises overnight."}]');
SELECT count(*) FROM reground.end_turn(:added, (SELECT format(:'answer', marker) FROM reground.turn_sources(:added) WHERE doc_id = 'bread'));
SELECT turn_id AS rewritten FROM reground.begin_turn('reuse-6', :'question', corpus => 'recipes', rewrite => 'bread rising time') LIMIT 1 \gset
SELECT count(*) FROM reground.end_turn(:rewritten, (SELECT format(:'answer', marker) FROM reground.turn_sources(:rewritten) WHERE doc_id = 'bread'));
SELECT turn_id AS dated FROM reground.begin_turn('reuse-7', :'question', corpus => 'recipes', as_of => clock_timestamp()) LIMIT 1 \gset
SELECT count(*) FROM reground.end_turn(:dated, (SELECT format(:'answer', marker) FROM reground.turn_sources(:dated) WHERE doc_id = 'bread'));
SELECT count(*) FROM reground.record_turn('reuse-8', :'question', 'Bread rises for two hours [1].', passages => '[{"content": "Bread rises for two hours."}]', message_ref => 'r8', corpus => 'recipes');
SELECT turn_id AS api FROM reground.begin_turn('reuse-9', :'question', corpus => 'recipes') LIMIT 1 \gset
SELECT count(*) FROM reground.end_turn(:api, 'Bread rises for two hours in a warm kitchen.', citations => '[{"start": 0, "end": 44, "document_ids": ["bread"]}]');
SELECT decision, count(*) FROM reground.messages JOIN reground.turns USING (turn_id) WHERE turn_id >= :added GROUP BY 1;
SELECT answers FROM regress.reusable;
SELECT turn_id AS again FROM reground.begin_turn('reuse-10', :'question', corpus => 'recipes') LIMIT 1 \gset
SELECT count(*) FROM reground.end_turn(:again, (SELECT format(:'answer', marker) FROM reground.turn_sources(:again) WHERE doc_id = 'bread'), message_ref => 'one');
SELECT answers FROM regress.reusable;
SELECT count(*) FROM reground.end_turn(:again, 'It rises on stone [Z9].', message_ref => 'two');
SELECT answers FROM regress.reusable;
ROLLBACK;
-- A corrected copy is not returned in place of its original.
SELECT count(*) > 0 AS copied FROM reground.repair_answer(:third, 'mark');
SELECT answers, message_id = :third AS is_it FROM regress.reusable;
-- Forgotten texts.
SELECT count(*) > 0 AS forgotten FROM reground.forget_document('recipes', 'bread');
SELECT answers FROM regress.reusable;
SELECT f.* FROM unnest(ARRAY[$$SELECT reground.reusable_answer(NULL, 'q')$$, $$SELECT reground.reusable_answer('recipes', NULL)$$, $$SELECT reground.reusable_answer('recipes', ' ')$$, $$SELECT reground.reusable_answer('none', 'q')$$, $$SELECT reground.reusable_answer('recipes', 'q', '[]')$$]) AS s, regress.refusal(s) AS f;

-- Tenants and principals.
SET reground.tenant_from = 'app.tenant';
SET reground.principals_from = 'app.principals';
SET app.tenant = 'mill';
SET app.principals = '{ann}';
SELECT reground.create_corpus('memos', tenant_column => 'owner', principals_column => 'readers', settings => '{"reuse_answers": true}');
SELECT count(*) FROM (VALUES ('pump', 'The pump of the mill needs oil every year.', '{ann,ben}'::text[]), ('secret', 'The pump of the mill was stolen last year.', '{ann}')) AS v(doc_id, content, readers)
    CROSS JOIN LATERAL reground.put_document('memos', v.doc_id, v.content, principals => v.readers);
SELECT status FROM reground.begin_turn('pump', 'What about the pump of the mill?', corpus => 'memos') AS t CROSS JOIN LATERAL reground.end_turn(t.turn_id, format('The pump of the mill needs oil every year [%s].', t.marker)) WHERE t.doc_id = 'pump';
SELECT count(*) AS of_ann FROM reground.reusable_answer('memos', 'What about the pump of the mill?');
-- Another principal may read the cited passage, but not the whole context.
SET app.principals = '{ben}';
SELECT count(*) AS of_ben FROM reground.reusable_answer('memos', 'What about the pump of the mill?');
-- Another tenant finds the same passages in a corpus of all tenants, but not the answer.
SET app.principals = '{ann}';
SELECT reground.create_corpus('laws', settings => '{"reuse_answers": true}');
SELECT count(*) FROM reground.put_document('laws', 'speed', 'The speed limit on country roads is 90.');
SELECT status FROM reground.begin_turn('speed', 'What is the speed limit?', corpus => 'laws') AS t CROSS JOIN LATERAL reground.end_turn(t.turn_id, 'The speed limit on country roads is 90 [A1].');
SELECT answer FROM reground.reusable_answer('laws', 'What is the speed limit?');
SET app.tenant = 'forge';
SELECT doc_id, in_context FROM reground.dry_run_turn('What is the speed limit?', 'laws');
SELECT answer FROM reground.reusable_answer('laws', 'What is the speed limit?');
SELECT count(*) FROM reground.reusable_answer('memos', 'What about the pump of the mill?');
RESET app.tenant; RESET app.principals; RESET reground.tenant_from; RESET reground.principals_from;
