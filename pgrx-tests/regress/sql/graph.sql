-- The knowledge graph: entities that a conversation repeats add passages of their neighbours, if the setting is on.
CREATE SCHEMA graph;
SET search_path = graph, public;
SELECT reground.create_corpus('graph', dimensions => 2);
SELECT doc_id, version FROM (VALUES ('ada', 'Ada Lovelace wrote notes on an engine.'), ('babbage', 'The machine was designed by its inventor.'),
    ('byron', 'A poet travelled far from home.'), ('somerville', 'A tutor taught many pupils.'), ('menabrea', 'A general gave a lecture.')) AS v(doc_id, body),
    reground.put_document('graph', doc_id, passages => jsonb_build_array(jsonb_build_object('content', body)));

-- put_edges adds and changes edges and leaves equal ones unchanged; names are compared without case and repeated white space.
SELECT * FROM reground.put_edges('graph', '[{"source": "Ada Lovelace", "relation": "worked with", "target": "Charles Babbage", "chunk_id": 2, "weight": 3},
    {"source": "Ada Lovelace", "relation": "daughter of", "target": "Lord Byron", "chunk_id": "3", "doc_id": "byron", "weight": 2},
    {"source": "Mary Somerville", "relation": "taught", "target": "ada  lovelace", "chunk_id": "4"},
    {"source": "Luigi Menabrea", "target": "C++", "chunk_id": "5"}]');
SELECT * FROM reground.put_edges('graph', '[{"source": "ADA LOVELACE", "relation": "daughter of", "target": "Lord Byron", "chunk_id": "3", "weight": 2.5},
    {"source": "Mary Somerville", "relation": "taught", "target": "ada  lovelace", "chunk_id": "4"}]');
SELECT doc_id, chunk_id, source, source_entity, relation, target, target_entity, weight, tenant FROM reground.edges ORDER BY chunk_id;

-- One fresh source per turn, so that passages of the graph are visible. Each call prints the context of its turn.
CREATE FUNCTION ask(conversation text, query text, answer text, settings jsonb DEFAULT '{}') RETURNS TABLE (marker text, doc_id text, origin text) LANGUAGE plpgsql
SET client_min_messages = error AS $$
DECLARE
    turn bigint;
BEGIN
    CREATE TEMPORARY TABLE rows ON COMMIT DROP AS
        SELECT * FROM reground.begin_turn(conversation, query, 'graph', settings => '{"candidates": 1, "carry_over": false, "query_from": "turn"}'::jsonb || settings);
    SELECT max(turn_id) INTO turn FROM rows;
    PERFORM reground.end_turn(turn, answer);
    RETURN QUERY SELECT r.marker, r.doc_id, r.origin FROM rows AS r;
END
$$;
-- Off by default: the graph adds nothing.
SELECT * FROM ask('graph-1', 'Who was Ada Lovelace?', 'She wrote notes [A1].');
SELECT * FROM ask('graph-1', 'What engine did Ada Lovelace write of?', 'An engine [A1].');
SELECT query_expansion ? 'entities' AS asked_the_graph FROM reground.turns WHERE turn_id = regress.turn('graph-1');
-- On: nothing in the first turn; in the second turn the neighbours by weight, in both directions of an edge.
SELECT * FROM ask('graph-2', 'Who was Ada Lovelace?', 'She wrote notes [A1].', '{"graph": true}');
SELECT * FROM ask('graph-2', 'What engine did Ada Lovelace write of?', 'An engine [A1].', '{"graph": true}');
SELECT query_expansion -> 'entities' AS entities FROM reground.turns WHERE turn_id = regress.turn('graph-2');
SELECT doc_id, origin, graph_rank, lexical_rank, in_context FROM reground.explain_turn(regress.turn('graph-2')) ORDER BY graph_rank, doc_id;
-- A follow-up without entities uses those of the two turns before; a new topic does not.
SELECT * FROM ask('graph-2', 'and the poet?', 'A poet [C1].', '{"graph": true}');
SELECT intent, query_expansion -> 'entities' AS entities FROM reground.turns WHERE turn_id = regress.turn('graph-2');
-- A fusion by ranks uses the neighbours as one more list.
SELECT * FROM ask('graph-3', 'Ada Lovelace', 'Notes [A1].', '{"graph": true}');
SELECT * FROM ask('graph-3', 'Ada Lovelace''s engine', 'Notes [A1].', '{"graph": true, "fusion": "rrf"}');
SELECT doc_id, graph_rank, round(fused_score::numeric, 6) AS fused_score FROM reground.explain_turn(regress.turn('graph-3')) WHERE in_context ORDER BY candidate_no;
-- A neighbour is remembered only if it was cited.
SELECT doc_id FROM regress.sources WHERE conversation_ref = 'graph-3' ORDER BY doc_id;

