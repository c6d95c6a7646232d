-- Corpora over the tables of application.sql, and some of their own, as the admin.
-- A statement ends with its line. {r} is the prefix of names; {turn}, {message}, {citation}, {alert}, {evaluation}, {verdict}, {task} and {lease}
-- are the latest ids that a statement returned. A statement that returns no row fails the test, unless the line before it is `-- no rows`.

SELECT reground.set_model('{r}_splitter', 'decompose', 'openai', settings => '{"max_attempts": 3}'), reground.set_model('{r}_checker', 'entail', 'anthropic', key_name => 'a'), reground.set_model('{r}_gone', 'rerank', 'local');
SELECT reground.drop_model('{r}_gone');

SELECT reground.create_corpus('{r}_farm', dimensions => 2, schema => 'public', settings => '{"max_sources": 6, "reuse_answers": true}');
SELECT reground.create_corpus('{r}_farm', dimensions => 2, schema => 'public', settings => '{"max_sources": 6, "reuse_answers": true}');
SELECT reground.create_corpus('{r}_halves', dimensions => 2, schema => 'store', embedding_type => 'halfvec', metric => 'l2', text_config => 'pg_catalog.simple', chunk_size => 40, chunk_overlap => 10, chunk_unit => 'characters');
SELECT reground.create_corpus('{r}_products', dimensions => 2, schema => 'public', metric => 'inner_product', chunk_unit => 'sentences', chunk_size => 2, chunk_overlap => 1);
SELECT reground.create_corpus('{r}_tongues', schema => 'public', text_config_per_document => true);
SELECT reground.create_corpus('{r}_own', schema => 'public', tenant => '{role}');
SELECT reground.create_corpus('{r}_gone', schema => 'store', dimensions => 2);
SELECT reground.add_corpus('{r}_articles', 'public.{r}_articles', 'id', 'body', doc_id => 'book', embedding => 'place', documents => 'public.{r}_books', documents_doc_id => 'isbn', title => 'title', published => 'printed', modified_at => 'added', page_start => 'page', page_count => 'pages', metadata => 'note');
SELECT reground.add_corpus('{r}_articles', 'public.{r}_articles', 'id', 'body', doc_id => 'book', embedding => 'place', documents => 'public.{r}_books', documents_doc_id => 'isbn', title => 'title', published => 'printed', modified_at => 'added', page_start => 'page', page_count => 'pages', metadata => 'note');
SELECT reground.add_corpus('{r}_texts', 'store.{r}_texts', 'key', 'body', doc_id => 'doc', title => 'title', embedding => 'emb');
SELECT reground.add_corpus('{r}_leaflets', 'public.{r}_leaflets', 'id', 'body', text_config => 'pg_catalog.simple', text_config_column => 'lang');
SELECT reground.add_corpus('{r}_log', 'public.{r}_log', 'at', 'body', doc_id => 'day', version => 'version', ordinal => 'version');
SELECT reground.add_corpus('{r}_shelf', 'public.{r}_shelf', 'key', 'body', doc_id => 'doc', embedding => 'place', title => 'title', page_start => 'page', page_end => 'page');
SELECT reground.add_corpus('{r}_notes', 'public.{r}_notes', 'id', 'body', doc_id => 'mood', text_config => 'public.{r}_words', text_config_column => 'config');
SELECT reground.alter_corpus('{r}_texts', settings => '{"max_sources": 10}', mapping => '{"title": "title"}', metric => 'cosine', text_config => 'pg_catalog.english');
SELECT reground.alter_corpus('{r}_products', text_config => 'pg_catalog.simple');
SELECT reground.alter_corpus('{r}_tongues', text_config_per_document => false);
SELECT reground.alter_corpus('{r}_tongues', text_config_per_document => true);
SELECT reground.alter_corpus('{r}_farm', settings => '{"reranker": "public.{r}_rank", "intent_function": "public.{r}_judge"}');
SELECT reground.alter_corpus('{r}_farm', settings => '{"reranker": "public.{r}_rank(pg_catalog.text,pg_catalog.text[])", "intent_function": null}');
SELECT reground.alter_corpus('{r}_farm', settings => '{"reranker": "{r}_rank", "intent_function": "{r}_judge"}');
SELECT reground.alter_corpus('{r}_farm', settings => '{"reranker": null, "intent_function": null}');
SELECT reground.alter_corpus('{r}_shelf', settings => '{"reranker": "public.{r}_open_rank", "intent_function": "public.{r}_open_judge"}');
SELECT reground.accept_coordinates('{r}_shelf');
SELECT * FROM reground.check_corpus('{r}_farm');
SELECT * FROM reground.check_corpus('{r}_articles');
SELECT * FROM reground.check_corpus('{r}_texts');
SELECT * FROM reground.check_corpus('{r}_leaflets');
SELECT * FROM reground.check_corpus('{r}_shelf');
SELECT * FROM reground.check_corpus('{r}_notes');
SELECT * FROM reground.put_document('{r}_gone', 'gone', content => 'Soon it is gone.');
SELECT * FROM reground.put_embeddings('{r}_gone', '{1}', '{"[1,0]"}');
SELECT reground.drop_corpus('{r}_gone', drop_tables => true);
SELECT reground.drop_corpus('{r}_own', drop_tables => true);

SELECT reground.create_corpus('{r}_read', schema => 'public', keep_versions => 2);
-- no rows
CREATE TABLE public.{r}_rows (id pg_catalog.int4 PRIMARY KEY, body pg_catalog.text);
SELECT reground.sync_table('{r}_read', 'public.{r}_rows', 'id', 'body');
-- no rows
INSERT INTO public.{r}_rows VALUES (1, 'A row.');
-- no rows
UPDATE public.{r}_rows SET body = 'Another row.';
SELECT * FROM reground.check_corpus('{r}_read');
SELECT reground.resync('{r}_read');
SELECT reground.stop_sync('{r}_read');
SELECT reground.drop_corpus('{r}_read', drop_tables => true);
-- no rows
DROP TABLE public.{r}_rows;
