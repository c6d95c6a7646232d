-- Documents of a managed corpus: versions, chunks, pages, embeddings.
CREATE SCHEMA library;
SET search_path = library, public;
SELECT reground.create_corpus('library', dimensions => 2, chunk_size => 1, chunk_overlap => 0, chunk_unit => 'sentences');

-- One sentence per chunk: the text of the document at the offsets of a chunk is the chunk.
SELECT * FROM reground.put_document('library', 'tea', title => 'Tea', uri => 'HTTPS://Tea.Example:443/x/../green%7e?utm_source=mail&kind=green#top', published => '2026-05-01 00:00+00',
    media_type => 'text/markdown', language => 'en', metadata => '{"shelf": 4}',
    content => E'Green tea is steeped at eighty degrees. Black tea takes boiling water.\fWhite tea is picked young. Oolong — 烏龍 — lies between.');
SELECT chunk_id, ordinal, content, char_start, char_end, page_start, page_end FROM library ORDER BY chunk_id;
SELECT count(*) FILTER (WHERE substring(d.content FROM c.char_start + 1 FOR c.char_end - c.char_start) = c.content) AS exact, count(*)
FROM library AS c JOIN library_documents AS d USING (doc_id, version);
SELECT title, uri, published = '2026-05-01 00:00+00' AS published, media_type, language, page_count, metadata FROM library_documents WHERE doc_id = 'tea';
SELECT doc_id, version, uri, page_count, char_count, chunk_count, overlap_cost, replaced_at IS NULL AS current FROM reground.documents AS d
JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus = 'library';

-- Embeddings of the application.
SELECT * FROM reground.pending_embeddings('library', 2);
SELECT reground.put_embeddings('library', ARRAY['1', '2', '3', '4', '99'], ARRAY['[1,0]', '[0,1]', '[1,1]', '[-1,0]', '[0,-1]']::vector[], model => 'by hand');
SELECT count(*) AS pending FROM reground.pending_embeddings('library');
SELECT * FROM regress.refusal($$SELECT reground.put_embeddings('library', ARRAY['1'], ARRAY['[1,0,0]']::vector[])$$);
SELECT * FROM regress.refusal($$SELECT reground.put_embeddings('library', ARRAY['1', '2'], ARRAY['[1,0]']::vector[])$$);
SELECT * FROM regress.refusal($$SELECT reground.put_embeddings('library', ARRAY['1', NULL], ARRAY['[1,0]', '[1,0]']::vector[])$$);
SELECT * FROM regress.refusal($$SELECT reground.put_embeddings('library', ARRAY['1'], ARRAY[NULL]::vector[])$$);
SELECT * FROM regress.refusal($$SELECT reground.put_embeddings('library', ARRAY['one'], ARRAY['[1,0]']::vector[])$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.pending_embeddings('library', -1)$$);
SELECT reground.put_embeddings('library', '{}', '{}');

-- The same text again: only the metadata changes.
SELECT version, changed, reused, added, removed, pending_embeddings FROM reground.put_document('library', 'tea', title => 'All about tea',
    content => E'Green tea is steeped at eighty degrees. Black tea takes boiling water.\fWhite tea is picked young. Oolong — 烏龍 — lies between.');
SELECT version, title FROM library_documents WHERE doc_id = 'tea';

-- Another text: a new version; unchanged chunks keep their id and embedding.
SELECT version, changed, chunk_count, reused, added, removed, pending_embeddings FROM reground.put_document('library', 'tea', title => 'All about tea',
    content => E'Green tea is steeped at eighty degrees. Black tea takes water just off the boil.\fWhite tea is picked young. Oolong — 烏龍 — lies between.');
SELECT chunk_id, version, ordinal, content, char_start, embedding, embedding_model FROM library WHERE doc_id = 'tea' ORDER BY ordinal;
SELECT version, replaced_at IS NULL AS current, deleted_at IS NOT NULL AS deleted FROM reground.documents AS d
JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus = 'library' AND doc_id = 'tea' ORDER BY version;
SELECT count(*) FILTER (WHERE substring(d.content FROM c.char_start + 1 FOR c.char_end - c.char_start) = c.content) AS exact, count(*)
FROM library AS c JOIN library_documents AS d USING (doc_id, version);

-- Passages of another chunker, with pages and metadata.
SELECT version, changed, chunk_count, page_count, overlap_cost FROM reground.put_document('library', 'coffee', title => 'Coffee', page_count => 9,
    passages => '[{"content": "Arabica grows high.", "page_start": 1, "page_end": 2, "metadata": {"bean": "arabica"}}, {"content": "Robusta grows low.", "page_start": 7}]');
