-- Rows that belong to tenants and principals: each read returns those of the caller only, without a filter.
CREATE SCHEMA tenant_columns;
SET search_path = tenant_columns, public;
SET client_min_messages = error;
SET reground.tenant_from = 'app.tenant';

-- A managed corpus. The functions fill and compare the column.
SET app.tenant = 'acme';
SELECT reground.create_corpus('kb', dimensions => 2, tenant_column => 'owner', principals_column => 'readers');
SELECT reground.create_corpus('kb', dimensions => 2, tenant_column => 'owner', principals_column => 'readers');
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('kb', dimensions => 2, tenant_column => 'owner')$$);
SELECT item, status, detail, hint FROM reground.check_corpus('kb') WHERE item IN ('tenant_column', 'principals_column') ORDER BY item;
SELECT item, status, hint FROM reground.check_corpus('kb') WHERE status = 'error';
SET reground.principals_from = 'app.principals';
SELECT reground.current_principals();
SET app.principals = '{user:1,"group 2"}';
SELECT reground.current_principals();
SELECT item, status, detail, hint FROM reground.check_corpus('kb') WHERE item IN ('tenant_column', 'principals_column') ORDER BY item;
SELECT version, added FROM reground.put_document('kb', 'a1', 'The acme pump needs oil every year.', title => 'Acme pump', principals => '{user:1}');
SELECT version, added FROM reground.put_document('kb', 'a2', 'The acme pump needs water every day.', title => 'Acme water', principals => '{user:2}');
SELECT version, added FROM reground.put_document('kb', 'a3', 'The acme pump needs sand every week.', title => 'Acme sand', principals => '{}');
SET app.tenant = 'bolt';
SELECT version, added FROM reground.put_document('kb', 'b1', 'The bolt pump needs grease every month.', title => 'Bolt pump', principals => '{user:1}');
SELECT doc_id, owner, readers FROM kb ORDER BY doc_id;
SELECT doc_id, owner, readers FROM kb_documents ORDER BY doc_id;

-- Each branch, and the vectors.
SELECT reground.put_embeddings('kb', (SELECT array_agg(chunk_id::text ORDER BY chunk_id) FROM kb), ARRAY['[1,0]', '[1,0]', '[1,0]', '[1,0]']::vector[]) AS stored_by_bolt;
SET app.tenant = 'acme';
SELECT doc_id FROM reground.pending_embeddings('kb') ORDER BY doc_id;
SELECT reground.put_embeddings('kb', (SELECT array_agg(chunk_id::text ORDER BY chunk_id) FROM kb), ARRAY['[1,0]', '[1,0]', '[1,0]', '[1,0]']::vector[]) AS stored_by_acme;
SELECT doc_id FROM reground.search('kb', 'pump needs') ORDER BY doc_id;
SELECT doc_id FROM reground.search('kb', 'pump needs', settings => '{"lexical_search": "exact"}') ORDER BY doc_id;
SELECT doc_id FROM reground.search('kb', NULL, '[1,0]') ORDER BY doc_id;
SELECT doc_id FROM reground.search('kb', 'pump needs', '[1,0]', settings => '{"vector_search": "index"}') ORDER BY doc_id;
SET app.principals = '{user:1,user:2}';
SELECT doc_id FROM reground.search('kb', 'pump needs', '[1,0]') ORDER BY doc_id;
SET app.principals = '{}';
SELECT doc_id FROM reground.search('kb', 'pump needs', '[1,0]') ORDER BY doc_id;
SET app.principals = '';
SELECT doc_id FROM reground.search('kb', 'pump needs', '[1,0]') ORDER BY doc_id;
SET app.principals = 'user:1';
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('kb', 'pump needs')$$);
SELECT * FROM regress.refusal($$SELECT reground.current_principals()$$);
SET app.principals = '{user:1}';
SET app.tenant = '';
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('kb', 'pump needs')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.put_document('kb', 'x', 'No tenant.')$$);
SET app.tenant = 'bolt';
SELECT doc_id FROM reground.search('kb', 'pump needs', '[1,0]') ORDER BY doc_id;

