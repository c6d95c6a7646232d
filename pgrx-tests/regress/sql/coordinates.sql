-- Positions that are lost, shifted or changed at random are found, in a corpus of create_corpus and in a registered table.
SELECT reground.create_corpus('atlas', chunk_size => 60, chunk_overlap => 15, chunk_unit => 'characters');
SELECT count(*) FROM generate_series(1, 12) AS n, LATERAL reground.put_document('atlas', 'doc-' || n, content => (SELECT string_agg('Sentence ' || s || ' of document ' || n || ' says ' || md5(n || '/' || s) || '.', CASE WHEN s % 9 = 0 THEN E'\f' ELSE ' ' END ORDER BY s) FROM generate_series(1, 40) AS s)) AS p;
-- One document without pages, and one that consists of passages.
SELECT chunk_count FROM reground.put_document('atlas', 'plain', content => repeat('The same words again. ', 20));
SELECT chunk_count FROM reground.put_document('atlas', 'passages', passages => '[{"content": "The first passage.", "page_start": 4}, {"content": "The second passage.", "page_start": 5, "page_end": 6, "char_start": 100, "char_end": 119}]');
CREATE TABLE maps (id bigint PRIMARY KEY, doc text, body text, n smallint, c1 integer, c2 bigint, p1 integer, p2 numeric, changed timestamptz, v integer);
INSERT INTO maps SELECT chunk_id, doc_id, content, ordinal, char_start, char_end, page_start, page_end, '2026-01-01', 1 FROM atlas;
SELECT reground.add_corpus('maps', 'maps', 'id', 'body', doc_id => 'doc', ordinal => 'n', char_start => 'c1', char_end => 'c2', page_start => 'p1', page_end => 'p2', modified_at => 'changed');
SELECT count(*) FROM reground.check_coordinates('atlas');
SELECT error FROM reground.run_maintenance('check_coordinates');
SELECT count(*) FROM reground.check_coordinates('maps');
SELECT f.corpus, f.passages = (SELECT count(*) FROM atlas) AS all_of_them, f.faults, f.error FROM reground.coordinate_faults AS f WHERE f.corpus IN ('atlas', 'maps') ORDER BY f.corpus;

-- Every damaged passage, and no other. The damage is undone after each line.
CREATE FUNCTION regress.damage(change text, to_maps text) RETURNS TABLE (corpus text, damaged bigint, hits bigint, others bigint, problems text) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMPORARY TABLE atlas_before AS SELECT chunk_id, atlas.ordinal, char_start, char_end, page_start, page_end FROM atlas;
    EXECUTE change;
    CREATE TEMPORARY TABLE maps_before AS SELECT id, n, c1, c2, p1, p2 FROM maps;
    EXECUTE to_maps;
    FOR corpus, damaged, hits, others, problems IN
        WITH d AS MATERIALIZED (SELECT a.chunk_id::text FROM atlas AS a JOIN atlas_before AS b USING (chunk_id)
                WHERE (a.ordinal, a.char_start, a.char_end, a.page_start, a.page_end) IS DISTINCT FROM (b.ordinal, b.char_start, b.char_end, b.page_start, b.page_end)),
             f AS MATERIALIZED (SELECT * FROM reground.check_coordinates('atlas'))
        SELECT 'atlas', (SELECT count(*) FROM d), count(*) FILTER (WHERE f.chunk_id IN (SELECT d.chunk_id FROM d)), count(*) FILTER (WHERE f.chunk_id NOT IN (SELECT d.chunk_id FROM d)), string_agg(DISTINCT f.problem, ' ') FROM f LOOP
        RETURN NEXT;
    END LOOP;
    FOR corpus, damaged, hits, others, problems IN
        WITH d AS MATERIALIZED (SELECT a.id::text AS chunk_id FROM maps AS a JOIN maps_before AS b USING (id) WHERE (a.n, a.c1, a.c2, a.p1, a.p2) IS DISTINCT FROM (b.n, b.c1, b.c2, b.p1, b.p2)),
             f AS MATERIALIZED (SELECT * FROM reground.check_coordinates('maps'))
        SELECT 'maps', (SELECT count(*) FROM d), count(*) FILTER (WHERE f.chunk_id IN (SELECT d.chunk_id FROM d)), count(*) FILTER (WHERE f.chunk_id NOT IN (SELECT d.chunk_id FROM d)), string_agg(DISTINCT f.problem, ' ') FROM f LOOP
        RETURN NEXT;
    END LOOP;
    UPDATE atlas AS a SET ordinal = b.ordinal, char_start = b.char_start, char_end = b.char_end, page_start = b.page_start, page_end = b.page_end FROM atlas_before AS b WHERE b.chunk_id = a.chunk_id;
    UPDATE maps AS a SET n = b.n, c1 = b.c1, c2 = b.c2, p1 = b.p1, p2 = b.p2 FROM maps_before AS b WHERE b.id = a.id;
    DROP TABLE atlas_before, maps_before;
