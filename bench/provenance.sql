-- What each level of provenance (setting provenance) adds to a turn: psql -X -f bench/provenance.sql, in a database of its own
-- that has the extension, built for release. 10,000 passages of 120 words with embeddings of 384 dimensions, all made up; the four
-- levels take turns, each in transactions of their own. Figures are the server's: milliseconds of the calls without COMMIT, and
-- bytes as they are stored.
\set ON_ERROR_STOP on
\if :{?rounds} \else \set rounds 150 \endif
SET client_min_messages = warning;
SELECT setseed(0.5);
CREATE SCHEMA bench;
SET search_path = bench, public;

CREATE FUNCTION words(count integer) RETURNS text LANGUAGE sql VOLATILE AS $$
    -- Frequent words are more frequent: the square of a number in [0, 1].
    SELECT string_agg('w' || (power(random(), 2) * 8000)::integer || CASE WHEN n % 14 = 0 THEN '.' ELSE '' END, ' ') || '.' FROM generate_series(1, count) AS n $$;
CREATE FUNCTION direction() RETURNS vector LANGUAGE sql VOLATILE AS $$ SELECT array_agg(random() - 0.5)::real[]::vector FROM generate_series(1, 384) $$;

SELECT reground.create_corpus('bench', dimensions => 384);
SELECT count(*) AS documents FROM generate_series(1, 1000) AS d,
    LATERAL reground.put_document('bench', 'd' || d, passages => (SELECT jsonb_agg(jsonb_build_object('text', words(120), 'page_start', n)) FROM generate_series(1, 10) AS n WHERE d > 0), title => 'Document ' || d);
UPDATE bench.bench SET embedding = direction() WHERE chunk_id > 0;
VACUUM ANALYZE bench.bench, bench.bench_documents;

CREATE TABLE timed (level text, round integer, begin_ms double precision, end_ms double precision, turn_id bigint);
CREATE PROCEDURE measure(rounds integer) LANGUAGE plpgsql AS $$
DECLARE
    levels text[] := ARRAY['metadata', 'hash', 'semantic', 'merkle'];
    level text; turn bigint; answer text; started timestamptz; between_ms double precision; question text; near vector; source record;
BEGIN
    FOR round IN 1..rounds LOOP
        SELECT left(content, 80), embedding INTO question, near FROM bench WHERE chunk_id = 1 + (round * 37) % 10000;
        FOR place IN 1..4 LOOP
            level := levels[1 + (place + round) % 4];
            answer := '';
            started := clock_timestamp();
            FOR source IN SELECT * FROM reground.begin_turn(level || ' ' || round / 5, question, 'bench', near, settings => jsonb_build_object('provenance', level)) LOOP
                turn := source.turn_id;
                answer := answer || split_part(source.content, '.', 1) || ' [' || source.marker || ']. ';
            END LOOP;
            between_ms := EXTRACT(epoch FROM clock_timestamp() - started) * 1000;
            COMMIT;
            started := clock_timestamp();
            PERFORM FROM reground.end_turn(turn, answer, model => 'bench');
            INSERT INTO timed VALUES (level, round, between_ms, EXTRACT(epoch FROM clock_timestamp() - started) * 1000, turn);
            COMMIT;
        END LOOP;
    END LOOP;
END $$;
CALL measure(10);
TRUNCATE timed;
CALL measure(:rounds);

-- Stored bytes of all rows of a turn, column by column.
CREATE FUNCTION stored(relation regclass, turn bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    sum text; bytes bigint;
BEGIN
    SELECT string_agg(format('coalesce(pg_column_size(%I), 0)', attname), ' + ') INTO sum FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped;
    EXECUTE format('SELECT coalesce(sum(%s + 28), 0) FROM %s WHERE turn_id = $1', sum, relation) INTO bytes USING turn;
    RETURN bytes;
END $$;

\echo 'Milliseconds'
SELECT t.level, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t.begin_ms)::numeric, 2) AS begin_p50, round(percentile_cont(0.95) WITHIN GROUP (ORDER BY t.begin_ms)::numeric, 2) AS begin_p95,
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t.end_ms)::numeric, 2) AS end_p50, round(percentile_cont(0.95) WITHIN GROUP (ORDER BY t.end_ms)::numeric, 2) AS end_p95,
    -- Of the same round, so that what a question costs is taken out.
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t.begin_ms + t.end_ms - m.begin_ms - m.end_ms)::numeric, 2) AS added_p50,
    round((percentile_cont(0.95) WITHIN GROUP (ORDER BY t.begin_ms + t.end_ms) - percentile_cont(0.95) WITHIN GROUP (ORDER BY m.begin_ms + m.end_ms))::numeric, 2) AS added_p95
FROM timed AS t JOIN timed AS m ON m.round = t.round AND m.level = 'metadata' GROUP BY t.level ORDER BY array_position(ARRAY['metadata', 'hash', 'semantic', 'merkle'], t.level);

\echo 'Bytes a turn'
SELECT t.level, round(avg(s.turns)) AS turns, round(avg(s.traces)) AS traces, round(avg(s.chain)) AS chain, round(avg(s.others)) AS answers_and_facts,
    round(avg(s.turns + s.traces + s.chain + s.others)) AS together,
    round(100 * (avg(s.turns + s.traces + s.chain + s.others) / min(avg(s.turns + s.traces + s.chain + s.others)) OVER () - 1), 1) AS added_per_cent
FROM timed AS t CROSS JOIN LATERAL (SELECT stored('reground.turns', t.turn_id) AS turns, stored('reground.turn_traces', t.turn_id) AS traces, stored('reground.provenance_chain', t.turn_id) AS chain,
    stored('reground.messages', t.turn_id) + stored('reground.message_citations', t.turn_id) + stored('reground.source_facts', t.turn_id) AS others) AS s
GROUP BY t.level ORDER BY array_position(ARRAY['metadata', 'hash', 'semantic', 'merkle'], t.level);
SELECT pg_size_pretty(pg_relation_size('reground.provenance_chain_pkey') / greatest(count(*), 1)) AS chain_index_a_link FROM reground.provenance_chain;

\echo 'Verification'
SELECT count(*) AS links, bool_and(v.status = 'ok') AS ok, round((EXTRACT(epoch FROM clock_timestamp() - statement_timestamp()) * 1000 / count(*))::numeric, 3) AS ms_a_link
FROM generate_series(0, :rounds / 5) AS n, LATERAL reground.verify_chain('merkle ' || n) AS v;
SELECT count(*) AS passages, count(*) FILTER (WHERE v.state = 'unchanged') AS unchanged, round((EXTRACT(epoch FROM clock_timestamp() - statement_timestamp()) * 1000 / count(DISTINCT t.turn_id))::numeric, 2) AS ms_a_turn
FROM (SELECT turn_id FROM timed WHERE level = 'hash' LIMIT 50) AS t, LATERAL reground.verify_turn(t.turn_id) AS v;

\echo 'Retention of all of it'
SELECT relation, rows, action FROM reground.run_retention(now() + interval '91 days');
SELECT count(*) AS archived, round(avg(pg_column_size(a.*))) AS bytes_a_row FROM reground.turn_archive AS a;
