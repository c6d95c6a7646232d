-- Managed corpora: create, repeat, alter, check, drop.
CREATE SCHEMA corpora;
SET search_path = corpora, public;

SELECT reground.create_corpus('sky', dimensions => 3);
SELECT a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS required FROM pg_attribute AS a
WHERE a.attrelid = 'corpora.sky'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum;
SELECT a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS required FROM pg_attribute AS a
WHERE a.attrelid = 'corpora.sky_documents'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum;
SELECT corpus, tenant, relation, documents, managed, dimensions, embedding_type, metric, text_config, chunking, settings FROM reground.corpora WHERE corpus = 'sky';
-- The tables belong to the application and not to the extension.
SELECT count(*) AS members FROM pg_depend WHERE objid IN ('corpora.sky'::regclass, 'corpora.sky_documents'::regclass) AND deptype = 'e';

-- An identical call changes nothing; any other call is refused.
SELECT reground.create_corpus('sky', dimensions => 3);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('sky', dimensions => 4)$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('sky', dimensions => 3, metric => 'l2')$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('sky', dimensions => 3, chunk_size => 100)$$);
CREATE TABLE sea ();
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('sea')$$);

-- Arguments that are refused.
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('')$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus(NULL)$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('x', dimensions => 0)$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('x', dimensions => 16001)$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('x', dimensions => 3, embedding_type => 'bit')$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('x', dimensions => 3, metric => 'hamming')$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('x', chunk_size => 0)$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('x', chunk_size => 10, chunk_overlap => 10)$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('x', chunk_unit => 'pages')$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('x', schema => 'nowhere')$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('x', settings => '{"max_source": 3}')$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('x', settings => '[]')$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('x', distribute => true)$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('x', distribute => NULL)$$);
SELECT count(*) AS half_made FROM reground.corpora WHERE corpus IN ('x', 'sea', '');
SELECT to_regclass('corpora.x') AS half_made;

-- A corpus in another schema, with names that need quotes.
CREATE SCHEMA "Odd ""Schema""";
SELECT reground.create_corpus('we"ird ''name''', dimensions => 3, schema => 'Odd "Schema"', embedding_type => 'halfvec', metric => 'inner_product', text_config => 'simple');
SELECT relation, documents, embedding_type, metric, text_config FROM reground.corpora WHERE corpus = 'we"ird ''name''';
SELECT version, chunk_count FROM reground.put_document('we"ird ''name''', 'd''oc "1"', content => 'The naïve façade 😀 stands.');
SELECT reground.put_embeddings('we"ird ''name''', ARRAY['1'], ARRAY['[1,0,0]'::vector]);
SELECT doc_id, round(vector_distance::numeric, 4) AS vector_distance FROM reground.search('we"ird ''name''', 'façade', '[1,0,0]');
SELECT item, status, hint FROM reground.check_corpus('we"ird ''name''');
SELECT reground.drop_corpus('we"ird ''name''', drop_tables => true);
DROP SCHEMA "Odd ""Schema""";

-- alter_corpus merges settings; null removes a setting.
SELECT reground.alter_corpus('sky', settings => '{"max_sources": 5, "rrf_k": 10}');
SELECT reground.alter_corpus('sky', settings => '{"rrf_k": null, "carry_over": false}');
SELECT settings FROM reground.corpora WHERE corpus = 'sky';
SELECT reground.alter_corpus('sky', metric => 'l2', text_config => 'simple');
SELECT metric, text_config FROM reground.corpora WHERE corpus = 'sky';
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('sky', settings => '{"max_sources": 0}')$$);
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('sky', metric => 'hamming')$$);
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('nowhere', metric => 'l2')$$);
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('sky', mapping => '{"title": "no_such_column"}')$$);
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('sky', mapping => '{"no_such_meaning": "content"}')$$);
SELECT settings, metric FROM reground.corpora WHERE corpus = 'sky';

-- check_corpus: each hint is a command that removes its finding.
SELECT version, pending_embeddings FROM reground.put_document('sky', 'stars', content => 'Stars shine at night.');
SELECT * FROM reground.check_corpus('sky');
SELECT hint FROM reground.check_corpus('sky') WHERE item = 'embedding' \gexec
SELECT reground.put_embeddings('sky', ARRAY['1'], ARRAY['[1,0,0]'::vector]);
SELECT hint FROM reground.check_corpus('sky') WHERE item = 'vector index' \gexec
SELECT item, status, hint FROM reground.check_corpus('sky') WHERE status <> 'ok';
SELECT * FROM regress.refusal($$SELECT * FROM reground.check_corpus('nowhere')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.check_corpus(NULL)$$);

-- check_corpus reports a missing relation; all other functions refuse the corpus until it is dropped.
DROP TABLE sky;
SELECT item, status, detail, hint FROM reground.check_corpus('sky');
SET client_min_messages = error;
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('sky', 'stars')$$);
RESET client_min_messages;
SELECT hint FROM reground.check_corpus('sky') WHERE item = 'relation' \gexec
SELECT count(*) FROM reground.corpora WHERE corpus = 'sky';

-- drop_corpus keeps the tables by default.
SELECT reground.create_corpus('moon');
SELECT reground.drop_corpus('moon');
SELECT to_regclass('corpora.moon') AS stays;
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('moon')$$);
SELECT * FROM regress.refusal($$SELECT reground.drop_corpus('moon')$$);
DROP TABLE moon, moon_documents, moon_history;
SELECT reground.create_corpus('moon');
SELECT reground.drop_corpus('moon', drop_tables => true);
SELECT to_regclass('corpora.moon') AS gone, to_regclass('corpora.moon_documents') AS gone_too;

-- A rollback also removes the tables.
BEGIN;
SELECT reground.create_corpus('comet');
ROLLBACK;
SELECT to_regclass('corpora.comet') AS relation, count(*) FROM reground.corpora WHERE corpus = 'comet';