END $$;
SELECT corpus, damaged > 400 AS many, damaged = hits AS all_found, others, problems FROM regress.damage('UPDATE atlas SET page_start = NULL, page_end = NULL, char_start = NULL, char_end = NULL', 'UPDATE maps SET p1 = NULL, p2 = NULL, c1 = NULL, c2 = NULL');
SELECT corpus, damaged > 400 AS many, damaged = hits AS all_found, others, problems FROM regress.damage('UPDATE atlas SET page_start = page_start + 3, page_end = page_end + 3', 'UPDATE maps SET p1 = p1 + 3, p2 = p2 + 3');
SELECT corpus, damaged > 400 AS many, damaged = hits AS all_found, others, problems FROM regress.damage('UPDATE atlas SET ordinal = ordinal + 1', 'UPDATE maps SET n = n + 1');
SELECT corpus, damaged, hits, others, problems FROM regress.damage($$UPDATE atlas SET char_start = char_start + 22, char_end = char_end + 22 WHERE doc_id = 'plain' AND ordinal = 1$$, $$UPDATE maps SET c1 = c1 + 22, c2 = c2 + 22 WHERE doc = 'plain' AND n = 1$$);
-- Chaos: one passage of a hundred, each in another way.
SELECT corpus, damaged BETWEEN 5 AND 20 AS a_hundredth, damaged = hits AS all_found, others FROM regress.damage(
    $$UPDATE atlas AS a SET ordinal = CASE k WHEN 0 THEN ordinal + 7 ELSE ordinal END, char_start = CASE k WHEN 1 THEN char_start + 5 WHEN 2 THEN NULL ELSE char_start END, char_end = CASE k WHEN 3 THEN char_end - 1 ELSE char_end END,
        page_start = CASE k WHEN 4 THEN page_start - 1 WHEN 5 THEN NULL ELSE page_start END, page_end = CASE k WHEN 6 THEN page_end + 1 ELSE page_end END
      FROM (SELECT chunk_id, row_number() OVER (ORDER BY hashtextextended(chunk_id::text, 7)) % 7 AS k FROM atlas WHERE doc_id LIKE 'doc-%' ORDER BY hashtextextended(chunk_id::text, 7) LIMIT (SELECT count(*) / 100 FROM atlas)) AS h WHERE h.chunk_id = a.chunk_id$$,
    $$UPDATE maps AS a SET n = CASE k WHEN 0 THEN n + 7 ELSE n END, c1 = CASE k WHEN 1 THEN c1 + 5 WHEN 2 THEN NULL ELSE c1 END, c2 = CASE k WHEN 3 THEN c2 - 1 ELSE c2 END,
        p1 = CASE k WHEN 4 THEN p1 - 1 WHEN 5 THEN NULL ELSE p1 END, p2 = CASE k WHEN 6 THEN p2 + 1 ELSE p2 END
      FROM (SELECT id, row_number() OVER (ORDER BY hashtextextended(id::text, 7)) % 7 AS k FROM maps WHERE doc LIKE 'doc-%' ORDER BY hashtextextended(id::text, 7) LIMIT (SELECT count(*) / 100 FROM maps)) AS h WHERE h.id = a.id$$);
