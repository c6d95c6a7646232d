-- The next calls of a restored database as tenant acme; they return the same rows as on the dumped database, with ids.
-- Each statement ends with its line.

-- The open turn is answered, the deferred one is reranked, the ended one gets another answer.
SELECT to_jsonb(e)::text FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns WHERE state = 'open'), 'Sheep give wool [A1].', message_ref => 'm3') AS e;
SELECT to_jsonb(e)::text FROM reground.apply_rerank((SELECT max(turn_id) FROM reground.turns WHERE state = 'deferred'), NULL) AS e;
SELECT to_jsonb(e)::text FROM reground.end_turn((SELECT min(turn_id) FROM reground.turns WHERE tenant = 'acme'), 'No [Z9].', message_ref => 'm4') AS e;

-- A repeated request returns its turn; a new turn gets the next id and keeps the markers.
SELECT to_jsonb(b)::text FROM reground.begin_turn('talk', 'and wool?', 'farm', '[0,1]', request_id => 'r2') AS b;
SELECT to_jsonb(b)::text FROM reground.begin_turn('talk', 'milk again', 'farm', '[1,0]') AS b;
SELECT (to_jsonb(c) - 'created_at')::text FROM reground.citation_audit AS c WHERE tenant = 'acme' ORDER BY citation_id;
SELECT to_jsonb(c)::text FROM reground.turn_candidates AS c ORDER BY turn_id, candidate_no;

-- The tables of the application are written and searched.
SELECT to_jsonb(p)::text FROM reground.put_document('farm', 'sheep', content => 'Sheep moo.') AS p;
SELECT to_jsonb(p)::text FROM reground.put_document('farm', 'dodo', content => 'Dodos are back.') AS p;
SELECT to_jsonb(s)::text FROM reground.search('articles', 'goats', '[1,0]') AS s;
SELECT to_jsonb(s)::text FROM reground.search('articles', NULL, '[0,1]', settings => '{"vector_search": "index"}') AS s;
SELECT to_jsonb(s)::text FROM reground.search('halves', 'half', '[0.5,0.5]') AS s;
SELECT to_jsonb(c)::text FROM reground.corpora AS r, reground.check_corpus(r.corpus) AS c WHERE r.tenant IS NULL OR r.tenant = 'acme' ORDER BY r.corpus_id;
SELECT (to_jsonb(c) - 'created_at')::text FROM reground.corpora AS c ORDER BY corpus_id;

-- The BM25 index returns its rows, accepts new ones, and has no problems. (The weight of removed rows depends on VACUUM.)
SELECT set_config('enable_seqscan', 'off', false);
SELECT id::text FROM articles ORDER BY body <@> reground.bm25_query('ziegen', 'articles_body') LIMIT 2;
SELECT id::text FROM articles WHERE lang = 'en' ORDER BY lower(body) <@> reground.bm25_query('GOATS', 'articles_lower') LIMIT 2;
INSERT INTO notes VALUES (61, 'a note that came after') RETURNING id::text;
SELECT string_agg(id::text, ' ' ORDER BY id) FROM notes WHERE body @@@ reground.bm25_query('late 7 came', 'notes');
SELECT name || ': ' || coalesce(string_agg(item || ' ' || problem, '; '), 'sound') FROM unnest(ARRAY['articles_body', 'articles_lower', 'notes_body']) AS name LEFT JOIN LATERAL reground.bm25_check(name::regclass, heapallindexed => true) AS c ON c.item <> 'server' GROUP BY name ORDER BY name;
SELECT reloptions::text FROM pg_class WHERE relname = 'articles_body';
SELECT set_config('enable_seqscan', 'on', false);

-- Maintenance keeps its settings and its runs.
SELECT concat_ws(' ', task, enabled, period, last_started_at) FROM reground.maintenance_status ORDER BY task;
SELECT to_jsonb(m)::text FROM reground.run_maintenance('check_coordinates') AS m;
SELECT max(run_id)::text FROM reground.maintenance_runs;
SELECT corpus || ' ' || passages || ' ' || faults FROM reground.coordinate_faults ORDER BY corpus;

-- The chains verify and continue after their checkpoints.
SELECT 'sound' FROM reground.verify_chain('chained') HAVING bool_and(status = 'ok') AND count(*) = 2;
SELECT to_jsonb(b)::text FROM reground.begin_turn('chained', 'and who moos?', 'farm', '[1,0]', settings => '{"provenance": "merkle"}') AS b;
SELECT (to_jsonb(v) - 'linked_at')::text FROM (VALUES ('talk'), ('chained')) AS c(name), reground.verify_chain(c.name) AS v ORDER BY c.name, v.tenant, v.link_no;
