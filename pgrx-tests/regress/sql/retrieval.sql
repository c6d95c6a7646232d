-- Sources that are added to a turn, and turns over several corpora.
SELECT reground.create_corpus('farm', dimensions => 3, settings => '{"max_sources": 2}');
SELECT count(*) FROM (VALUES ('cows', 'Cows give milk twice a day.'), ('hens', 'Hens lay an egg a day in spring.'), ('bees', 'Bees make honey from clover in June.'), ('sheep', 'Sheep are shorn once a year in May.'))
    AS v(doc_id, content) CROSS JOIN LATERAL reground.put_document('farm', v.doc_id, content => v.content);
SELECT reground.put_embeddings('farm', '{1,2,3,4}', '{"[1,0,0]","[0,1,0]","[0,0,1]","[1,1,0]"}'::vector[]);

SELECT marker, doc_id, origin FROM reground.begin_turn('agent-1', 'How often do cows give milk?', corpus => 'farm', embedding => '[1,0,0]');
CREATE TEMPORARY TABLE agent AS SELECT regress.turn('agent-1') AS turn;
CREATE TEMPORARY TABLE begun AS SELECT t.* FROM reground.turns AS t, agent AS a WHERE t.turn_id = a.turn;
-- Sources of the turn keep their markers; new sources get the next ones.
SELECT marker, corpus, doc_id, origin, facts FROM reground.retrieve((SELECT turn FROM agent), 'honey and milk', max_results => 3);
SELECT marker, doc_id FROM reground.retrieve((SELECT turn FROM agent), 'eggs', embedding => '[0,1,0]', max_results => 1, filter => '{"doc_id": ["hens", "cows"]}');
-- The same search again adds nothing; a search without results gives a warning.
SELECT marker, doc_id FROM reground.retrieve((SELECT turn FROM agent), 'eggs', max_results => 1);
SELECT marker, origin FROM reground.retrieve((SELECT turn FROM agent), 'submarines', max_results => 1);
-- Passages from outside the corpora: the same address is one document, the same text is one source.
SELECT marker, corpus, doc_id, title, uri, locator, origin, score, tokens > 0 AS counted FROM reground.add_passages((SELECT turn FROM agent),
    '[{"content": "Milk prices rose by 4 per cent in October.", "uri": "https://news.example/milk", "title": "Milk prices", "page_start": 2},
      {"content": "Cheese prices fell.", "uri": "https://news.example/milk"}, {"content": "The stable camera saw 12 cows.", "metadata": {"tool": "camera"}}]');