SELECT ordinal, content, page_start, page_end, char_start, metadata FROM library WHERE doc_id = 'coffee' ORDER BY ordinal;
SELECT * FROM regress.refusal($$SELECT reground.put_document('library', 'x', passages => '[{"page_start": 1}]')$$);
SELECT * FROM regress.refusal($$SELECT reground.put_document('library', 'x', passages => '{"content": "y"}')$$);
SELECT * FROM regress.refusal($$SELECT reground.put_document('library', 'x', passages => '[{"content": "y", "page_start": 5, "page_end": 4}]')$$);
SELECT * FROM regress.refusal($$SELECT reground.put_document('library', 'x', content => 'y', passages => '[]')$$);
SELECT * FROM regress.refusal($$SELECT reground.put_document('library', 'x')$$);
SELECT * FROM regress.refusal($$SELECT reground.put_document('library', '', content => 'y')$$);
SELECT * FROM regress.refusal($$SELECT reground.put_document('library', NULL, content => 'y')$$);
SELECT * FROM regress.refusal($$SELECT reground.put_document('nowhere', 'x', content => 'y')$$);
SELECT * FROM regress.refusal($$SELECT reground.put_document('library', 'x', content => 'y', page_starts => '{0,5}')$$);
SELECT * FROM regress.refusal($$SELECT reground.put_document('library', 'x', content => 'yes no', page_starts => '{3,1}')$$);
SELECT * FROM regress.refusal($$SELECT reground.put_document('library', 'x', content => 'yes no', page_count => 0)$$);
SELECT count(*) AS half_written FROM library_documents WHERE doc_id = 'x';

-- Pages by offset.
SELECT page_count, chunk_count FROM reground.put_document('library', 'cocoa', content => 'One page. Another page. The last.', page_starts => '{0,10,24}');
SELECT content, page_start, page_end FROM library WHERE doc_id = 'cocoa' ORDER BY ordinal;

-- Texts are normalised to NFC; an empty document is valid.
SELECT version, chunk_count FROM reground.put_document('library', 'nfc', content => E'Cafe\u0301 au lait.');
SELECT content, char_length(content) FROM library WHERE doc_id = 'nfc';
SELECT version, changed, chunk_count FROM reground.put_document('library', 'nfc', content => E'Caf\u00e9 au lait.');
SELECT version, changed, chunk_count FROM reground.put_document('library', 'empty', content => '');
SELECT version, changed, chunk_count FROM reground.put_document('library', 'empty', content => E' \n\t ');

-- Chunks in tokens and in characters.
SELECT reground.create_corpus('tokens', chunk_size => 8, chunk_overlap => 2);
SELECT chunk_count, overlap_cost > 0 AS overlaps FROM reground.put_document('tokens', 'd', content => repeat('one two three four five. ', 8));
SELECT bool_and(tokens <= 8) AS within, count(*) FILTER (WHERE substring(d.content FROM c.char_start + 1 FOR c.char_end - c.char_start) = c.content) = count(*) AS exact
FROM tokens AS c JOIN tokens_documents AS d USING (doc_id, version);
SELECT reground.create_corpus('characters', chunk_size => 20, chunk_overlap => 5, chunk_unit => 'characters');
SELECT chunk_count > 1 AS several FROM reground.put_document('characters', 'd', content => repeat('naïve 😀 façade ', 8));
SELECT bool_and(char_length(c.content) <= 20) AS within, count(*) FILTER (WHERE substring(d.content FROM c.char_start + 1 FOR c.char_end - c.char_start) = c.content) = count(*) AS exact
FROM characters AS c JOIN characters_documents AS d USING (doc_id, version);

-- A document is deleted and put again: its version numbers continue.
SELECT reground.delete_document('library', 'tea');
SELECT reground.delete_document('library', 'tea');
SELECT reground.delete_document('library', 'never there');
SELECT count(*) AS passages FROM library WHERE doc_id = 'tea';
SELECT count(*) AS texts FROM library_documents WHERE doc_id = 'tea' AND content IS NOT NULL;
SELECT version, replaced_at IS NULL AS current, deleted_at IS NOT NULL AS deleted FROM reground.documents AS d
JOIN reground.corpora AS c USING (corpus_id) WHERE c.corpus = 'library' AND doc_id = 'tea' ORDER BY version;
SELECT version, changed, added FROM reground.put_document('library', 'tea', content => 'Tea is back.');
-- The tracking parameters of addresses are a setting.
SET reground.tracking_parameters = 'ref, from*';
SELECT chunk_count FROM reground.put_document('library', 'yerba', content => 'Yerba.', uri => 'https://tea.example/c?ref=a&fromage=1&utm_source=kept');
RESET reground.tracking_parameters;
SELECT uri FROM library_documents WHERE doc_id = 'yerba';
SELECT reground.drop_corpus(corpus, true) FROM unnest(ARRAY['library', 'tokens', 'characters']) AS corpus;
SELECT count(*) FROM pg_class WHERE relnamespace = 'library'::regnamespace AND relkind = 'r';
