-- What a user calls, over the corpora of corpora.sql. Written as described there.

-- Documents.
SELECT * FROM reground.put_document('{r}_farm', 'cows', passages => '[{"content": "Cows give milk.", "page_start": 1, "metadata": {"part": 1}}]', title => 'Cows', uri => 'https://farm.example/cows', published => '2025-01-02', modified_at => '2025-01-03', media_type => 'text/plain', page_count => 3);
SELECT * FROM reground.put_document('{r}_farm', 'sheep', passages => '[{"content": "Sheep give wool."}, {"content": "Sheep eat grass."}]', metadata => '{"kind": "animal", "tags": ["a", "b"]}');
SELECT * FROM reground.put_document('{r}_farm', 'sheep', passages => '[{"content": "Sheep give wool."}, {"content": "Sheep eat hay."}]', metadata => '{"kind": "animal", "tags": ["a", "b"]}');
SELECT * FROM reground.put_document('{r}_farm', 'sheep', passages => '[{"content": "Sheep give wool."}, {"content": "Sheep eat hay."}]', title => 'Sheep', metadata => '{"kind": "animal"}');
SELECT * FROM reground.put_document('{r}_farm', 'goats', content => E'Goats climb trees.\fGoats eat thorns. They give milk, too.', title => 'Goats');
SELECT * FROM reground.put_document('{r}_farm', 'dodo', content => 'Dodos give nothing.');
SELECT reground.delete_document('{r}_farm', 'dodo');
SELECT * FROM reground.put_document('{r}_farm', 'dodo', content => 'Dodos are back.');
SELECT reground.delete_document('{r}_farm', 'dodo');
SELECT * FROM reground.put_document('{r}_halves', 'half', content => 'Half of it is true. The other half of it is about goats and their milk.', modified_at => '2026-01-02 03:04:05.678901+00', page_starts => '{0,20}');
SELECT * FROM reground.put_document('{r}_products', 'price', content => 'Milk costs one coin. Wool costs two coins. Goats cost three coins.');
SELECT * FROM reground.put_document('{r}_tongues', 'ziegen', content => 'Die Ziegen klettern.', language => 'de');
SELECT * FROM reground.put_document('{r}_tongues', '山羊', content => '山羊会爬树。', text_config => 'reground.bigrams');
SELECT * FROM reground.pending_embeddings('{r}_farm', 2);
SELECT * FROM reground.pending_embeddings('{r}_halves');
SELECT reground.put_embeddings('{r}_farm', '{1,2,3,4,5,6}', '{"[1,0]","[0,1]","[0.6,0.8]","[0.8,0.6]","[0.9,0.1]","[0.1,0.9]"}', model => 'embedder');
SELECT reground.put_embeddings('{r}_halves', '{1,2}', '{"[0.5,0.25]","[0.25,0.5]"}');
SELECT reground.put_embeddings('{r}_products', '{1,2}', '{"[1,0]","[0,1]"}');
SELECT * FROM reground.put_edges('{r}_farm', '[{"source": "Cows", "relation": "give", "target": "milk", "chunk_id": 1, "weight": 0.1}, {"source": "COWS", "target": "Sheep", "chunk_id": "2"}, {"source": "milk", "target": "Goats", "chunk_id": "2", "doc_id": "sheep"}]');
SELECT * FROM reground.put_edges('{r}_farm', '[{"source": "cows", "relation": "give", "target": "milk", "chunk_id": 1, "weight": 0.2}]');
SELECT * FROM reground.put_edges('{r}_articles', '[{"source": "Goats", "target": "milk", "chunk_id": 4}]');
SELECT * FROM reground.put_edges('{r}_texts', '[{"source": "Otters", "target": "fish", "chunk_id": "o/2"}]');
SELECT reground.delete_edges('{r}_texts', chunk_id => 'o/2');
SELECT reground.delete_edges('{r}_articles', doc_id => 'b1');
SELECT reground.delete_edges('{r}_farm', entity => 'Goats');
SELECT reground.delete_edges('{r}_articles', everything => true);
SELECT * FROM reground.check_corpus('{r}_farm');
SELECT * FROM reground.check_corpus('{r}_halves');
SELECT * FROM reground.check_corpus('{r}_products');
SELECT * FROM reground.check_corpus('{r}_tongues');
SELECT * FROM reground.check_corpus('{r}_articles');
SELECT * FROM reground.check_corpus('{r}_texts');
SELECT * FROM reground.check_corpus('{r}_leaflets');
SELECT * FROM reground.check_corpus('{r}_log');
SELECT * FROM reground.check_corpus('{r}_shelf');
SELECT * FROM reground.check_corpus('{r}_notes');
-- no rows
SELECT * FROM reground.check_coordinates('{r}_farm');
-- no rows
SELECT * FROM reground.check_coordinates('{r}_halves');
-- no rows
SELECT * FROM reground.check_coordinates('{r}_products');
-- no rows
SELECT * FROM reground.check_coordinates('{r}_articles');
-- no rows
SELECT * FROM reground.check_coordinates('{r}_log');
-- no rows
SELECT * FROM reground.check_coordinates('{r}_shelf');

