-- Each row is a difference, as in managed.sql, which runs before it in the same session: a corpus that belongs to a role, with halfvec, and a reader of
-- it.
GRANT CREATE, USAGE ON SCHEMA public TO writer;
SET ROLE writer;
SELECT reground.create_corpus('role ' || corpus, dimensions => 3, embedding_type => 'halfvec', chunk_size => 80, chunk_overlap => 20, chunk_unit => 'characters', distribute => corpus = 'many')
FROM unnest('{one,many}'::text[]) AS corpus;
SELECT * FROM pg_temp.differ($$SELECT n, p.* FROM generate_series(1, 12) AS n, reground.put_document('role #', 'd' || n, content => pg_temp.text(n, 1), title => 'Title ' || n) AS p$$);
SELECT * FROM pg_temp.differ($$SELECT reground.put_embeddings('role #', array_agg(chunk_id), array_agg(pg_temp.vector_of(content_hash)), content_hashes => array_agg(content_hash)) FROM reground.pending_embeddings('role #', 1000)$$);
SELECT * FROM pg_temp.differ($$SELECT n, p.* FROM generate_series(1, 12, 3) AS n, reground.put_document('role #', 'd' || n, content => pg_temp.text(n, 2), title => 'Other ' || n) AS p$$);
SELECT * FROM pg_temp.rows_differ('role #');
VACUUM "role one", "role many";
SELECT * FROM pg_temp.searches_differ('role #');
GRANT SELECT ON "role one", "role one_documents", "role one_history", "role many", "role many_documents", "role many_history" TO reader;
SET ROLE reader;
SELECT * FROM pg_temp.searches_differ('role #');
SELECT * FROM pg_temp.differ($$SELECT t.marker, t.chunk_id, t.content FROM reground.begin_turn('role #', 'What is the w3 of 7?', corpus => 'role #') AS t$$);
SET ROLE writer;
SELECT * FROM pg_temp.differ($$SELECT reground.delete_document('role #', 'd1')$$);
SELECT * FROM pg_temp.rows_differ('role #');
RESET ROLE;