-- A second turn without a filter, and a citation of a document of the other tenant.
SELECT marker, doc_id FROM reground.begin_turn('chat', 'What does the pump need?', 'kb', '[1,0]', filter => '{"doc_id": ["a1", "b1"]}');
SELECT chunk_id IS NOT NULL AS cited FROM reground.end_turn(regress.turn('chat'), 'Grease every month [A1]. See also "Acme pump".');
SELECT marker, doc_id FROM reground.begin_turn('chat', 'And what else does the acme pump need, oil or water?', 'kb', '[1,0]');
SELECT doc_id FROM reground.check_coordinates('kb');

-- Writes touch the rows of the tenant only.
SELECT * FROM regress.refusal($$SELECT * FROM reground.put_document('kb', 'a1', 'Stolen.')$$);
SELECT reground.delete_document('kb', 'a1') AS deleted;
SELECT * FROM reground.forget_document('kb', 'a1');
SELECT * FROM regress.refusal(format('SELECT * FROM reground.put_edges(%L, %L)', 'kb',
    jsonb_build_array(jsonb_build_object('source', 'Acme', 'target', 'Oil', 'chunk_id', (SELECT chunk_id::text FROM kb WHERE doc_id = 'a1')))));
SELECT * FROM reground.put_edges('kb', jsonb_build_array(jsonb_build_object('source', 'Bolt', 'target', 'Grease',
    'chunk_id', (SELECT chunk_id::text FROM kb WHERE doc_id = 'b1'))));
-- The graph: strong edges of the other tenant, more than are read, do not displace a weak one, and their names do not hide a name.
SET app.tenant = 'acme';
SELECT * FROM reground.put_edges('kb', (SELECT jsonb_agg(jsonb_build_object('source', 'Bolt', 'relation', n::text, 'target', 'Bolt Pump', 'weight', 9, 'chunk_id', k.chunk_id::text))
    FROM kb AS k, generate_series(1, 250) AS n WHERE k.doc_id = 'a1'));
SET app.tenant = 'bolt';
SELECT count(*) FROM reground.begin_turn('graph', 'Is there a bolt pump?', 'kb', '[1,0]', settings => '{"graph": true}');
SELECT count(*) FROM reground.end_turn(regress.turn('graph'), 'There is a bolt pump [A1].');
SELECT count(*) FROM reground.begin_turn('graph', 'And what does the bolt pump need?', settings => '{"graph": true, "candidates": 1}');
SELECT query_expansion -> 'entities' AS entities FROM reground.turns WHERE turn_id = regress.turn('graph');
SELECT doc_id, graph_rank FROM reground.explain_turn(regress.turn('graph'));
SELECT reground.abandon_turn(regress.turn('graph'));
SET app.tenant = 'acme';
SELECT reground.delete_edges('kb', everything => true) AS own;
SELECT reground.delete_edges('kb', everything => true) AS of_the_other_tenant;
SELECT count(*) FROM kb WHERE doc_id = 'a1' AND content LIKE 'The acme%';