-- Search, over every kind of corpus and by every way.
SELECT * FROM reground.search('{r}_farm', 'who gives milk?', '[1,0]');
SELECT * FROM reground.search('{r}_farm', 'who gives milk?', '[1,0]', filter => '{"doc_id": ["cows", "sheep"]}', settings => '{"fusion": "rrf"}');
SELECT * FROM reground.search('{r}_farm', 'who gives milk?', '[1,0]', filter => '{"metadata": {"kind": "animal"}}', settings => '{"fusion": "integrated"}');
SELECT * FROM reground.search('{r}_farm', 'who gives milk?', settings => '{"lexical_search": "exact", "candidates": 5}');
SELECT * FROM reground.search('{r}_farm', NULL, '[1,0]', settings => '{"vector_search": "exact"}');
SELECT * FROM reground.search('{r}_farm', NULL, '[1,0]', filter => '{"doc_id": "cows"}', settings => '{"vector_search": "index"}');
SELECT * FROM reground.search('{r}_farm', 'cows', '[1,0]', settings => '{"graph": true}');
SELECT * FROM reground.search('{r}_halves', 'half', '[0.5,0.5]', settings => '{"vector_search": "exact"}');
SELECT * FROM reground.search('{r}_halves', 'half goats', '[0.5,0.5]');
SELECT * FROM reground.explain_search('{r}_halves', 'half goats', '[0.5,0.5]');
SELECT * FROM reground.search('{r}_products', 'coins', '[0.5,0.5]');
SELECT * FROM reground.search('{r}_products', 'coins', '[0.5,0.5]', settings => '{"fusion": "integrated", "vector_search": "exact", "lexical_search": "exact"}');
SELECT * FROM reground.search('{r}_tongues', 'Ziege');
SELECT * FROM reground.search('{r}_tongues', '山羊', settings => '{"lexical_search": "exact"}');
SELECT * FROM reground.search('{r}_articles', 'goats', '[1,0]');
SELECT * FROM reground.search('{r}_articles', 'goats', '[1,0]', settings => '{"fusion": "integrated"}');
SELECT * FROM reground.search('{r}_articles', 'goats', '[1,0]', settings => '{"fusion": "rrf", "vector_search": "exact", "lexical_search": "exact"}');
SELECT * FROM reground.search('{r}_articles', NULL, '[1,0]', settings => '{"vector_search": "index"}');
SELECT * FROM reground.search('{r}_articles', 'goats', '[1,0]', filter => '{"id": {">=": 2, "<": 30}, "kind": ["text", "table"], "draft": true}');
SELECT * FROM reground.search('{r}_articles', 'goats', '[1,0]', filter => '{"printed": {">=": "2025-03-02", "<=": "2026-06-01"}, "seen": {">": "2025-01-01 00:00+00"}, "price": {"<>": 3}}');
SELECT * FROM reground.search('{r}_articles', 'goats', '[1,0]', filter => '{"note": {"deep": {"a": [2]}}, "within": "[1,9)"}', settings => '{"fusion": "rrf"}');
SELECT * FROM reground.search('{r}_articles', 'goats', '[1,0]', filter => '{"tags": ["red", "blue"], "sizes": [1, 2], "mark": "11111111-1111-1111-1111-111111111111"}');
SELECT * FROM reground.search('{r}_articles', 'goats', '[1,0]', filter => '{"code": "c", "slug": "slug", "number": 7, "small": {"<": 9}, "ratio": 0.5, "share": [0.25, 1], "at": {">": "09:00"}, "lasts": {"<=": "1 hour"}, "data": "\\x00"}');
SELECT * FROM reground.search('{r}_articles', 'goats', '[1,0]', filter => '{"lang": "en", "year": {">=": 2019}, "isbn": ["b1", "b3"], "added": {"<": "2030-01-01"}}');
SELECT * FROM reground.search('{r}_articles', 'goats', filter => '{"kind": {"=": "text"}, "book": {"<>": "b9"}}', settings => '{"lexical_search": "exact"}');
SELECT * FROM reground.search('{r}_texts', 'otters', '[1,0]');
SELECT * FROM reground.search('{r}_texts', 'otters', '[1,0]', filter => '{"doc": ["otters", "owls"], "key": {">": "a"}}', settings => '{"vector_search": "exact", "lexical_search": "exact", "fusion": "integrated"}');
SELECT * FROM reground.search('{r}_leaflets', 'Ziege');
SELECT * FROM reground.search('{r}_leaflets', 'goats 山羊', filter => '{"id": [1, 2, 3]}', settings => '{"lexical_search": "exact"}');
SELECT * FROM reground.search('{r}_leaflets', 'goats', filter => '{"id": 5}');
SELECT * FROM reground.search('{r}_articles', 'goats', '[1,0]', filter => '{"mood": ["wild"], "label": "one"}');
SELECT * FROM reground.search('{r}_articles', 'goats', '[1,0]', filter => '{"mood": {">": "calm"}}', settings => '{"lexical_search": "exact", "vector_search": "exact"}');
SELECT * FROM reground.search('{r}_notes', 'goat');
SELECT * FROM reground.search('{r}_notes', 'Ziege', filter => '{"id": ["n1", "n2"], "mood": "wild"}', settings => '{"lexical_search": "exact"}');
SELECT * FROM reground.search('{r}_log', 'pump', filter => '{"at": {">": "2025-01-01"}, "day": "2025-03-04"}');
SELECT * FROM reground.search('{r}_shelf', 'goats', '[1,0]', max_results => 3);