SELECT (SELECT count(*) FROM reground.check_coordinates('atlas')) AS atlas, (SELECT count(*) FROM reground.check_coordinates('maps')) AS maps;
BEGIN;
UPDATE atlas SET content = content || ' More.' WHERE doc_id = 'passages' AND ordinal = 0;
SELECT doc_id, problem FROM reground.check_coordinates('atlas');
ROLLBACK;

-- The task stores the counts. Another position is expected after a change of the text or of the time; a lost one never is.
UPDATE maps SET p1 = p1 + 1, p2 = p2 + 1, changed = '2026-02-01' WHERE doc = 'doc-1';
UPDATE maps SET n = n + 1, body = body || ' More.' WHERE doc = 'doc-2';
UPDATE maps SET p1 = NULL, body = body || ' More.' WHERE doc = 'doc-3' AND n = 0;
UPDATE maps SET c1 = c1 + 1 WHERE doc = 'doc-4' AND n = 0;
SELECT error FROM reground.run_maintenance('check_coordinates');
SELECT corpus, faults FROM reground.coordinate_faults WHERE corpus = 'maps';
SELECT error FROM reground.run_maintenance('check_coordinates');
SELECT doc_id, problem, detail FROM reground.check_coordinates('maps') ORDER BY doc_id;
SELECT error FROM reground.maintenance_runs WHERE task = 'check_coordinates' ORDER BY run_id DESC LIMIT 1;
-- Records of deleted rows are removed; accepted positions are recorded again.
DELETE FROM maps WHERE doc = 'doc-5';
SELECT error FROM reground.run_maintenance('check_coordinates');
SELECT count(*) = (SELECT count(*) FROM maps) AS same FROM reground.passage_positions JOIN reground.corpora USING (corpus_id) WHERE corpus = 'maps';
SELECT reground.accept_coordinates('maps') = (SELECT count(*) FROM maps) AS accepted;
SELECT error FROM reground.run_maintenance('check_coordinates');
SELECT count(*) FROM reground.check_coordinates('maps');
UPDATE maps SET p2 = 0 WHERE doc = 'doc-6' AND n = 1;
UPDATE maps SET c2 = c1 WHERE doc = 'doc-6' AND n = 2;
SELECT reground.accept_coordinates('maps') > 0 AS accepted;
SELECT problem, detail FROM reground.check_coordinates('maps') ORDER BY chunk_id::bigint;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.accept_coordinates('atlas')$$, $$SELECT reground.accept_coordinates('nowhere')$$]) AS f, regress.refusal(f) AS r;
SELECT reground.drop_corpus('maps'), reground.drop_corpus('atlas', drop_tables => true);
DROP TABLE maps;
DROP FUNCTION regress.damage;

