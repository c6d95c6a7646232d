-- Small traps: what a user meets first, and what the message says.
CREATE SCHEMA small_traps;
SET search_path = small_traps, public;

-- A renamed column: the error and check_corpus name the command that repairs the corpus.
CREATE TABLE rivers (id bigint PRIMARY KEY, body text NOT NULL, emb vector(2));
INSERT INTO rivers VALUES (1, 'Otters live in rivers.', '[1,0]'), (2, 'Ducks live on lakes.', '[0,1]');
SELECT reground.add_corpus('rivers', relation => 'rivers', chunk_id => 'id', content => 'body', embedding => 'emb');
ALTER TABLE rivers RENAME COLUMN body TO words;
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('rivers', 'otters')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('traps-0', 'otters', 'rivers')$$);
SELECT item, detail, hint FROM reground.check_corpus('rivers') WHERE status = 'error';
SELECT reground.alter_corpus('rivers', mapping => '{"content": "words"}');
SELECT chunk_id FROM reground.search('rivers', 'otters', '[1,0]') LIMIT 1;
-- With several candidates, the user names the column.
ALTER TABLE rivers RENAME COLUMN words TO body;
ALTER TABLE rivers ADD COLUMN title text;
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('rivers', 'otters')$$);
ALTER TABLE rivers RENAME COLUMN body TO words;
-- Columns of the tables that create_corpus made have fixed names.
SELECT reground.create_corpus('ponds');
ALTER TABLE ponds RENAME COLUMN content TO words;
SELECT * FROM regress.refusal($$SELECT * FROM reground.search('ponds', 'otters')$$);
ALTER TABLE ponds RENAME COLUMN words TO content;

-- A missing embedding is reported once per session and corpus.
SELECT chunk_id FROM reground.search('rivers', 'otters');
SELECT chunk_id FROM reground.search('rivers', 'ducks');
-- A corpus without a column of embeddings never asks for one.
SELECT chunk_count FROM reground.put_document('ponds', 'a', content => 'Otters swim.');
SELECT chunk_id IS NOT NULL AS found FROM reground.search('ponds', 'otters');
SELECT count(*) FROM reground.begin_turn('traps-1', 'who swims?', 'ponds');
SELECT count(*) FROM reground.begin_turn('traps-2', 'otters', 'rivers');
SELECT query, warnings FROM reground.turns WHERE turn_id IN (regress.turn('traps-1'), regress.turn('traps-2')) ORDER BY turn_id;
-- Without any vector, one hint says how to store them. Together with an embedding, too.
SELECT reground.create_corpus('lakes', dimensions => 2);
SELECT chunk_count FROM reground.put_document('lakes', 'a', content => 'Otters swim.');
SELECT chunk_id IS NOT NULL AS found FROM reground.search('lakes', 'otters');
SELECT chunk_id IS NOT NULL AS found FROM reground.search('lakes', 'otters');
SELECT chunk_id IS NOT NULL AS found FROM reground.search('lakes', 'otters', '[1,0]');
\c -
SET search_path = small_traps, public;
SELECT chunk_id IS NOT NULL AS found FROM reground.search('lakes', 'otters', '[1,0]');
SELECT chunk_id IS NOT NULL AS found FROM reground.search('lakes', 'otters', '[1,0]');
SELECT chunk_id IS NOT NULL AS found FROM reground.search('rivers', 'otters', '[1,0]') LIMIT 1;

-- Each call has a profile.
SELECT DISTINCT function FROM reground.profile();
SELECT count(*) FROM reground.check_answer('Otters swim [1].', '[{"content": "Otters swim."}]');
SELECT DISTINCT function FROM reground.profile();
SELECT count(*) FROM reground.feed_answer(regress.turn('traps-1'), 'Otters swim [A1].');
SELECT DISTINCT function FROM reground.profile();

-- explain_search returns the plan of each statement that reads the corpus, as the caller.
INSERT INTO rivers (id, words, emb) SELECT n, 'Beaver number ' || n || ' builds dams.', format('[%s,1]', n)::vector FROM generate_series(3, 2000) AS n;
CREATE INDEX rivers_bm25 ON rivers USING reground_bm25 (words) WITH (text_config = 'english');
CREATE INDEX rivers_hnsw ON rivers USING hnsw (emb vector_cosine_ops);
ANALYZE rivers;
PREPARE explained(text, text) AS
    SELECT step_no, step, rows, ms >= 0 AS timed, plan LIKE '%Index Scan using ' || $2 || '%' AS by_index
    FROM reground.explain_search('rivers', 'beaver dams 17', '[17,1]', filter => $1::jsonb) ORDER BY step_no;