-- The index and its operators.
SELECT a.id FROM public.{r}_articles AS a ORDER BY a.body OPERATOR(pg_catalog.<@>) reground.bm25_query('goats', 'public.{r}_articles_body') LIMIT 2;
SELECT a.id FROM public.{r}_articles AS a WHERE a.body OPERATOR(pg_catalog.@@@) reground.bm25_query('milk', 'public.{r}_articles', expansion => '{"tree": 0.5}') LIMIT 2;
SELECT l.id FROM public.{r}_leaflets AS l ORDER BY reground.in_language(l.body, l.lang) OPERATOR(pg_catalog.<@>) reground.bm25_query('goats', 'public.{r}_leaflets', text_configs => '{german,english}') LIMIT 2;
SELECT t.key FROM store.{r}_texts AS t WHERE (ARRAY[t.title, t.body]) OPERATOR(pg_catalog.@@@) reground.bm25_query('otters', 'store.{r}_texts_array_idx');
SELECT reground._bm25_distance('goats and milk', reground.bm25_query('goats', 'public.{r}_articles'));
SELECT reground._bm25_matches('goats and milk', reground.bm25_query('goats', 'public.{r}_articles'));
SELECT reground.bm25_score('goats and milk', reground.bm25_query('goats', 'public.{r}_articles'));
SELECT * FROM reground.bm25_explain('goats and milk', reground.bm25_query('goats', 'public.{r}_articles'));
SELECT reground.bm25_score(reground.in_language('die Ziegen', 'german'::pg_catalog.regconfig), reground.bm25_query('Ziege', 'public.{r}_leaflets'));
SELECT * FROM reground.bm25_explain(reground.in_language('die Ziegen', 'de'::pg_catalog.text), reground.bm25_query('Ziege', 'public.{r}_leaflets'));
SELECT reground.bm25_score(reground.in_language(ARRAY['Ziege', NULL, 'die Ziegen'], 'de'::pg_catalog.text), reground.bm25_query('Ziege', 'public.{r}_leaflets'));
SELECT reground.bm25_score(reground.in_language(ARRAY['Ziege'], 'german'::pg_catalog.regconfig), reground.bm25_query('Ziege', 'public.{r}_leaflets'));
SELECT reground.find_text_config('de'), reground.find_text_config('english');

