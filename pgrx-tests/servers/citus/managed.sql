-- Each row is a difference between a managed corpus of the coordinator and a distributed one, after the same calls.
SET client_min_messages = error;
SET citus.shard_count = 4;

-- The rows of a query, with # for the name of the corpus, if they differ or there are none. Both run in one transaction, because its start is stored.
CREATE FUNCTION pg_temp.differ(query text) RETURNS TABLE (of_query text, one jsonb, other jsonb) LANGUAGE plpgsql AS $$
DECLARE
    found record;
BEGIN
    of_query := query;
    one := '[]';
    other := '[]';
    FOR found IN EXECUTE replace(query, '#', 'one') LOOP one := one || to_jsonb(found); END LOOP;
    FOR found IN EXECUTE replace(query, '#', 'many') LOOP other := other || to_jsonb(found); END LOOP;
    IF one <> other OR one = '[]' THEN RETURN NEXT; END IF;
END
$$;
CREATE FUNCTION pg_temp.text(n integer, v integer) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(format('# Part %s', k) || E'\n\n' || format('The w%s of %s is a w%s near the w%s%s.', (n * k) % 17, n, (n + k) % 13, k, CASE k WHEN 2 THEN ' in ' || v END), E'\n\n')
    FROM generate_series(1, 3 + n % 4) AS k
$$;
CREATE FUNCTION pg_temp.vector_of(hash text) RETURNS vector LANGUAGE sql AS $$ SELECT ARRAY[ascii(hash), ascii(substr(hash, 2)), ascii(substr(hash, 3))]::real[]::vector $$;
CREATE FUNCTION pg_temp.embed(of_corpus text) RETURNS integer LANGUAGE sql AS $$
    SELECT reground.put_embeddings(of_corpus, array_agg(chunk_id), array_agg(pg_temp.vector_of(content_hash)), content_hashes => array_agg(content_hash))
    FROM reground.pending_embeddings(of_corpus, 1000)
$$;
CREATE FUNCTION pg_temp.rows_differ(corpus text) RETURNS TABLE (of_query text, one jsonb, other jsonb) LANGUAGE sql AS $$
    SELECT d.* FROM unnest(ARRAY['SELECT * FROM "#" ORDER BY chunk_id', 
        -- Times in JSON are in the time zone of the server of the document.
        $q$WITH d AS MATERIALIZED (SELECT * FROM "#_documents" ORDER BY doc_id, version) SELECT to_jsonb(d) || jsonb_build_object('earlier_descriptions',
            (SELECT jsonb_agg(x || jsonb_build_object('until', (x ->> 'until')::timestamptz, 'published', (x ->> 'published')::timestamptz, 'modified_at', (x ->> 'modified_at')::timestamptz)) FROM jsonb_array_elements(d.earlier_descriptions) AS x)) AS document FROM d$q$,
        'SELECT * FROM "#_history" ORDER BY chunk_id, version',
        $q$SELECT to_jsonb(d) - 'corpus_id' AS document FROM reground.documents AS d JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus = '#' ORDER BY d.doc_id, d.version$q$]) AS q,
        pg_temp.differ(replace(q, '#', corpus)) AS d
$$;
CREATE FUNCTION pg_temp.searches_differ(corpus text, more text DEFAULT '') RETURNS TABLE (of_query text, one jsonb, other jsonb) LANGUAGE sql AS $$
    SELECT d.* FROM unnest(ARRAY['''w3 of 7''', '''w5 w9 part 2'', embedding => ''[60,70,50]''', 'embedding => ''[90,50,101]''']) AS query, pg_temp.differ(format($q$
        SELECT s.chunk_id, s.doc_id, s.title, s.locator, s.content, s.uri, s.published, s.metadata, s.lexical_rank, s.vector_rank, round(s.score::numeric, 9) AS score,
            round(s.lexical_score::numeric, 9) AS lexical_score, round(s.vector_distance::numeric, 9) AS distance
        FROM reground.search('%s', %s, max_results => 20%s) AS s$q$, corpus, query, more)) AS d
$$;

SELECT reground.create_corpus('one', dimensions => 3, chunk_size => 80, chunk_overlap => 20, chunk_unit => 'characters');
SELECT reground.create_corpus('many', dimensions => 3, chunk_size => 80, chunk_overlap => 20, chunk_unit => 'characters', distribute => true);
SELECT reground.create_corpus('many', dimensions => 3, chunk_size => 80, chunk_overlap => 20, chunk_unit => 'characters', distribute => true);
SELECT 'colocation', array_agg(t.table_name) FROM citus_tables AS t WHERE t.table_name::text ~ '^many' HAVING count(*) <> 3 OR count(DISTINCT t.colocation_id) <> 1;

