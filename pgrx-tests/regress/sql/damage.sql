-- Objects of a corpus are dropped or changed: each error is clear, and the printed command repairs the corpus.
CREATE SCHEMA damage;
SET search_path = damage, public;
SET client_min_messages = error;

-- A dropped text search configuration also drops the generated column.
CREATE TEXT SEARCH CONFIGURATION damage.mine (COPY = pg_catalog.english);
SELECT reground.create_corpus('damaged', dimensions => 2, text_config => 'damage.mine');
SELECT version FROM reground.put_document('damaged', 'cows', content => 'Cows give milk.');
DROP TEXT SEARCH CONFIGURATION damage.mine CASCADE;
SELECT * FROM regress.refusal($$SELECT version FROM reground.put_document('damaged', 'sheep', content => 'Sheep give wool.')$$);
SELECT item, status, detail, hint FROM reground.check_corpus('damaged') WHERE status = 'error';
SELECT hint AS repair FROM reground.check_corpus('damaged') WHERE item = 'lexemes' \gset
:repair
SELECT version FROM reground.put_document('damaged', 'sheep', content => 'Sheep give wool.');
SELECT doc_id FROM reground.search('damaged', 'wool and milk');
SELECT count(*) AS indexes FROM reground.bm25_indexes WHERE relation = 'damage.damaged'::regclass;
SELECT item, status FROM reground.check_corpus('damaged') WHERE status = 'error';
-- A new configuration with the same name is accepted, too.
CREATE TEXT SEARCH CONFIGURATION damage.mine (COPY = pg_catalog.english);
SELECT reground.alter_corpus('damaged', text_config => 'damage.mine');
DROP TEXT SEARCH CONFIGURATION damage.mine CASCADE;
CREATE TEXT SEARCH CONFIGURATION damage.mine (COPY = pg_catalog.english);
SELECT reground.alter_corpus('damaged', text_config => 'damage.mine');
SELECT doc_id FROM reground.search('damaged', 'wool and milk');

-- An embedding column without vectors.
SELECT reground.put_embeddings('damaged', '{1,2}', '{"[1,0]","[0,1]"}'::vector[]);
ALTER TABLE damaged ALTER COLUMN embedding TYPE text;
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('damaged', 'wool', embedding => '[1,0]')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('damage', 'wool', 'damaged', '[1,0]')$$);
SELECT * FROM regress.refusal($$SELECT reground.put_embeddings('damaged', '{1}', '{"[1,0]"}'::vector[])$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.pending_embeddings('damaged')$$);
SELECT doc_id FROM reground.search('damaged', 'wool');
SELECT status, detail, hint FROM reground.check_corpus('damaged') WHERE item = 'embedding';
SELECT hint AS repair FROM reground.check_corpus('damaged') WHERE item = 'embedding' \gset
:repair
SELECT doc_id, vector_rank FROM reground.search('damaged', 'wool', embedding => '[1,0]') ORDER BY vector_rank;
-- halfvec is accepted as well.
ALTER TABLE damaged ALTER COLUMN embedding TYPE halfvec(2) USING embedding::halfvec(2);
SELECT doc_id, vector_rank FROM reground.search('damaged', 'wool', embedding => '[1,0]') ORDER BY vector_rank;
SELECT reground.put_embeddings('damaged', '{1}', '{"[0,1]"}'::vector[]);

SELECT reground.drop_corpus('damaged', drop_tables => true);
DROP SCHEMA damage CASCADE;