-- A conversation: first turn, follow-up, comparison, other strategies.
SELECT * FROM reground.begin_turn('{r}-talk', 'who gives milk?', '{r}_farm', '[1,0]', filter => '{"doc_id": ["cows", "sheep", "goats"]}', request_id => '{r}-1', tags => '{"team": "a", "list": [1, null]}');
SELECT * FROM reground.begin_turn('{r}-talk', 'who gives milk?', '{r}_farm', '[1,0]', filter => '{"doc_id": ["cows", "sheep", "goats"]}', request_id => '{r}-1', tags => '{"team": "a", "list": [1, null]}');
SELECT reground.prompt_context({turn}), reground.prompt_context({turn}, 'xml'), reground.prompt_context({turn}, 'json'), reground.prompt_context({turn}, detail => 'facts'), reground.prompt_context({turn}, detail => 'passages');
SELECT reground.citation_grammar({turn}), reground.citation_grammar({turn}, 'regex'), reground.citation_grammar({turn}, 'json_schema');
SELECT reground.citation_instructions(), reground.citation_instructions('json', marker_style => '1'), reground.citation_instructions(turn_id => {turn});
SELECT * FROM reground.feed_answer({turn}, 'Cows give milk [A1]. Pigs');
SELECT * FROM reground.feed_answer({turn}, 'Cows give milk [A1]. Pigs fly [Z9].', complete => true);
SELECT * FROM reground.end_turn({turn}, 'Cows give milk [A1]. Pigs fly [Z9]. Sheep eat hay [Source: sheep]. Cows are nice [Source: cows, p. 1] (Smith, 2020). "Cows give milk" [Source: https://farm.example/cows].', message_ref => '{r}-m1', model => 'some', usage => '{"tokens": 12}', tags => '{"reader": "x"}');
SELECT * FROM reground.end_turn({turn}, 'Cows give milk [A1].', message_ref => '{r}-m2', model => 'other');
SELECT * FROM reground.end_turn({turn}, 'Cows give milk [A1].', message_ref => '{r}-m2', model => 'other');
SELECT * FROM reground.answer_metrics({message});
SELECT * FROM reground.citation_evidence({message});
SELECT reground.answer_parts({message}, 'openai'), reground.answer_parts({message}, 'anthropic'), reground.answer_parts({message}, 'vercel');
SELECT * FROM reground.turn_sources({turn});
SELECT * FROM reground.profile();
SELECT * FROM reground.begin_turn('{r}-talk', 'and wool?', embedding => '[0,1]', settings => '{"graph": true, "history_note": true, "provenance": "hash"}');
SELECT * FROM reground.retrieve({turn}, 'goats', embedding => '[0.9,0.1]', max_results => 2);
SELECT * FROM reground.retrieve({turn}, 'goats', '{r}_articles', '[0.9,0.1]', filter => '{"id": [3, 4, 5]}');
SELECT * FROM reground.add_passages({turn}, '[{"content": "Wool costs more.", "uri": "https://news.example/wool", "title": "News", "page_start": 1, "published": "2025-01-01", "metadata": {"a": 1}}]');
SELECT * FROM reground.end_turn({turn}, 'Sheep give wool [B1]. Goats climb [A2], wool costs more [C1]. Goats give milk [D1][D2].');
SELECT * FROM reground.begin_turn('{r}-talk', 'compare sheep and goats', embedding => '[0.7,0.7]', intent => 'compare', settings => '{"provenance": "semantic", "passage_order": "edges", "graph": true}');
SELECT * FROM reground.end_turn({turn}, 'Sheep give wool [B1].', citations => '[{"type": "text", "text": "Sheep give wool [B1].", "citations": [{"type": "char_location", "cited_text": "Sheep give wool.", "document_index": 0, "start_char_index": 0, "end_char_index": 16}]}]');
SELECT * FROM reground.begin_turn('{r}-talk', 'and in the same sources?', intent => 'same_sources', settings => '{"strategy": "first_turn"}');
SELECT * FROM reground.end_turn({turn}, 'Cows give milk [A1].');
SELECT * FROM reground.begin_turn('{r}-talk', 'what of hay?', embedding => '[0.6,0.8]', rewrite => 'which animal eats hay', settings => '{"strategy": "every_turn", "query_from": "dialogue"}');
SELECT reground.abandon_turn({turn});
SELECT * FROM reground.begin_turn('{r}-talk', 'what of thorns?', embedding => '[0.6,0.8]', settings => '{"strategy": "refresh_only", "refresh": "adaptive", "query_from": "turn"}');
SELECT * FROM reground.end_turn({turn}, 'Goats eat thorns.');
SELECT * FROM reground.begin_turn('{r}-talk', 'what of trees?', embedding => '[0.6,0.8]', settings => '{"strategy": "compression_only", "keep_candidates": "kept", "refresh": "never"}');
SELECT * FROM reground.end_turn({turn}, 'Goats climb trees [A1].');
SELECT * FROM reground.begin_turn('{r}-talk', 'and trees again?', embedding => '[0.6,0.8]', settings => '{"strategy": "none", "keep_candidates": "none"}');
SELECT * FROM reground.end_turn({turn}, 'I do not know.');
SELECT reground.context_text('{r}-talk', 'and trees?'), reground.context_text('{r}-talk', 'and trees?', {first_turn});
SELECT * FROM reground.history('{r}-talk');
SELECT * FROM reground.history('{r}-talk', max_tokens => 40);
SELECT * FROM reground.history('{r}-talk', turn_nos => '{1,2}', dependency => 'soft');
SELECT * FROM reground.begin_turn('{r}-talk', 'milk, once more?', embedding => '[1,0]', parent_turn_id => {first_turn});
SELECT * FROM reground.end_turn({turn}, 'Cows give milk [A1].');
SELECT * FROM reground.begin_turn('{r}-talk', 'milk, from the start?', '{r}_farm', '[1,0]', parent_turn_id => 0, intent => 'new_topic', settings => '{"marker_style": "1", "reserved_slots": 2, "carry_threshold": 0}');
SELECT * FROM reground.end_turn({turn}, 'Cows give milk [1].');