-- Earlier versions: a permission that is withdrawn covers them too.
SELECT indexed_at AS before FROM kb_documents WHERE doc_id = 'a1' \gset
SELECT version, added, removed FROM reground.put_document('kb', 'a1', 'The acme pump needs nothing.', title => 'Acme pump', principals => '{user:1}');
SELECT content FROM reground.search('kb', 'pump needs oil', as_of => :'before') ORDER BY 1;
SET app.tenant = 'bolt';
SELECT content FROM reground.search('kb', 'pump needs oil', as_of => :'before') ORDER BY 1;
SET app.tenant = 'acme';
SELECT version, changed FROM reground.put_document('kb', 'a1', 'The acme pump needs nothing.', title => 'Acme pump', principals => '{user:3}');
SELECT content FROM reground.search('kb', 'pump needs oil', as_of => :'before') ORDER BY 1;
SELECT content FROM reground.search('kb', 'pump needs oil') ORDER BY 1;
SELECT version, owner, readers FROM kb_history ORDER BY 1;
SET app.principals = '';
SELECT * FROM regress.refusal($$SELECT * FROM reground.put_document('kb', 'a1', 'Text.', principals => ARRAY[NULL])$$);
SELECT reground.delete_document('kb', 'a2') AS deleted;
-- The id of a deleted document stays with its tenant.
SET app.tenant = 'bolt';
SELECT * FROM regress.refusal($$SELECT * FROM reground.put_document('kb', 'a2', 'Taken over.')$$);
SET app.principals = '{user:1}';
-- Columns stay mapped when the tables are rebuilt.
SELECT reground.alter_corpus('kb', text_config => 'simple', title_weight => 3);
SELECT doc_id FROM reground.search('kb', 'pump needs') ORDER BY doc_id;
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('kb', mapping => '{"tenant_column": null}')$$);
-- A new document needs principals, because otherwise nobody could read it. They stay if an update does not name them.
SELECT * FROM regress.refusal($$SELECT * FROM reground.put_document('kb', 'a4', 'The acme pump needs air.')$$);
SELECT version, added FROM reground.put_document('kb', 'a4', 'The acme pump needs air.', principals => '{user:1}');
SELECT version, changed FROM reground.put_document('kb', 'a4', 'The acme pump needs air.', title => 'Acme air');
SELECT version, changed FROM reground.put_document('kb', 'a4', 'The acme pump needs clean air.');
SELECT reground.delete_document('kb', 'a4');
SELECT version, changed FROM reground.put_document('kb', 'a4', 'The acme pump needs no air.');
SELECT version, readers FROM kb_documents WHERE doc_id = 'a4' ORDER BY version;
SELECT version, readers FROM kb_history WHERE doc_id = 'a4' ORDER BY version;
SET app.principals = '{user:1}';
SELECT content FROM reground.search('kb', 'clean air');
SELECT version, changed FROM reground.put_document('kb', 'a4', 'The acme pump needs no air.', principals => '{}');
SELECT content FROM reground.search('kb', 'clean air');
SELECT reground.drop_corpus('kb', drop_tables => true);

-- Tables of the application, with tenants of each type. A tenant that the type cannot parse has no row.
CREATE FUNCTION visible(kind text, tenants text[]) RETURNS TABLE (tenant text, ids text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM reground.add_corpus('typed', relation => 'typed', chunk_id => 'id', content => 'body', tenant_column => 'owner');
    FOREACH tenant IN ARRAY tenants LOOP
        PERFORM set_config('app.tenant', tenant, false);
        SELECT string_agg(s.chunk_id, ' ' ORDER BY s.chunk_id) INTO ids FROM reground.search('typed', 'water') AS s;
        RETURN NEXT;
    END LOOP;
    PERFORM reground.drop_corpus('typed');
END $$;
CREATE TABLE typed (id integer PRIMARY KEY, owner integer, body text);
INSERT INTO typed VALUES (1, 7, 'water one'), (2, 8, 'water two'), (3, NULL, 'water three');
SELECT * FROM visible('integer', '{7,8,07,+7,7.0,seven,99999999999999999999,2147483648}');
ALTER TABLE typed ALTER COLUMN owner TYPE smallint;
SELECT * FROM visible('smallint', '{7,70000}');
ALTER TABLE typed ALTER COLUMN owner TYPE uuid USING lpad(owner::text, 32, '0')::uuid;
SELECT * FROM visible('uuid', '{00000000-0000-0000-0000-000000000007,00000000000000000000000000000007,7}');
ALTER TABLE typed ALTER COLUMN owner TYPE varchar(40) USING right(owner::text, 1);
SELECT * FROM visible('varchar', '{7,8,9}');
ALTER TABLE typed ALTER COLUMN owner TYPE name;
SELECT * FROM visible('name', '{7,8,9}');
ALTER TABLE typed ALTER COLUMN owner TYPE date USING '2026-01-01';
SELECT * FROM regress.refusal($$SELECT visible('date', '{7}')$$);
-- A column whose type has changed hides all rows.
ALTER TABLE typed ALTER COLUMN owner TYPE text USING '7';
SELECT reground.add_corpus('typed', relation => 'typed', chunk_id => 'id', content => 'body');
SELECT reground.alter_corpus('typed', mapping => '{"tenant_column": "owner"}');
SELECT item, status, detail, hint FROM reground.check_corpus('typed') WHERE item = 'tenant_column';
SET app.tenant = '7';
SELECT count(*) FROM reground.search('typed', 'water');
ALTER TABLE typed ALTER COLUMN owner TYPE jsonb USING '"7"';
SELECT count(*) FROM reground.search('typed', 'water');
SELECT item, status, detail, hint FROM reground.check_corpus('typed') WHERE item = 'tenant_column';
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('typed', mapping => '{"principals_column": "body"}')$$);
SELECT reground.drop_corpus('typed');

