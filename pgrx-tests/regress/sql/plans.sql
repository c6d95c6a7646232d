-- A session that uses more corpora than its statement cache holds works as before, also within one call.
\c -
CREATE SCHEMA plans;
SET search_path = plans, public;
SET client_min_messages = error;
CREATE FUNCTION herd(number integer) RETURNS text LANGUAGE sql AS $$ SELECT 'herd_' || number $$;
DO $$
BEGIN
    FOR number IN 1..400 LOOP
        EXECUTE format('CREATE TABLE %I (id integer PRIMARY KEY, body text NOT NULL)', plans.herd(number));
        EXECUTE format('INSERT INTO %I VALUES (1, %L), (2, %L)', plans.herd(number), 'Cow ' || number || ' gives milk.', 'Sheep give wool.');
        PERFORM reground.add_corpus(plans.herd(number), plans.herd(number)::regclass, 'id', 'body');
    END LOOP;
END
$$;
-- At least two statements per corpus; the cache holds about five hundred.
CREATE FUNCTION ask_all() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM generate_series(1, 400) AS number, LATERAL reground.search(plans.herd(number), 'milk') AS s WHERE s.content = 'Cow ' || number || ' gives milk.'
$$;
SELECT ask_all();
SELECT ask_all();
-- The same inside a reranker, whose own statement is in the cache.
CREATE FUNCTION distracted(query text, passages text[]) RETURNS real[] LANGUAGE sql
    AS $$ SELECT array_agg((p LIKE '%milk%')::integer + ask_all()::real / 1000 ORDER BY i) FROM unnest(passages) WITH ORDINALITY AS u(p, i) $$;
SELECT content, round(score::numeric, 3) AS score FROM reground.begin_turn('plans', 'milk and wool', 'herd_7', settings => '{"reranker": "plans.distracted"}');
SELECT marker, status FROM reground.end_turn(regress.turn('plans'), 'Cow 7 gives milk [A1]. Sheep give wool [B1].');
-- A cached statement is planned again after its relation changes.
SELECT content FROM reground.search('herd_7', 'wool');
ALTER TABLE herd_7 ALTER COLUMN id TYPE bigint;
SELECT content, chunk_id FROM reground.search('herd_7', 'wool');
SELECT count(reground.drop_corpus(herd(number))) FROM generate_series(1, 400) AS number;
