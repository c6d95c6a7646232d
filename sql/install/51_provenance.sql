-- Where a citation comes from (I3): seven kinds of artifact and what each was made of, as views over the traces. Nothing is
-- stored for them. The relations are those of W3C PROV, read from the artifact to what it was made of.

CREATE FUNCTION reground._node(kind text, id text, item text DEFAULT NULL) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    -- Ids may hold what separates them.
    RETURN kind || ':' || pg_catalog.replace(pg_catalog.replace(id, '%', '%25'), '/', '%2F') || coalesce('/' || item, '');
COMMENT ON FUNCTION reground._node(text, text, text) IS
'Internal: returns the name of a node of the provenance graph.';

CREATE VIEW reground._turn_passages WITH (security_invoker = true) AS
    SELECT x.tenant, x.turn_id, x.corpus, x.doc_id, m.member AS chunk_id FROM reground.turn_candidates AS x, pg_catalog.unnest(x.member_chunk_ids) AS m(member)
    UNION
    SELECT t.tenant, t.turn_id, e #>> '{passage,corpus}', e #>> '{passage,doc_id}', m.member
    FROM reground.turns AS t, pg_catalog.jsonb_array_elements(t.context) AS e, pg_catalog.jsonb_array_elements_text(e -> 'member_chunk_ids') AS m(member)
    UNION
    SELECT c.tenant, c.turn_id, c.corpus, c.doc_id, c.chunk_id FROM reground.message_citations AS c WHERE c.doc_id IS NOT NULL;
COMMENT ON VIEW reground._turn_passages IS 'Internal: passages of a turn, from its candidates, its context and its citations.';
COMMENT ON COLUMN reground._turn_passages.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground._turn_passages.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground._turn_passages.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground._turn_passages.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground._turn_passages.chunk_id IS 'Id of the passage; NULL if only a document is named.';