-- By a nondeterministic collation, two tenants or principals could be equal.
-- This also works in a build without ICU.
CREATE COLLATION loose (provider = libc, locale = 'C');
UPDATE pg_collation SET collisdeterministic = false WHERE collname = 'loose';
CREATE TABLE loosely (id integer PRIMARY KEY, owner varchar COLLATE loose, readers text[] COLLATE loose, body text);
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('loosely', relation => 'loosely', chunk_id => 'id', content => 'body', tenant_column => 'owner')$$);
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('loosely', relation => 'loosely', chunk_id => 'id', content => 'body', principals_column => 'readers')$$);
SELECT reground.add_corpus('loosely', relation => 'loosely', chunk_id => 'id', content => 'body');
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('loosely', mapping => '{"tenant_column": "owner"}')$$);
ALTER TABLE tenant_columns.loosely ALTER COLUMN owner TYPE character varying COLLATE "C";
SELECT reground.alter_corpus('loosely', mapping => '{"tenant_column": "owner"}');
SELECT status, detail FROM reground.check_corpus('loosely') WHERE item = 'tenant_column';
ALTER TABLE loosely ALTER COLUMN owner TYPE varchar COLLATE loose;
SELECT status, detail, hint FROM reground.check_corpus('loosely') WHERE item = 'tenant_column';
SELECT reground.drop_corpus('loosely');

-- Columns of the documents: a passage without a visible document is not visible. Documents of two tenants may have the same id.
CREATE TABLE files (id text, owner text, readers text[], name text);
CREATE TABLE parts (id integer PRIMARY KEY, file text, body text);
INSERT INTO files VALUES ('f1', 'acme', '{u}', 'Acme file'), ('f2', 'bolt', '{u,v}', 'Bolt file'), ('f3', 'bolt', '{}', 'Closed');
INSERT INTO parts VALUES (1, 'f1', 'water one'), (2, 'f2', 'water two'), (3, NULL, 'water three'), (4, 'f3', 'water four');
SELECT reground.add_corpus('parts', relation => 'parts', chunk_id => 'id', doc_id => 'file', content => 'body', documents => 'files', documents_doc_id => 'id',
    title => 'name', tenant_column => 'owner', principals_column => 'readers');
SELECT mapping -> 'tenant_column' ->> 'in' AS tenants_in, mapping -> 'principals_column' ->> 'in' AS principals_in FROM reground.corpora WHERE corpus = 'parts';
CREATE FUNCTION parts_of(tenant text, principals text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', tenant, false), set_config('app.principals', principals, false);
    RETURN (SELECT string_agg(s.chunk_id || ' ' || s.title, ', ' ORDER BY s.chunk_id) FROM reground.search('parts', 'water') AS s);
END $$;
SELECT t AS tenant, p AS principals, parts_of(t, p) FROM unnest('{acme,bolt,none}'::text[]) AS t, unnest(ARRAY['{u}', '{v}', '{w}']) AS p ORDER BY t, p;
ALTER TABLE parts ADD COLUMN owner text;
UPDATE parts SET owner = f.owner FROM files AS f WHERE f.id = parts.file;
INSERT INTO files VALUES ('f1', 'bolt', '{u}', 'The other file f1');
SELECT reground.alter_corpus('parts', mapping => '{"tenant_column": "owner"}');
SET app.tenant = 'acme';
SET app.principals = '{u}';
SELECT chunk_id, title FROM reground.search('parts', 'water');
SELECT reground.drop_corpus('parts');

-- Two tenants have a corpus of the same name, in the same schema.
SELECT reground.create_corpus('help', tenant => 'acme');
SELECT reground.create_corpus('help', tenant => 'bolt');
SELECT reground.create_corpus('help', tenant => 'bolt');
SELECT reground.create_corpus('help', tenant => 'a tenant with a name that is too long for a table of PostgreSQL');
SET app.tenant = 'bolt';
SELECT chunk_count FROM reground.put_document('help', 'h', 'Help for bolt.');
SET app.tenant = 'acme';
SELECT chunk_count FROM reground.put_document('help', 'h', 'Help for acme.');
SELECT content FROM reground.search('help', 'help');
RESET reground.tenant_from;
SELECT tenant, corpus, relation, documents, history FROM reground.corpora WHERE corpus = 'help' ORDER BY tenant;
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('help')$$);
SET reground.tenant_from = 'app.tenant';
SET app.tenant = 'bolt';
SELECT content FROM reground.search('help', 'help');
SELECT reground.drop_corpus('help', drop_tables => true);
SET app.tenant = 'acme';
SELECT content FROM reground.search('help', 'help');
SELECT reground.drop_corpus('help', drop_tables => true);
SET app.tenant = 'a tenant with a name that is too long for a table of PostgreSQL';
SELECT reground.drop_corpus('help', drop_tables => true);

