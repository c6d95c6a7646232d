-- The levels of provenance: what each level stores, and what can be verified later.
CREATE SCHEMA chain;
SET search_path = chain, public;
SELECT reground.create_corpus('chain', dimensions => 2, schema => 'chain');
SELECT (reground.put_document('chain', 'tea', passages => '[{"content": "Green tea steeps for two minutes.", "page_start": 1}, {"content": "Black tea steeps for four minutes.", "page_start": 2}]', title => 'Tea')).version;
SELECT (reground.put_document('chain', 'rye', passages => '[{"content": "Rye bread rises slowly in the cold."}]')).version;
SELECT (reground.put_document('chain', 'oats', content => 'Oats are rolled flat before they dry. They keep for a year.')).version;
SELECT reground.put_embeddings('chain', ARRAY(SELECT chunk_id::text FROM chain.chain ORDER BY chunk_id), ARRAY['[1,0]', '[0.8,0.6]', '[0,1]', '[0.6,-0.8]']::vector[]);

-- metadata: only the hash of each source in the context, computed from its text.
SELECT marker, doc_id FROM reground.begin_turn('chain-0', 'How long does green tea steep?', 'chain', '[1,0]', settings => '{"max_sources": 2}');
SELECT count(*) AS candidates, count(hash_prefix) AS hashed FROM reground.turn_candidates WHERE turn_id = regress.turn('chain-0');
SELECT marker, length(stored_hash) AS digits, content_state FROM reground.verify_turn(regress.turn('chain-0'));