-- A table is read with the rights of its owner only if the owner has registered it.
CREATE ROLE regress_place_owner;
CREATE ROLE regress_place_admin;
CREATE ROLE regress_place_ta;
CREATE ROLE regress_place_tb;
GRANT reground_user TO regress_place_ta, regress_place_tb;
GRANT reground_admin, reground_user TO regress_place_owner, regress_place_admin;
CREATE SCHEMA regress_places;
GRANT ALL ON SCHEMA regress_places TO PUBLIC;
SET ROLE regress_place_owner;
CREATE TABLE regress_places.pay (person text PRIMARY KEY, note text, salary integer);
INSERT INTO regress_places.pay VALUES ('Ann', 'secret note', 7000);
SET ROLE regress_place_admin;
CREATE FUNCTION regress_places.ran() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'code ran as %', current_user; END $$;
CREATE VIEW regress_places.notes AS SELECT 'Ann'::text AS doc_id, regress_places.ran() AS n;
GRANT SELECT ON regress_places.notes TO PUBLIC;
SELECT * FROM regress_places.pay;
SELECT reground.add_corpus('spy', 'regress_places.pay', 'person', 'note', version => 'note', ordinal => 'salary');
SELECT reground.add_corpus('spy code', 'regress_places.pay', 'person', 'note', doc_id => 'person', documents => 'regress_places.notes', documents_doc_id => 'doc_id', version => 'n', ordinal => 'salary');
SELECT reground.add_corpus('spy roles', 'pg_catalog.pg_authid', 'rolname', 'rolpassword', ordinal => 'rolconnlimit');
SET ROLE regress_place_owner;
SELECT reground.add_corpus('pay', 'regress_places.pay', 'person', 'note', version => 'note', ordinal => 'salary');
SELECT reground.add_corpus('pay code', 'regress_places.pay', 'person', 'note', doc_id => 'person', documents => 'regress_places.notes', documents_doc_id => 'doc_id', version => 'n', ordinal => 'salary');
RESET ROLE;
SELECT error FROM reground.run_maintenance('check_coordinates');
SELECT k.corpus, r.chunk_id, r.ordinal, r.source_hash = sha256('secret note') AS hashed FROM reground.passage_positions AS r JOIN reground.corpora AS k USING (corpus_id) WHERE k.corpus ~ '^(spy|pay)';
SELECT corpus, passages, error FROM reground.coordinate_faults WHERE corpus ~ '^(spy|pay)' ORDER BY corpus;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT * FROM reground.check_coordinates('spy')$$, $$SELECT * FROM reground.check_coordinates('pay code')$$]) AS f, regress.refusal(f) AS r;
-- Columns that another role than the owner has mapped are not read with the rights of the owner.
SET ROLE regress_place_admin;
SELECT reground.alter_corpus('pay', mapping => '{"version": "salary"}');
SET ROLE regress_place_owner;
SELECT reground.alter_corpus('spy', mapping => '{"version": null}');
RESET ROLE;
SELECT error FROM reground.run_maintenance('check_coordinates');
SELECT count(*) FROM reground.passage_positions AS r JOIN reground.corpora AS k USING (corpus_id) WHERE k.corpus IN ('spy', 'pay');
SELECT reground.drop_corpus(c) FROM unnest(ARRAY['spy', 'spy code', 'spy roles', 'pay', 'pay code']) AS c;

