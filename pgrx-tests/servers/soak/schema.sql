-- An application with conversations, documents and two synchronised tables. Its own tables are the independent count: each transaction
-- that calls the extension also writes what it did there.
CREATE TABLE asked (turn_id bigint PRIMARY KEY, conversation text NOT NULL, imported boolean NOT NULL, links integer NOT NULL);
CREATE INDEX ON asked (conversation);
CREATE TABLE said (message_ref text PRIMARY KEY, turn_id bigint NOT NULL, conversation text NOT NULL, live boolean NOT NULL, superseded boolean NOT NULL DEFAULT false,
    citations integer NOT NULL, erased boolean NOT NULL DEFAULT false, counted boolean NOT NULL DEFAULT true);
CREATE INDEX ON said (conversation);
CREATE INDEX ON said (turn_id);
CREATE TABLE articles (id integer PRIMARY KEY, title text, body text);
CREATE TABLE notes (id integer PRIMARY KEY, body text);

CREATE FUNCTION body_of(seed integer) RETURNS text LANGUAGE sql IMMUTABLE RETURN (
    SELECT string_agg(format('Animal%s eats plant%s near place%s.', (seed * 7 + n) % 50, (seed * 3 + n * 5) % 60, (seed + n * 11) % 40), E'\n\n') FROM generate_series(0, seed % 5) AS n);
INSERT INTO articles SELECT n, 'Article ' || n, body_of(n) FROM generate_series(1, 300) AS n;
SELECT reground.create_corpus('read', settings => '{"provenance": "merkle"}');
SELECT reground.sync_table('read', 'articles', key => 'id', content => 'body', title => 'title');
SELECT reground.create_corpus('later');
SELECT reground.sync_table('later', 'notes', key => 'id', content => 'body', mode => 'queued');

-- The only error that the application expects: another session has erased the conversation.
CREATE FUNCTION ask(number integer, seed integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    turn bigint;
BEGIN
    -- forget_user does not erase a conversation that begins meanwhile, so which conversations it erased would not be known.
    PERFORM pg_advisory_xact_lock_shared(number % 7);
    SELECT turn_id INTO turn FROM reground.begin_turn('conv-' || number, format('What does animal%s eat near place%s?', seed % 50, seed % 40), 'read', user_ref => 'user-' || number % 7) LIMIT 1;
    INSERT INTO asked VALUES (turn, 'conv-' || number, false, 1);
    RETURN turn;
END $$;

CREATE FUNCTION answer(turn bigint, seed integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    of_turn asked;
    ref text := format('%s/%s', turn, gen_random_uuid());
BEGIN
    SELECT * INTO of_turn FROM asked WHERE turn_id = turn;
    IF NOT FOUND THEN RETURN; END IF;
    PERFORM reground.end_turn(turn, format('It eats plant%s [A1].%s', seed % 60, repeat(' It is often near the place [Z99].', seed % 3)), message_ref => ref, model => 'model-' || seed % 3);
    UPDATE said SET superseded = true WHERE turn_id = turn AND NOT superseded;
    INSERT INTO said VALUES (ref, turn, of_turn.conversation, true, false, 1 + seed % 3);
    UPDATE asked SET links = links + 1 WHERE turn_id = turn;
EXCEPTION WHEN no_data_found THEN NULL;
END $$;

CREATE FUNCTION abandon(turn bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM reground.abandon_turn(turn);
EXCEPTION WHEN no_data_found THEN NULL;
END $$;

CREATE FUNCTION import(number integer, seed integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    turns jsonb;
BEGIN
    SELECT jsonb_agg(jsonb_build_object('conversation_ref', 'old-' || (number + n) % 40, 'query', 'q', 'answer', 'It eats plants [1].', 'message_ref', gen_random_uuid(),
            'passages', jsonb_build_array(jsonb_build_object('content', body_of(seed + n))))) INTO turns
    FROM generate_series(1, 1 + seed % 5) AS n;
    WITH recorded AS MATERIALIZED (SELECT turns -> (element_no - 1) AS turn, turn_id FROM reground.record_turns(turns)),
         listed AS (INSERT INTO asked SELECT turn_id, turn ->> 'conversation_ref', true, 0 FROM recorded)
    INSERT INTO said SELECT turn ->> 'message_ref', turn_id, turn ->> 'conversation_ref', false, false, 1 FROM recorded;
END $$;

CREATE FUNCTION forget(number integer, kind integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    gone text[];
BEGIN
    CASE kind
        WHEN 0 THEN PERFORM reground.forget_conversation('conv-' || number); gone := ARRAY['conv-' || number];
        WHEN 1 THEN PERFORM reground.forget_conversation('old-' || number % 40); gone := ARRAY['old-' || number % 40];
        ELSE PERFORM pg_advisory_xact_lock(number % 7); PERFORM reground.forget_user('user-' || number % 7); gone := ARRAY(SELECT 'conv-' || n FROM generate_series(0, 60) AS n WHERE n % 7 = number % 7);
    END CASE;
    DELETE FROM asked WHERE conversation = ANY (gone);
    UPDATE said SET erased = true WHERE conversation = ANY (gone);
EXCEPTION WHEN no_data_found THEN NULL;
END $$;
