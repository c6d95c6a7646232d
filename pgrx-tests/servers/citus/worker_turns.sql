-- A conversation over the distributed table, on the coordinator or on a worker.
SET client_min_messages = error;
SELECT reground.forget_conversation(conversation_ref) FROM reground.conversations \g /dev/null
SELECT marker, chunk_id, doc_id, title, content
FROM reground.begin_turn('c', 'What of w5 and w17?', corpus => 'spread', embedding => '[1,2,3,4,5,6,7,8]', settings => '{"vector_search": "exact"}');
SELECT marker, status, holds, score, quote FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'So it is [A1]. Others say so [B1], and d3 too [d3]. [Title 12]');
SELECT reground.pin('c', 'd20');
SELECT marker, chunk_id, doc_id, title, content
FROM reground.begin_turn('c', 'And w9?', embedding => '[8,7,6,5,4,3,2,1]', settings => '{"vector_search": "exact"}');
SELECT marker, status, holds, score, quote FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Here [A1], there [B1], and nowhere [Z9].');
SELECT citation_no, marker, status, source_state, score, quote FROM reground.citation_audit ORDER BY turn_no, citation_no;
SELECT candidate_no, chunk_id, origin, lexical_rank, vector_rank, dropped_stage FROM reground.turn_candidates ORDER BY turn_id, candidate_no;
