-- Evidence of citations: the quote in the answer, the passage and the document, and the text around it. The sources of a turn.
CREATE SCHEMA evidence;
SET search_path = evidence, public;
CREATE VIEW answers AS SELECT m.* FROM reground.messages AS m WHERE m.answer IS NOT NULL AND m.conversation_id IN
    (SELECT v.conversation_id FROM reground.conversations AS v WHERE v.conversation_ref IN ('added', 'evidence-hash', 'garden', 'long', 'nothing', 'parts', 'parts-2', 'parts-3', 'remembers', 'spans', 'waits'));
SELECT FROM reground.create_corpus('handbook', chunk_size => 200, chunk_overlap => 60, chunk_unit => 'characters');
SELECT version, chunk_count FROM reground.put_document('handbook', 'moss.md', title => 'Moss', uri => 'https://example.org/moss', content =>
    E'# Moss\n\nÜberall wächst Moos 🌱. Moss covers shaded stones in wet valleys. It holds water like a sponge and cools the soil below it.\n\n'
    || E'Gardeners in Kyoto brush moss by hand every morning. They water it twice a day in August.\fPeat moss stores more carbon than all the trees of the same area. '
    || E'Bog owners may not drain it without a permit.\n\nLichens are not moss. They are fungi that live with algae.');
SELECT version, chunk_count FROM reground.put_document('handbook', 'fern.md', title => 'Ferns', content => 'Ferns unroll their fronds in spring. They have no flowers.');

-- The offsets select the sentence in the answer, and the quote in the document and in its passage; the surrounding text adjoins the quote.
CREATE VIEW checked AS
    SELECT m.message_ref, e.citation_no, e.marker, e.status, e.sentence, e.sentence = substr(m.answer, e.sentence_start + 1, e.sentence_end - e.sentence_start) AS in_sentence,
           substr(m.answer, e.answer_start + 1, e.answer_end - e.answer_start) AS raw,
           (SELECT substr(d.content, e.char_start + 1, e.char_end - e.char_start) = e.quote AND position(e.before || e.quote || e.after IN d.content) > 0
            FROM handbook_documents AS d WHERE d.doc_id = e.doc_id AND d.version = c.source_version) AS in_document,
           (SELECT substr(p.content, e.quote_start + 1, e.quote_end - e.quote_start) = e.quote FROM handbook AS p WHERE p.chunk_id::text = e.chunk_id) AS in_passage,
           e.doc_id, e.title, e.uri, e.page_start, e.page_end, e.before, e.quote, e.after, e.source_state
    FROM answers AS m CROSS JOIN LATERAL reground.citation_evidence(m.message_id) AS e JOIN reground.message_citations AS c USING (citation_id)
    ORDER BY m.message_id, e.citation_no;

