-- NULL for each required argument of each function is refused, and nothing is written.
CREATE SCHEMA bad_input;
SET search_path = bad_input, public;
SET client_min_messages = error;
SELECT reground.create_corpus('bad', dimensions => 2);
SELECT version FROM reground.put_document('bad', 'd', content => 'Bread rises.');
SELECT count(*) AS rows FROM reground.begin_turn('bad-1', 'bread', 'bad', '[1,0]');
CREATE FUNCTION counts() RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    relation regclass;
    rows bigint;
    result jsonb := '{}';
BEGIN
    FOR relation IN SELECT oid FROM pg_class WHERE relnamespace = 'reground'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition LOOP
        EXECUTE format('SELECT count(*) FROM %s', relation) INTO rows;
        result := result || jsonb_build_object(relation::text, rows);
    END LOOP;
    RETURN result;
END
$$;
CREATE TEMPORARY TABLE before AS SELECT counts();
SELECT call, r.state, r.message FROM unnest(ARRAY[
    $$SELECT reground.create_corpus(NULL)$$,
    $$SELECT reground.create_corpus('n', schema => NULL)$$,
    $$SELECT reground.create_corpus('n', embedding_type => NULL)$$,
    $$SELECT reground.create_corpus('n', metric => NULL)$$,
    $$SELECT reground.create_corpus('n', text_config => NULL)$$,
    $$SELECT reground.create_corpus('n', chunk_size => NULL)$$,
    $$SELECT reground.create_corpus('n', chunk_overlap => NULL)$$,
    $$SELECT reground.create_corpus('n', chunk_unit => NULL)$$,
    $$SELECT reground.add_corpus(NULL, 'bad', 'chunk_id', 'content')$$,
    $$SELECT reground.add_corpus('n', NULL, 'chunk_id', 'content')$$,
    $$SELECT reground.add_corpus('n', 'bad', NULL, 'content')$$,
    $$SELECT reground.add_corpus('n', 'bad', 'chunk_id', NULL)$$,
    $$SELECT reground.add_corpus('n', 'bad', 'chunk_id', 'content', metric => NULL)$$,
    $$SELECT reground.alter_corpus(NULL)$$,
    $$SELECT reground.drop_corpus(NULL)$$,
    $$SELECT reground.drop_corpus('bad', NULL)$$,
    $$SELECT * FROM reground.check_corpus(NULL)$$,
    $$SELECT reground.put_document(NULL, 'd', 'x')$$,
    $$SELECT reground.put_document('bad', NULL, 'x')$$,
    $$SELECT reground.delete_document(NULL, 'd')$$,
    $$SELECT reground.delete_document('bad', NULL)$$,
    $$SELECT * FROM reground.pending_embeddings(NULL)$$,
    $$SELECT * FROM reground.pending_embeddings('bad', NULL)$$,
    $$SELECT reground.put_embeddings(NULL, '{1}', ARRAY['[1,0]']::vector[])$$,
    $$SELECT reground.put_embeddings('bad', NULL, ARRAY['[1,0]']::vector[])$$,
    $$SELECT reground.put_embeddings('bad', '{1}', NULL)$$,
    $$SELECT * FROM reground.search(NULL, 'x')$$,
    $$SELECT * FROM reground.search('bad', 'x', max_results => NULL)$$,
    $$SELECT * FROM reground.begin_turn(NULL, 'x', 'bad')$$,
    $$SELECT * FROM reground.begin_turn('c', NULL, 'bad')$$,
    $$SELECT * FROM reground.apply_rerank(NULL, '[]')$$,
    $$SELECT reground.prompt_context(NULL)$$,
    $$SELECT reground.prompt_context(1, NULL)$$,
    $$SELECT reground.citation_instructions(NULL)$$,
    $$SELECT reground.citation_instructions(turn_id => 0)$$,
    $$SELECT reground.citation_instructions(marker_style => 'a1')$$,
    $$SELECT * FROM reground.end_turn(NULL, 'x')$$,
    $$SELECT * FROM reground.end_turn(regress.turn('bad-1'), NULL)$$,
    $$SELECT reground.abandon_turn(NULL)$$,
    $$SELECT reground.pin(NULL, 'd')$$,
    $$SELECT reground.pin('c')$$,
    $$SELECT reground.unpin(NULL, 'd')$$,
    $$SELECT reground.alter_conversation(NULL, '{}')$$,
    $$SELECT reground.alter_conversation('c', NULL)$$]) WITH ORDINALITY AS u(call, i), regress.refusal(call) AS r ORDER BY i;
-- This function accepts NULL and returns no row.
SELECT count(*) FROM reground.explain_turn(NULL);
SELECT counts() = (SELECT counts FROM before) AS nothing_left_behind;

-- Empty and unusual text.
SELECT call, r.state, r.message FROM unnest(ARRAY[
    $$SELECT reground.put_document('', 'd', 'x')$$,
    $$SELECT * FROM reground.search('', 'x')$$,
    $$SELECT * FROM reground.begin_turn('c', '', 'bad')$$,
    $$SELECT * FROM reground.begin_turn('c', 'x', '')$$,
    $$SELECT * FROM reground.begin_turn('c', 'x', 'bad', '[1,2,3]')$$,
    $$SELECT * FROM reground.begin_turn('c', 'x', 'bad', '[]')$$,
    $$SELECT * FROM reground.begin_turn('c', 'x', 'bad', tags => '[]')$$,
    $$SELECT * FROM reground.begin_turn('c', 'x', 'bad', settings => '[]')$$,
    $$SELECT * FROM reground.begin_turn('c', convert_from('\xff', 'UTF8'), 'bad')$$,
    $$SELECT * FROM reground.end_turn(regress.turn('bad-1'), convert_from('\xc328', 'UTF8'))$$,
    $$SELECT reground.put_document('bad', 'd', passages => '[1]')$$,
    $$SELECT reground.put_document('bad', 'd', passages => '[{"content": 1}]')$$,
    $$SELECT reground.put_document('bad', 'd', passages => '[{"content": "x", "char_start": 5, "char_end": 2}]')$$,
    $$SELECT reground.put_document('bad', 'd', passages => '[{"content": "x", "page_start": -1}]')$$,
    $$SELECT reground.put_document('bad', 'd', passages => '[{"content": "x", "page_start": 99999999999}]')$$,
    $$SELECT * FROM reground.end_turn(regress.turn('bad-1'), 'x', tags => '1')$$]) WITH ORDINALITY AS u(call, i), regress.refusal(call) AS r ORDER BY i;
SELECT counts() = (SELECT counts FROM before) AS nothing_left_behind;
SELECT current_user = session_user AS same_user, current_setting('search_path') AS search_path;
SELECT reground.drop_corpus('bad', true);
