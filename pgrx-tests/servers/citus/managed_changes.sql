-- Each row is a difference, as in managed.sql, which runs before it in the same session: changes of managed corpora, models, erasure, synchronised tables.

-- Changes.
SELECT * FROM pg_temp.differ($$SELECT reground.alter_corpus('#', title_weight => 5)$$);
VACUUM one, many;
SELECT * FROM pg_temp.searches_differ('#');
SELECT * FROM pg_temp.differ($$SELECT reground.alter_corpus('#', text_config => 'simple')$$);
VACUUM one, many;
SELECT * FROM pg_temp.searches_differ('#');
SELECT * FROM pg_temp.differ($$SELECT reground.alter_corpus('#', text_config_per_document => true)$$);
SELECT * FROM pg_temp.differ($$SELECT p.* FROM reground.put_document('#', 'd1', content => pg_temp.text(1, 5), text_config => 'german') AS p$$);
VACUUM one, many;
SELECT * FROM pg_temp.searches_differ('#');
SELECT * FROM pg_temp.rows_differ('#');

-- A model: tasks that are queued with a document, and another model with a column of its own.
SELECT reground.set_model(name, task => 'embed', api => 'local', api_model => 'small', dimensions => dimensions) FROM (VALUES ('first', 3), ('second', 4)) AS m(name, dimensions) \g /dev/null
CREATE FUNCTION pg_temp.work() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    done bigint := 0;
    task record;
BEGIN
    PERFORM reground.queue_embeddings();
    FOR task IN SELECT c.*, m.dimensions FROM reground.claim_tasks('worker', max_tasks => 1000) AS c JOIN reground.models AS m USING (model) LOOP
        PERFORM reground.complete_task(task.task_id, task.lease_token, jsonb_build_object('embedding', (SELECT jsonb_agg(length(task.request::text) % (k + 5)) FROM generate_series(1, task.dimensions) AS k)));
        done := done + 1;
    END LOOP;
    RETURN done;
END
$$;
SELECT * FROM pg_temp.differ($$SELECT reground.alter_corpus('#', embedding_model => 'first')$$);
SELECT reground.queue_embeddings() \g /dev/null
SELECT pg_temp.work() \g /dev/null
SELECT * FROM pg_temp.differ($$SELECT p.* FROM reground.put_document('#', 'd5', content => pg_temp.text(5, 6)) AS p$$);
SELECT pg_temp.work() \g /dev/null
SELECT * FROM pg_temp.differ($$SELECT chunk_id, embedding, heading FROM "#" ORDER BY chunk_id$$);
SELECT * FROM pg_temp.differ($$SELECT reground.alter_corpus('#', embedding_model => 'second')$$);
-- A model is switched when no row has changed meanwhile, as the statistics show it.
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT reground.queue_embeddings() \g /dev/null
SELECT pg_temp.work() \g /dev/null
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT reground.queue_embeddings() \g /dev/null
SELECT * FROM pg_temp.differ($$SELECT to_jsonb(p) AS passage FROM "#" AS p WHERE p.embedding_2 IS NOT NULL ORDER BY chunk_id$$);
SELECT 'models', corpus, embedding_model, dimensions FROM reground.corpora WHERE corpus IN ('one', 'many') AND (embedding_model, dimensions) IS DISTINCT FROM ('second', 4);
SELECT * FROM pg_temp.differ($$SELECT s.chunk_id, s.vector_rank FROM reground.search('#', embedding => '[1,2,3,4]') AS s$$);
SELECT * FROM pg_temp.rows_differ('#');

-- Maintenance, and erasure.
SELECT m.* FROM unnest('{check_coordinates,embeddings,embedding_records,sync_queue,resync}'::text[]) AS task, reground.run_maintenance(task) AS m WHERE m.error IS NOT NULL;
SELECT * FROM pg_temp.differ($$SELECT regexp_replace(f.relation::text, '^many|^one', '') AS relation, f.erased, f.redacted FROM reground.forget_document('#', 'd9') AS f ORDER BY 1$$);
SELECT * FROM pg_temp.rows_differ('#');
SELECT * FROM reground.forget_tenant('t2') \g /dev/null
SELECT * FROM pg_temp.rows_differ('# of tenants');

-- A synchronised table of the coordinator, and one that is distributed.
CREATE TABLE source (id integer PRIMARY KEY, title text, body text);
CREATE TABLE spread_source (LIKE source, PRIMARY KEY (id));
SELECT create_distributed_table('spread_source', 'id') \g /dev/null
INSERT INTO source SELECT n, 'Title ' || n, pg_temp.text(n, 1) FROM generate_series(1, 20) AS n;
SELECT reground.create_corpus(corpus || ' synced', distribute => corpus = 'many') FROM unnest('{one,many}'::text[]) AS corpus;
SELECT * FROM pg_temp.differ($$SELECT reground.sync_table('# synced', 'source', key => 'id', content => 'body', title => 'title')$$);
INSERT INTO source SELECT n, 'Title ' || n, pg_temp.text(n, 1) FROM generate_series(21, 40) AS n;
UPDATE source SET body = pg_temp.text(id, 2) WHERE id % 3 = 0;
UPDATE source SET title = 'Other ' || id WHERE id % 4 = 0;
DELETE FROM source WHERE id % 5 = 0;
SELECT * FROM pg_temp.rows_differ('# synced') WHERE of_query !~ 'history';
SELECT * FROM pg_temp.differ($$SELECT s.doc_id, s.chunk_id FROM reground.search('# synced', 'w3 of 7') AS s$$);
ALTER TABLE source DISABLE TRIGGER USER;
UPDATE source SET body = pg_temp.text(id, 3) WHERE id % 7 = 0;
ALTER TABLE source ENABLE TRIGGER USER;
SELECT * FROM pg_temp.differ($$SELECT reground.resync('# synced')$$);
SELECT * FROM pg_temp.rows_differ('# synced') WHERE of_query !~ 'history';
SELECT 'corpus', c.* FROM unnest('{one,many}'::text[]) AS corpus, reground.check_corpus(corpus || ' synced') AS c WHERE c.status <> 'ok' AND c.item <> 'embedding';

SELECT reground.drop_corpus(corpus || ' synced', drop_tables => true) FROM unnest('{one,many}'::text[]) AS corpus \g /dev/null
SELECT 'dropped', to_regclass('"many synced"') WHERE to_regclass('"many synced"') IS NOT NULL;