-- hash: the first 8 bytes for every candidate, equal to the hash that PostgreSQL computes of the text with normalised white space.
SELECT marker, doc_id FROM reground.begin_turn('chain-1', 'How long does green tea steep?', 'chain', '[1,0]', settings => '{"max_sources": 2, "provenance": "hash"}');
CREATE FUNCTION folded(content text) RETURNS text LANGUAGE sql AS $$ SELECT encode(sha256(convert_to(btrim(regexp_replace(content, '\s+', ' ', 'g')), 'UTF8')), 'hex') $$;
SELECT c.doc_id, c.in_context, c.hash_prefix = left(folded(p.content), 16) AS hashed FROM reground.turn_candidates AS c JOIN chain AS p ON p.chunk_id::text = c.chunk_id WHERE c.turn_id = regress.turn('chain-1', 1) ORDER BY c.candidate_no;
SELECT x.doc_ids, octet_length(x.hash_prefixes) = 8 * cardinality(x.chunk_ids) AS compact FROM reground.turn_traces AS x WHERE x.turn_id = regress.turn('chain-1', 1);
SELECT n.kind, n.doc_id, n.hash = left(folded(p.content), length(n.hash)) AS hashed, length(n.hash) AS digits FROM reground.provenance_nodes AS n JOIN chain AS p ON p.chunk_id::text = n.chunk_id WHERE n.turn_id = regress.turn('chain-1', 1) AND n.hash IS NOT NULL ORDER BY n.stage_no, n.node;
SELECT marker, status FROM reground.end_turn(regress.turn('chain-1', 1), 'Green tea steeps for two minutes [A1].');
SELECT t.kind, length(t.hash) AS digits FROM reground.trace_citation((SELECT citation_id FROM reground.message_citations WHERE turn_id = regress.turn('chain-1', 1))) AS t;
SELECT v.doc_id, v.marker, v.stored_hash = left(v.current_hash, length(v.stored_hash)) AS same, v.content_state FROM reground.verify_turn(regress.turn('chain-1', 1)) AS v;
-- The application changes a text directly, so its column has the old hash; verify_turn hashes the text itself.
UPDATE chain SET content = 'Green tea steeps for ten minutes.' WHERE content LIKE 'Green%';
DELETE FROM chain WHERE doc_id = 'rye';
UPDATE chain SET content = 'Black tea  steeps for four minutes. ' WHERE content LIKE 'Black%';
SELECT v.doc_id, v.marker, v.current_hash = folded(p.content) AS current, v.content_state FROM reground.verify_turn(regress.turn('chain-1', 1)) AS v LEFT JOIN chain AS p ON p.chunk_id::text = v.chunk_id ORDER BY v.marker, v.doc_id;
SELECT doc_id, marker, content_state FROM reground.verify_turn(regress.turn('chain-0'));
SELECT marker FROM reground.begin_turn('chain-1', 'How long does green tea steep?', 'chain', '[1,0]', settings => '{"max_sources": 1}');
SELECT marker FROM reground.begin_turn('chain-1', 'How long does green tea steep?', 'chain', '[1,0]', settings => '{"max_sources": 1, "provenance": "hash"}');
SELECT t.turn_no, t.context #>> '{0,passage,content_hash}' = folded(t.context #>> '{0,passage,content}') AS of_the_text FROM reground.turns AS t WHERE t.turn_id IN (regress.turn('chain-1', 2), regress.turn('chain-1', 3)) ORDER BY 1;
UPDATE chain SET content = 'Green tea steeps for two minutes.' WHERE content LIKE 'Green%';
-- A merged source is verified by its passages.
SELECT reground.create_corpus('chain words', chunk_size => 40, chunk_overlap => 10, chunk_unit => 'characters', schema => 'chain', settings => '{"provenance": "hash"}');
SELECT (reground.put_document('chain words', 'malt', content => 'Barley malts in the dark for a week. Then it is dried with warm air. The kiln stays shut all night.')).chunk_count;
SELECT marker, doc_id FROM reground.begin_turn('chain-2', 'barley malts dried in the kiln', 'chain words');
SELECT doc_id, marker, content_state FROM reground.verify_turn(regress.turn('chain-2')) WHERE marker IS NOT NULL;
SELECT max(cardinality(member_chunk_ids)) > 1 AS merged FROM reground.turn_candidates WHERE turn_id = regress.turn('chain-2');
UPDATE "chain words" SET content = replace(content, 'warm', 'cold');
SELECT doc_id, marker, content_state FROM reground.verify_turn(regress.turn('chain-2')) WHERE marker IS NOT NULL;
-- A table of the application; then a corpus that is no longer registered.
CREATE TABLE pages (id integer PRIMARY KEY, body text);
INSERT INTO pages VALUES (1, 'Zebras graze on dry grass.'), (2, 'Quartz clocks keep time.');
SELECT reground.add_corpus('chain pages', 'pages', 'id', 'body', settings => '{"provenance": "hash"}');
SELECT marker FROM reground.begin_turn('chain-3', 'zebras graze', 'chain pages');
SELECT stored_hash = folded('Zebras graze on dry grass.') AS of_the_text, content_state FROM reground.verify_turn(regress.turn('chain-3'));
UPDATE pages SET body = 'Zebras eat meat.' WHERE id = 1;
SELECT content_state FROM reground.verify_turn(regress.turn('chain-3'));
SELECT reground.drop_corpus('chain pages');
SELECT content_state, current_hash FROM reground.verify_turn(regress.turn('chain-3'));
-- semantic: all cosines equal those of pgvector; the hashes are stored too.
UPDATE chain SET content = regexp_replace(content, ' +', ' ', 'g');
SELECT marker, doc_id FROM reground.begin_turn('chain-5', 'How long does tea steep?', 'chain', '[0.6,0.8]', settings => '{"provenance": "semantic", "merge_adjacent": false}');
CREATE VIEW shown AS SELECT t.turn_id, e.place::integer, e.source ->> 'marker' AS marker, p.embedding FROM reground.turns AS t, jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, place) JOIN chain AS p ON p.chunk_id::text = e.source #>> '{passage,chunk_id}';
SELECT s.marker, round(t.query_similarities[s.place]::numeric, 5) = round((1 - (s.embedding <=> '[0.6,0.8]'))::numeric, 5) AS to_query FROM reground.turns AS t JOIN shown AS s USING (turn_id) WHERE turn_id = regress.turn('chain-5') ORDER BY s.place;
SELECT array_agg(round(s::numeric, 5) ORDER BY n) = (SELECT array_agg(round((1 - (a.embedding <=> b.embedding))::numeric, 5) ORDER BY a.place, b.place) FROM shown AS a JOIN shown AS b USING (turn_id) WHERE turn_id = regress.turn('chain-5') AND a.place < b.place) AS to_each_other, count(*)
FROM reground.turns, unnest(source_similarities) WITH ORDINALITY AS u(s, n) WHERE turn_id = regress.turn('chain-5');
SELECT count(*) AS candidates, count(hash_prefix) AS hashed FROM reground.turn_candidates WHERE turn_id = regress.turn('chain-5');
SELECT marker, status, best_other_marker FROM reground.end_turn(regress.turn('chain-5'), 'Green tea steeps for two minutes [A1]. Oats are rolled flat before they dry [B1]. Pigs fly [Z9].');
SELECT s.citation_no, s.marker, round(s.query_similarity::numeric, 5) = round((1 - (o.embedding <=> '[0.6,0.8]'))::numeric, 5) AS query_similarity, s.nearest_marker = n.marker AS nearest_marker, round(s.nearest_similarity::numeric, 5) = n.cosine AS nearest_similarity
FROM reground.citation_similarities AS s JOIN shown AS o USING (turn_id, marker)
CROSS JOIN LATERAL (SELECT x.marker, round((1 - (x.embedding <=> o.embedding))::numeric, 5) AS cosine FROM shown AS x WHERE x.turn_id = s.turn_id AND x.marker <> s.marker ORDER BY 2 DESC LIMIT 1) AS n WHERE s.turn_id = regress.turn('chain-5') ORDER BY 1;
SELECT t.kind, round((t.details -> 'query_similarity')::numeric, 5) IS NOT NULL AS similar FROM reground.trace_citation((SELECT min(citation_id) FROM reground.message_citations WHERE turn_id = regress.turn('chain-5'))) AS t WHERE t.kind = 'context';
-- Each pair has one index, in either order.
SELECT n AS of, array_agg(reground._pair_index(b, a, n) ORDER BY a, b) = ARRAY(SELECT generate_series(1, n * (n - 1) / 2)) AS each_once FROM generate_series(2, 12) AS n, generate_series(1, n) AS a, generate_series(a + 1, n) AS b GROUP BY n ORDER BY n;
-- Without an embedding of the query or of the passages there are no similarities, but a warning.
SELECT count(*) AS sources FROM reground.begin_turn('chain-6', 'green tea', 'chain', settings => '{"provenance": "semantic", "merge_adjacent": false}');
SELECT query_similarities, cardinality(source_similarities) > 0 AS to_each_other, warnings FROM reground.turns WHERE turn_id = regress.turn('chain-6');
UPDATE chain SET embedding = NULL;
SELECT count(*) AS sources FROM reground.begin_turn('chain-6', 'green tea', 'chain', '[1,0]', settings => '{"provenance": "semantic"}');
SELECT query_similarities, source_similarities FROM reground.turns WHERE turn_id = regress.turn('chain-6');
SELECT count(*) AS nothing FROM reground.turns WHERE turn_id = regress.turn('chain-0') AND (query_similarities IS NOT NULL OR source_similarities IS NOT NULL);

