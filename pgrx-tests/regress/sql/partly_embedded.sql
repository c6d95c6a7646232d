-- Passages without a vector: their scores against the formulas in plain SQL, and corpora of which one has no embeddings.
CREATE SCHEMA partly_embedded;
SET search_path = partly_embedded, public;
SELECT reground.create_corpus('shelf', dimensions => 3, title_weight => 0);
SELECT count(*) FROM (VALUES ('a', 'Repairing a bicycle chain'), ('b', 'A chain of hotels by the sea'), ('c', 'Riding a bicycle in winter'), ('d', 'Roses need sun'),
    ('e', 'The chain of command'), ('f', 'Bread needs time')) AS v(doc_id, content), LATERAL reground.put_document('shelf', v.doc_id, content => v.content);
SELECT reground.put_embeddings('shelf', '{2,3,4,5,6}', '{"[0.5,1,0]","[0.8,0.6,0]","[0,1,0]","[0.2,0.5,1]","[0,0,1]"}'::vector[]);

-- Every candidate: the standardised lexical score, and that of the similarity or 0.8 of the lexical one.
CREATE FUNCTION differing(corpus text, fusion text) RETURNS TABLE (rows bigint, differing bigint, without_vector bigint) LANGUAGE sql AS $$
    WITH found AS (
        SELECT score, lexical_rank, vector_rank, vector_distance, coalesce(lexical_score, 0) AS words, greatest(1 - vector_distance, 0) AS meaning
        FROM reground.search(corpus, 'repairing a bicycle chain', embedding => '[1,0,0]', settings => jsonb_build_object('fusion', fusion, 'vector_share', 0.6))
    ), standardised AS (
        SELECT *, (words - avg(words) OVER ()) / stddev_pop(words) OVER () AS z_words, (meaning - avg(meaning) OVER ()) / stddev_pop(meaning) OVER () AS z_meaning FROM found
    )
    SELECT count(*), count(*) FILTER (WHERE abs(score - CASE fusion
            WHEN 'scores' THEN 0.5 + (0.4 * z_words + 0.6 * coalesce(z_meaning, 0.8 * z_words)) / 6
            ELSE coalesce(0.8 / (60 + lexical_rank), 0) + 1.2 * CASE WHEN vector_distance IS NULL THEN 0.8 / (60 + lexical_rank) ELSE coalesce(1.0 / (60 + vector_rank), 0) END
        END) > 1e-9), count(*) FILTER (WHERE vector_distance IS NULL)
    FROM standardised
$$;
SELECT fusion, d.* FROM unnest('{scores,rrf}'::text[]) AS fusion, differing('shelf', fusion) AS d;
-- The passage that repeats the question is first, although others have vectors.
SELECT doc_id, lexical_rank, vector_rank, vector_distance IS NULL AS without_vector FROM reground.search('shelf', 'repairing a bicycle chain', embedding => '[1,0,0]', max_results => 2);
SELECT doc_id FROM reground.search('shelf', 'repairing a bicycle chain', embedding => '[1,0,0]', max_results => 1, settings => '{"fusion": "rrf"}');
SELECT doc_id, vector_rank, vector_distance, in_context FROM (SELECT turn_id FROM reground.begin_turn('partly-1', 'repairing a bicycle chain', 'shelf', '[1,0,0]') LIMIT 1) AS t, reground.explain_turn(t.turn_id)
    ORDER BY fused_score DESC LIMIT 1;
-- No passage of the lexical list has a vector: the agreement of the branches is unknown.
SELECT DISTINCT answerability IS NULL AS unknown FROM reground.begin_turn('partly-2', 'repairing', 'shelf', '[1,0,0]');

-- A corpus without embeddings together with one that has them, in both orders.
SELECT reground.create_corpus('wordy');
SELECT chunk_count FROM reground.put_document('wordy', 'p', content => 'Repairing a bicycle chain at home');
SELECT fusion, corpora, s.corpus, s.doc_id FROM unnest('{scores,rrf}'::text[]) AS fusion, (VALUES ('{shelf,wordy}'::text[]), ('{wordy,shelf}')) AS c(corpora), LATERAL (
    SELECT corpus, doc_id FROM reground.begin_turn('partly-' || fusion || c.corpora[1], 'repairing a bicycle chain', corpora => c.corpora, embedding => '[1,0,0]',
        settings => jsonb_build_object('fusion', fusion)) WHERE corpus = 'wordy') AS s ORDER BY 1, 2;
SELECT r.* FROM (VALUES ($$SELECT * FROM reground.search('wordy', 'chain', embedding => '[1,0,0]')$$), ($$SELECT * FROM reground.begin_turn('partly-3', 'chain', 'wordy', '[1,0,0]')$$),
    ($$SELECT * FROM reground.begin_turn('partly-3', 'chain', corpora => '{wordy,shelf}', embedding => '[1,0]')$$)) AS v(statement), LATERAL regress.refusal(v.statement) AS r;