SELECT marker, doc_id = 'https://news.example/milk' AS by_address FROM reground.add_passages((SELECT turn FROM agent), '[{"content": "Cheese prices fell.", "uri": "https://news.example/milk"}]');
SELECT count(*), max(marker) IS NULL AS none FROM reground.add_passages((SELECT turn FROM agent), '[]');
SELECT retrieval_no, kind, query, corpora, filter, max_results, markers, added_count, warnings, search_us IS NULL AS handed_over FROM reground.turn_retrievals WHERE turn_id = (SELECT turn FROM agent) ORDER BY retrieval_no;
-- The context has each source once, in the order of arrival; the token counts include the new sources.
SELECT e ->> 'marker' AS marker, e -> 'position' AS position, e -> 'retrieval_no' AS retrieval_no, e ->> 'origin' AS origin FROM reground.turns AS t, jsonb_array_elements(t.context) AS e WHERE t.turn_id = (SELECT turn FROM agent) ORDER BY 2;
SELECT t.context_tokens > (SELECT sum((e #>> '{passage,tokens}')::integer) FROM jsonb_array_elements(t.context) AS e) AS tokens, t.warnings, t.context_turn_no, t.attribution_share FROM reground.turns AS t, agent WHERE turn_id = turn;
SELECT t.marker, t.first_turn_no FROM regress.markers AS t WHERE conversation_ref = 'agent-1' ORDER BY binding_no;
SELECT marker, count(*) FROM reground.source_facts, agent WHERE turn_id = turn GROUP BY marker ORDER BY marker;
-- The trace has each candidate of any search once; its arrays have equal lengths.
SELECT marker, doc_id, origin, in_context, dropped_stage, drop_reason, retrieval_no FROM reground.explain_turn((SELECT turn FROM agent)) ORDER BY candidate_no;
SELECT count(*) FILTER (WHERE cardinality(member_chunk_ids) > 0 AND has_coordinates) AS whole, count(*) FROM reground.turn_candidates, agent WHERE turn_id = turn AND corpus = 'farm';
-- A repeated request returns the sources of the start of the turn.
SELECT count(*) FROM reground.begin_turn('agent-2', 'cows', corpus => 'farm', request_id => 'r1');
SELECT count(*) FROM reground.add_passages(regress.turn('agent-2'), '[{"content": "Cows moo."}]');
SELECT count(*), count(*) FILTER (WHERE origin = 'added') AS added FROM reground.begin_turn('agent-2', 'cows', corpus => 'farm', request_id => 'r1');
-- All sources can be cited, and their citations are judged.
SELECT marker, corpus, doc_id, status, holds, source_state, best_other_marker FROM reground.end_turn((SELECT turn FROM agent), 'Cows give milk twice a day [A1]. Bees make honey from clover [B1]. Milk prices rose by 4 per cent [E1]. Milk prices rose by 9 per cent [E1]. The camera saw 12 cows [F1]. Cheese prices fell [F1].')
    ORDER BY answer_start;
SELECT stage_no, kind, made.activity FROM reground.trace_citation((SELECT max(citation_id) FROM reground.message_citations AS c, agent WHERE c.turn_id = turn AND c.marker = 'F1')) AS made ORDER BY 1 DESC, 2, 3;
-- Sources outside all corpora are not carried; their marker stays bound and is used again.
SELECT doc_id, cited FROM regress.sources WHERE conversation_ref = 'agent-1' ORDER BY doc_id;
SELECT marker, doc_id, origin FROM reground.begin_turn('agent-1', 'and what of cheese?');
SELECT marker, status FROM reground.end_turn(regress.turn('agent-1'), 'Cheese prices fell [E2].');
SELECT count(*) FROM reground.begin_turn('agent-1', 'cheese again');
SELECT marker FROM reground.add_passages(regress.turn('agent-1'), '[{"content": "Cheese prices fell.", "uri": "https://news.example/milk"}]');
-- A turn that reuses the sources of the turn before reuses these too.
SELECT marker, origin FROM reground.begin_turn('agent-3', 'cows', corpus => 'farm', settings => '{"max_sources": 1}');
SELECT count(*) FROM reground.add_passages(regress.turn('agent-3'), '[{"content": "Cows moo."}]');
SELECT count(*) FROM reground.end_turn(regress.turn('agent-3'), 'They moo [B1].');
SELECT marker, origin FROM reground.begin_turn('agent-3', 'do they?', settings => '{"strategy": "first_turn"}');
-- A turn without a search, whose sources all come from the agent.
SELECT marker, origin FROM reground.begin_turn('agent-4', 'hello', corpus => 'farm', settings => '{"strategy": "none", "marker_style": "1"}');
SELECT marker, doc_id FROM reground.retrieve(regress.turn('agent-4'), 'honey', max_results => 1);
SELECT marker, status, holds FROM reground.end_turn(regress.turn('agent-4'), 'Bees make honey from clover [1].');
-- Added passages are also reused by turns that reuse sources or have none; not if they were erased, and not with a filter.
SELECT marker FROM reground.begin_turn('keeper', 'cows', corpus => 'farm', settings => '{"strategy": "first_turn", "max_sources": 1}');
SELECT count(*) FROM reground.end_turn(regress.turn('keeper'), 'Cows.');
SELECT marker, origin FROM reground.begin_turn('keeper', 'and then?', settings => '{"strategy": "first_turn"}');
SELECT marker FROM reground.add_passages(regress.turn('keeper'), '[{"content": "Cows sleep four hours.", "doc_id": "sleep"}, {"content": "Cows have names.", "doc_id": "names"}]');
SELECT count(*) FROM reground.end_turn(regress.turn('keeper'), 'Four hours [B1].');
SELECT marker, content FROM reground.begin_turn('keeper', 'and why?', settings => '{"strategy": "first_turn", "max_sources": 9}');
SELECT marker FROM reground.add_passages(regress.turn('keeper'), '[{"content": "Cows sleep four hours.", "doc_id": "sleep"}, {"content": "Cows moo.", "doc_id": "noise"}]');
SELECT count(*) FROM reground.end_turn(regress.turn('keeper'), 'They moo [D1].');
SELECT count(*) > 0 AS receipt FROM reground.forget_document('', 'names');
SELECT marker, content FROM reground.begin_turn('keeper', 'and when?', settings => '{"strategy": "first_turn", "max_sources": 9}');
SELECT marker FROM reground.begin_turn('keeper', 'and where?', filter => '{"doc_id": "cows"}', settings => '{"strategy": "first_turn"}');
SELECT count(*) FROM reground.begin_turn('given-only', 'hello', corpus => 'farm', settings => '{"strategy": "none"}');
SELECT marker FROM reground.add_passages(regress.turn('given-only'), '[{"content": "Rain tomorrow.", "uri": "https://a.example"}, {"content": "Rain tomorrow.", "uri": "https://b.example"}]');
SELECT count(*) FROM reground.end_turn(regress.turn('given-only'), 'Rain [A1].');
SELECT marker, doc_id FROM reground.begin_turn('given-only', 'and then?', settings => '{"strategy": "none"}');
-- Keys that are too long for an index are refused, long addresses are accepted; numbers above the integer range are refused.
SELECT r.* FROM (VALUES (1, jsonb_build_object('content', 'x', 'chunk_id', repeat('é', 501))), (2, jsonb_build_object('content', 'x', 'doc_id', repeat('d', 1001))), (3, '{"content": "x", "page_start": 3000000000}'), (4, '{"content": "x", "page_start": 1, "page_end": 2147483648}'), (5, '{"content": "x", "char_start": 0, "char_end": 2147483648}')) AS v(n, passage),
    LATERAL regress.refusal(format('SELECT * FROM reground.add_passages(%s, %L)', regress.turn('given-only'), jsonb_build_array('{"content": "y"}'::jsonb, v.passage))) AS r ORDER BY n;
SELECT marker, length(doc_id), length(uri) FROM reground.add_passages(regress.turn('given-only'), jsonb_build_array(
    jsonb_build_object('content', 'A long way.', 'uri', 'https://a.example/' || (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 200) AS n)),
    jsonb_build_object('content', 'A long name.', 'chunk_id', (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 31) AS n), 'doc_id', (SELECT string_agg(md5(n::text), '') FROM generate_series(40, 70) AS n), 'page_start', 2147483647, 'char_start', 0, 'char_end', 2147483647)));
SELECT marker, status, length(doc_id) FROM reground.end_turn(regress.turn('given-only'), 'A long way [C1]. A long name [D1].');
-- A row that has changed since the turn began is a new source; the source that was shown stays.
CREATE TABLE sayings (id integer PRIMARY KEY, body text);
INSERT INTO sayings VALUES (1, 'Apples are red.');
SELECT reground.add_corpus('sayings', relation => 'sayings', chunk_id => 'id', content => 'body');
SELECT marker, content FROM reground.begin_turn('changing', 'apples', corpus => 'sayings');
UPDATE sayings SET body = 'Pears are green.';
SELECT marker, content FROM reground.retrieve(regress.turn('changing'), 'pears');
SELECT marker, status, holds FROM reground.end_turn(regress.turn('changing'), 'Apples are red [A1]. Pears are green [A2].');
SELECT reground.drop_corpus('sayings');
DROP TABLE sayings;

-- A number of four digits is a citation if the markers reach it, and a year before.
SELECT count(*) FROM reground.begin_turn('agent-many', 'rye', corpus => 'farm', settings => '{"strategy": "none", "marker_style": "1"}');
SELECT count(*), min(marker::int), max(marker::int) FROM reground.add_passages(regress.turn('agent-many'), (SELECT jsonb_agg(jsonb_build_object('content', format('Field %s grows rye.', n))) FROM generate_series(1, 999) AS n));
SELECT raw, marker, status FROM reground.feed_answer(regress.turn('agent-many'), 'Field 999 grows rye [999]. It rained [1000].', true);
SELECT marker FROM reground.add_passages(regress.turn('agent-many'), '[{"content": "Field 1000 grows barley."}, {"content": "Field 1001 grows wheat."}]');
SELECT raw, marker, status, holds FROM reground.end_turn(regress.turn('agent-many'), 'Field 1001 grows wheat [1001]. Fields 1 and 1000 grow rye and barley [1, 1000]. It rained in the spring [2024]. Barley and wheat grow there [1000-1001].');
SELECT marker FROM reground.begin_turn('agent-many', 'clover', settings => '{"strategy": "none", "marker_style": "1", "facts_per_source": 0}');
SELECT marker FROM reground.add_passages(regress.turn('agent-many'), '[{"content": "Field 1002 grows clover."}]');
SELECT raw, marker, status, holds FROM reground.end_turn(regress.turn('agent-many'), 'Field 1002 grows clover [1002]. Field 1001 grows wheat [1001].');
SELECT content FROM reground.history('agent-many') WHERE role = 'assistant' ORDER BY entry_no;

-- A part of a merged source is the same source.
SELECT reground.create_corpus('long', chunk_size => 16, chunk_overlap => 4);
SELECT chunk_count FROM reground.put_document('long', 'essay', content => 'The old mill stands by the river where the road turns north. It ground rye until the flood of 1921. A new wheel was cast in iron. The miller sold it in 1950 to the town. It is a museum now with a cafe.');
SELECT marker, chunk_id, tokens > 30 AS merged FROM reground.begin_turn('mill', 'mill river flood wheel miller museum', corpus => 'long');
SELECT marker, tokens > 30 AS merged FROM reground.retrieve(regress.turn('mill'), 'the flood of 1921');
SELECT jsonb_array_length(context) AS sources FROM reground.turns WHERE turn_id = regress.turn('mill');

-- Several corpora in one turn: their passages may have equal keys.
SELECT reground.create_corpus('town', dimensions => 3);
SELECT count(*) FROM (VALUES ('dairy', 'The dairy buys milk from cows at dawn.'), ('hall', 'The town hall opens at nine.')) AS v(doc_id, content) CROSS JOIN LATERAL reground.put_document('town', v.doc_id, content => v.content);
SELECT reground.put_embeddings('town', '{1,2}', '{"[1,0.1,0]","[0,0.2,1]"}'::vector[]);
SELECT marker, corpus, doc_id, chunk_id FROM reground.begin_turn('two-corpora', 'milk from cows', corpora => '{farm, town}', embedding => '[1,0,0]', settings => '{"max_sources": 3}');
SELECT corpus, corpora, query_expansion -> 'corpora' AS searched FROM reground.turns WHERE turn_id = regress.turn('two-corpora');
-- Vector results of both corpora are one list, by distance; lexical scores are those of each corpus alone.
SELECT c.corpus, c.doc_id, c.vector_rank, c.vector_rank = d.place AS by_distance FROM reground.explain_turn(regress.turn('two-corpora')) AS c JOIN (
    SELECT corpus, chunk_id, row_number() OVER (ORDER BY distance, corpus, chunk_id) AS place FROM (SELECT 'farm' AS corpus, chunk_id::text, embedding <=> '[1,0,0]' AS distance FROM farm UNION ALL SELECT 'town', chunk_id::text, embedding <=> '[1,0,0]' FROM town) AS x) AS d
    ON (d.corpus, d.chunk_id) = (c.corpus, c.chunk_id) WHERE c.vector_rank IS NOT NULL ORDER BY c.vector_rank;
SELECT count(*) AS scored, bool_and(c.lexical_score = s.lexical_score::real) AS same FROM reground.explain_turn(regress.turn('two-corpora')) AS c JOIN (
    SELECT 'farm' AS corpus, chunk_id, lexical_score FROM reground.search('farm', 'milk from cows', embedding => '[1,0,0]') UNION ALL SELECT 'town', chunk_id, lexical_score FROM reground.search('town', 'milk from cows', embedding => '[1,0,0]')) AS s
    ON (s.corpus, s.chunk_id) = (c.corpus, c.chunk_id) WHERE c.lexical_rank IS NOT NULL;
SELECT marker, corpus, status FROM reground.end_turn(regress.turn('two-corpora'), 'The dairy buys milk at dawn [' || (SELECT marker FROM regress.markers WHERE conversation_ref = 'two-corpora' AND doc_id = 'dairy') || '].');
-- The next turn searches both corpora again and carries sources from both.
SELECT corpus, doc_id, origin FROM reground.begin_turn('two-corpora', 'and at dawn, who buys it?', embedding => '[0,0,1]') ORDER BY 1, 2;
SELECT corpora FROM reground.turns WHERE turn_id = regress.turn('two-corpora');
SELECT corpus, doc_id FROM reground.retrieve(regress.turn('two-corpora'), 'honey', corpora => '{town, farm, town}', max_results => 1);
SELECT corpus FROM reground.begin_turn('two-corpora', 'cows', corpus => 'farm', settings => '{"max_sources": 1}');
SELECT corpora IS NULL AS one FROM reground.turns WHERE turn_id = regress.turn('two-corpora');
-- A carried source of another corpus does not get the relevance of a found passage with the same key.
SELECT count(*) FROM reground.begin_turn('alike', 'town hall opens', corpus => 'town', settings => '{"max_sources": 1}');
SELECT count(*) FROM reground.end_turn(regress.turn('alike'), 'At nine [A1].');
SELECT count(*) FROM reground.begin_turn('alike', 'Hens lay an egg a day in spring', corpus => 'farm', settings => '{"max_sources": 2, "carry_threshold": 0.5}', intent => 'drill_down');
SELECT corpus, doc_id, chunk_id, relevance, drop_reason FROM reground.explain_turn(regress.turn('alike')) WHERE corpus = 'town';

-- Calls that are refused.
SELECT reground.create_corpus('flat', dimensions => 2);
SELECT r.* FROM (VALUES (1, $$SELECT * FROM reground.begin_turn('none', 'x', corpora => '{farm, flat}')$$), (2, $$SELECT * FROM reground.begin_turn('none', 'x', corpora => '{}')$$),
    (3, $$SELECT * FROM reground.begin_turn('none', 'x', corpora => '{farm, NULL}')$$), (4, $$SELECT * FROM reground.begin_turn('none', 'x', corpus => 'farm', corpora => '{town}')$$),
    (5, $$SELECT * FROM reground.begin_turn('none', 'x', corpora => '{farm, nowhere}')$$), (6, $$SELECT * FROM reground.begin_turn('none', 'x', corpora => '{farm, town}', embedding => '[1,0]')$$),
    (7, $$SELECT * FROM reground.retrieve(0, 'x')$$), (8, $$SELECT * FROM reground.retrieve(NULL, 'x')$$), (9, $$SELECT * FROM reground.retrieve(regress.turn('two-corpora'), ' ')$$),
    (10, $$SELECT * FROM reground.retrieve(regress.turn('two-corpora'), 'x', max_results => 0)$$), (11, $$SELECT * FROM reground.retrieve((SELECT turn FROM agent), 'x')$$),
    (12, $$SELECT * FROM reground.retrieve(regress.turn('two-corpora'), 'x', filter => '{"colour": 1}')$$), (13, $$SELECT * FROM reground.add_passages(regress.turn('two-corpora'), '[{"content": "x", "marker": "A1"}]')$$),
    (14, $$SELECT * FROM reground.add_passages(regress.turn('two-corpora'), '{"content": "x"}')$$), (15, $$SELECT * FROM reground.add_passages(regress.turn('two-corpora'), '[{"content": " "}]')$$),
    (16, $$SELECT * FROM reground.add_passages((SELECT turn FROM agent), '[{"content": "x"}]')$$), (17, $$SELECT * FROM reground.add_passages(regress.turn('two-corpora'), NULL)$$))
    AS v(n, statement), LATERAL regress.refusal(v.statement) AS r ORDER BY v.n;
-- retrieve does not defer its own results; a turn that waits for apply_rerank refuses it.
SELECT count(*) FROM reground.begin_turn('later', 'cows', corpus => 'farm', settings => '{"reranker": "deferred"}');
SELECT * FROM regress.refusal($$SELECT * FROM reground.retrieve(regress.turn('later'), 'x')$$);
SELECT count(*) FROM reground.apply_rerank(regress.turn('later'), NULL);
SELECT marker, doc_id FROM reground.retrieve(regress.turn('later'), 'honey', max_results => 1);
SELECT warnings FROM reground.turn_retrievals WHERE turn_id = regress.turn('later');
-- The reranker function is called for each search.
CREATE FUNCTION shortest(query text, passages text[]) RETURNS real[] LANGUAGE sql AS $$ SELECT array_agg(1.0 / length(p) ORDER BY n)::real[] FROM unnest(passages) WITH ORDINALITY AS u(p, n) $$;
SELECT count(*) FROM reground.begin_turn('short', 'cows', corpus => 'farm', settings => '{"reranker": "public.shortest(text, text[])", "max_sources": 1}');
SELECT doc_id FROM reground.retrieve(regress.turn('short'), 'year egg spring honey clover', max_results => 4);
SELECT doc_id FROM farm AS f WHERE f.doc_id <> 'cows' ORDER BY length(content);
-- A search in another corpus uses the settings of that corpus: the reranker and the limit of the first corpus do not apply.
SELECT reground.create_corpus('ranked', settings => '{"max_sources": 1, "reranker": "public.shortest(text, text[])"}');
SELECT count(*) FROM reground.put_document('ranked', 'cows', content => 'Cows give milk.');
SELECT count(*) FROM reground.begin_turn('in-another', 'milk', corpus => 'ranked');
SELECT count(*) AS two_of_farm FROM reground.retrieve(regress.turn('in-another'), 'milk honey egg', corpus => 'farm');
SELECT corpus, bool_or(rerank_score IS NOT NULL) AS reranked FROM reground.explain_turn(regress.turn('in-another')) GROUP BY corpus ORDER BY corpus;
SELECT count(*) AS of_its_own FROM reground.retrieve(regress.turn('in-another'), 'milk honey egg', corpus => 'farm', max_results => 1);
-- The same text under another name is another source, and an added passage does not replace a passage of a corpus.
SELECT reground.create_corpus('copies');
SELECT count(*) FROM (VALUES ('one', 'Cows give milk twice a day.'), ('two', 'Cows give milk twice a day.')) AS v(doc_id, content) CROSS JOIN LATERAL reground.put_document('copies', v.doc_id, content => v.content);
SELECT count(*) FROM reground.begin_turn('named', 'hello', corpus => 'copies', settings => '{"strategy": "none"}');
SELECT marker FROM reground.add_passages(regress.turn('named'), '[{"content": "Cows give milk twice a day."}]');
SELECT marker, corpus FROM reground.retrieve(regress.turn('named'), 'cows milk', corpus => 'farm', max_results => 1);
SELECT marker, corpus, doc_id IN ('one', 'two') AS a_copy FROM reground.retrieve(regress.turn('named'), 'cows milk');
SELECT marker, corpus, doc_id IN ('one', 'two') AS a_copy FROM reground.retrieve(regress.turn('named'), 'cows milk');
SELECT corpus, doc_id IN ('one', 'two') AS a_copy, in_context, drop_reason FROM reground.explain_turn(regress.turn('named')) ORDER BY corpus, in_context DESC;
-- A turn that reuses sources takes those of all corpora that pass the filter, without sources outside the corpora. Its predicted accuracy includes the drift, also after add_passages.
SELECT count(*) FROM reground.begin_turn('kept', 'milk from cows', corpora => '{farm, town}', embedding => '[1,0,0]', settings => '{"max_sources": 3}');
SELECT count(*) FROM reground.add_passages(regress.turn('kept'), '[{"content": "Secret."}]');
SELECT count(*) FROM reground.end_turn(regress.turn('kept'), 'Milk.');
SELECT corpus, doc_id, origin FROM reground.begin_turn('kept', 'and now?', embedding => '[0.6,0.8,0]', filter => '{"doc_id": ["cows", "dairy", "hens"]}', settings => '{"strategy": "first_turn", "domain_specificity": 0.5}') ORDER BY 1, 2;
CREATE TEMPORARY VIEW figures AS SELECT context_turn_no, context_tokens, predicted_accuracy, predicted_accuracy / ((settings ->> 'accuracy_baseline')::float8 * attribution_share ^ (settings ->> 'domain_specificity')::float8) AS left_by_drift
    FROM reground.turns WHERE turn_id = regress.turn('kept');
CREATE TEMPORARY TABLE figured AS TABLE figures;
SELECT count(*) FROM reground.add_passages(regress.turn('kept'), '[{"content": "Zebras are no cattle."}]');
SELECT now.context_turn_no = before.context_turn_no AS same_from, now.context_tokens > before.context_tokens AS more_tokens, now.predicted_accuracy > before.predicted_accuracy AS less_diluted,
    before.left_by_drift < 0.99 AS drifted, abs(now.left_by_drift - before.left_by_drift) < 1e-9 AS as_far FROM figures AS now, figured AS before;
-- Each search may use max_tokens; added passages have no limit.
SELECT doc_id FROM reground.begin_turn('frugal', 'cows give milk', corpus => 'farm', settings => '{"max_tokens": 36, "max_sources": 3, "facts_per_source": 0}');
SELECT context_tokens <= 36 AS fits FROM reground.turns WHERE turn_id = regress.turn('frugal');
SELECT doc_id FROM reground.retrieve(regress.turn('frugal'), 'honey and eggs in spring') ORDER BY doc_id;
SELECT doc_id, drop_reason FROM reground.explain_turn(regress.turn('frugal')) WHERE NOT in_context ORDER BY doc_id;
SELECT doc_id FROM reground.retrieve(regress.turn('frugal'), 'sheep') ORDER BY doc_id;
SELECT tokens > 16 AS long FROM reground.add_passages(regress.turn('frugal'), '[{"content": "The vet came on Monday, on Tuesday, on Wednesday, on Thursday, on Friday and on Saturday, and found all of them well."}]');
SELECT jsonb_array_length(context) AS sources, context_tokens > 2 * 36 AS beyond FROM reground.turns WHERE turn_id = regress.turn('frugal');
SELECT count(*) FROM reground.end_turn(regress.turn('frugal'), 'Well.');
-- A shadow is compared with the sources of the start of the turn.
SELECT count(*) FROM reground.begin_turn('shadowed', 'milk', corpus => 'farm', settings => '{"max_sources": 1}');
SELECT count(*) FROM reground.retrieve(regress.turn('shadowed'), 'honey', max_results => 1);
SELECT count(*) > 0 AS shadowed FROM reground.shadow_turn(regress.turn('shadowed'), '{}', 'as it was');
SELECT count(*) FROM reground.end_turn(regress.turn('shadowed'), 'Cows give milk twice a day [A1]. Bees make honey from clover [B1].');
SELECT source_count, shadow_source_count, citation_count, covered_count FROM reground.shadow_audit WHERE label = 'as it was';
DELETE FROM reground.shadow_turns WHERE label = 'as it was';
-- Passages of two corpora with equal keys are told apart by corpus or index.
SELECT corpus, chunk_id FROM reground.begin_turn('two-deferred', 'milk from cows', corpora => '{farm,town}', settings => '{"reranker": "deferred"}') ORDER BY corpus, chunk_id;
SELECT corpus, chunk_id, round(score::numeric, 2) AS score FROM reground.apply_rerank(regress.turn('two-deferred'), '[{"chunk_id": "1", "corpus": "town", "score": 0.9}, {"chunk_id": "1", "corpus": "farm", "score": 0.1}]');
-- A document was erased meanwhile: indexes refer to the list that the reranker received.
SELECT reground.create_corpus('queue');
SELECT count(*) FROM unnest('{a,b,c}'::text[]) AS d, LATERAL reground.put_document('queue', d, content => format('Milk of sort %s.', d));
SELECT doc_id FROM reground.begin_turn('queued', 'milk', corpus => 'queue', settings => '{"reranker": "deferred"}');
SELECT count(*) > 0 AS receipt FROM reground.forget_document('queue', 'a');
SELECT doc_id, round(score::numeric, 2) AS score FROM reground.apply_rerank(regress.turn('queued'), '[{"index": 0, "score": 0.1}, {"index": 1, "score": 0.2}, {"index": 2, "score": 0.9}]');
SELECT reground.drop_corpus('queue', true);
SELECT count(*) > 0 AS receipt FROM reground.forget_document('queue', 'c');
SELECT count(*) AS again FROM reground.forget_document('queue', 'c');
SELECT r.state FROM regress.refusal($$SELECT * FROM reground.forget_document('queue', 'never')$$) AS r;
-- All markers of a turn have one style, whatever other corpora set.
SELECT reground.alter_corpus('copies', '{"marker_style": "1"}');
SELECT marker FROM reground.begin_turn('styled', 'cows milk', corpus => 'farm', settings => '{"max_sources": 1}');
SELECT marker, corpus FROM reground.retrieve(regress.turn('styled'), 'cows milk', corpus => 'copies', max_results => 1);