-- merkle: a link for each turn and each answer; a retry adds none, a regeneration adds one.
CREATE FUNCTION verified(conversation text) RETURNS TABLE (link_no bigint, kind text, turn_no integer, status text, detail text) LANGUAGE sql AS $$ SELECT v.link_no, v.kind, v.turn_no, v.status, v.detail FROM reground.verify_chain($1) AS v $$;
SELECT reground.alter_conversation('chain-7', '{"provenance": "merkle", "merge_adjacent": false, "max_sources": 2}');
SELECT marker, doc_id FROM reground.begin_turn('chain-7', 'How long does green tea steep?', 'chain', '[1,0]', request_id => 'r1', filter => '{"doc_id": ["tea", "rye"]}', tags => '{"a": [1, null, 0.5]}');
SELECT marker, doc_id FROM reground.begin_turn('chain-7', 'How long does green tea steep?', 'chain', '[1,0]', request_id => 'r1', filter => '{"doc_id": ["tea", "rye"]}', tags => '{"a": [1, null, 0.5]}');
SELECT marker, status FROM reground.end_turn(regress.turn('chain-7'), 'Green tea steeps for two minutes [A1]. Pigs fly [Z9].', message_ref => 'chain-7-1', model => 'small', usage => '{"tokens": 12}');
SELECT marker, status FROM reground.end_turn(regress.turn('chain-7'), 'Green tea steeps for two minutes [A1]. Pigs fly [Z9].', message_ref => 'chain-7-1', model => 'small', usage => '{"tokens": 12}');
SELECT marker, status FROM reground.end_turn(regress.turn('chain-7'), 'Two minutes [A1].', message_ref => 'chain-7-2');
SELECT count(*) AS candidates FROM reground.begin_turn('chain-7', 'and black tea?', settings => '{"reranker": "deferred"}');
SELECT * FROM verified('chain-7');
SELECT marker FROM reground.apply_rerank(regress.turn('chain-7'), NULL);
SELECT status FROM reground.end_turn(regress.turn('chain-7'), 'I do not know.');
SELECT count(*) > 0 AS sources FROM reground.begin_turn('chain-7', 'and now?', settings => '{"provenance": "hash"}');
SELECT status FROM reground.end_turn(regress.turn('chain-7'), 'Nothing of it is chained.');
SELECT count(*) AS sources FROM reground.begin_turn('chain-7', 'zzz', filter => '{"doc_id": "none"}');
SELECT reground.abandon_turn(regress.turn('chain-7'));
SELECT * FROM verified('chain-7');
SELECT c.chain_length, c.chain_head = x.digest AS head FROM reground.conversations AS c JOIN reground.provenance_chain AS x ON (x.conversation_id, x.link_no) = (c.conversation_id, c.chain_length) WHERE c.conversation_ref = 'chain-7';
SELECT count(DISTINCT s) = count(*) AS every_salt_is_another, bool_and(octet_length(s) = 16) AS sized FROM reground.provenance_chain AS x JOIN reground.conversations AS c USING (conversation_id), unnest(x.salts) AS s WHERE c.conversation_ref = 'chain-7';
-- The same digests, computed by PostgreSQL alone.
CREATE FUNCTION field(value bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT CASE WHEN value IS NULL THEN '\x00'::bytea ELSE '\x01'::bytea || int8send(octet_length(value)) || value END $$;
CREATE FUNCTION record(label text, VARIADIC fields bytea[]) RETURNS bytea LANGUAGE sql AS $$ SELECT field(convert_to(label, 'UTF8')) || coalesce((SELECT string_agg(field(f), ''::bytea ORDER BY n) FROM unnest(fields) WITH ORDINALITY AS u(f, n)), '') $$;
CREATE FUNCTION t(value text) RETURNS bytea LANGUAGE sql AS $$ SELECT convert_to(value, 'UTF8') $$;
CREATE FUNCTION j(value jsonb) RETURNS bytea LANGUAGE sql AS $$ SELECT convert_to(value::text, 'UTF8') $$;
CREATE FUNCTION n(value bigint) RETURNS bytea LANGUAGE sql AS $$ SELECT int8send(value) $$;
CREATE FUNCTION d(value double precision) RETURNS bytea LANGUAGE sql AS $$ SELECT float8send(value) $$;
CREATE FUNCTION us(value timestamptz) RETURNS bytea LANGUAGE sql AS $$ SELECT int8send((extract(epoch FROM value) * 1000000)::bigint) $$;
CREATE FUNCTION root(leaves bytea[]) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    half integer := 1;
BEGIN
    IF cardinality(leaves) = 1 THEN RETURN leaves[1]; END IF;
    WHILE half * 2 < cardinality(leaves) LOOP half := half * 2; END LOOP;
    RETURN sha256('\x01'::bytea || root(leaves[:half]) || root(leaves[half + 1:]));
END $$;
-- A turn as it was when a link was made; turn_before keeps the values that a later retrieval changed.
CREATE VIEW stood AS SELECT x.conversation_id AS of, x.link_no, q.*, coalesce(r.turn_before -> 'warnings', to_jsonb(q.warnings)) AS warnings_then, coalesce((r.turn_before ->> 'context_tokens')::bigint, q.context_tokens) AS tokens_then,
        CASE WHEN r.turn_before IS NULL THEN q.context_turn_no ELSE (r.turn_before ->> 'context_turn_no')::bigint END AS context_turn_no_then, CASE WHEN r.turn_before IS NULL THEN q.history_tokens ELSE (r.turn_before ->> 'history_tokens')::bigint END AS history_then
    FROM reground.provenance_chain AS x JOIN reground.turns AS q USING (turn_id) LEFT JOIN reground.turn_retrievals AS r ON r.turn_id = x.turn_id AND r.retrieval_no = coalesce(x.retrieval_no, 0) + 1
    WHERE x.kind <> 'answer';
CREATE VIEW contents AS
    SELECT x.conversation_id, x.link_no, 1 AS place, record('question', t(q.request_id), t(q.request_hash), t(q.user_ref), t(q.query), array_send(q.embedding), j(q.filter), j(q.tags)) AS content
    FROM reground.provenance_chain AS x JOIN reground.turns AS q USING (turn_id) WHERE x.kind = 'turn'
    UNION ALL SELECT q.of, q.link_no, 2, record('turn', t(q.tenant), t(q.origin), n(q.conversation_id), n(q.turn_no), n(q.parent_turn_id), t(q.corpus), j(to_jsonb(q.corpora)), t(q.intent), d(q.intent_confidence), j(to_jsonb(q.intent_signals)), j(q.query_expansion), j(q.settings), j(q.call_settings), j(q.warnings_then),
        n(q.tokens_then), n(q.query_tokens), boolsend(q.retrieved), n(q.context_turn_no_then), n(q.history_then), us(q.begun_at), us(q.as_of))
    FROM stood AS q
    UNION ALL SELECT x.conversation_id, x.link_no, 1, record('retrieval', t(r.tenant), t(r.kind), t(r.query), array_send(r.embedding), j(to_jsonb(r.corpora)), j(r.filter), j(to_jsonb(r.markers)), j(to_jsonb(r.warnings)), j(r.turn_before), n(r.max_results), n(r.added_count), n(r.search_us), us(r.retrieved_at))
    FROM reground.provenance_chain AS x JOIN reground.turn_retrievals AS r USING (turn_id, retrieval_no)
    UNION ALL SELECT x.conversation_id, x.link_no, 2 + row_number() OVER (PARTITION BY x.conversation_id, x.link_no ORDER BY e.place), record('source', j(e.source))
    FROM reground.provenance_chain AS x JOIN reground.turns AS q USING (turn_id), jsonb_array_elements(q.context) WITH ORDINALITY AS e(source, place)
    WHERE x.kind <> 'answer' AND coalesce((e.source ->> 'retrieval_no')::integer, 0) = coalesce(x.retrieval_no, 0)
    UNION ALL SELECT x.conversation_id, x.link_no, 1, record('answer', t(m.message_ref), t(m.answer), t(m.answer_hash), j(m.usage), j(m.citations), j(m.tags))
    FROM reground.provenance_chain AS x JOIN reground.messages AS m USING (message_id)
    UNION ALL SELECT x.conversation_id, x.link_no, 2, record('verdict', t(m.tenant), n(m.conversation_id), n(m.turn_id), t(m.model), n(m.answer_tokens), n(m.citation_count), n(m.malformed_count), d(m.cfs), d(m.stage_cfs), d(m.grounded_cfs),
        t(m.diagnostic), t(m.decision), j(to_jsonb(m.reasons)), us(m.created_at))
    FROM reground.provenance_chain AS x JOIN reground.messages AS m USING (message_id)
    UNION ALL SELECT x.conversation_id, x.link_no, 2 + c.citation_no, record('citation', t(c.tenant), n(c.conversation_id), n(c.turn_id), us(c.created_at), t(c.marker), t(c.raw), t(c.form), t(c.scope), t(c.corpus), t(c.doc_id), t(c.chunk_id), t(c.title), t(c.uri), t(c.locator), t(c.claim), t(c.quote), n(c.quote_start), n(c.quote_end),
        t(c.fact_summary), t(c.status), boolsend(c.holds), t(c.hallucination_mode), d(c.score), d(c.coordinate_fidelity), d(c.support), j(c.support_parts), t(c.diagnostic), t(c.detail), t(c.best_other_marker), n(c.factor_coordinates), n(c.factor_retrieval), n(c.factor_rerank),
        n(c.factor_context), n(c.factor_generation), t(c.lost_stage), n(c.source_version), t(c.source_hash), boolsend(c.repaired), n(c.answer_start), n(c.answer_end), n(c.byte_start), n(c.byte_end), n(c.utf16_start), n(c.utf16_end))
    FROM reground.provenance_chain AS x JOIN reground.message_citations AS c USING (message_id);
CREATE VIEW remade AS SELECT c.conversation_ref, x.link_no, x.kind, cardinality(x.leaves) AS leaves,
    x.leaves = (SELECT array_agg(sha256('\x00'::bytea || x.salts[o.place] || o.content) ORDER BY o.place) FROM contents AS o WHERE (o.conversation_id, o.link_no) = (x.conversation_id, x.link_no)) AS same_leaves,
    x.digest = sha256('\x02'::bytea || coalesce(lag(x.digest) OVER (PARTITION BY x.conversation_id ORDER BY x.link_no), decode(repeat('00', 32), 'hex'))
        || record('link', n(x.conversation_id), n(x.link_no), t(x.tenant), t(x.kind), n(x.turn_id), n(coalesce(x.message_id, x.retrieval_no)), us(x.linked_at), n(cardinality(x.leaves)), root(x.leaves))) AS same_digest
FROM reground.provenance_chain AS x JOIN reground.conversations AS c USING (conversation_id);
SELECT link_no, kind, leaves, same_leaves, same_digest FROM remade WHERE conversation_ref = 'chain-7' ORDER BY link_no;

-- verify_chain detects each change, also by a superuser, and names the link. Each change is rolled back before the next.
CREATE FUNCTION tampered(statement text) RETURNS TABLE (link_no bigint, kind text, status text, detail text) LANGUAGE plpgsql AS $$
DECLARE
    touched bigint;
BEGIN
    BEGIN
        EXECUTE replace(replace(replace(statement, '$turn', regress.turn('chain-7', 1)::text), '$message', (SELECT min(message_id)::text FROM reground.messages WHERE turn_id = regress.turn('chain-7', 1))),
            '$conversation', (SELECT conversation_id::text FROM reground.conversations WHERE conversation_ref = 'chain-7'));
        GET DIAGNOSTICS touched = ROW_COUNT;
        RETURN QUERY SELECT v.link_no, v.kind, v.status, replace(v.detail, current_user::text, 'the owner') FROM reground.verify_chain('chain-7') AS v WHERE v.status <> 'ok';
        RAISE EXCEPTION USING ERRCODE = 'R0001', MESSAGE = touched;
    EXCEPTION WHEN SQLSTATE 'R0001' THEN
        IF SQLERRM = '0' THEN RETURN QUERY SELECT NULL::bigint, NULL, NULL, 'nothing was touched'; END IF;
    END;
END $$;
SELECT left(regexp_replace(s.statement, 'reground\.| (WHERE|SELECT) .*$', '', 'g'), 90) AS done, v.* FROM unnest(ARRAY[
    $$UPDATE reground.turns SET query = 'How long does it steep?' WHERE turn_id = $turn$$,
    $$UPDATE reground.turns SET embedding = '{1,0.0001}' WHERE turn_id = $turn$$,
    $$UPDATE reground.turns SET tags = '{"a": [1, null, 0.50]}' WHERE turn_id = $turn$$,
    $$UPDATE reground.turns SET request_id = NULL WHERE turn_id = $turn$$,
    $$UPDATE reground.turns SET user_ref = 'ann' WHERE turn_id = $turn$$,
    $$UPDATE reground.turns SET settings = settings || '{"max_sources": 3}' WHERE turn_id = $turn$$,
    $$UPDATE reground.turns SET begun_at = begun_at - interval '1 microsecond' WHERE turn_id = $turn$$,
    $$UPDATE reground.turns SET as_of = begun_at WHERE turn_id = $turn$$,
    $$UPDATE reground.turns SET context = jsonb_set(context, '{0,passage,content}', '"Green tea steeps for ten minutes."') WHERE turn_id = $turn$$,
    $$UPDATE reground.turns SET context = jsonb_set(context, '{1,relevance}', '0.5') WHERE turn_id = $turn$$,
    $$UPDATE reground.turns SET context = context - 1 WHERE turn_id = $turn$$,
    $$UPDATE reground.turns SET context = context || (context -> 0) WHERE turn_id = $turn$$,
    $$UPDATE reground.turns SET context = jsonb_build_array(context -> 1, context -> 0) WHERE turn_id = $turn$$,
    $$UPDATE reground.messages SET answer = answer || '!' WHERE message_id = $message$$,
    $$UPDATE reground.messages SET model = 'large', cfs = 1 WHERE message_id = $message$$,
    $$UPDATE reground.messages SET decision = 'accept' WHERE message_id = $message$$,
    $$UPDATE reground.message_citations SET status = 'resolved_current', holds = true WHERE message_id = $message AND citation_no = 2$$,
    $$UPDATE reground.message_citations SET source_hash = 'ff' WHERE message_id = $message AND citation_no = 1$$,
    $$DELETE FROM reground.message_citations WHERE message_id = $message AND citation_no = 1$$,
    $$UPDATE reground.message_citations SET citation_no = 3 - citation_no + 10 WHERE message_id = $message$$,
    $$INSERT INTO reground.message_citations OVERRIDING SYSTEM VALUE SELECT (jsonb_populate_record(c, '{"citation_id": -1, "citation_no": -5, "holds": true}')).* FROM reground.message_citations AS c WHERE c.message_id = $message AND c.citation_no = 1$$,
    $$UPDATE reground.message_citations SET tenant = 'somebody' WHERE message_id = $message AND NOT holds$$,
    $$UPDATE reground.message_citations SET created_at = created_at - interval '1 year' WHERE message_id = $message AND citation_no = 2$$,
    $$UPDATE reground.turns SET begun_at = 'infinity' WHERE turn_id = $turn$$,
    $$UPDATE reground.messages SET created_at = '-infinity' WHERE message_id = $message$$,
    $$UPDATE reground.provenance_chain SET linked_at = 'infinity' WHERE conversation_id = $conversation AND link_no = 5$$,
    $$UPDATE reground.provenance_chain SET previous_digest = '' WHERE conversation_id = $conversation AND link_no = 1$$,
    $$UPDATE reground.conversations SET chain_head = NULL WHERE conversation_id = $conversation$$,
    $$UPDATE reground.conversations SET tenant = 'somebody' WHERE conversation_id = $conversation$$,
    $$DELETE FROM reground.messages WHERE message_id = $message$$,
    $$DELETE FROM reground.turns WHERE turn_id = $turn$$,
    $$INSERT INTO reground.messages (tenant, conversation_id, turn_id, answer, answer_hash, answer_tokens, citation_count, malformed_count, decision) SELECT tenant, conversation_id, turn_id, 'x', 'x', 1, 0, 0, 'accept' FROM reground.turns WHERE turn_id = $turn$$,
    $$DELETE FROM reground.provenance_chain WHERE conversation_id = $conversation AND link_no = 2$$,
    $$DELETE FROM reground.provenance_chain WHERE conversation_id = $conversation AND link_no = 1$$,
    $$DELETE FROM reground.provenance_chain WHERE conversation_id = $conversation AND link_no > 4$$,
    $$DELETE FROM reground.provenance_chain WHERE conversation_id = $conversation$$,
    $$UPDATE reground.provenance_chain SET link_no = -link_no WHERE conversation_id = $conversation AND link_no IN (2, 3); UPDATE reground.provenance_chain SET link_no = 5 + link_no WHERE conversation_id = $conversation AND link_no < 0$$,
    $$UPDATE reground.provenance_chain SET linked_at = linked_at + interval '1 day' WHERE conversation_id = $conversation AND link_no = 3$$,
    $$UPDATE reground.provenance_chain SET leaves[1] = sha256('x') WHERE conversation_id = $conversation AND link_no = 3$$,
    $$UPDATE reground.provenance_chain SET digest = sha256('x') WHERE conversation_id = $conversation AND link_no = 3$$,
    $$UPDATE reground.provenance_chain SET previous_digest = sha256('x') WHERE conversation_id = $conversation AND link_no = 3$$,
    $$UPDATE reground.provenance_chain SET salts[2] = '\x00' WHERE conversation_id = $conversation AND link_no = 3$$,
    $$UPDATE reground.provenance_chain SET leaves = leaves[2:], salts = salts[2:] WHERE conversation_id = $conversation AND link_no = 3$$,
    $$UPDATE reground.conversations SET chain_length = 4, chain_head = (SELECT digest FROM reground.provenance_chain AS x WHERE x.conversation_id = $conversation AND link_no = 4) WHERE conversation_id = $conversation$$,
    $$UPDATE reground.conversations SET chain_head = sha256('x') WHERE conversation_id = $conversation$$,
    $$UPDATE reground.conversations SET corpus = NULL, settings = '{}' WHERE conversation_id = $conversation$$
    ]) WITH ORDINALITY AS s(statement, place) LEFT JOIN LATERAL tampered(s.statement) AS v ON true ORDER BY s.place;
-- Erased with its salt: the digests and the remaining content still verify.
SELECT left(regexp_replace(s.statement, 'reground\.| (WHERE|SELECT) .*$', '', 'g'), 90) AS done, v.* FROM unnest(ARRAY[
    $$UPDATE reground.provenance_chain SET salts[1] = NULL WHERE conversation_id = $conversation AND link_no = 1; UPDATE reground.turns SET query = '', embedding = NULL WHERE turn_id = $turn$$,
    $$UPDATE reground.provenance_chain SET salts[3] = NULL WHERE conversation_id = $conversation AND link_no = 1; UPDATE reground.turns SET context = jsonb_set(context, '{0,passage,content}', 'null') WHERE turn_id = $turn$$,
    $$UPDATE reground.provenance_chain SET salts[3] = NULL WHERE conversation_id = $conversation AND link_no = 1; UPDATE reground.turns SET context = jsonb_set(context, '{1,passage,content}', 'null') WHERE turn_id = $turn$$,
    $$UPDATE reground.provenance_chain SET salts = array_fill(NULL::bytea, ARRAY[cardinality(salts)]) WHERE conversation_id = $conversation AND link_no < 4; DELETE FROM reground.turns WHERE turn_id = $turn$$
    ]) WITH ORDINALITY AS s(statement, place) LEFT JOIN LATERAL tampered(s.statement) AS v ON true ORDER BY s.place;
SELECT bool_and(status = 'ok') AS undone FROM verified('chain-7');
-- Levels below merkle have no chain. Only auditors may verify, for all tenants.
SELECT * FROM verified('chain-1');
CREATE ROLE regress_chain_user IN ROLE reground_user;
CREATE ROLE regress_chain_checker IN ROLE reground_auditor;
GRANT USAGE ON SCHEMA regress, chain TO regress_chain_user, regress_chain_checker;
GRANT SELECT ON chain TO regress_chain_user;
GRANT SELECT ON chain_documents TO regress_chain_user;
SET ROLE regress_chain_user;
SELECT count(*) > 0 AS sources FROM reground.begin_turn('chain-7', 'green tea', 'chain', settings => '{"provenance": "merkle", "max_sources": 1}');
SELECT f, r.state FROM unnest(ARRAY[$$SELECT * FROM reground.verify_chain('chain-7')$$, 'SELECT * FROM reground.verify_turn(1)', 'TABLE reground.provenance_chain', 'TABLE reground.chain_checkpoints']) AS f, regress.refusal(f) AS r;
RESET ROLE;
SET ROLE regress_chain_checker;
SELECT v.tenant = 'regress_chain_user' AS of_the_user, count(*), bool_and(v.status = 'ok') AS ok FROM reground.verify_chain('chain-7') AS v GROUP BY 1 ORDER BY 1;
SELECT v.content_state, v.marker FROM reground.verify_turn(regress.turn('chain-1', 1)) AS v WHERE marker IS NOT NULL;
SELECT f, r.state FROM unnest(ARRAY['DELETE FROM reground.provenance_chain', 'UPDATE reground.provenance_chain SET link_no = 0', 'TRUNCATE reground.chain_checkpoints']) AS f, regress.refusal(f) AS r;
RESET ROLE;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT * FROM reground.verify_chain('nobody')$$, $$SELECT * FROM reground.verify_chain(NULL)$$, $$SELECT * FROM reground.verify_chain(' ')$$]) AS f, regress.refusal(f) AS r;

