-- Rows of several languages in one corpus: each row names its text search configuration.
CREATE SCHEMA languages;
SET search_path = languages, public;
CREATE TABLE leaflets (id integer PRIMARY KEY, body text, lang text);
INSERT INTO leaflets VALUES (1, 'Die Wärmepumpen laufen leise.', 'de'), (2, 'The heat pumps are running.', 'en-GB'), (3, '热泵的额定功率为五千瓦。', 'zh'),
    (4, 'heat pumps', NULL), (5, 'pompa ciepła', 'klingon'), (6, NULL, 'de'), (7, 'Die Katzen', 'No Name "');
CREATE INDEX leaflets_body ON leaflets USING reground_bm25 (reground.in_language(body, lang)) WITH (text_config = 'simple');

-- Names of languages and configurations.
SELECT name, reground.find_text_config(name) FROM unnest(ARRAY['german', 'German', 'de', 'de-AT', 'pg_catalog.german', '"german"', '"German"', 'zh', 'ja_JP', 'th', 'reground.bigrams', 'bigrams', 'klingon', '', 'a.b.c', 'x y', repeat('x', 200)]) AS name;
SELECT reground.find_text_config(NULL) IS NULL AS null, reground.in_language(NULL, 'de') IS NULL AS null_text;
SELECT reground.in_language('Rot: "gelb"', lang) FROM unnest(ARRAY['de', 'x"y', NULL]) AS lang;
SELECT reground.in_language('Rot', 'german'::regconfig), reground.in_language('Rot', NULL::regconfig), '"de": Rot: gelb'::reground.bm25text;
SELECT * FROM regress.refusal($$SELECT 'Rot'::reground.bm25text$$);

-- The parser for scripts without spaces.
SELECT alias, token FROM ts_debug('reground.bigrams', '借书证有效期为1年。WP-7型 東京タワー 도서관 ไทย');
SELECT tokid, alias, description FROM ts_token_type('reground.bigrams');
SELECT to_tsvector('reground.bigrams', '图书馆周一闭馆') @@ phraseto_tsquery('reground.bigrams', '周一') AS found, to_tsvector('simple', '图书馆周一闭馆') @@ to_tsquery('simple', '周一') AS by_simple;
SELECT to_tsvector('reground.bigrams', '') AS nothing;

-- All plans return the same rows; the query names its configurations.
CREATE FUNCTION found(query text, configs text[]) RETURNS TABLE (plan text, rows text) LANGUAGE plpgsql AS $$
DECLARE k text;
BEGIN
    FOREACH plan IN ARRAY ARRAY['indexscan', 'bitmapscan', 'seqscan'] LOOP
        FOREACH k IN ARRAY ARRAY['indexscan', 'bitmapscan', 'seqscan'] LOOP PERFORM set_config('enable_' || k, (k = plan)::text, true); END LOOP;
        SELECT string_agg(f.id || ' ' || round((- f.distance)::numeric, 9), ', ' ORDER BY f.distance, f.id) INTO rows FROM (
            SELECT l.id, reground.in_language(body, lang) <@> reground.bm25_query(query, 'languages.leaflets', text_configs => configs) AS distance FROM languages.leaflets AS l
            WHERE reground.in_language(body, lang) @@@ reground.bm25_query(query, 'languages.leaflets', text_configs => configs)
            ORDER BY reground.in_language(body, lang) <@> reground.bm25_query(query, 'languages.leaflets', text_configs => configs)) AS f;
        RETURN NEXT;
    END LOOP;
END
$$;
SELECT * FROM found('Wärmepumpe pump 功率', '{german,english,reground.bigrams,simple}');
SELECT * FROM found('Wärmepumpe pump 功率', '{de,zh}');
SELECT * FROM found('Wärmepumpe pumps 功率', NULL);
SELECT lexeme, query_frequency, frequency, document_frequency FROM reground.bm25_explain(reground.in_language('Die Wärmepumpen laufen', 'de'), reground.bm25_query('laufen laufende pumps', 'leaflets', text_configs => '{german,simple}'));
SELECT round(reground.bm25_score(reground.in_language('Die Wärmepumpe', 'de'), reground.bm25_query('Wärmepumpen', 'leaflets', text_configs => '{german}'))::numeric, 6) AS german,
    reground.bm25_score(reground.in_language('Die Wärmepumpe', 'en'), reground.bm25_query('Wärmepumpen', 'leaflets', text_configs => '{german}')) AS english;
