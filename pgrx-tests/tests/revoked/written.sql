INSERT INTO public.answers VALUES ('first', 'It is kept in zyzzyva hall [A1]. The zyzzyva guards are asleep at noon [A1]. The vault has 12 doors [A1].');
SELECT reground.alter_conversation('talk', '{"provenance": "merkle"}');
SELECT reground.begin_turn('talk', 'Where is the vault kept?', 'papers', request_id => 'first');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), (SELECT answer FROM public.answers), message_ref => 'first');
SELECT reground.put_gold_facts('gold', ARRAY['It is kept.']);
SELECT reground.evaluate_factuality((SELECT max(turn_id) FROM reground.turns), 'gold', 'splitter', 'checker');
SELECT reground.report_citation((SELECT min(citation_id) FROM reground.message_citations), 'the zyzzyva guards are awake', 'reader');
SELECT reground.pin('pinned', doc_id => 'plan', corpus => 'papers');
SELECT reground.begin_turn('open', 'Where is the vault kept?', 'papers', request_id => 'open');
SELECT reground.retrieve((SELECT max(turn_id) FROM reground.turns), 'the guards of the vault', 'papers');
SELECT reground.begin_turn('waiting', 'Where is the vault kept?', 'papers', request_id => 'waiting', settings => '{"reranker": "deferred"}');
SELECT reground.record_turn('imported', 'Where is it?', 'In a hall [1].', '[{"content": "It is in zyzzyva hall, a hall.", "doc_id": "plan", "chunk_id": "1", "title": "The zyzzyva plan"}]',
    message_ref => 'imported', corpus => 'papers');
SELECT reground.record_turn('imported', 'And the guards?', 'The zyzzyva guards [1].', '[{"content": "The zyzzyva guards are asleep.", "doc_id": "plan", "chunk_id": "1", "title": "The zyzzyva plan"}]',
    message_ref => 'imported again', corpus => 'papers');
SELECT reground.begin_turn('reuse', 'When are the guards of the vault asleep?', 'papers');
SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), (SELECT format('The zyzzyva guards are asleep at noon [%s].', marker) FROM reground.turn_sources((SELECT max(turn_id) FROM reground.turns)) WHERE doc_id = 'plan'));
