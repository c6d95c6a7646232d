-- A turn of the application. What it was told is printed as soon as it is known.
SELECT turn_id, md5(string_agg(concat_ws(' ', marker, doc_id, content), ';' ORDER BY marker)) AS sources
FROM reground.begin_turn(:'conversation', format('What does animal%s eat?', :number % 50), 'help', request_id => :'request') GROUP BY turn_id \gset
\echo begun :request :turn_id :sources
-- The model writes.
SELECT pg_sleep(:pause) \g /dev/null
SELECT message_id, citation_id FROM reground.end_turn(:turn_id, format('It eats plant%s [A1].', :number % 60), message_ref => :'request') \gset
\echo answered :request :turn_id :message_id :citation_id