EXECUTE explained(NULL, 'rivers_hnsw');
SELECT count(*) AS uses_bm25 FROM reground.explain_search('rivers', 'beaver dams 17') WHERE plan LIKE '%rivers_bm25%';
EXECUTE explained('{"id": {"<=": 20}}', 'rivers_pkey');
-- Its rows are those of the search.
SELECT e.rows = s.found AS agrees
FROM (SELECT rows FROM reground.explain_search('rivers', 'beaver dams 17', max_results => 5, settings => '{"candidates": 5}') WHERE step = 'passages') AS e,
     (SELECT count(*) AS found FROM reground.search('rivers', 'beaver dams 17', max_results => 5, settings => '{"candidates": 5}')) AS s;
-- Under row-level security, the plan contains the condition of the policy, and the rows are those that the caller may see.
CREATE ROLE regress_trapped LOGIN IN ROLE reground_user;
GRANT USAGE ON SCHEMA small_traps, regress TO regress_trapped;
GRANT SELECT ON rivers TO regress_trapped;
ALTER TABLE rivers ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON rivers TO regress_trapped USING (id < 10);
SET ROLE regress_trapped;
SELECT DISTINCT plan LIKE '%id < 10%' AS filtered FROM reground.explain_search('rivers', 'beaver dams', '[17,1]');
SELECT max(rows) < 10 AS few FROM reground.explain_search('rivers', 'beaver dams', '[17,1]');
SELECT * FROM regress.refusal($$SELECT * FROM reground.explain_search('ponds', 'otters')$$);
-- Nothing is recorded after an error, or by another search.
SELECT count(*) FROM reground.search('rivers', 'beaver dams', '[17,1]');
RESET ROLE;
-- A search within the search is not part of the plans, also not one of another role.
CREATE FUNCTION inner_search() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = small_traps, public AS $$SELECT count(*) FROM reground.search('rivers', 'ducks', '[0,1]')$$;
CREATE POLICY calls ON rivers AS RESTRICTIVE TO regress_trapped USING ((SELECT inner_search()) > 0);
SET ROLE regress_trapped;
SELECT bool_and(plan LIKE '%id < 10%') AS own FROM reground.explain_search('rivers', 'beaver dams', '[17,1]');
RESET ROLE;

-- An empty report says that the role is no auditor. A tenant with rows of its own gets no notice.
SET ROLE regress_trapped;
SELECT citations FROM reground.citation_quality();
SELECT count(*) FROM reground.citation_quality('model');
SELECT count(*) FROM reground.stage_survival();
SELECT answers_a FROM reground.compare('cfs', 'model', 'a', 'b');
SELECT sum(samples) FROM reground.sli();
SELECT count(*) FROM reground.source_usage();
SELECT count(*) FROM reground.trace_document('ponds', 'a');
SELECT count(*) FROM reground.factuality_report();
SELECT count(*) > 0 AS measures FROM reground.factuality_agreement();
SELECT length(reground.corpus_report('ponds')) > 0 AS page;
SELECT * FROM regress.refusal($$SELECT reground.conversation_report('traps-1')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.explain_turn(1)$$);
RESET ROLE;
GRANT reground_auditor TO regress_trapped;
SET ROLE regress_trapped;
SELECT count(*) > 0 AS some FROM reground.source_usage();
RESET ROLE;
REVOKE reground_auditor FROM regress_trapped;
SELECT reground.create_corpus('trapped', tenant => 'regress_trapped');
GRANT SELECT ON trapped, trapped_documents TO regress_trapped;
SET ROLE regress_trapped;
SELECT count(*) FROM reground.begin_turn('traps-3', 'nothing', 'trapped');
SELECT count(*) FROM reground.citation_quality('model');
RESET ROLE;
RESET search_path;
DROP OWNED BY regress_trapped;
DROP ROLE regress_trapped;