-- Ids that are unique per tenant: each row has its own record. Ids without a unique index have none.
CREATE TABLE regress_places.mt (tenant text, id integer, body text, n integer, p1 integer, p2 integer, PRIMARY KEY (tenant, id));
GRANT SELECT ON regress_places.mt TO regress_place_ta, regress_place_tb;
INSERT INTO regress_places.mt VALUES ('regress_place_ta', 1, 'Alpha', 1, 111, 112), ('regress_place_tb', 1, 'Beta', 1, NULL, NULL), ('regress_place_tb', 2, 'Gamma', 2, 5, 6);
CREATE TABLE regress_places.loose (id integer, body text, n integer);
INSERT INTO regress_places.loose VALUES (1, 'one', 1), (1, 'other', 2);
SELECT reground.add_corpus('mt', 'regress_places.mt', 'id', 'body', tenant_column => 'tenant', ordinal => 'n', page_start => 'p1', page_end => 'p2');
SELECT reground.add_corpus('mt loose', 'regress_places.loose', 'id', 'body', ordinal => 'n');
SELECT error FROM reground.run_maintenance('check_coordinates');
SELECT corpus, passages, faults, error FROM reground.coordinate_faults WHERE corpus ~ '^mt' ORDER BY corpus;
UPDATE regress_places.mt SET p1 = NULL WHERE id = 2;
SET ROLE regress_place_ta;
SELECT * FROM reground.check_coordinates('mt');
SET ROLE regress_place_tb;
SELECT * FROM reground.check_coordinates('mt');
RESET ROLE;
-- Records of deleted rows are removed although other rows have none. Faults stay problems until they are repaired.
INSERT INTO regress_places.mt SELECT 'regress_place_ta', n, 'Delta', -1, 1, 1 FROM generate_series(2, 5) AS n;
DELETE FROM regress_places.mt WHERE tenant = 'regress_place_tb' AND id = 1;
SELECT error FROM reground.run_maintenance('check_coordinates');
SELECT r.row_tenant, r.chunk_id FROM reground.passage_positions AS r JOIN reground.corpora AS k USING (corpus_id) WHERE k.corpus = 'mt' ORDER BY 1, 2;
SELECT reground.set_maintenance('check_coordinates', period => '1 second') FROM pg_stat_force_next_flush();
SELECT error FROM reground.run_maintenance('check_coordinates');
SELECT FROM pg_sleep(1.1);
SELECT error FROM reground.run_maintenance() WHERE task = 'check_coordinates';
-- A check that fails keeps the last counts.
ALTER TABLE regress_places.mt DROP CONSTRAINT mt_pkey;
SELECT error FROM reground.run_maintenance('check_coordinates');
SELECT passages, faults, error FROM reground.coordinate_faults WHERE corpus = 'mt';
ALTER TABLE regress_places.mt ADD PRIMARY KEY (tenant, id);
SELECT error FROM reground.run_maintenance('check_coordinates');
-- Accepted positions are recorded although nothing else changes.
SELECT reground.accept_coordinates('mt') > 0 AS accepted;
SELECT FROM pg_sleep(1.1);
SELECT error FROM reground.run_maintenance() WHERE task = 'check_coordinates';
SELECT count(*) = (SELECT count(*) FROM regress_places.mt WHERE n > 0) AS recorded FROM reground.passage_positions AS r JOIN reground.corpora AS k USING (corpus_id) WHERE k.corpus = 'mt';
SELECT reground.set_maintenance('check_coordinates');
SELECT reground.drop_corpus('mt'), reground.drop_corpus('mt loose');
DROP SCHEMA regress_places CASCADE;
DROP OWNED BY regress_place_owner, regress_place_admin, regress_place_ta, regress_place_tb;
DROP ROLE regress_place_owner, regress_place_admin, regress_place_ta, regress_place_tb;

-- Stale citations of registered tables: a changed, an unchanged and a deleted row; by version, by time, and by the text.
CREATE ROLE regress_stale_a;
CREATE ROLE regress_stale_b;
CREATE ROLE regress_stale_auditor;
GRANT reground_user TO regress_stale_a, regress_stale_b;
GRANT reground_auditor TO regress_stale_auditor;
CREATE TABLE notes (id integer PRIMARY KEY, owner text NOT NULL, body text, v integer, changed timestamptz);
GRANT USAGE ON SCHEMA regress TO regress_stale_a, regress_stale_b;
GRANT SELECT ON notes TO regress_stale_a, regress_stale_b;
INSERT INTO notes SELECT n + CASE o WHEN 'a' THEN 0 ELSE 10 END, 'regress_stale_' || o, p || ' is kept in store ' || o || ' ' || n || '.', 1, '2026-01-01' FROM unnest(ARRAY['Barley', 'Millet', 'Sorghum', 'Buckwheat']) WITH ORDINALITY AS v(p, n), unnest(ARRAY['a', 'b']) AS o;
SELECT reground.add_corpus('by text', 'notes', 'id', 'body', tenant_column => 'owner'), reground.add_corpus('by version', 'notes', 'id', 'body', version => 'v', tenant_column => 'owner'),
    reground.add_corpus('by time', 'notes', 'id', 'body', modified_at => 'changed', tenant_column => 'owner');
