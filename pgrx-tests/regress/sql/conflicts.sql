-- Sources that contradict each other: rows, the line of the prompt, and the policy.
SELECT reground.create_corpus('reports');
SELECT count(*) FROM (VALUES ('gazette', 'The festival in Ghent drew 40,000 visitors to the old harbour. Ferries crossed the river all night.'),
    ('herald', 'It began late. In its first summer, the festival in Ghent drew 45,000 visitors to the old harbour.'),
    ('notice', 'Tickets for the festival in Ghent are sold at the gate of the old harbour.')) AS v(doc_id, content)
    CROSS JOIN LATERAL reground.put_document('reports', v.doc_id, content => v.content);
SELECT doc_id, origin FROM reground.begin_turn('visitors', 'How many visitors did the festival in Ghent draw to the old harbour?', corpus => 'reports', settings => '{"source_conflicts": true}') ORDER BY doc_id;
SELECT regress.turn('visitors') AS turn \gset
SELECT max(marker) FILTER (WHERE doc_id = 'gazette') AS gazette, max(marker) FILTER (WHERE doc_id = 'herald') AS herald, max(marker) FILTER (WHERE doc_id = 'notice') AS notice
    FROM reground.turn_sources(:turn) \gset
-- The places are those of the sentences in the passages.
SELECT c.kind, c.marker IN (:'gazette', :'herald') AND c.other_marker IN (:'gazette', :'herald') AS named, c.statement, c.number, c.other_statement, c.other_number,
    substr(s.content, c.statement_start + 1, c.statement_end - c.statement_start) = c.statement AS placed, substr(o.content, c.other_statement_start + 1, c.other_statement_end - c.other_statement_start) = c.other_statement AS other_placed
