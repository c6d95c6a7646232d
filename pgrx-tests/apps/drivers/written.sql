-- The citations of all answers in force, in the format that the drivers print.
SELECT v.tenant, v.conversation_ref, t.turn_id, c.raw, c.status, s.holds, to_char(coalesce(c.support, 0), 'FM0.0000')
FROM reground.message_citations AS c
JOIN reground.messages AS m ON m.message_id = c.message_id
JOIN reground.turns AS t ON t.turn_id = m.turn_id
JOIN reground.conversations AS v ON v.conversation_id = t.conversation_id
JOIN reground.citation_statuses AS s ON s.status = c.status
WHERE NOT m.superseded AND t.state = 'ended' AND starts_with(v.conversation_ref, :'name')
ORDER BY 1, 2, 3, c.citation_no;