CREATE FUNCTION regress.cite(corpus text) RETURNS bigint LANGUAGE sql AS $$
    WITH t AS MATERIALIZED (SELECT turn_id, string_agg(split_part(content, ' ', 1) || ' is kept in store [' || marker || '].', ' ' ORDER BY marker) AS answer
        FROM reground.begin_turn(current_user || ' ' || corpus, 'Where are barley, millet, sorghum and buckwheat kept in store?', corpus => corpus) GROUP BY 1)
    SELECT count(*) FROM t, LATERAL reground.end_turn(t.turn_id, t.answer) AS e WHERE e.holds $$;
SET ROLE regress_stale_a;
SELECT c, regress.cite(c) FROM unnest(ARRAY['by text', 'by version', 'by time']) AS c;
SET ROLE regress_stale_b;
SELECT c, regress.cite(c) FROM unnest(ARRAY['by text', 'by version', 'by time']) AS c;
SELECT source_state, count(*) FROM reground.citation_audit GROUP BY 1;
RESET ROLE;
UPDATE notes SET body = body || ' It was moved.' WHERE id IN (1, 11);
UPDATE notes SET v = v + 1, changed = '2099-01-01' WHERE id = 2;
DELETE FROM notes WHERE id = 3;
SET ROLE regress_stale_a;
SELECT corpus, doc_id, source_state FROM reground.citation_audit ORDER BY corpus, doc_id;
-- The state of another tenant's citation, and of a row that became another tenant's, is unknown.
SELECT count(*) FROM reground.message_citations WHERE corpus = 'by text';
RESET ROLE;
SELECT min(citation_id) AS of_b FROM reground.message_citations WHERE tenant = 'regress_stale_b' \gset
UPDATE notes SET owner = 'regress_stale_b' WHERE id = 4;
SET ROLE regress_stale_a;
SELECT x.id = -1 AS is_unknown, r.* FROM (VALUES (:of_b), (NULL), (-1)) AS x(id), reground._cited_row(x.id) AS r;
SELECT corpus, doc_id, source_state FROM reground.citation_audit WHERE doc_id = '4' ORDER BY corpus;
SET ROLE regress_stale_b;
SELECT corpus, doc_id, source_state FROM reground.citation_audit WHERE source_state <> 'current' ORDER BY corpus, doc_id;
-- An auditor knows the states of rows that it may read.
SET ROLE regress_stale_auditor;
SELECT count(*) FROM reground.stale_citations WHERE corpus LIKE 'by %';
RESET ROLE;
GRANT SELECT ON notes TO regress_stale_auditor;
SET ROLE regress_stale_auditor;
SELECT tenant, corpus, doc_id, source_state, source_version, current_version, modified_at AT TIME ZONE 'UTC' AS modified_at, staleness > interval '70 years' AS long FROM reground.stale_citations WHERE corpus LIKE 'by %' ORDER BY tenant, corpus, doc_id;
-- A row whose time changed between two citations of the same text: the first is stale, in the report too.
SET ROLE regress_stale_a;
SELECT regress.cite('by time');
SET ROLE regress_stale_auditor;
SELECT doc_id, array_agg(source_state ORDER BY citation_id) AS states FROM reground.citation_audit WHERE corpus = 'by time' AND tenant = 'regress_stale_a' GROUP BY 1 ORDER BY 1;
SELECT (regexp_match(reground.corpus_report('by time'), 'Stale</dt><dd[^>]*>(\d+)<'))[1]::integer = (SELECT count(*) FROM reground.stale_citations WHERE corpus = 'by time') AS same;
RESET ROLE;
-- A row that is hidden from the caller has no state, although another row of its document is visible.
CREATE TABLE parts (id integer PRIMARY KEY, doc text, body text, v integer, hidden boolean NOT NULL DEFAULT false);
ALTER TABLE parts ENABLE ROW LEVEL SECURITY;
CREATE POLICY shown ON parts USING (NOT hidden);
INSERT INTO parts SELECT n, 'D', p || ' is kept in store ' || n || '.', 1 FROM unnest(ARRAY['Barley', 'Millet', 'Sorghum', 'Buckwheat']) WITH ORDINALITY AS v(p, n);
-- A view that shows each role its own rows.
CREATE TABLE own_rows AS SELECT n AS id, 'regress_stale_a'::name AS who, p || ' is kept in store ' || n || '.' AS body FROM unnest(ARRAY['Barley', 'Millet']) WITH ORDINALITY AS v(p, n);
CREATE VIEW own AS SELECT id, body FROM own_rows WHERE who = current_user;
GRANT SELECT ON parts, own TO regress_stale_a, regress_stale_auditor;
SELECT reground.add_corpus('by part', 'parts', 'id', 'body', doc_id => 'doc', version => 'v'), reground.add_corpus('by view', 'own', 'id', 'body');
SET ROLE regress_stale_a;
SELECT c, regress.cite(c) FROM unnest(ARRAY['by part', 'by view']) AS c;
-- An imported passage without an id never was a row.
SELECT count(*) FROM reground.record_turn('imported', 'Where is barley kept in store?', 'Barley is kept in store [1].', passages => '[{"content": "Barley is kept in store.", "doc_id": "X", "marker": "1"}]', corpus => 'by part');
SELECT doc_id, chunk_id = left(source_hash, 16) AS is_named_by_text, source_state FROM reground.citation_audit WHERE conversation_ref = 'imported';
SELECT corpus, source_state, count(*) FROM reground.citation_audit WHERE corpus IN ('by part', 'by view') AND conversation_ref <> 'imported' GROUP BY 1, 2 ORDER BY 1, 2;
RESET ROLE;
SELECT citation_id AS of_hidden FROM reground.message_citations WHERE corpus = 'by part' AND chunk_id = '2' \gset
UPDATE parts SET hidden = true, v = 42 WHERE id = 2;
UPDATE own_rows SET body = body || ' It was moved.' WHERE id = 2;
SET ROLE regress_stale_a;
SELECT r.*, (SELECT count(*) FROM parts WHERE doc = 'D') AS visible FROM reground._cited_row(:of_hidden) AS r;
SELECT chunk_id, source_state FROM reground.citation_audit WHERE corpus = 'by view' AND conversation_ref <> 'imported' ORDER BY chunk_id;
-- Rows that the auditor does not see may exist.
SET ROLE regress_stale_auditor;
SELECT corpus, source_state, count(*) FROM reground.citation_audit WHERE corpus IN ('by part', 'by view') GROUP BY 1, 2 ORDER BY 1, 2;
RESET ROLE;
-- A view has no states for an auditor: one that raises an error is not read.
CREATE OR REPLACE VIEW own AS SELECT id / 0 AS id, body FROM own_rows;
SET ROLE regress_stale_auditor;
SELECT count(source_state) > 0 AS others, count(source_state) FILTER (WHERE corpus = 'by view') AS of_view FROM reground.citation_audit WHERE corpus LIKE 'by %';
RESET ROLE;
DROP VIEW own;
DROP TABLE parts, own_rows;
-- A table that is gone is no error.
DROP TABLE notes;
SELECT count(*), count(source_state) FROM reground.citation_audit WHERE corpus LIKE 'by %';
SELECT count(*) FROM reground.corpora AS k CROSS JOIN LATERAL (SELECT reground.drop_corpus(k.corpus)) AS d WHERE k.corpus LIKE 'by %';
SELECT count(DISTINCT r.relation) > 3 AS forgotten FROM (SELECT DISTINCT tenant FROM reground.conversations WHERE tenant LIKE 'regress_stale_%') AS t CROSS JOIN LATERAL reground.forget_tenant(t.tenant) AS r;
DROP FUNCTION regress.cite;
DROP OWNED BY regress_stale_a, regress_stale_b, regress_stale_auditor;
DROP ROLE regress_stale_a, regress_stale_b, regress_stale_auditor;
