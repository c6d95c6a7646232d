-- Objects of an application that depend on types, functions, views and tables of the extension.

CREATE SCHEMA app;
-- A column of each composite type, with a value.
DO $$
DECLARE
    type regtype;
BEGIN
    FOR type IN SELECT t.oid FROM pg_type AS t JOIN pg_class AS c ON c.oid = t.typrelid WHERE t.typnamespace = 'reground'::regnamespace AND c.relkind = 'c' LOOP
        EXECUTE format('CREATE TABLE app.%I (one %s, many %s[])', 'kept_' || split_part(type::text, '.', 2), type, type);
        EXECUTE format('INSERT INTO app.%I SELECT x, ARRAY[x, NULL] FROM jsonb_populate_record(NULL::%s, ''{}'') AS x', 'kept_' || split_part(type::text, '.', 2), type);
    END LOOP;
END
$$;
CREATE TABLE app.shown AS SELECT b AS source, now() AS shown_at FROM reground.begin_turn('application', 'who gives milk?', 'farm', '[1,0]') AS b;
CREATE TABLE app.typed OF reground.maintenance_result;

CREATE VIEW app.milk AS SELECT * FROM reground.search('farm', 'milk', '[1,0]');
CREATE VIEW app.shown_markers AS SELECT (source).marker, (source).content FROM app.shown;
CREATE VIEW app.audit AS SELECT * FROM reground.citation_audit;
CREATE VIEW app.verdicts AS SELECT c.status, s.meaning, count(*) FROM reground.message_citations AS c JOIN reground.citation_statuses AS s USING (status) GROUP BY 1, 2;
CREATE MATERIALIZED VIEW app.turns AS SELECT turn_id, query, context FROM reground.turns;

CREATE FUNCTION app.sources(source reground.turn_source) RETURNS text LANGUAGE sql IMMUTABLE RETURN (source).marker || ': ' || (source).content;
CREATE FUNCTION app.ask(question text) RETURNS SETOF reground.turn_source LANGUAGE sql
    BEGIN ATOMIC SELECT * FROM reground.begin_turn('application', question, 'farm', '[1,0]'); END;
CREATE FUNCTION app.shown() RETURNS SETOF reground.turn_source LANGUAGE plpgsql AS $$
DECLARE
    source reground.turn_source;
BEGIN
    FOR source IN SELECT (s.source).* FROM app.shown AS s LOOP
        RETURN NEXT source;
    END LOOP;
END
$$;
CREATE INDEX shown_sources ON app.shown (app.sources(source));
CREATE TABLE app.flags (citation_id bigint PRIMARY KEY REFERENCES reground.message_citations ON DELETE CASCADE, flag text);
INSERT INTO app.flags SELECT min(citation_id), 'é' FROM reground.message_citations;
GRANT SELECT ON reground.turns TO pg_monitor;
