-- Each row is a difference, as in managed.sql, which runs before it in the same session: a corpus that belongs to a role, with halfvec, and a reader of
-- it.
GRANT CREATE, USAGE ON SCHEMA public TO writer;
SET ROLE writer;
-- create_corpus gives the shards their indexes nevertheless.
SET citus.enable_ddl_propagation = off;
SELECT reground.create_corpus(corpus || ' of a role, so long that Citus shortens names', dimensions => 3, embedding_type => 'halfvec', chunk_size => 80, chunk_overlap => 20, chunk_unit => 'characters', distribute => corpus = 'many')
FROM unnest('{one,many}'::text[]) AS corpus;
RESET citus.enable_ddl_propagation;
SELECT * FROM pg_temp.differ($$SELECT n, p.* FROM generate_series(1, 12) AS n, reground.put_document('# of a role, so long that Citus shortens names', 'd' || n, content => pg_temp.text(n, 1), title => 'Title ' || n) AS p$$);
SELECT * FROM pg_temp.differ($$SELECT reground.put_embeddings('# of a role, so long that Citus shortens names', array_agg(chunk_id), array_agg(pg_temp.vector_of(content_hash)), content_hashes => array_agg(content_hash)) FROM reground.pending_embeddings('# of a role, so long that Citus shortens names', 1000)$$);
SELECT * FROM pg_temp.differ($$SELECT n, p.* FROM generate_series(1, 12, 3) AS n, reground.put_document('# of a role, so long that Citus shortens names', 'd' || n, content => pg_temp.text(n, 2), title => 'Other ' || n) AS p$$);
SELECT * FROM pg_temp.rows_differ('# of a role, so long that Citus shortens names');
VACUUM "one of a role, so long that Citus shortens names", "many of a role, so long that Citus shortens names";
SELECT * FROM pg_temp.searches_differ('# of a role, so long that Citus shortens names');
GRANT SELECT ON "one of a role, so long that Citus shortens names", "one of a role, so long that Citus shortens names_documents", "one of a role, so long that Citus shortens names_history", "many of a role, so long that Citus shortens names", "many of a role, so long that Citus shortens names_documents", "many of a role, so long that Citus shortens names_history" TO reader;
SET ROLE reader;
SELECT * FROM pg_temp.searches_differ('# of a role, so long that Citus shortens names');
SELECT * FROM pg_temp.differ($$SELECT t.marker, t.chunk_id, t.content FROM reground.begin_turn('# of a role, so long that Citus shortens names', 'What is the w3 of 7?', corpus => '# of a role, so long that Citus shortens names') AS t$$);
SET ROLE writer;
SELECT * FROM pg_temp.differ($$SELECT reground.delete_document('# of a role, so long that Citus shortens names', 'd1')$$);
SELECT * FROM pg_temp.rows_differ('# of a role, so long that Citus shortens names');
RESET ROLE;