-- Factuality of the last answer.
SELECT reground.put_gold_facts('{r}-milk', '{Cows give milk.,Goats give milk.}', 'Cows and goats give milk.'), reground.put_gold_facts('{r}-milk', '{Cows give milk.}');
SELECT reground.put_gold_facts('{r}-gone', '{}');
SELECT reground.drop_gold_facts('{r}-gone');
SELECT reground.evaluate_factuality({turn}, '{r}-milk', '{r}_splitter', '{r}_checker') AS evaluation_id;
SELECT evaluation_id, verdict_id FROM reground.factuality_verdicts;
SELECT outcome FROM reground.factuality;
SELECT * FROM reground.factuality_report('model', since => '2025-01-01', until => 'tomorrow');
SELECT * FROM reground.factuality_agreement('{r}_splitter', '{r}_checker', since => '2025-01-01');
SELECT * FROM reground._factuality('{entailed,NULL}', '{contradicted,neutral}', 10, 1);

-- Pins, settings of a conversation, a chain, hooks.
SELECT reground.pin('{r}-pinned', doc_id => 'sheep', corpus => '{r}_farm'), reground.pin('{r}-pinned', chunk_id => '7', corpus => '{r}_articles'), reground.pin('{r}-pinned', doc_id => 'otters', corpus => '{r}_texts');
SELECT reground.alter_conversation('{r}-pinned', '{"max_sources": 5, "provenance": "merkle", "reranker": "public.{r}_rank", "intent_function": "public.{r}_judge"}');
SELECT * FROM reground.begin_turn('{r}-pinned', 'goats?', '{r}_articles', '[1,0]', filter => '{"kind": "text"}');
SELECT * FROM reground.end_turn({turn}, 'Goats climb trees [A1]. [Source: On Goats, p. 4] says so, and [Source: b1].');
SELECT * FROM reground.begin_turn('{r}-pinned', 'and who of them sleeps?', '{r}_texts', '[1,0]');
SELECT * FROM reground.end_turn({turn}, 'Otters sleep on their backs [A1][B1].');
SELECT reground.unpin('{r}-pinned', doc_id => 'sheep', corpus => '{r}_farm'), reground.unpin('{r}-pinned', chunk_id => '7', corpus => '{r}_articles');
SELECT * FROM reground.begin_turn('{r}-pinned', 'and at night?', '{r}_texts', '[1,0]', settings => '{"reranker": "public.{r}_rank(pg_catalog.text,pg_catalog.text[])", "store_answers": "hash"}');
SELECT * FROM reground.end_turn({turn}, 'Otters eat fish at night [A1].');
SELECT * FROM reground.begin_turn('{r}-pinned', 'and by day?', '{r}_texts', '[1,0]', settings => '{"reranker": "{r}_rank", "intent_function": "{r}_judge"}');
SELECT * FROM reground.end_turn({turn}, 'Otters sleep by day [A1].');
SELECT * FROM reground.begin_turn('{r}-hooked', 'goats?', '{r}_shelf', '[1,0]', filter => '{"key": {">": "1"}}');
SELECT * FROM reground.end_turn({turn}, 'Goats climb trees [A1].');
SELECT * FROM reground.begin_turn('{r}-hooked', 'and trees?', embedding => '[1,0]');
SELECT * FROM reground.end_turn({turn}, 'Goats climb trees [A1].');

