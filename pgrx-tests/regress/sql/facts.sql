-- Facts: key sentences of each source, supplied facts, facts of earlier turns without their passage, and the fact of a citation.
CREATE SCHEMA facts;
SET search_path = facts, public;
SELECT reground.create_corpus('farm');
SELECT version FROM reground.put_document('farm', 'cows', title => 'Cows', published => '2026-02-03', content =>
    'Cows eat grass and hay on the meadow. A cow gives thirty litres of milk a day. Calves stay with their mother for two weeks.');
SELECT version FROM reground.put_document('farm', 'bees', title => 'Bees', modified_at => '2026-04-05 06:07+00', content =>
    'Bees collect nectar from linden trees. A hive gives forty kilograms of honey a year.');
SELECT version FROM reground.put_document('farm', 'hens', title => 'Hens', passages => '[{"content": "Hens lay eggs in the straw every morning of the year.",
    "metadata": {"facts": ["One hen:\n 280 eggs a year.", "in the straw", "a third fact"]}}]');

-- Two claims that cite one source: each has the sentence that it is about.
SELECT marker, title, facts FROM reground.begin_turn('facts-1', 'How much milk does a cow give, and what does it eat?', 'farm', settings => '{"max_sources": 1}');
SELECT claim, holds, quote FROM reground.end_turn(regress.turn('facts-1'), 'A cow gives thirty litres of milk [A1]. Cows eat grass and hay [A1].');
SELECT c.claim, c.fact_summary FROM reground.message_citations AS c JOIN reground.conversations AS v USING (conversation_id) WHERE v.conversation_ref = 'facts-1' ORDER BY c.citation_no;

-- The next turn finds other passages. The cited source stays citable by its facts, with its date, without its passage.
SELECT marker, origin, title, content, score IS NULL AS unscored FROM reground.begin_turn('facts-1', 'And how much honey does a hive give?', settings => '{"max_sources": 1, "reserved_slots": 0}', intent => 'drill_down');
SELECT reground.prompt_context(regress.turn('facts-1'));
SELECT reground.prompt_context(regress.turn('facts-1'), 'xml', 'facts');
SELECT jsonb_pretty(reground.prompt_context(regress.turn('facts-1'), 'json', detail => 'passages')::jsonb);
-- A citation of such a marker is judged by the facts that the model saw, and its quote has its place in the passage.
SELECT raw, status, holds, quote FROM reground.end_turn(regress.turn('facts-1'), 'A hive gives forty kilograms of honey [B1], a cow thirty litres of milk [A1]. Calves stay with their mother for two weeks [A1].');
SELECT c.raw, c.quote = substr(p.content, c.quote_start + 1, c.quote_end - c.quote_start) AS quoted FROM reground.message_citations AS c JOIN farm AS p ON p.chunk_id::text = c.chunk_id
WHERE c.turn_id = regress.turn('facts-1') AND c.holds ORDER BY c.citation_no;
SELECT marker, origin, in_context FROM reground.explain_turn(regress.turn('facts-1')) WHERE in_context ORDER BY marker;

-- A search of the same turn adds the passage under a marker of its own.
SELECT marker, origin FROM reground.begin_turn('facts-1', 'And the honey of linden trees?', settings => '{"max_sources": 1, "reserved_slots": 0}', intent => 'drill_down');
SELECT marker, origin, title FROM reground.retrieve(regress.turn('facts-1'), 'calves mother weeks', max_results => 1);
SELECT marker, holds FROM reground.end_turn(regress.turn('facts-1'), 'Calves stay with their mother for two weeks [A2].');
-- No facts for a new topic, and none without facts_per_source.
SELECT marker, origin FROM reground.begin_turn('facts-1', 'Where do hens lay eggs?', intent => 'new_topic', settings => '{"max_sources": 1, "reserved_slots": 0}');
SELECT reground.abandon_turn(regress.turn('facts-1'));
SELECT marker, origin FROM reground.begin_turn('facts-1', 'And the eggs of hens?', intent => 'drill_down', settings => '{"max_sources": 1, "reserved_slots": 0, "facts_per_source": 0}');
SELECT reground.abandon_turn(regress.turn('facts-1'));
-- The budget of the context includes them, and they displace no passage.
SELECT marker, origin FROM reground.begin_turn('facts-1', 'And the honey of linden trees?', intent => 'drill_down', settings => '{"max_sources": 1, "reserved_slots": 0}');
SELECT marker, origin FROM reground.begin_turn('facts-1', 'And the honey of linden trees?', intent => 'drill_down', settings => jsonb_build_object('max_sources', 1, 'reserved_slots', 0,
    'max_tokens', (SELECT context_tokens - 1 FROM reground.turns WHERE turn_id = regress.turn('facts-1'))));
SELECT reground.abandon_turn(turn_id) FROM reground.turns JOIN reground.conversations USING (conversation_id) WHERE conversation_ref = 'facts-1' AND turns.state = 'open' ORDER BY turn_id;