FROM reground.turn_conflicts(:turn) AS c JOIN reground.turn_sources(:turn) AS s ON s.marker = c.marker JOIN reground.turn_sources(:turn) AS o ON o.marker = c.other_marker;
-- The line.
SELECT format = 'json' AS json, regexp_replace(substring(block FROM 'These sources contradict[^"\n]*'), '\[[A-Z]\d\]', '[M]', 'g') AS line
FROM unnest('{text,xml,json}'::text[]) AS format CROSS JOIN LATERAL reground.prompt_context(:turn, format) AS block;
SELECT reground.prompt_context(:turn, detail => 'facts') ~ 'contradict' AS with_facts;
SELECT context_tokens AS tokens FROM reground.turns WHERE turn_id = :turn \gset
-- An answer that cites one side, both sides, or a source without a conflict.
SELECT DISTINCT e.status FROM reground.end_turn(:turn, format('The festival in Ghent drew 40,000 visitors to the old harbour [%s].', :'gazette')) AS e;
SELECT decision, reasons FROM reground.messages WHERE turn_id = :turn ORDER BY message_id DESC LIMIT 1;
SELECT count(*) FROM reground.end_turn(:turn, format('The festival in Ghent drew 40,000 visitors to the old harbour [%s]. In its first summer, it drew 45,000 visitors to the old harbour [%s].', :'gazette', :'herald'), message_ref => 'both');
SELECT decision, reasons FROM reground.messages WHERE turn_id = :turn ORDER BY message_id DESC LIMIT 1;
SELECT count(*) FROM reground.end_turn(:turn, format('Tickets are sold at the gate of the old harbour [%s]. Ferries crossed the river all night [%s].', :'notice', :'gazette'), message_ref => 'ferries');
SELECT decision, reasons FROM reground.messages WHERE turn_id = :turn ORDER BY message_id DESC LIMIT 1;
-- A claim without the number that differs does not rely on the statement.
SELECT count(*) FROM reground.end_turn(:turn, format('The festival in Ghent takes place at the old harbour [%s].', :'gazette'), message_ref => 'place');
SELECT decision, reasons FROM reground.messages WHERE turn_id = :turn ORDER BY message_id DESC LIMIT 1;
-- A corrected copy is decided in the same way.
SELECT count(*) > 0 AS ended FROM reground.end_turn(:turn, format('The festival in Ghent drew 40,000 visitors to the old harbour [%s]. Seven elephants juggle melons [Z9].', :'gazette'), message_ref => 'copied');
SELECT count(*) > 0 AS repaired FROM reground.repair_answer((SELECT max(message_id) FROM reground.messages WHERE turn_id = :turn), 'strict');
SELECT repair_mode, decision, reasons FROM reground.messages WHERE turn_id = :turn ORDER BY message_id DESC LIMIT 2;
-- Off by default. The rows can be read anyway.
SELECT count(*) FROM reground.begin_turn('visitors-off', 'How many visitors did the festival in Ghent draw to the old harbour?', corpus => 'reports');
SELECT regress.turn('visitors-off') AS turn \gset
SELECT count(*) FROM reground.turn_conflicts(:turn);
SELECT reground.prompt_context(:turn) ~ 'contradict' AS in_prompt, :tokens - t.context_tokens AS more_tokens FROM reground.turns AS t WHERE t.turn_id = :turn;
SELECT count(*) FROM reground.end_turn(:turn, format('The festival in Ghent drew 40,000 visitors to the old harbour [%s].', :'gazette'));
SELECT decision, reasons FROM reground.messages WHERE turn_id = :turn;
-- Sources in two languages are compared with those of their language.
SELECT reground.create_corpus('berichte', text_config => 'german');
SELECT reground.put_document('berichte', 'blatt', content => 'Das Fest in Gent zog 40.000 Besucher an den alten Hafen.'), reground.put_document('berichte', 'bote', content => 'Das Fest in Gent zog nicht 40.000 Besucher an den alten Hafen.');
SELECT count(*) FROM reground.begin_turn('besucher', 'festival visitors harbour Ghent Fest Besucher Hafen Gent', corpora => '{reports,berichte}');
SELECT kind, count(*) FROM reground.turn_conflicts(regress.turn('besucher')) GROUP BY 1 ORDER BY 1;
-- A source that the caller may no longer read is in no row and no line.
CREATE TABLE dispatch (doc_id text PRIMARY KEY, content text NOT NULL);
INSERT INTO dispatch VALUES ('one', 'The harbour of Ostend has 120 berths for boats from the north.'), ('two', 'The harbour of Ostend has 180 berths for boats from the north.');
SELECT reground.add_corpus('dispatch', relation => 'dispatch', chunk_id => 'doc_id', content => 'content');
GRANT SELECT ON dispatch TO PUBLIC;
ALTER TABLE dispatch ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows ON dispatch USING (true);
CREATE ROLE regress_boatman IN ROLE reground_user;
SET ROLE regress_boatman;
SELECT count(*) FROM reground.begin_turn('berths', 'How many berths for boats does the harbour of Ostend have?', corpus => 'dispatch', settings => '{"source_conflicts": true}');
SELECT regress.turn('berths') AS turn \gset
SELECT count(*) AS conflicts, reground.prompt_context(:turn) ~ 'contradict' AS in_prompt FROM reground.turn_conflicts(:turn);
RESET ROLE;
DROP POLICY all_rows ON dispatch;
CREATE POLICY only_one ON dispatch USING (doc_id = 'one');
SET ROLE regress_boatman;
SELECT count(*) AS conflicts, reground.prompt_context(:turn) ~ 'contradict|180' AS in_prompt FROM reground.turn_conflicts(:turn);
SELECT marker AS berths FROM reground.turn_sources(:turn) WHERE doc_id = 'one' \gset
SELECT count(*) FROM reground.end_turn(:turn, format('The harbour of Ostend has 120 berths for boats from the north [%s].', :'berths'));
RESET ROLE;
SELECT decision, reasons FROM reground.messages WHERE turn_id = :turn;
DROP OWNED BY regress_boatman; DROP ROLE regress_boatman;
SELECT reground.drop_corpus('dispatch'); DROP TABLE dispatch;
-- Bad input.
SELECT count(*) FROM reground.begin_turn('late-conflict', 'festival', corpus => 'reports', settings => '{"reranker": "deferred"}');
SELECT f.* FROM unnest(ARRAY['SELECT reground.turn_conflicts(NULL)', 'SELECT reground.turn_conflicts(0)', format('SELECT reground.turn_conflicts(%s)', regress.turn('late-conflict'))]) AS s, regress.refusal(s) AS f;