SELECT * FROM reground.bm25_check('leaflets_body', heapallindexed => true);
SELECT reground.bm25_query('rot', 'leaflets', '{"x": 1}', '{german,simple}'), reground.bm25_query('rot', 'leaflets', text_configs => '{german}')::text::reground.bm25query, reground.bm25_query('rot', 'leaflets', text_configs => '{}');
SELECT * FROM regress.refusal($$SELECT reground.bm25_query('rot', 'languages.leaflets', text_configs => '{klingon}')$$);
SELECT * FROM regress.refusal($$SELECT reground.bm25_query('rot', 'languages.leaflets', text_configs => '{NULL}')$$);
-- A configuration that is dropped after the plan was made.
CREATE TEXT SEARCH CONFIGURATION languages.passing (COPY = pg_catalog.german);
PREPARE passing AS SELECT count(*) FROM languages.leaflets WHERE reground.in_language(body, lang) @@@ reground.bm25_query('Wärmepumpe', 'languages.leaflets', text_configs => '{languages.passing}');
EXECUTE passing;
DROP TEXT SEARCH CONFIGURATION languages.passing;
EXECUTE passing;
DEALLOCATE passing;
SELECT * FROM regress.refusal($$SELECT '+["klingon"] languages.leaflets: rot'::reground.bm25query$$);
SELECT * FROM regress.refusal($$SELECT '+[1] languages.leaflets: rot'::reground.bm25query$$);
-- Only the language of a row changes.
UPDATE leaflets SET lang = 'en' WHERE id = 1;
SELECT * FROM found('Wärmepumpe', '{german,english,simple}');
UPDATE leaflets SET lang = 'de' WHERE id = 1;
VACUUM leaflets;
SELECT reground.bm25_merge('leaflets_body');

-- A corpus over the table.
SELECT reground.add_corpus('leaflets', 'languages.leaflets', 'id', 'body', text_config => 'simple', text_config_column => 'lang');
SELECT item, status, detail, hint FROM reground.check_corpus('leaflets') WHERE item IN ('text_config_column', 'lexical index');
CREATE INDEX ON leaflets (lang);
SELECT item, status FROM reground.check_corpus('leaflets') WHERE item IN ('text_config_column', 'lexical index');
SELECT way, string_agg(s.chunk_id || ' ' || round(s.lexical_score::numeric, 9), ', ' ORDER BY s.lexical_rank) AS rows FROM unnest(ARRAY['auto', 'exact']) AS way,
    reground.search('leaflets', 'Wärmepumpe pump 功率', settings => jsonb_build_object('lexical_search', way)) AS s GROUP BY way ORDER BY way COLLATE "C";
-- An index on the text alone and an index with another default configuration would return other rows, so neither is used.
DROP INDEX leaflets_body;
CREATE INDEX leaflets_plain ON leaflets USING reground_bm25 (body) WITH (text_config = 'simple');
CREATE INDEX leaflets_other ON leaflets USING reground_bm25 (reground.in_language(body, lang)) WITH (text_config = 'english');
CREATE INDEX leaflets_lower ON leaflets USING reground_bm25 (reground.in_language(lower(body), lang)) WITH (text_config = 'simple');
SELECT item, status, hint FROM reground.check_corpus('leaflets') WHERE item = 'lexical index';
-- The language may be a column of the documents, but then no index can be used.
CREATE TABLE papers (doc text PRIMARY KEY, tongue name);
CREATE TABLE parts (id integer PRIMARY KEY, doc text, body varchar);
INSERT INTO papers VALUES ('a', 'german'), ('b', 'english');
INSERT INTO parts VALUES (1, 'a', 'Die Häuser'), (2, 'b', 'The houses');
SELECT reground.add_corpus('papers', 'languages.parts', 'id', 'body', doc_id => 'doc', documents => 'languages.papers', documents_doc_id => 'doc', text_config => 'simple', text_config_column => 'tongue');
SELECT item, status, detail, hint FROM reground.check_corpus('papers') WHERE item IN ('text_config_column', 'lexical index');
SELECT chunk_id FROM reground.search('papers', 'Haus house') ORDER BY chunk_id;
SELECT reground.alter_corpus('papers', mapping => '{"text_config_column": null}');
SELECT chunk_id FROM reground.search('papers', 'Haus house') ORDER BY chunk_id;
CREATE TYPE tongue AS ENUM ('german');
ALTER TABLE parts ADD COLUMN spoken tongue;
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('papers', mapping => '{"text_config_column": "spoken"}')$$);
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('papers', text_config_per_document => true)$$);