SELECT f, r.* FROM unnest(ARRAY['SELECT * FROM reground.verify_turn(-1)', 'SELECT * FROM reground.verify_turn(NULL)', $$SELECT reground.alter_conversation('chain-1', '{"provenance": "blockchain"}')$$]) AS f, regress.refusal(f) AS r;

-- Each further retrieval of a turn has its own link; the link of the turn itself does not change.
SELECT reground.create_corpus('chain-farm');
SELECT count(*) FROM (VALUES ('cows', 'Cows give milk twice a day.'), ('bees', 'Bees make honey from clover in June.')) AS v(doc_id, content) CROSS JOIN LATERAL reground.put_document('chain-farm', v.doc_id, content => v.content);
SELECT count(*) FROM reground.begin_turn('chain-more', 'cows', corpus => 'chain-farm', settings => '{"provenance": "merkle", "max_sources": 1}');
SELECT count(*) FROM reground.retrieve(regress.turn('chain-more'), 'honey', max_results => 2);
SELECT count(*) FROM reground.add_passages(regress.turn('chain-more'), '[{"content": "Cows moo."}]');
SELECT count(*) FROM reground.end_turn(regress.turn('chain-more'), 'Cows moo [C1].');
SELECT link_no, kind, leaves, same_leaves, same_digest FROM remade WHERE conversation_ref = 'chain-more' ORDER BY link_no;
SELECT link_no, kind, turn_no, status, detail FROM reground.verify_chain('chain-more');
CREATE FUNCTION pg_temp.found(change text) RETURNS TABLE (link_no bigint, status text, detail text) LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        EXECUTE change;
        CREATE TEMPORARY TABLE seen ON COMMIT DROP AS SELECT v.link_no, v.status, v.detail FROM reground.verify_chain('chain-more') AS v WHERE v.status <> 'ok';
        change := (SELECT coalesce(jsonb_agg(s ORDER BY s.link_no), '[]') FROM seen AS s)::text;
        RAISE EXCEPTION USING ERRCODE = 'RG000', MESSAGE = change;
    EXCEPTION WHEN SQLSTATE 'RG000' THEN
        RETURN QUERY SELECT s.* FROM jsonb_to_recordset(change::jsonb) AS s(link_no bigint, status text, detail text);
    END;