-- Documents in a relation of their own, with ids that two tenants use: the types of the columns of tenants may differ.
CREATE TABLE told (did integer, customer varchar, title text, readers text[], PRIMARY KEY (did, customer));
CREATE TABLE pieces (id integer PRIMARY KEY, did integer, customer text, body text, emb vector(2));
INSERT INTO told VALUES (1, 'acme', 'Of acme', '{board}'), (1, 'bolt', 'Of bolt', '{staff}');
INSERT INTO pieces VALUES (10, 1, 'acme', 'A zebra of acme', NULL), (20, 1, 'bolt', 'A zebra of bolt', NULL);
SELECT reground.add_corpus('told', 'pieces', 'id', 'body', doc_id => 'did', embedding => 'emb', documents => 'told', documents_doc_id => 'did',
    title => 'title', tenant_column => 'customer', principals_column => 'readers');
SET app.tenant = 'acme';
SET app.principals = '{staff}';
SELECT content FROM reground.pending_embeddings('told');
SELECT title, content FROM reground.search('told', 'zebra');
SET app.principals = '{board}';
SELECT content FROM reground.pending_embeddings('told');
SELECT title, content FROM reground.search('told', 'zebra');
SELECT reground.drop_corpus('told');
ALTER TABLE told RENAME customer TO org;
SELECT * FROM regress.refusal($$SELECT reground.add_corpus('told', 'pieces', 'id', 'body', doc_id => 'did', documents => 'told', documents_doc_id => 'did',
    title => 'title', tenant_column => 'customer')$$);
DELETE FROM told WHERE org = 'bolt';
CREATE UNIQUE INDEX ON told (did);
SELECT reground.add_corpus('told', 'pieces', 'id', 'body', doc_id => 'did', documents => 'told', documents_doc_id => 'did', title => 'title', tenant_column => 'customer');
SELECT title, content FROM reground.search('told', 'zebra');
SELECT reground.drop_corpus('told');

-- A session with principals changes only documents that they may read.
SELECT reground.create_corpus('minutes', principals_column => 'readers');
SET app.principals = '';
SELECT version FROM reground.put_document('minutes', 'm', 'The board sells the mill.', principals => '{board}');
SET app.principals = '{staff}';
SELECT * FROM regress.refusal($$SELECT * FROM reground.put_document('minutes', 'm', 'x', principals => '{staff}')$$);
SELECT reground.delete_document('minutes', 'm') AS deleted;
SELECT * FROM reground.forget_document('minutes', 'm');
SET app.principals = '{board}';
SELECT content FROM reground.search('minutes', 'mill');
SELECT version FROM reground.put_document('minutes', 'm', 'The board keeps the mill.');
SELECT reground.delete_document('minutes', 'm') AS deleted;
-- Also if a policy hides the latest version from it.
SET app.principals = '';
SELECT version FROM reground.put_document('minutes', 'p', 'For all.', principals => '{staff,board}');
SELECT version FROM reground.put_document('minutes', 'p', 'For the board.', principals => '{board}');
CREATE ROLE tenant_columns_staff IN ROLE reground_user;
GRANT USAGE ON SCHEMA tenant_columns, regress TO tenant_columns_staff;
GRANT SELECT, INSERT, UPDATE, DELETE ON minutes, minutes_documents, minutes_history TO tenant_columns_staff;
ALTER TABLE minutes_documents ENABLE ROW LEVEL SECURITY;
CREATE POLICY first ON minutes_documents USING (version = 1);
UPDATE minutes_documents SET readers = '{staff}' WHERE version = 1;
SET ROLE tenant_columns_staff;
SET app.principals = '{staff}';
SELECT * FROM regress.refusal($$SELECT * FROM reground.put_document('minutes', 'p', 'x', principals => '{staff}')$$);
SET app.principals = '';
SELECT * FROM regress.refusal($$SELECT * FROM reground.put_document('minutes', 'p', 'x')$$);
RESET ROLE;
DROP OWNED BY tenant_columns_staff;
DROP ROLE tenant_columns_staff;
SELECT reground.drop_corpus('minutes', drop_tables => true);