-- Passages that row-level security hides are neither shown nor counted.
CREATE ROLE regress_graph;
GRANT reground_user TO regress_graph;
GRANT USAGE ON SCHEMA graph, regress TO regress_graph;
GRANT SELECT ON graph, graph_documents TO regress_graph;
ALTER TABLE graph ENABLE ROW LEVEL SECURITY;
CREATE POLICY without_babbage ON graph TO regress_graph USING (doc_id <> 'babbage');
SET ROLE regress_graph;
SELECT * FROM ask('graph-4', 'Ada Lovelace', 'Notes [A1].', '{"graph": true}');
SELECT * FROM ask('graph-4', 'Ada Lovelace''s engine', 'Notes [A1].', '{"graph": true}');
SELECT * FROM regress.refusal($$TABLE reground.edges$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.put_edges('graph', '[{"source": "a", "target": "b", "chunk_id": "1"}]')$$);
SELECT * FROM regress.refusal($$SELECT reground.delete_edges('graph', entity => 'Lord Byron')$$);
RESET ROLE;
SELECT doc_id, graph_rank FROM reground.explain_turn(regress.turn('graph-4')) WHERE graph_rank IS NOT NULL ORDER BY graph_rank;
-- Roles that may read edges see those of shared corpora and of their own tenant.
SELECT reground.create_corpus('private', tenant => 'postgres');
SELECT version FROM reground.put_document('private', 'secret', content => 'A secret.');
SELECT * FROM reground.put_edges('private', '[{"source": "a", "target": "b", "chunk_id": 1}]');
GRANT reground_admin TO regress_graph;
SET ROLE regress_graph;
SELECT c.corpus, count(*) FROM reground.edges AS e JOIN reground.corpora AS c USING (corpus_id) GROUP BY c.corpus;
RESET ROLE;
SELECT reground.drop_corpus('private', drop_tables => true);

-- The error names the invalid edge and the reason.
SELECT v.edges, r.* FROM (VALUES ('{}'), ('[{"source": "a", "target": "b"}]'), ('[{"source": "a", "target": "b", "chunk_id": "1"}, {"source": " ", "target": "b", "chunk_id": "1"}]'),
    ('[{"source": "a", "target": "A", "chunk_id": "1"}]'), ('[{"source": "a", "target": "b", "chunk_id": "1", "weight": -1}]'),
    ('[{"source": "a", "target": "b", "chunk_id": "77"}]'), ('[{"source": "a", "target": "b", "chunk_id": "none"}]'),
    ('[{"source": "a", "target": "b", "chunk_id": "1", "doc_id": "byron"}]')) AS v(edges),
    regress.refusal(format('SELECT * FROM reground.put_edges(''graph'', %L)', v.edges)) AS r;
SELECT * FROM regress.refusal($$SELECT reground.delete_edges('graph')$$);
SELECT * FROM regress.refusal($$SELECT reground.delete_edges('graph', entity => 'x', everything => true)$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.put_edges('nowhere', '[]')$$);

-- Edges are deleted with their passage, their document, by name, and with the corpus.
SELECT version, removed FROM reground.put_document('graph', 'byron', passages => '[{"content": "Another poet."}]');
SELECT reground.delete_document('graph', 'babbage');
SELECT source, target FROM reground.edges ORDER BY source;
SELECT reground.delete_edges('graph', entity => 'mary SOMERVILLE');
SELECT reground.delete_edges('graph', entity => 'mary SOMERVILLE');
SELECT * FROM ask('graph-5', 'Ada Lovelace', 'Notes [A1].', '{"graph": true}');
SELECT * FROM ask('graph-5', 'Ada Lovelace''s engine', 'Notes [A1].', '{"graph": true}');
SELECT reground.drop_corpus('graph', drop_tables => true);
SELECT count(*) FROM reground.edges;
DROP OWNED BY regress_graph;
DROP ROLE regress_graph;
DROP SCHEMA graph CASCADE;
