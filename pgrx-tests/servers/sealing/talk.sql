-- A conversation about the source, without its words.
SELECT marker, title, uri, locator, content, metadata FROM reground.begin_turn('secret talk', 'what do cows give?', 'secrets');
SELECT reground.prompt_context((SELECT max(turn_id) FROM reground.turns));
SELECT title, uri, locator, quote, status, holds FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'They give milk [A1].');
SELECT marker, title, locator, content FROM reground.begin_turn('secret talk', 'milk of which animals?', settings => '{"reranker": "deferred"}');
SELECT marker, title, locator, content FROM reground.apply_rerank((SELECT max(turn_id) FROM reground.turns), '[{"index": 0, "score": 0.9}]');
SELECT content FROM reground.add_passages((SELECT max(turn_id) FROM reground.turns), '[{"content": "Goats do, too."}]');
SELECT title, quote, status, holds FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Cows give milk [A1]. Pigs fly [Z9].');
SELECT reground.history('secret talk');
SELECT quote, uri FROM reground.citation_evidence((SELECT max(message_id) FROM reground.messages));
SELECT title, quote FROM reground.citation_audit ORDER BY citation_id;
SELECT fact FROM reground.source_facts ORDER BY turn_id, fact_no;
SELECT status FROM reground.verify_chain('secret talk');
SELECT count(*) FROM reground.run_maintenance();