END $$;
SELECT c.change, f.* FROM (VALUES (1, 'the question', $$UPDATE reground.turn_retrievals SET query = 'money' WHERE turn_id = regress.turn('chain-more') AND retrieval_no = 1$$),
    (2, 'what was before', $$UPDATE reground.turn_retrievals SET turn_before = jsonb_set(turn_before, '{context_tokens}', '1') WHERE turn_id = regress.turn('chain-more') AND retrieval_no = 1$$),
    (3, 'what is after', $$UPDATE reground.turns SET context_tokens = 1 WHERE turn_id = regress.turn('chain-more')$$),
    (4, 'a source', $$UPDATE reground.turns SET context = jsonb_set(context, '{2,passage,content}', '"Cows bark."') WHERE turn_id = regress.turn('chain-more')$$),
    (5, 'whose source', $$UPDATE reground.turns SET context = jsonb_set(context, '{2,retrieval_no}', '1') WHERE turn_id = regress.turn('chain-more')$$),
    (6, 'a retrieval gone', $$DELETE FROM reground.turn_retrievals WHERE turn_id = regress.turn('chain-more') AND retrieval_no = 2$$),
    (7, 'a retrieval made up', $$INSERT INTO reground.turn_retrievals SELECT turn_id, 3, tenant, kind, 'x', NULL, NULL, NULL, NULL, '{}', 0, '{}', NULL, turn_before FROM reground.turn_retrievals WHERE turn_id = regress.turn('chain-more') AND retrieval_no = 2$$),
    (8, 'a source of no retrieval', $$UPDATE reground.turns SET context = context || jsonb_build_array((context -> 0) || '{"retrieval_no": 9, "marker": "Z1", "position": 9}') WHERE turn_id = regress.turn('chain-more')$$),
    (9, 'a source more', $$UPDATE reground.turns SET context = context || jsonb_build_array((context -> 0) || '{"retrieval_no": 2, "marker": "Z1", "position": 9}') WHERE turn_id = regress.turn('chain-more')$$),
    (10, 'an imported turn', $$INSERT INTO reground.turns (tenant, conversation_id, turn_no, state, origin, request_hash, query, corpus, intent, intent_confidence, intent_signals, query_expansion, settings, query_tokens, retrieved)
        SELECT tenant, conversation_id, 9, 'ended', 'imported', 'x', 'x', '', 'new_topic', 0, '{}', '{}', settings, 1, false FROM reground.turns WHERE turn_id = regress.turn('chain-more')$$),
    (11, 'a link of another', $$UPDATE reground.provenance_chain SET retrieval_no = 1 WHERE turn_id = regress.turn('chain-more') AND retrieval_no = 2$$))
    AS c(n, change, statement), LATERAL pg_temp.found(c.statement) AS f ORDER BY c.n, f.link_no;

DROP VIEW shown, remade, contents, stood;
DROP OWNED BY regress_chain_user, regress_chain_checker;
DROP ROLE regress_chain_user, regress_chain_checker;
RESET search_path;
SELECT reground.drop_corpus('chain words', true);
SELECT reground.drop_corpus('chain-farm', true);
SELECT reground.drop_corpus('chain', true);
DROP SCHEMA chain CASCADE;