-- New documents, vectors, unchanged documents, other descriptions, other texts, passages, deletions, and a document that returns.
SELECT * FROM pg_temp.differ($$SELECT n, p.* FROM generate_series(1, 30) AS n, reground.put_document('#', 'd' || n, content => pg_temp.text(n, 1), title => 'Title ' || n,
    uri => 'https://example.org/' || n, published => '2026-01-01', metadata => '{"a": 1}') AS p$$);
SELECT * FROM pg_temp.differ($$SELECT pg_temp.embed('#')$$);
SELECT * FROM pg_temp.rows_differ('#') WHERE of_query !~ 'history';
VACUUM one, many;
SELECT * FROM pg_temp.searches_differ('#');
SELECT clock_timestamp() AS first \gset
SELECT * FROM pg_temp.differ($$SELECT n, p.* FROM generate_series(1, 10) AS n, reground.put_document('#', 'd' || n, content => pg_temp.text(n, 1), title => 'Title ' || n, language => 'en',
    uri => 'https://example.org/of/' || n, published => '2026-01-02') AS p$$);
SELECT * FROM pg_temp.differ($$SELECT n, p.* FROM generate_series(4, 8) AS n, reground.put_document('#', 'd' || n, content => pg_temp.text(n, 1), title => 'Other title ' || n) AS p$$);
SELECT clock_timestamp() AS second \gset
SELECT * FROM pg_temp.differ($$SELECT n, p.* FROM generate_series(3, 30, 3) AS n, reground.put_document('#', 'd' || n, content => pg_temp.text(n, 2), title => 'Title ' || n) AS p$$);
SELECT * FROM pg_temp.differ($$SELECT p.* FROM reground.put_document('#', 'faq', title => 'Questions', passages => '[{"chunk_id": "q1", "content": "The w3 may serve.", "page_start": 1, "page_end": 2}, {"content": "The w5 may not.", "heading": "No"}]') AS p$$);
SELECT * FROM pg_temp.differ($$SELECT n, reground.delete_document('#', 'd' || n) FROM generate_series(7, 35, 7) AS n$$);
SELECT clock_timestamp() AS third \gset
SELECT * FROM pg_temp.differ($$SELECT p.* FROM reground.put_document('#', 'd7', content => pg_temp.text(7, 3), title => 'Title 7') AS p$$);
SELECT * FROM pg_temp.differ($$SELECT p.* FROM reground.put_document('#', 'd3', content => pg_temp.text(3, 1), title => 'Again') AS p$$);
SELECT * FROM pg_temp.rows_differ('#');
VACUUM one, many;
SELECT * FROM pg_temp.searches_differ('#');
SELECT * FROM pg_temp.differ($$SELECT * FROM reground.pending_embeddings('#', 1000)$$);
SELECT * FROM pg_temp.differ($$SELECT pg_temp.embed('#')$$);
VACUUM one, many;
SELECT * FROM pg_temp.searches_differ('#');
SELECT d.* FROM unnest(ARRAY[:'first', :'second', :'third']) AS t, pg_temp.searches_differ('#', format(', as_of => %L', t)) AS d;
SELECT * FROM pg_temp.searches_differ('#', format(', as_of => %L, filter => ''{"doc_id": ["d3", "d4", "d7"]}''', :'first'));

-- Turns, and citations of versions that are replaced.
SELECT * FROM pg_temp.differ($$SELECT t.marker, t.chunk_id, t.content FROM reground.begin_turn('#', 'What is the w3 of 7?', corpus => '#', embedding => '[60,70,50]') AS t$$);
SELECT * FROM pg_temp.differ($$SELECT e.marker, e.status, e.chunk_id, e.doc_id FROM reground.turns AS t JOIN reground.conversations AS v USING (conversation_id),
    reground.end_turn(t.turn_id, 'So it is [A1]. Others say so [B1], and d3 too [d3].') AS e WHERE v.conversation_ref = '#' AND t.turn_no = 1$$);