-- A reranker outside, several corpora, other corpora.
SELECT * FROM reground.begin_turn('{r}-drift', 'hay or wool?', '{r}_farm', '[0,1]', settings => '{"reranker": "deferred"}');
SELECT * FROM reground.apply_rerank({turn}, '[{"index": 0, "content": "Sheep give wool, they say.", "score": 1}, {"content": "Nobody said this.", "score": 0.5}, {"chunk_id": "3", "score": 0.4}]');
SELECT * FROM reground.end_turn({turn}, 'Sheep give wool [A1].');
SELECT * FROM reground.begin_turn('{r}-drift', 'goats?', embedding => '[1,0]', corpora => '{{r}_farm,{r}_articles}', settings => '{"reranker": "deferred", "provenance": "merkle"}');
SELECT * FROM reground.apply_rerank({turn}, NULL);
SELECT * FROM reground.retrieve({turn}, 'goats', corpora => '{{r}_articles,{r}_texts}', embedding => '[1,0]');
SELECT * FROM reground.end_turn({turn}, 'Goats climb trees [A1][B1].');
SELECT * FROM reground.begin_turn('{r}-drift', 'and the otters?', embedding => '[1,0]', corpora => '{{r}_texts,{r}_shelf}');
SELECT * FROM reground.end_turn({turn}, 'Otters sleep [D1].');
SELECT * FROM reground.begin_turn('{r}-halves', 'half?', '{r}_halves', '[0.5,0.5]', settings => '{"collapse_twins": true, "facts_per_source": 5}');
SELECT * FROM reground.end_turn({turn}, 'Half of it is true [A1].');
SELECT * FROM reground.begin_turn('{r}-products', 'coins?', '{r}_products', '[0.5,0.5]', settings => '{"merge_adjacent": true}');
SELECT * FROM reground.end_turn({turn}, 'Milk costs one coin [A1].');
SELECT * FROM reground.begin_turn('{r}-tongues', 'Ziege', '{r}_tongues');
SELECT * FROM reground.end_turn({turn}, 'Die Ziegen klettern [A1].');
SELECT * FROM reground.begin_turn('{r}-leaflets', 'goats 山羊', '{r}_leaflets');
SELECT * FROM reground.end_turn({turn}, 'The goats climb [A1].');
SELECT * FROM reground.begin_turn('{r}-notes', 'goats', '{r}_notes');
SELECT * FROM reground.retrieve({turn}, 'Ziege');
SELECT * FROM reground.end_turn({turn}, 'The goats climb [A1] [Source: wild].');
SELECT * FROM reground.begin_turn('{r}-notes', 'and the others?');
SELECT * FROM reground.end_turn({turn}, 'Goats sleep [A1].');
SELECT * FROM reground.begin_turn('{r}-log', 'pump', '{r}_log');
SELECT * FROM reground.end_turn({turn}, 'The pump failed [A1] [Source: 2025-03-04].');
SELECT * FROM reground.begin_turn('{r}-log', 'and why?', settings => '{"strategy": "first_turn"}');
SELECT * FROM reground.end_turn({turn}, 'The pump was mended [A1].');