-- The sentence that a citation rests on is remembered, not that for the earlier question, so the same claim holds again.
SELECT facts FROM reground.begin_turn('facts-5', 'What does a cow eat on the meadow?', 'farm', settings => '{"max_sources": 1, "facts_per_source": 1}');
SELECT holds FROM reground.end_turn(regress.turn('facts-5'), 'Calves stay with their mother for two weeks [A1].');
SELECT marker, origin, content FROM reground.begin_turn('facts-5', 'And how much honey does a hive give?', settings => '{"max_sources": 1, "reserved_slots": 0, "facts_per_source": 1}', intent => 'drill_down');
SELECT holds FROM reground.end_turn(regress.turn('facts-5'), 'Calves stay with their mother for two weeks [A1].');

-- Facts that the application supplies replace the extracted ones.
SELECT marker, facts FROM reground.begin_turn('facts-2', 'Where do hens lay eggs in the morning?', 'farm', settings => '{"max_sources": 1}');
SELECT fact_no, fact, fact_start, fact_end FROM reground.source_facts WHERE turn_id = (SELECT regress.turn('facts-2')) ORDER BY fact_no;
SELECT marker, facts FROM reground.add_passages(regress.turn('facts-2'), '[{"content": "The market sells eggs.", "title": "Market", "metadata": {"facts": ["Eggs cost 30 cents."]}}]');
SELECT marker, status FROM reground.end_turn(regress.turn('facts-2'), 'Hens lay eggs in the straw [A1]. The market sells eggs [B1].');
SELECT marker, origin, content FROM reground.begin_turn('facts-2', 'And what about the honey of bees?', intent => 'drill_down', settings => '{"max_sources": 1, "reserved_slots": 0}') ORDER BY marker;
SELECT marker, status, holds FROM reground.end_turn(regress.turn('facts-2'), 'Eggs cost 30 cents [B1].');
-- A registered table supplies facts in its column of metadata.
CREATE TABLE goats (id integer PRIMARY KEY, body text, about jsonb);
INSERT INTO goats VALUES (1, 'Goats climb rocks. Goats give milk for cheese.', '{"facts": ["Goat cheese is white."]}');
SELECT reground.add_corpus('goats', 'facts.goats', 'id', 'body', metadata => 'about');
SELECT marker, facts FROM reground.begin_turn('facts-3', 'goats', 'goats');

-- A fact of a passage that was changed, deleted or hidden is not shown.
UPDATE farm SET content = 'Hens lay eggs.', metadata = '{}' WHERE doc_id = 'hens';
SELECT marker, origin FROM reground.begin_turn('facts-2', 'And the honey of linden trees?', intent => 'drill_down', settings => '{"max_sources": 1, "reserved_slots": 0}') ORDER BY marker;
SELECT reground.abandon_turn(regress.turn('facts-2'));
SELECT marker, origin FROM reground.begin_turn('facts-1', 'And the honey of linden trees?', filter => '{"doc_id": "bees"}', intent => 'drill_down', settings => '{"max_sources": 1, "reserved_slots": 0}') ORDER BY marker;
SELECT reground.abandon_turn(regress.turn('facts-1'));
CREATE ROLE regress_facts IN ROLE reground_user;
GRANT USAGE ON SCHEMA facts, regress TO regress_facts;
GRANT SELECT ON ALL TABLES IN SCHEMA facts TO regress_facts;
GRANT SELECT ON ALL TABLES IN SCHEMA regress TO regress_facts;
ALTER TABLE farm ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON farm FOR SELECT TO regress_facts USING (true);
SET ROLE regress_facts;
SELECT count(*) FROM reground.begin_turn('facts-4', 'How much milk does a cow give?', 'farm', settings => '{"max_sources": 1}');
SELECT marker, holds FROM reground.end_turn(regress.turn('facts-4'), 'A cow gives thirty litres of milk [A1].');
SELECT marker, origin FROM reground.begin_turn('facts-4', 'And the honey of linden trees?', intent => 'drill_down', settings => '{"max_sources": 1, "reserved_slots": 0}') ORDER BY marker;
SELECT reground.abandon_turn(regress.turn('facts-4'));
RESET ROLE;
ALTER POLICY readable ON farm USING (doc_id = 'bees');
SET ROLE regress_facts;
SELECT marker, origin FROM reground.begin_turn('facts-4', 'And the honey of linden trees?', intent => 'drill_down', settings => '{"max_sources": 1, "reserved_slots": 0}') ORDER BY marker;
RESET ROLE;
-- Forgetting the document removes its facts from all records.
SELECT count(*) > 0 AS forgotten FROM reground.forget_document('farm', 'cows');
SELECT count(*) FROM reground.turns AS t WHERE t.context::text LIKE '%litres of milk%';
SELECT count(*) FROM reground.source_facts WHERE fact LIKE '%litres of milk%';
SELECT count(*) FROM reground.message_citations WHERE fact_summary LIKE '%litres of milk%' OR quote LIKE '%litres of milk%';
SELECT marker, origin FROM reground.begin_turn('facts-1', 'And the honey of linden trees?', intent => 'drill_down', settings => '{"max_sources": 1, "reserved_slots": 0}') ORDER BY marker;
SELECT reground.drop_corpus('farm', true), reground.drop_corpus('goats');
DROP OWNED BY regress_facts;
DROP ROLE regress_facts;
