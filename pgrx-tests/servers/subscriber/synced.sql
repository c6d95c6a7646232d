-- Synchronised corpora of the subscriber: of the copied rows, and in each mode of a table that it writes itself.
SELECT reground.create_corpus('synced', dimensions => 2, chunk_size => 2000), reground.create_corpus('notes_now', dimensions => 2), reground.create_corpus('notes_later', dimensions => 2);
CREATE TABLE notes (id integer PRIMARY KEY, title text, body text);
SELECT reground.sync_table('synced', 'articles', key => 'id', content => 'body', title => 'title');
SELECT reground.sync_table('notes_now', 'notes', key => 'id', content => 'body', title => 'title'), reground.sync_table('notes_later', 'notes', key => 'id', content => 'body', title => 'title', mode => 'queued');

-- The vector of a text, so that one of another text is recognised.
CREATE FUNCTION vector_of(text) RETURNS vector LANGUAGE sql IMMUTABLE AS $$ SELECT format('[1,%s]', hashtext($1) % 10000)::vector $$;
CREATE FUNCTION embed(corpus text, most integer) RETURNS integer LANGUAGE sql AS $$
    SELECT reground.put_embeddings($1, array_agg(e.chunk_id), array_agg(vector_of(e.content)), content_hashes => array_agg(e.content_hash)) FROM reground.pending_embeddings($1, $2) AS e HAVING count(*) > 0
$$;

-- Counts the rows of a table that are no document or passage of its corpus, the passages without a vector of their text that are not
-- pending, and the converse.
CREATE FUNCTION difference(corpus text, source text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    result bigint;
BEGIN
    EXECUTE format($query$
        WITH wanted AS (SELECT id::text AS doc_id, title, body FROM %2$I WHERE body IS NOT NULL),
            documents AS (SELECT doc_id, title, content FROM %3$I WHERE replaced_at IS NULL),
            passages AS (SELECT doc_id, heading, content FROM %1$I),
            without_vector AS (SELECT chunk_id::text, concat_ws(E'\n', heading, content) FROM %1$I WHERE embedding IS NULL OR embedding <> vector_of(concat_ws(E'\n', heading, content))),
            pending AS (SELECT chunk_id, content FROM reground.pending_embeddings(%1$L, 1000000))
        SELECT count(*) FROM ((TABLE wanted EXCEPT ALL TABLE documents) UNION ALL (TABLE documents EXCEPT ALL TABLE wanted)
            UNION ALL (TABLE wanted EXCEPT ALL TABLE passages) UNION ALL (TABLE passages EXCEPT ALL TABLE wanted)
            UNION ALL (SELECT chunk_id, concat_ws, NULL FROM (TABLE without_vector EXCEPT ALL TABLE pending) AS p)
            UNION ALL (SELECT chunk_id, content, NULL FROM (TABLE pending EXCEPT ALL TABLE without_vector) AS p)) AS d
    $query$, corpus, source, corpus || '_documents') INTO result;
    RETURN result;
END
$$;