-- Answers without a turn of ours.
SELECT * FROM reground.check_answer('Cows give milk [1]. So says [Source: cows].', '[{"content": "Cows give milk.", "doc_id": "cows", "page_start": 1}]', corpus => '{r}_farm');
SELECT * FROM reground.check_answer('Cows give milk [1].', '[{"content": "Cows give milk."}]', text_config => 'pg_catalog.simple', settings => '{"support_threshold": 0.2}');
SELECT * FROM reground.record_turn('{r}-old', 'who gives milk?', 'Cows [1]. So says [Source: goats].', '[{"content": "Cows give milk.", "title": "Milk"}]', at => '2025-01-31 10:00+01', message_ref => '{r}-old-1', model => 'other', tags => '{"a": 1}', corpus => '{r}_farm');
SELECT * FROM reground.record_turns('[{"conversation_ref": "{r}-old", "query": "q", "answer": "It floats [1].", "message_ref": "{r}-old-2", "passages": [{"content": "It floats."}], "at": "2025-02-01 10:00+00"}, {"conversation_ref": "{r}-older", "query": "q", "answer": "None."}]', corpus => '{r}_articles');
SELECT * FROM reground.check_answer('Goats climb [1].', '[{"content": "Goats climb."}]', text_config => 'public.{r}_words');
SELECT * FROM reground.extract_citations('Cows give milk [A1] (Smith, 2020) [Source: cows, p. 1].');
SELECT * FROM reground.import_citations('Cows give milk.', '[{"start": 0, "end": 4, "document_ids": ["cows"]}]', 'cohere');