-- A managed corpus.
SELECT reground.create_corpus('tongues', schema => 'languages', text_config_per_document => true);
SELECT reground.create_corpus('tongues', schema => 'languages', text_config_per_document => true);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('tongues', schema => 'languages')$$);
SELECT doc, p.changed FROM (VALUES ('german', 'de', NULL), ('named', 'xx', 'german'), ('chinese', 'zh-CN', NULL), ('unknown', 'tlh', NULL), ('own', NULL, NULL)) AS d (doc, language, config),
    reground.put_document('tongues', d.doc, content => CASE doc WHEN 'chinese' THEN '热泵的额定功率' ELSE 'Die Häuser running' END, language => d.language, text_config => d.config) AS p;
SELECT doc_id, text_config, lexemes FROM tongues ORDER BY doc_id COLLATE "C";
SELECT item, status, detail FROM reground.check_corpus('tongues') WHERE item IN ('text_config_column', 'lexical index');
-- The same text with another language is parsed again, without a new version.
SELECT p.version, p.changed FROM reground.put_document('tongues', 'own', content => 'Die Häuser running', text_config => 'german') AS p;
SELECT doc_id, text_config, lexemes FROM tongues WHERE doc_id = 'own';
SELECT way, string_agg(s.doc_id, ', ' ORDER BY s.doc_id COLLATE "C") AS rows FROM unnest(ARRAY['auto', 'exact']) AS way,
    reground.search('tongues', 'Haus', settings => jsonb_build_object('lexical_search', way)) AS s GROUP BY way ORDER BY way COLLATE "C";
SELECT * FROM regress.refusal($$SELECT reground.put_document('tongues', 'x', content => 'x', text_config => 'klingon')$$);
-- One configuration for all documents, and back: each document keeps its language.
SELECT reground.alter_corpus('tongues', text_config_per_document => false);
SELECT * FROM regress.refusal($$SELECT reground.put_document('tongues', 'x', content => 'x', text_config => 'german')$$);
SELECT string_agg(s.doc_id, ', ' ORDER BY s.doc_id COLLATE "C") AS rows FROM reground.search('tongues', 'Haus') AS s;
SELECT reground.alter_corpus('tongues', text_config => 'simple', text_config_per_document => true);
SELECT doc_id, text_config FROM tongues ORDER BY doc_id COLLATE "C";
SELECT string_agg(s.doc_id, ', ' ORDER BY s.doc_id COLLATE "C") AS rows FROM reground.search('tongues', 'Haus') AS s;

-- Passages of an answer name their configuration.
SELECT c.raw, c.status, c.support_parts ->> 'language' AS language FROM reground.check_answer(
    'DVDs dürfen verlängert werden [1]. DVDs dürfen nicht verlängert werden [1]. Food is allowed [2]. 参考书能外借【3】。参考书不能外借【3】。',
    '[{"content": "DVDs dürfen nicht verlängert werden.", "text_config": "de"}, {"content": "Food is not allowed.", "text_config": "english"}, {"content": "参考书不能外借。", "text_config": "zh"}]') AS c ORDER BY c.answer_start;
SET client_min_messages = warning;
SELECT reground.drop_corpus(c) FROM unnest(ARRAY['leaflets', 'papers']) AS c;
SELECT reground.drop_corpus('tongues', true);
DROP SCHEMA languages CASCADE;