CREATE VIEW reground.provenance_nodes WITH (security_invoker = true) AS
    SELECT c.tenant, c.turn_id, reground._node('citation', c.citation_id::text) AS node, 6 AS stage_no, 'citation' AS kind, c.corpus, c.doc_id, c.chunk_id, c.marker,
           c.locator, c.source_hash AS hash,
           pg_catalog.jsonb_build_object('raw', c.raw, 'status', c.status, 'holds', c.holds, 'score', c.score, 'support', c.support, 'lost_stage', c.lost_stage,
                                         'characters', pg_catalog.jsonb_build_array(c.answer_start, c.answer_end)) AS details
    FROM reground.message_citations AS c
    UNION ALL
    SELECT m.tenant, m.turn_id, reground._node('answer', m.message_id::text), 5, 'answer', NULL, NULL, NULL, NULL, NULL, m.answer_hash,
           pg_catalog.jsonb_build_object('message_ref', m.message_ref, 'model', m.model, 'citation_count', m.citation_count, 'cfs', m.cfs, 'superseded', m.superseded)
    FROM reground.messages AS m
    UNION ALL
    SELECT t.tenant, t.turn_id, reground._node('context', t.turn_id::text, e ->> 'marker'), 4, 'context', e #>> '{passage,corpus}', e #>> '{passage,doc_id}',
           e #>> '{passage,chunk_id}', e ->> 'marker', NULL, e #>> '{passage,content_hash}',
           pg_catalog.jsonb_build_object('position', e -> 'position', 'origin', e -> 'origin', 'relevance', e -> 'relevance', 'version', e #> '{passage,version}',
                                         'pages', e #> '{passage,pages}', 'characters', e #> '{passage,chars}', 'tokens', e #> '{passage,tokens}')
               || CASE WHEN t.query_similarities IS NULL THEN '{}' ELSE pg_catalog.jsonb_build_object('query_similarity', t.query_similarities[(e ->> 'position')::integer]) END
    FROM reground.turns AS t, pg_catalog.jsonb_array_elements(t.context) AS e
    UNION ALL
    SELECT x.tenant, x.turn_id, reground._node('reranked', x.turn_id::text, x.candidate_no::text), 3, 'reranked', x.corpus, x.doc_id, x.chunk_id, x.marker, NULL, x.hash_prefix,
           pg_catalog.jsonb_build_object('rerank_score', x.rerank_score, 'dropped_stage', x.dropped_stage, 'drop_reason', x.drop_reason)
    FROM reground.turn_candidates AS x WHERE x.rerank_score IS NOT NULL
    UNION ALL
    SELECT x.tenant, x.turn_id, reground._node('candidate', x.turn_id::text, x.candidate_no::text), 2, 'candidate', x.corpus, x.doc_id, x.chunk_id, x.marker, NULL, x.hash_prefix,
           pg_catalog.jsonb_build_object('origin', x.origin, 'lexical_rank', x.lexical_rank, 'vector_rank', x.vector_rank, 'graph_rank', x.graph_rank, 'fused_score', x.fused_score,
                                         'carry_score', x.carry_score, 'dropped_stage', x.dropped_stage, 'drop_reason', x.drop_reason)
    FROM reground.turn_candidates AS x
    UNION ALL
    SELECT p.tenant, p.turn_id, reground._node('chunk', p.corpus, p.chunk_id), 1, 'chunk', p.corpus, p.doc_id, p.chunk_id, NULL, NULL, NULL, NULL::jsonb
    FROM reground._turn_passages AS p WHERE p.chunk_id IS NOT NULL
    UNION ALL
    SELECT DISTINCT p.tenant, p.turn_id, reground._node('document', p.corpus, p.doc_id), 0, 'document', p.corpus, p.doc_id, NULL, NULL, NULL, NULL, NULL::jsonb
    FROM reground._turn_passages AS p;
COMMENT ON VIEW reground.provenance_nodes IS 'Artifacts of each traced turn (I3), by stage (I1). Query one turn_id at a time.';
COMMENT ON COLUMN reground.provenance_nodes.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.provenance_nodes.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.provenance_nodes.node IS 'Name of the node within the graph: kind:ids.';
COMMENT ON COLUMN reground.provenance_nodes.stage_no IS 'Stage of the pipeline (I1): document 0, chunk 1, candidate 2, reranked 3, context 4, answer 5, citation 6.';
COMMENT ON COLUMN reground.provenance_nodes.kind IS 'Kind of artifact: document, chunk, candidate, reranked, context, answer or citation.';
COMMENT ON COLUMN reground.provenance_nodes.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.provenance_nodes.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.provenance_nodes.chunk_id IS 'Id of the passage.';
COMMENT ON COLUMN reground.provenance_nodes.marker IS 'Marker of the source in its conversation, for example A1.';
COMMENT ON COLUMN reground.provenance_nodes.locator IS 'Place within the document, as shown to readers.';
COMMENT ON COLUMN reground.provenance_nodes.hash IS 'SHA-256 (hex) of the text, for context, answer and cited passage; its first 8 bytes for candidates with provenance hash or higher; otherwise NULL.';
COMMENT ON COLUMN reground.provenance_nodes.details IS 'Attributes of the artifact: position and verdict of a citation, coordinates in the context, ranks and scores of a candidate; NULL for chunks and documents.';

CREATE VIEW reground.provenance_edges WITH (security_invoker = true) AS
    -- A citation quotes what it names: the source of the context, or the last that was seen of the passage, or else its place.
    SELECT c.tenant, c.turn_id, reground._node('citation', c.citation_id::text) AS node,
           CASE WHEN k.marker IS NOT NULL THEN reground._node('context', c.turn_id::text, k.marker)
                WHEN x.rerank_score IS NOT NULL THEN reground._node('reranked', c.turn_id::text, x.candidate_no::text)
                WHEN x.candidate_no IS NOT NULL THEN reground._node('candidate', c.turn_id::text, x.candidate_no::text)
                WHEN c.chunk_id IS NOT NULL THEN reground._node('chunk', c.corpus, c.chunk_id)
                ELSE reground._node('document', c.corpus, c.doc_id) END AS derived_from,
           'wasQuotedFrom' AS relation, 'citation' AS activity
    FROM reground.message_citations AS c
    LEFT JOIN LATERAL (
        SELECT e ->> 'marker' AS marker FROM reground.turns AS t, pg_catalog.jsonb_array_elements(t.context) AS e
        WHERE t.turn_id = c.turn_id AND e #>> '{passage,corpus}' = c.corpus AND e #>> '{passage,doc_id}' = c.doc_id AND (e #>> '{passage,chunk_id}' = c.chunk_id OR e -> 'member_chunk_ids' ? c.chunk_id)
        ORDER BY e ->> 'marker' = c.marker DESC NULLS LAST, e ->> 'marker' LIMIT 1) AS k ON true
    LEFT JOIN LATERAL (
        SELECT x.candidate_no, x.rerank_score FROM reground.turn_candidates AS x
        WHERE x.turn_id = c.turn_id AND x.corpus = c.corpus AND x.doc_id = c.doc_id AND c.chunk_id = ANY (x.member_chunk_ids)
        ORDER BY x.rerank_score IS NULL, x.candidate_no LIMIT 1) AS x ON k.marker IS NULL
    WHERE c.doc_id IS NOT NULL
    UNION ALL
    SELECT c.tenant, c.turn_id, reground._node('citation', c.citation_id::text), reground._node('answer', c.message_id::text), 'wasInfluencedBy', 'extraction'
    FROM reground.message_citations AS c
    UNION ALL
    SELECT m.tenant, m.turn_id, reground._node('answer', m.message_id::text), reground._node('context', m.turn_id::text, e ->> 'marker'), 'wasDerivedFrom', 'generation'
    FROM reground.messages AS m JOIN reground.turns AS t USING (turn_id), pg_catalog.jsonb_array_elements(t.context) AS e
    UNION ALL
    -- A source of the context came out of the reranker or straight out of the search; one that only memory brought in, or whose trace was not kept, is its passages.
    SELECT x.tenant, x.turn_id, reground._node('context', x.turn_id::text, x.marker),
           reground._node(CASE WHEN x.rerank_score IS NULL THEN 'candidate' ELSE 'reranked' END, x.turn_id::text, x.candidate_no::text), 'wasDerivedFrom', 'selection'
    FROM reground.turn_candidates AS x WHERE x.in_context AND pg_catalog.num_nonnulls(x.rerank_score, x.lexical_rank, x.vector_rank, x.graph_rank) > 0
    UNION ALL
    SELECT t.tenant, t.turn_id, reground._node('context', t.turn_id::text, e ->> 'marker'), reground._node('chunk', e #>> '{passage,corpus}', m.member), 'wasDerivedFrom',
           CASE WHEN e ->> 'origin' IN ('carried', 'pinned') THEN 'carry' WHEN e ->> 'origin' = 'added' THEN 'handover' ELSE 'retrieval' END
    FROM reground.turns AS t, pg_catalog.jsonb_array_elements(t.context) AS e, pg_catalog.jsonb_array_elements_text(e -> 'member_chunk_ids') AS m(member)
    WHERE NOT EXISTS (SELECT FROM reground.turn_candidates AS x WHERE x.turn_id = t.turn_id AND x.marker = e ->> 'marker'
                          AND pg_catalog.num_nonnulls(x.rerank_score, x.lexical_rank, x.vector_rank, x.graph_rank) > 0)
    UNION ALL
    -- A carried source was in the context of an earlier turn: that is why it is here, and not what it is made of.
    SELECT t.tenant, t.turn_id, reground._node('context', t.turn_id::text, e ->> 'marker'), reground._node('context', f.turn_id::text, e ->> 'marker'), 'wasInfluencedBy', 'memory'
    FROM reground.turns AS t CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(t.context) AS e
    JOIN reground.conversation_markers AS k ON k.conversation_id = t.conversation_id AND k.marker = e ->> 'marker'
    JOIN reground.turns AS f ON f.conversation_id = t.conversation_id AND f.turn_no = k.first_turn_no
    WHERE e ->> 'origin' = 'carried' AND f.turn_id <> t.turn_id
    UNION ALL
    SELECT x.tenant, x.turn_id, reground._node('reranked', x.turn_id::text, x.candidate_no::text), reground._node('candidate', x.turn_id::text, x.candidate_no::text),
           'wasDerivedFrom', 'rerank'
    FROM reground.turn_candidates AS x WHERE x.rerank_score IS NOT NULL
    UNION ALL
    SELECT x.tenant, x.turn_id, reground._node('candidate', x.turn_id::text, x.candidate_no::text), reground._node('chunk', x.corpus, m.member), 'wasDerivedFrom',
           CASE WHEN x.origin = 'added' THEN 'handover' WHEN x.lexical_rank IS NULL AND x.vector_rank IS NULL AND x.graph_rank IS NULL THEN 'carry' ELSE 'retrieval' END
    FROM reground.turn_candidates AS x, pg_catalog.unnest(x.member_chunk_ids) AS m(member)
    UNION ALL
    SELECT p.tenant, p.turn_id, reground._node('chunk', p.corpus, p.chunk_id), reground._node('document', p.corpus, p.doc_id), 'wasDerivedFrom', 'chunking'
    FROM reground._turn_passages AS p WHERE p.chunk_id IS NOT NULL;
COMMENT ON VIEW reground.provenance_edges IS 'Derivations between the artifacts of each traced turn (I3). Query one turn_id at a time.';
COMMENT ON COLUMN reground.provenance_edges.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.provenance_edges.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.provenance_edges.node IS 'The artifact, as in provenance_nodes.';
COMMENT ON COLUMN reground.provenance_edges.derived_from IS 'Node that the artifact was derived from.';
COMMENT ON COLUMN reground.provenance_edges.relation IS 'wasDerivedFrom, wasQuotedFrom, or wasInfluencedBy: the answer of a citation, or the earlier turn of a carried source (W3C PROV-O).';
COMMENT ON COLUMN reground.provenance_edges.activity IS 'Activity that derived it: extraction, generation, selection, rerank, retrieval, carry, handover, memory, chunking or citation.';

CREATE FUNCTION reground.trace_citation(citation_id bigint)
    RETURNS TABLE (hop integer, stage_no integer, kind text, node text, activity text, corpus text, doc_id text, chunk_id text, locator text, hash text, details jsonb)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        -- The turn as a value of its own: so it reaches into the views, which know no other way to one turn.
        WITH RECURSIVE cited_turn AS MATERIALIZED (SELECT c.turn_id FROM reground.message_citations AS c WHERE c.citation_id = trace_citation.citation_id),
        edges AS MATERIALIZED (
            SELECT e.node, e.derived_from, e.activity FROM reground.provenance_edges AS e WHERE e.turn_id = (SELECT o.turn_id FROM cited_turn AS o) AND e.relation <> 'wasInfluencedBy'),
        nodes AS MATERIALIZED (SELECT n.* FROM reground.provenance_nodes AS n WHERE n.turn_id = (SELECT o.turn_id FROM cited_turn AS o)),
        path AS (
            SELECT 0 AS hop, reground._node('citation', trace_citation.citation_id::text) AS node, NULL::text AS activity FROM cited_turn
            UNION
            SELECT p.hop + 1, e.derived_from, e.activity FROM path AS p JOIN edges AS e ON e.node = p.node WHERE p.hop < 6
        )
        SELECT p.hop, n.stage_no, n.kind, p.node, p.activity, n.corpus, n.doc_id, n.chunk_id, n.locator, n.hash, n.details
        FROM path AS p JOIN nodes AS n ON n.node = p.node
        ORDER BY p.hop, p.node;
    END;
COMMENT ON FUNCTION reground.trace_citation(bigint) IS
'Traces a citation back to its document, in at most 6 hops, one row per artifact; several passages if the source was merged. A citation that was not resolved has one row. Fewer rows if the trace of its turn was not kept. For reground_auditor.';

CREATE FUNCTION reground.trace_document(corpus text, doc_id text, since timestamptz DEFAULT NULL)
    RETURNS TABLE (citation_id bigint, tenant text, conversation_ref text, turn_no integer, message_id bigint, model text, marker text, chunk_id text, source_version integer, source_state text,
                   status text, holds boolean, support double precision, superseded boolean, created_at timestamptz)
    LANGUAGE sql STABLE PARALLEL UNSAFE
    BEGIN ATOMIC
        SELECT a.citation_id, a.tenant, a.conversation_ref, a.turn_no, a.message_id, a.model, a.marker, a.chunk_id, a.source_version, a.source_state, a.status, a.holds, a.support,
               a.superseded, a.created_at
        FROM reground.citation_audit AS a
        WHERE a.corpus = trace_document.corpus AND a.doc_id = trace_document.doc_id AND (trace_document.since IS NULL OR a.created_at >= trace_document.since)
        ORDER BY a.citation_id;
    END;
COMMENT ON FUNCTION reground.trace_document(text, text, timestamptz) IS
'Returns the citations of a document, oldest first, with the cited version and its present state (source_state). Tenants see their own citations, reground_auditor all.';

CREATE VIEW reground.stale_citations WITH (security_invoker = true) AS
    SELECT a.citation_id, a.tenant, a.conversation_ref, a.turn_no, a.message_id, a.message_ref, a.model, a.tags, a.marker, a.corpus, a.doc_id, a.chunk_id, a.title, a.status, a.holds,
           a.source_state, a.source_version, d.version AS current_version, d.modified_at,
           CASE WHEN d.modified_at IS NOT NULL AND o.indexed_at IS NOT NULL THEN greatest(interval '0', d.modified_at - o.indexed_at) END AS staleness, a.created_at
    FROM reground.citation_audit AS a
    LEFT JOIN reground.corpora AS k ON k.corpus = a.corpus AND (k.tenant IS NULL OR k.tenant = a.tenant)
    LEFT JOIN reground.documents AS o ON o.corpus_id = k.corpus_id AND o.doc_id = a.doc_id AND o.version = a.source_version
    LEFT JOIN reground.documents AS d ON d.corpus_id = k.corpus_id AND d.doc_id = a.doc_id AND d.replaced_at IS NULL
    WHERE NOT a.superseded AND a.source_state IN ('changed', 'deleted');
COMMENT ON VIEW reground.stale_citations IS 'Citations of current answers whose document has changed or was deleted since (I12). Only corpora filled with put_document record versions. Reads all current citations.';
COMMENT ON COLUMN reground.stale_citations.citation_id IS 'Id of the citation.';
COMMENT ON COLUMN reground.stale_citations.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.stale_citations.conversation_ref IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.stale_citations.turn_no IS 'Number of the turn within its conversation, from 1.';
COMMENT ON COLUMN reground.stale_citations.message_id IS 'Id of the answer.';
COMMENT ON COLUMN reground.stale_citations.message_ref IS 'The application''s id of the answer.';
COMMENT ON COLUMN reground.stale_citations.model IS 'Model that wrote the answer, as given to end_turn.';
COMMENT ON COLUMN reground.stale_citations.tags IS 'Tags of the application; those of the answer override those of the turn.';
COMMENT ON COLUMN reground.stale_citations.marker IS 'Marker of the source in its conversation, for example A1.';
COMMENT ON COLUMN reground.stale_citations.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.stale_citations.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.stale_citations.chunk_id IS 'Id of the passage.';
COMMENT ON COLUMN reground.stale_citations.title IS 'Title of the document.';
COMMENT ON COLUMN reground.stale_citations.status IS 'Verdict; see citation_statuses.';
COMMENT ON COLUMN reground.stale_citations.holds IS 'Whether the citation holds; NULL if this cannot be decided.';
COMMENT ON COLUMN reground.stale_citations.source_state IS 'changed or deleted.';
COMMENT ON COLUMN reground.stale_citations.source_version IS 'Version of the document that was cited.';
COMMENT ON COLUMN reground.stale_citations.current_version IS 'Current version of the document; NULL if it was deleted.';
COMMENT ON COLUMN reground.stale_citations.modified_at IS 'When the original of the current version changed, as given by the application.';
COMMENT ON COLUMN reground.stale_citations.staleness IS 'Time between the indexing of the cited version and the change of the current original (I12); NULL if the document was deleted.';
COMMENT ON COLUMN reground.stale_citations.created_at IS 'When the answer was recorded.';