-- Quality, reports, probes, shadows.
SELECT * FROM reground.search('{r}_farm', 'milk', '[1,0]', max_results => 1);
SELECT reground.report_citation({citation}, 'it says something else', 'reader');
SELECT reground.report_answer((SELECT pg_catalog.max(m.message_id) FROM reground.messages AS m), 'it is wrong', 'reader');
SELECT * FROM reground.report_rates('model', since => '2025-01-01');
SELECT * FROM reground.who_saw('{r}_farm', 'sheep', since => '2025-01-01');
SELECT reground._usage_tokens('{"a": 1}', '{a}');
TABLE reground.answer_costs;
SELECT * FROM reground.begin_turn('{r}-shade', 'who gives milk?', '{r}_farm', '[1,0]', rewrite => 'which animal gives milk');
SELECT * FROM reground.shadow_turn({turn}, '{"max_sources": 1}', '{r}-narrow');
SELECT * FROM reground.shadow_turn({turn}, '{"fusion": "rrf"}', '{r}-goats', '{r}_articles', '[1,0]', 'goats');
SELECT * FROM reground.end_turn({turn}, 'Cows give milk [A1].');
SELECT * FROM reground.dry_run_turn('who gives wool?', '{r}_farm', '[0,1]', settings => '{"graph": true}');
SELECT * FROM reground.dry_run_turn('and [A1]?', embedding => '[0,1]', context_embedding => '[1,0]', conversation_ref => '{r}-shade');
SELECT * FROM reground.dry_run_turn('and wool?', embedding => '[0,1]', filter => '{"doc_id": ["cows", "sheep"]}', conversation_ref => '{r}-shade');
SELECT reground.put_probe('{r}-milk', '{r}_farm', 'who gives milk?', 'cows', embedding => '[1,0]', filter => '{"doc_id": "cows"}', settings => '{"max_sources": 3}');
SELECT reground.put_probe('{r}-goats', '{r}_articles', 'goats?', 'b1', chunk_id => '4', embedding => '[1,0]');
SELECT * FROM reground.run_probes();
SELECT * FROM reground.run_probes('{r}_farm');
SELECT reground.drop_probe('{r}-goats');
SELECT * FROM reground.citation_quality(), reground.citation_quality('document', since => '2025-01-01', until => 'tomorrow') AS d;
SELECT * FROM reground.citation_quality('tag:team');
SELECT * FROM reground.stage_survival();
SELECT * FROM reground.stage_survival('corpus', since => '2025-01-01');
SELECT * FROM reground.compare('cfs', 'model', 'some', 'other');
SELECT * FROM reground.compare('holding', 'version:reranker', '1', '2');
SELECT * FROM reground.compare('support', 'period', '[2025-01-01,2025-02-01)', '[2025-02-01,)');
SELECT * FROM reground.compare('answer_ms', 'conversation', '{r}-talk', '{r}-drift', since => '2025-01-01', until => 'tomorrow');
SELECT * FROM reground.sli();
SELECT * FROM reground.source_usage();
SELECT * FROM reground.source_usage(since => '2025-01-01', until => 'tomorrow');
SELECT * FROM reground._answers_by('conversation', false, '2025-01-01', NULL);
SELECT * FROM reground._citations_by('document', '2025-01-01', NULL);
SELECT reground._notice_scope(), reground._dimension_name('model'), reground._dimension_key('tag:team'), reground._node('chunk', 'a', 'b'), reground._pair_index(1, 2, 3), reground._trace_bucket('2026-07-01');
SELECT reground._source_state(NULL, '{r}_farm', 'sheep', 1), reground.current_tenant(), reground.current_principals(), reground.in_canary('{r}-talk'), reground.in_canary('{r}-talk', 0.5, 'salt');
SELECT reground._cited_row(c.citation_id) FROM reground.message_citations AS c;
SELECT * FROM reground._settings();
SELECT reground._hides_nothing(), pg_catalog.bool_and(reground._is_shown_turn(t.turn_id)), reground._is_shown_source(1, '{r}_farm', 'sheep', '1') FROM reground.turns AS t;
SELECT reground._of_answers('cfs');
SELECT * FROM reground._compare('cfs', 'model', 'a', 'b', '{1,0}', '{1,0}', '{0,2}', '{0,1}');
SELECT * FROM reground._wilson_interval(1, 2);
SELECT * FROM reground.retrieval_metrics('{a,b}', '{"a": 1}');
SELECT * FROM reground.text_metrics('goats climb', 'goats climb trees');
SELECT reground._document_type('https://farm.example/a.pdf', 'a');
SELECT reground.queue_judgements(), reground.queue_judgements('{r}_judge', '2025-01-01', 'tomorrow', '{r}_farm', true, 5, '{1,2}');
SELECT reground._judge_majority('{partial,partial,accurate}', false);
-- no rows
SELECT * FROM reground.judge_confusion();
-- no rows
SELECT * FROM reground.judge_agreement();
SELECT * FROM reground.trace_document('{r}_farm', 'cows');
SELECT * FROM reground.trace_document('{r}_articles', 'b1', since => '2025-01-01');
SELECT reground.conversation_report('{r}-talk'), reground.conversation_report('{r}-pinned');
SELECT reground.corpus_report('{r}_farm'), reground.corpus_report('{r}_articles', since => '2025-01-01', until => 'tomorrow');