SELECT * FROM pg_temp.differ($$SELECT n, p.* FROM generate_series(1, 30) AS n, reground.put_document('#', 'd' || n, content => pg_temp.text(n, 4), title => 'Title ' || n) AS p$$);
VACUUM one, many;
SELECT * FROM pg_temp.differ($$SELECT t.marker, t.chunk_id, t.content FROM reground.begin_turn('#', 'And the w5?', corpus => '#') AS t$$);
SELECT * FROM pg_temp.differ($$SELECT reground.pin('#', 'd20')$$);
SELECT * FROM pg_temp.differ($$SELECT t.marker, t.chunk_id, t.content FROM reground.begin_turn('#', 'And the w9?', corpus => '#', as_of => $$ || quote_literal(:'third') || ') AS t');
SELECT * FROM pg_temp.differ($$SELECT c.turn_no, c.citation_no, c.marker, c.doc_id, c.chunk_id, c.title, c.status, c.holds, c.source_state, c.quote FROM reground.citation_audit AS c
    WHERE c.conversation_ref = '#' ORDER BY c.turn_no, c.citation_no$$);
SELECT * FROM pg_temp.differ($$SELECT reground.put_edges('#', '[{"source": "a", "relation": "near", "target": "b", "chunk_id": "1"}]')$$);
SELECT * FROM pg_temp.differ($$SELECT reground.delete_edges('#', entity => 'a')$$);

-- Checks.
SELECT 'coordinates', c.* FROM unnest('{one,many}'::text[]) AS corpus, reground.check_coordinates(corpus) AS c;
SELECT 'corpus', c.* FROM unnest('{one,many}'::text[]) AS corpus, reground.check_corpus(corpus) AS c WHERE c.status <> 'ok' AND c.item NOT IN ('vector index', 'embedding');

-- Versions that are removed.
SELECT reground.create_corpus(corpus || ' kept', keep_versions => 2, distribute => corpus = 'many') FROM unnest('{one,many}'::text[]) AS corpus;
SELECT * FROM pg_temp.differ($$SELECT p.* FROM reground.put_document('# kept', 'd1', content => pg_temp.text(1, 1)) AS p$$);
SELECT * FROM pg_temp.differ($$SELECT p.* FROM reground.put_document('# kept', 'd1', content => pg_temp.text(1, 2)) AS p$$);
SELECT * FROM pg_temp.differ($$SELECT p.* FROM reground.put_document('# kept', 'd1', content => pg_temp.text(1, 3)) AS p$$);
SELECT * FROM pg_temp.differ($$SELECT p.* FROM reground.put_document('# kept', 'd1', content => pg_temp.text(1, 4)) AS p$$);
SELECT * FROM pg_temp.rows_differ('# kept');
SELECT * FROM pg_temp.differ($$SELECT reground.delete_document('# kept', 'd1')$$);
SELECT * FROM pg_temp.rows_differ('# kept') WHERE of_query !~ 'kept" ORDER';

-- Tenants, readers, and a text search configuration for each document.
SELECT reground.create_corpus(corpus || ' of tenants', dimensions => 3, text_config_per_document => true, tenant_column => 'tenant', principals_column => 'readers', distribute => corpus = 'many')
FROM unnest('{one,many}'::text[]) AS corpus;
SET reground.tenant_from = 'reground.tenant';
SET reground.tenant = 't1';
SELECT * FROM pg_temp.differ($$SELECT n, p.* FROM generate_series(1, 12) AS n, reground.put_document('# of tenants', 'd' || n, content => pg_temp.text(n, 1) || ' Die Häuser.', title => 'Title ' || n,
    text_config => (ARRAY['german', 'english'])[1 + n % 2], principals => ARRAY['u' || n % 3]) AS p$$);
SET reground.tenant = 't2';
SELECT * FROM pg_temp.differ($$SELECT n, p.* FROM generate_series(13, 20) AS n, reground.put_document('# of tenants', 'd' || n, content => pg_temp.text(n, 1), principals => '{u1}') AS p$$);
SET reground.tenant = 't1';
SELECT * FROM pg_temp.differ($$SELECT n, p.* FROM generate_series(1, 12, 5) AS n, reground.put_document('# of tenants', 'd' || n, content => pg_temp.text(n, 2) || ' Die Häuser.', text_config => 'german', principals => '{u1,u2}') AS p$$);
SELECT * FROM pg_temp.differ($$SELECT p.* FROM reground.put_document('# of tenants', 'd2', content => pg_temp.text(2, 1) || ' Die Häuser.', title => 'Title 2', text_config => 'simple') AS p$$);
SET reground.principals_from = 'app.principals';
SET app.principals = '{u1}';
SELECT * FROM pg_temp.differ($$SELECT pg_temp.embed('# of tenants')$$);
VACUUM "one of tenants", "many of tenants";
SELECT * FROM pg_temp.searches_differ('# of tenants');
SELECT * FROM pg_temp.differ($$SELECT s.doc_id FROM reground.search('# of tenants', 'Haus') AS s$$);
SELECT * FROM pg_temp.searches_differ('# of tenants', format(', as_of => %L', clock_timestamp()));
RESET reground.principals_from;
SELECT * FROM pg_temp.rows_differ('# of tenants');
RESET reground.tenant;
RESET reground.tenant_from;

\ir managed_changes.sql
\ir managed_roles.sql
\ir hostile.sql
