-- forget_tenant erases the documents of a tenant in shared corpora, in all versions, and nothing of other tenants. Words with zyx belong
-- to the forgotten tenant.
CREATE SCHEMA forget_tenant;
SET search_path = forget_tenant, public;
SET client_min_messages = error;
SET reground.tenant_from = 'app.tenant';
CREATE FUNCTION holds(word text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    name text;
    found boolean;
BEGIN
    FOR name IN SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.relnamespace IN ('reground'::regnamespace, 'forget_tenant'::regnamespace) AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY c.oid::regclass::text COLLATE "C" LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s AS x WHERE position($1 IN to_jsonb(x)::text) > 0)', name) INTO found USING word;
        IF found THEN
            RETURN NEXT name;
        END IF;
    END LOOP;
END $$;
CREATE VIEW records AS
    SELECT (SELECT count(*) FROM reground.documents AS d WHERE d.corpus_id = c.corpus_id) AS versions, (SELECT count(*) FROM reground.passage_embeddings AS e WHERE e.corpus_id = c.corpus_id) AS embedded,
        (SELECT count(*) FROM reground.model_tasks AS t WHERE t.corpus_id = c.corpus_id) AS tasks, (SELECT count(*) FROM reground.edges AS e WHERE e.corpus_id = c.corpus_id) AS edges
    FROM reground.corpora AS c WHERE c.corpus = 'pumps';

SET app.tenant = 'acme';
SELECT reground.create_corpus('pumps', dimensions => 2, tenant_column => 'owner', schema => 'forget_tenant');
SELECT version FROM reground.put_document('pumps', 'kept', 'The kept pump needs oil.');
SET app.tenant = 'zyxbolt';
SELECT version FROM reground.put_document('pumps', 'zyxold', 'The zyxold pump needs water.', title => 'zyxtitle', uri => 'https://farm.example/zyxaddress');
SELECT version FROM reground.put_document('pumps', 'zyxold', 'The zyxnew pump needs water.');
SELECT version FROM reground.put_document('pumps', 'zyxgone', 'The zyxgone pump needs sand.');
SELECT reground.delete_document('pumps', 'zyxgone');
-- Vectors, tasks and edges of both tenants.
CREATE PROCEDURE describe() LANGUAGE plpgsql AS $$
BEGIN
    PERFORM reground.put_embeddings('pumps', array_agg(e.chunk_id), array_agg('[1,0]'::vector)) FROM reground.pending_embeddings('pumps') AS e;
    PERFORM reground.put_edges('pumps', jsonb_agg(jsonb_build_object('source', p.content, 'target', 'pump', 'chunk_id', p.chunk_id::text))) FROM forget_tenant.pumps AS p WHERE p.owner = reground.current_tenant();
    INSERT INTO reground.model_tasks (kind, model, corpus_id, subject) SELECT 'embed', 'some', c.corpus_id, p.chunk_id FROM reground.corpora AS c, forget_tenant.pumps AS p WHERE c.corpus = 'pumps' AND p.owner = reground.current_tenant();
END $$;
SELECT reground.set_model('some', task => 'embed', api => 'local', dimensions => 2);
CALL describe();
SET app.tenant = 'acme';
CALL describe();
SET app.tenant = 'zyxbolt';
SELECT marker FROM reground.begin_turn('zyxchat', 'What does the zyxnew pump need?', 'pumps');
CREATE TABLE notes (id text PRIMARY KEY, owner text, body text);
INSERT INTO notes VALUES ('zyxnote', 'zyxbolt', 'A zyxnote of bolt.'), ('empty', 'zyxbolt', NULL), ('note', 'acme', 'A note of acme.');
SELECT reground.create_corpus('notes corpus', tenant_column => 'owner', schema => 'forget_tenant', keep_versions => 2);
SELECT reground.sync_table('notes corpus', 'notes', key => 'id', content => 'body', tenant_column => 'owner');
CREATE TABLE theirs (id integer PRIMARY KEY, owner text, body text);
INSERT INTO theirs VALUES (1, 'zyxbolt', 'Of the application.');
SELECT reground.add_corpus('theirs', relation => 'theirs', chunk_id => 'id', content => 'body', tenant_column => 'owner');
SELECT * FROM holds('zyx');
TABLE records;

-- A row of a synchronised table would be stored again. Nothing is erased.
CREATE ROLE forget_tenant_admin IN ROLE reground_admin;
GRANT USAGE ON SCHEMA regress TO forget_tenant_admin;
SET ROLE forget_tenant_admin;
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_tenant('zyxbolt')$$);
RESET ROLE;
SELECT count(*) FROM holds('zyx');
UPDATE notes SET body = NULL WHERE id = 'zyxnote';
-- A policy that hides rows from the owner of the tables would leave them.
ALTER TABLE pumps ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE ROLE forget_tenant_owner;
GRANT USAGE ON SCHEMA forget_tenant, reground TO forget_tenant_owner;
ALTER TABLE pumps OWNER TO forget_tenant_owner;
ALTER TABLE pumps_documents OWNER TO forget_tenant_owner;
ALTER TABLE pumps_history OWNER TO forget_tenant_owner;
SET ROLE forget_tenant_admin;
SELECT state, message FROM regress.refusal($$SELECT * FROM reground.forget_tenant('zyxbolt')$$);
RESET ROLE;
ALTER TABLE pumps NO FORCE ROW LEVEL SECURITY;

-- As a role without privileges on the tables.
SET client_min_messages = notice;
SET ROLE forget_tenant_admin;
SELECT relation, erased, redacted FROM reground.forget_tenant('zyxbolt');
SELECT * FROM regress.refusal($$SELECT * FROM reground.forget_tenant('zyxbolt')$$);
RESET ROLE;
SET client_min_messages = error;
-- The rows of the application stay.
DELETE FROM notes WHERE owner = 'zyxbolt';
DELETE FROM theirs;
SELECT * FROM holds('zyx');
TABLE records;
SET app.tenant = 'acme';
SELECT content FROM reground.search('pumps', 'pump needs');
SELECT content FROM reground.search('notes corpus', 'note');
-- The id is free.
SELECT version FROM reground.put_document('pumps', 'zyxold', 'Another pump.');
SELECT reground.drop_corpus(c, drop_tables => c <> 'theirs') FROM unnest('{pumps,notes corpus,theirs}'::text[]) AS c;
SELECT reground.drop_model('some');
DROP OWNED BY forget_tenant_admin, forget_tenant_owner;
DROP ROLE forget_tenant_admin, forget_tenant_owner;
RESET reground.tenant_from;