SELECT marker, doc_id, locator FROM reground.begin_turn('garden', 'How does peat moss store carbon, and who brushes moss in Kyoto?', corpus => 'handbook', request_id => 'r', settings => '{"max_sources": 1}');
SELECT count(*) FROM reground.end_turn(regress.turn('garden'), 'Moos 🌱: peat moss stores more carbon than all the trees of the same area [A1]. Gardeners in Kyoto brush moss by hand every morning. [A1]

- Dragons eat moss [Z9].
- Bog owners need a permit [Source: moss.md, p. 2], and ferns unroll their fronds in spring [Source: fern.md].', message_ref => 'a');
SELECT * FROM checked WHERE message_ref = 'a' \gx

-- The sources are those of begin_turn, also after the turn has ended, and those added to it.
SELECT count(*) FROM (SELECT s FROM reground.turn_sources(regress.turn('garden')) AS s EXCEPT ALL
    SELECT s FROM reground.begin_turn('garden', 'How does peat moss store carbon, and who brushes moss in Kyoto?', corpus => 'handbook', request_id => 'r', settings => '{"max_sources": 1}') AS s) AS d;
SELECT count(*) FROM reground.begin_turn('added', 'Where does moss grow?', corpus => 'handbook', settings => '{"max_sources": 1}');
SELECT marker FROM reground.retrieve(regress.turn('added'), 'fronds of ferns', max_results => 1);
SELECT marker FROM reground.add_passages(regress.turn('added'), '[{"content": "Horsetails have spores.", "title": "Horsetails", "page_start": 4, "metadata": {"facts": ["Spores."]}}]');
SELECT marker, corpus, doc_id, title, locator, origin, facts, tokens FROM reground.turn_sources(regress.turn('added'));
-- A passage of the application has no document of ours.
SELECT count(*) FROM reground.end_turn(regress.turn('added'), 'Horsetails have spores [C1].', message_ref => 'added');
SELECT marker, corpus, page_start, before, quote, after, quote_start, quote_end, char_start, source_state
FROM reground.citation_evidence((SELECT message_id FROM reground.messages WHERE message_ref = 'added'));
-- A turn without sources, and one that waits for a rerank.
SELECT count(*) FROM reground.begin_turn('nothing', 'zzz', corpus => 'handbook');
SELECT turn_id = regress.turn('nothing') AS same, marker, origin FROM reground.turn_sources(regress.turn('nothing'));
SELECT count(*) FROM reground.begin_turn('waits', 'moss and ferns', corpus => 'handbook', settings => '{"reranker": "deferred"}');
SELECT DISTINCT marker, origin FROM reground.turn_sources(regress.turn('waits'));

-- A changed document: the evidence is that of the cited version, also if the answer was superseded.
SELECT count(*) FROM reground.end_turn(regress.turn('garden'), 'It holds water like a sponge [A1].', message_ref => 'b');
SELECT version FROM reground.put_document('handbook', 'moss.md', title => 'Moss', content => 'All new. Peat moss stores carbon.');
SELECT message_ref, citation_no, in_document, in_passage, before, quote, after, source_state FROM checked WHERE message_ref IN ('a', 'b') AND marker = 'A1' ORDER BY 1, 2;
SELECT FROM reground.delete_document('handbook', 'moss.md');
SELECT message_ref, citation_no, in_document, source_state FROM checked WHERE message_ref = 'b';

-- Without stored answers there is no sentence. The quote comes from the stored context.
SELECT count(*) FROM reground.begin_turn('evidence-hash', 'When do ferns unroll their fronds?', corpus => 'handbook', settings => '{"store_answers": "hash"}');
SELECT count(*) FROM reground.end_turn(regress.turn('evidence-hash'), 'Ferns unroll their fronds in spring [A1].', message_ref => 'evidence-hash');
SELECT marker, sentence, sentence_start, answer_start, quote, char_start, char_end, source_state FROM reground.citation_evidence((SELECT message_id FROM reground.messages WHERE message_ref = 'evidence-hash'));

-- Registered tables: long rows have windows, and neighbours are merged.
CREATE TABLE articles (id integer PRIMARY KEY, body text, name text);
INSERT INTO articles SELECT 1, string_agg(format('Paragraph %s is about the number %s and Öl 🛢.', n, n * 7) || CASE WHEN n = 150 THEN ' The capital of Freedonia is Sylvania City. It has a duck.' ELSE '' END, E'\n\n' ORDER BY n), 'Long'
    FROM generate_series(1, 300) AS n;
SET client_min_messages = warning;
SELECT reground.add_corpus('long articles', 'evidence.articles', 'id', 'body', title => 'name');
SELECT marker, length(content) < 4000 AS is_window FROM reground.begin_turn('long', 'What is the capital of Freedonia?', corpus => 'long articles', settings => '{"max_passage_tokens": 300}');
SELECT count(*) FROM reground.end_turn(regress.turn('long'), 'The capital of Freedonia is Sylvania City [A1].', message_ref => 'long');
SELECT e.chunk_id, e.quote = substr(a.body, e.quote_start + 1, e.quote_end - e.quote_start) AS in_passage, e.before, e.quote, e.after, e.char_start, e.source_state
FROM reground.citation_evidence((SELECT message_id FROM reground.messages WHERE message_ref = 'long')) AS e JOIN articles AS a ON a.id::text = e.chunk_id;
UPDATE articles SET body = 'Gone.';
SELECT chunk_id, left(before, 20) AS before, quote, after, quote_start > 1000 AS has_place, source_state FROM reground.citation_evidence((SELECT message_id FROM reground.messages WHERE message_ref = 'long'));
DELETE FROM articles;
SELECT quote, source_state FROM reground.citation_evidence((SELECT message_id FROM reground.messages WHERE message_ref = 'long'));

CREATE TABLE parts (id integer PRIMARY KEY, doc text, place integer, body text, first integer, last integer);
INSERT INTO parts SELECT n, 'book', n, substr(b.text, 1 + n * 60, 90), n * 60, least(n * 60 + 90, length(b.text)) FROM generate_series(0, 3) AS n,
    (SELECT E'Otters 🦦 sleep on their backs. They hold hands while they sleep. Beavers build dams of branches. Their teeth are orange because of iron. Swans carry their cygnets. Geese do not.' AS text) AS b
    WHERE n * 60 < length(b.text);
SELECT reground.add_corpus('parts', 'evidence.parts', 'id', 'body', doc_id => 'doc', ordinal => 'place', char_start => 'first', char_end => 'last');
SELECT marker, length(content) FROM reground.begin_turn('parts', 'Why are the teeth of beavers orange, and how do otters sleep?', corpus => 'parts');
SELECT marker, member_chunk_ids FROM reground.explain_turn(regress.turn('parts')) WHERE in_context;
SELECT count(*) FROM reground.end_turn(regress.turn('parts'), 'Otters sleep on their backs [A1]. The teeth of beavers are orange because of iron [A1].', message_ref => 'parts');
SELECT e.chunk_id, e.quote, e.quote = substr(p.body, e.quote_start + 1, e.quote_end - e.quote_start) AS in_passage,
       (SELECT substr(string_agg(CASE WHEN b.place = 0 THEN b.body ELSE substr(b.body, 31) END, '' ORDER BY b.place), e.char_start + 1, e.char_end - e.char_start) = e.quote FROM parts AS b) AS in_document, e.source_state
FROM reground.citation_evidence((SELECT message_id FROM reground.messages WHERE message_ref = 'parts')) AS e LEFT JOIN parts AS p ON p.id::text = e.chunk_id ORDER BY e.citation_no;

-- A quote of a remembered source has its place in the passage.
SELECT count(*) FROM reground.begin_turn('remembers', 'When do ferns unroll their fronds?', corpus => 'handbook', settings => '{"max_sources": 1}');
SELECT count(*) FROM reground.end_turn(regress.turn('remembers'), 'Ferns unroll their fronds in spring [A1].', message_ref => 'r1');
SELECT version FROM reground.put_document('handbook', 'algae.md', content => 'Algae grow in the pond. They feed the snails of the pond.');
SELECT marker, origin FROM reground.begin_turn('remembers', 'And what grows in the pond with the snails?', settings => '{"max_sources": 1, "reserved_slots": 0}', intent => 'drill_down');
SELECT count(*) FROM reground.end_turn(regress.turn('remembers'), 'Algae grow in the pond [B1]. Ferns unroll their fronds in spring [A1]. [A1]', message_ref => 'r2');
SELECT citation_no, marker, status, in_document, in_passage, before, quote, after FROM checked WHERE message_ref = 'r2';

-- Of a registered table, a position is returned only if a text has the quote there.
CREATE TABLE newts (id integer PRIMARY KEY, body text, first integer, last integer);
INSERT INTO newts SELECT v.id, v.body, 100, 100 + length(v.body) FROM (VALUES (1, 'Newts 🦎 hide under stones in the pond.'), (2, 'Pikes hunt small fish in the lake.')) AS v(id, body);
SELECT reground.add_corpus('newts', 'evidence.newts', 'id', 'body', char_start => 'first', char_end => 'last');
SELECT count(*) FROM reground.begin_turn('newts', 'Where do newts hide under stones?', corpus => 'newts', settings => '{"max_sources": 1}');
SELECT count(*) FROM reground.end_turn(regress.turn('newts'), 'Newts hide under stones in the pond [A1].');
SELECT marker, origin FROM reground.begin_turn('newts', 'And what do pikes hunt in the lake?', settings => '{"max_sources": 1, "reserved_slots": 0}', intent => 'drill_down');
SELECT count(*) FROM reground.end_turn(regress.turn('newts'), 'Newts hide under stones in the pond [A1].', message_ref => 'newts');
CREATE VIEW newt AS SELECT chunk_id, quote, quote_start, quote_end, char_start, char_end, source_state
FROM reground.citation_evidence((SELECT message_id FROM reground.messages WHERE message_ref = 'newts'));
SELECT * FROM newt;
UPDATE newts SET body = 'Frogs 🐸 sit on leaves beside the rock.' WHERE id = 1;
SELECT * FROM newt;
DELETE FROM newts;
SELECT * FROM newt;

-- The parts of a message: without citation strings, each citation with the text that it supports.
SELECT version FROM reground.put_document('handbook', 'moss.md', title => 'Moss', uri => 'https://example.org/moss', content =>
    E'Moss 🌱 holds water like a sponge.\n\nGardeners in Kyoto brush moss by hand every morning.');
SELECT count(*) FROM reground.begin_turn('parts-2', 'How does moss hold water, and when do ferns unroll their fronds?', corpus => 'handbook', settings => '{"max_sources": 4}');
SELECT string_agg(format('%s=%s', marker, doc_id), ' ' ORDER BY marker) AS markers FROM reground.turn_sources(regress.turn('parts-2'));
SELECT count(*) FROM reground.end_turn(regress.turn('parts-2'), (SELECT format('Moos 🌱: moss holds water like a sponge [%s]. Ferns unroll their fronds in spring [%s][%s], 牛 too [Z9]. Nobody knows [Source: none.md].', m.marker, f.marker, m.marker)
    FROM reground.turn_sources(regress.turn('parts-2')) AS m, reground.turn_sources(regress.turn('parts-2')) AS f WHERE m.doc_id = 'moss.md' AND f.doc_id = 'fern.md'), message_ref => 'parts-2');
SELECT message_id AS parts_id FROM reground.messages WHERE message_ref = 'parts-2' \gset
-- Tags and spans are removed, and their citations cover the enclosed text.
SELECT count(*) FROM reground.begin_turn('spans', 'How does moss hold water?', corpus => 'handbook', settings => '{"max_sources": 1, "marker_style": "1"}');
SELECT count(*) FROM reground.end_turn(regress.turn('spans'), 'Moos 🌱: <co: 0>moss holds water</co: 0> <co: 0>like a sponge</co: 0>. [span_1](start_span)Gardeners brush moss by hand[span_1](end_span) in Kyoto [1].', message_ref => 'spans');
SELECT p -> 0 ->> 'text' AS text, json_agg(substr(p -> 0 ->> 'text', (a ->> 'start_index')::int + 1, (a ->> 'end_index')::int - (a ->> 'start_index')::int)) AS cited
FROM answers AS m, reground.answer_parts(m.message_id, 'openai') AS p, jsonb_array_elements(p -> 0 -> 'annotations') AS a WHERE m.message_ref = 'spans' GROUP BY p;
CREATE FUNCTION without_ids(parts jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT regexp_replace(jsonb_pretty(parts), '"(citation_id|chunk_id)": "?\d+"?', '"\1": N', 'g')
$$;
SELECT without_ids(reground.answer_parts(:parts_id, 'openai'));
SELECT without_ids(reground.answer_parts(:parts_id, 'anthropic'));
SELECT without_ids(reground.answer_parts(:parts_id, 'vercel'));

-- import_citations reads them back: the same positions, sources and quotes from each format, and those of the evidence.
CREATE VIEW imported AS
    SELECT m.message_ref, f.format, i.* FROM answers AS m, (VALUES ('openai'), ('anthropic'), ('vercel')) AS f(format), reground.answer_parts(m.message_id, f.format) AS p,
        LATERAL (SELECT string_agg(x.part ->> 'text', '' ORDER BY x.n) AS text FROM jsonb_array_elements(p) WITH ORDINALITY AS x(part, n)) AS t, reground.import_citations(t.text, p) AS i;
SELECT format, citation_no, marker, name, raw, quote, utf16_start, utf16_end FROM imported WHERE message_ref = 'parts-2' ORDER BY citation_no, format;
SELECT m.message_ref, f.format, count(*) AS cited, count(*) FILTER (WHERE i.quote IS DISTINCT FROM e.quote OR coalesce(i.marker, i.number::text) IS DISTINCT FROM e.marker AND i.name IS DISTINCT FROM e.doc_id) AS different
FROM answers AS m CROSS JOIN (VALUES ('openai'), ('anthropic'), ('vercel')) AS f(format)
    CROSS JOIN LATERAL (SELECT row_number() OVER (ORDER BY x.citation_no) AS n, x.* FROM reground.citation_evidence(m.message_id) AS x WHERE x.doc_id IS NOT NULL) AS e
    FULL JOIN (SELECT * FROM imported) AS i ON i.message_ref = m.message_ref AND i.format = f.format AND i.citation_no = e.n
WHERE m.answer IS NOT NULL GROUP BY m.message_ref, f.format ORDER BY 1, 2;
-- end_turn accepts them: the same sources, with the same verdicts.
SELECT count(*) FROM reground.begin_turn('parts-3', 'How does moss hold water, and when do ferns unroll their fronds?', corpus => 'handbook', settings => '{"max_sources": 4}');
SELECT DISTINCT string_agg(concat_ws(' ', c.doc_id, c.status, c.quote), ' | ' ORDER BY c.citation_id) AS judged
FROM (VALUES (1, 'openai'), (2, 'anthropic'), (3, 'vercel')) AS f(n, format), reground.answer_parts(:parts_id, f.format) AS p,
    LATERAL (SELECT string_agg(x.part ->> 'text', '' ORDER BY x.n) AS text FROM jsonb_array_elements(p) WITH ORDINALITY AS x(part, n)) AS t,
    LATERAL reground.end_turn(regress.turn('parts-3'), t.text, message_ref => f.format, citations => p) AS c GROUP BY f.format;
SELECT reground.answer_parts((SELECT message_id FROM reground.messages WHERE message_ref = 'evidence-hash'), 'openai');
SELECT * FROM regress.refusal('SELECT reground.answer_parts(0, ''openai'')');
SELECT * FROM regress.refusal('SELECT reground.answer_parts(NULL, ''openai'')');
SELECT * FROM regress.refusal(format('SELECT reground.answer_parts(%s, ''cohere'')', (SELECT message_id FROM reground.messages WHERE message_ref = 'evidence-hash')));

-- The text around a quote comes only from a version of the document that the caller may read.
SELECT FROM reground.create_corpus('bridge notes', chunk_size => 60, chunk_overlap => 0, chunk_unit => 'characters', principals_column => 'readers');
SELECT version FROM reground.put_document('bridge notes', 'plan.md', principals => '{staff,guests}', content => 'The bridge opens in June after repairs. The mayor will sing at dawn.');
SET reground.principals_from = 'app.principals';
SET app.principals = '{guests}';
SELECT marker, content FROM reground.begin_turn('bridge notes', 'When does the bridge open?', corpus => 'bridge notes', settings => '{"max_sources": 1}');
SELECT holds FROM reground.end_turn(regress.turn('bridge notes'), 'The bridge opens in June [A1].', message_ref => 'bridge notes');
SELECT message_id AS notes_id FROM reground.messages WHERE message_ref = 'bridge notes' \gset
SELECT quote, after, char_start FROM reground.citation_evidence(:notes_id);
UPDATE "bridge notes_documents" SET readers = '{staff}' WHERE doc_id = 'plan.md';
SELECT quote, after, char_start FROM reground.citation_evidence(:notes_id);
RESET app.principals;
RESET reground.principals_from;

-- Only for the tenant, and only for answers and turns that exist.
SELECT * FROM regress.refusal('SELECT * FROM reground.citation_evidence(0)');
SELECT * FROM regress.refusal('SELECT * FROM reground.citation_evidence(NULL)');
SELECT * FROM regress.refusal('SELECT * FROM reground.turn_sources(0)');
SELECT * FROM regress.refusal('SELECT * FROM reground.turn_sources(NULL)');
CREATE ROLE evidence_other IN ROLE reground_user;
GRANT USAGE ON SCHEMA regress TO evidence_other;
GRANT EXECUTE ON FUNCTION regress.refusal(text) TO evidence_other;
SELECT message_id FROM reground.messages WHERE message_ref = 'a' \gset
SELECT regress.turn('garden') AS turn_id \gset
SET ROLE evidence_other;
SELECT * FROM regress.refusal(format('SELECT * FROM reground.citation_evidence(%s)', :message_id));
SELECT * FROM regress.refusal(format('SELECT * FROM reground.turn_sources(%s)', :turn_id));
SELECT * FROM regress.refusal(format('SELECT reground.answer_parts(%s, %L)', :message_id, 'openai'));
RESET ROLE;
REVOKE ALL ON SCHEMA regress FROM evidence_other;
REVOKE ALL ON FUNCTION regress.refusal(text) FROM evidence_other;
DROP ROLE evidence_other;
