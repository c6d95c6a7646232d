-- The turns with their answers, in the form of turn.sql.
SELECT concat_ws(' ', 'begun', t.request_id, t.turn_id, md5(string_agg(concat_ws(' ', s.marker, s.doc_id, s.content), ';' ORDER BY s.marker)))
FROM reground.turns AS t CROSS JOIN LATERAL reground.turn_sources(t.turn_id) AS s GROUP BY t.turn_id;
SELECT concat_ws(' ', 'answered', t.request_id, t.turn_id, m.message_id, c.citation_id)
FROM reground.turns AS t JOIN reground.messages AS m USING (turn_id) JOIN reground.message_citations AS c USING (message_id);