-- Without a tenant, a session maintains shared corpora, and the owner embeds the passages of all tenants.
SET app.tenant = '';
SET app.principals = '';
SELECT reground.create_corpus('common', dimensions => 2, tenant_column => 'customer');
SELECT * FROM regress.refusal($$SELECT * FROM reground.put_document('common', 'x', 'No tenant.')$$);
SET app.tenant = 'acme';
SELECT version FROM reground.put_document('common', 'a', 'Acme.');
SET app.tenant = 'bolt';
SELECT version FROM reground.put_document('common', 'b', 'Bolt.');
SELECT doc_id FROM reground.pending_embeddings('common');
SET app.tenant = '';
SELECT doc_id FROM reground.pending_embeddings('common');
SELECT reground.put_embeddings('common', ARRAY['1', '2'], ARRAY['[1,0]', '[1,0]']::vector[]) AS stored;
SELECT item, detail FROM reground.check_corpus('common') WHERE item = 'embedding';
SELECT reground.alter_corpus('common', keep_versions => 2);
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('common', 'acme')$$);
SELECT reground.drop_corpus('common', drop_tables => true);

-- Policies of your own on the tables of a managed corpus.
CREATE ROLE tenant_columns_app;
GRANT reground_user TO tenant_columns_app;
GRANT USAGE ON SCHEMA tenant_columns, regress TO tenant_columns_app;
SELECT reground.create_corpus('own', dimensions => 2);
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['own', 'own_documents', 'own_history'] LOOP
        EXECUTE format('ALTER TABLE %I ADD COLUMN owner text NOT NULL DEFAULT reground.current_tenant()', name);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON %I USING (owner = (SELECT reground.current_tenant()))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO tenant_columns_app', name);
    END LOOP;
END $$;
SET ROLE tenant_columns_app;
SET app.tenant = 'acme';
SELECT version FROM reground.put_document('own', 'a', 'Acme has water.');
SET app.tenant = 'bolt';
SELECT version FROM reground.put_document('own', 'b', 'Bolt has water.');
SELECT doc_id FROM reground.pending_embeddings('own');
SELECT reground.put_embeddings('own', ARRAY['1', '2'], ARRAY['[1,0]', '[1,0]']::vector[]) AS stored;
SELECT doc_id FROM reground.search('own', 'water', '[1,0]');
SELECT doc_id FROM reground.begin_turn('own', 'Who has water?', 'own', '[1,0]');
SELECT reground.delete_document('own', 'a') AS deleted;
SELECT indexed_at AS before FROM own_documents \gset
SELECT version FROM reground.put_document('own', 'b', 'Bolt has sand.');
SELECT content FROM reground.search('own', 'water', as_of => :'before');
SET app.tenant = 'acme';
SELECT content FROM reground.search('own', 'water', as_of => :'before');
SELECT doc_id FROM reground.search('own', 'water');
RESET ROLE;
SELECT doc_id, owner, content FROM own ORDER BY doc_id;
SELECT doc_id, owner, content FROM own_history ORDER BY doc_id;
SELECT reground.drop_corpus('own', drop_tables => true);
DROP OWNED BY tenant_columns_app;
DROP ROLE tenant_columns_app;
RESET reground.tenant_from;
RESET reground.principals_from;
