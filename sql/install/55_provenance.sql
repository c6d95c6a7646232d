-- The hash chain of each conversation with provenance merkle, and the archive of turns without traces.

-- No foreign keys: the chain must keep the links of deleted rows, so that verify_chain reports them as missing.
CREATE TABLE reground.provenance_chain (
    conversation_id bigint NOT NULL,
    link_no         bigint NOT NULL,
    tenant          text NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('turn', 'retrieval', 'answer')),
    turn_id         bigint NOT NULL,
    message_id      bigint,
    salts           bytea[] NOT NULL,
    leaves          bytea[] NOT NULL,
    previous_digest bytea NOT NULL,
    digest          bytea NOT NULL,
    linked_at       timestamptz NOT NULL,
    retrieval_no    integer,
    PRIMARY KEY (conversation_id, link_no)
);
CREATE INDEX provenance_chain_linked ON reground.provenance_chain USING brin (linked_at);
COMMENT ON TABLE reground.provenance_chain IS 'Hash chain of each conversation with provenance merkle: one link per turn, additional retrieval and answer. Each link contains the digest of the previous link, so verify_chain finds later changes. Only retention removes links, the oldest first, and leaves a checkpoint.';
COMMENT ON COLUMN reground.provenance_chain.conversation_id IS 'Id of the conversation.';
COMMENT ON COLUMN reground.provenance_chain.link_no IS 'Number of the link within the chain, from 1.';
COMMENT ON COLUMN reground.provenance_chain.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.provenance_chain.kind IS 'turn, retrieval or answer.';
COMMENT ON COLUMN reground.provenance_chain.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.provenance_chain.message_id IS 'Id of the answer; NULL for other links.';
COMMENT ON COLUMN reground.provenance_chain.salts IS 'Random salt of each content. A turn has the question, its other columns, and each initial source; a retrieval its arguments, the columns of the turn and each added source; an answer its text, its verdict, and each citation. NULL for erased contents.';
COMMENT ON COLUMN reground.provenance_chain.leaves IS 'SHA-256 of each content, after the byte 0 and its salt.';
COMMENT ON COLUMN reground.provenance_chain.previous_digest IS 'Digest of the previous link; 32 zero bytes in the first link.';
COMMENT ON COLUMN reground.provenance_chain.digest IS 'SHA-256 over the byte 2, previous_digest, the columns of the link, and the Merkle root of its leaves (RFC 6962).';
COMMENT ON COLUMN reground.provenance_chain.linked_at IS 'When the link was made.';
COMMENT ON COLUMN reground.provenance_chain.retrieval_no IS 'Number of the retrieval within the turn (turn_retrievals); NULL for other links.';

CREATE TABLE reground.chain_checkpoints (
    conversation_id bigint NOT NULL,
    link_no         bigint NOT NULL,
    tenant          text NOT NULL,
    digest          bytea NOT NULL,
    linked_at       timestamptz NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (conversation_id, link_no)
);
COMMENT ON TABLE reground.chain_checkpoints IS 'Last link that retention removed from a chain; verify_chain starts after it.';
COMMENT ON COLUMN reground.chain_checkpoints.conversation_id IS 'Id of the conversation.';
COMMENT ON COLUMN reground.chain_checkpoints.link_no IS 'Number of the link within the chain.';
COMMENT ON COLUMN reground.chain_checkpoints.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.chain_checkpoints.digest IS 'Digest of the link.';
COMMENT ON COLUMN reground.chain_checkpoints.linked_at IS 'When the link was made.';
COMMENT ON COLUMN reground.chain_checkpoints.created_at IS 'When the link was removed.';

CREATE TABLE reground.turn_archive (
    turn_id          bigint PRIMARY KEY,
    tenant           text NOT NULL,
    conversation_ref text NOT NULL,
    turn_no          integer NOT NULL,
    corpus           text NOT NULL,
    model            text,
    begun_at         timestamptz NOT NULL,
    candidate_count  integer NOT NULL,
    source_count     integer NOT NULL,
    citation_count   integer,
    holding_count    integer,
    cfs              double precision,
    decision         text,
    markers          text[] NOT NULL DEFAULT '{}',
    corpora          text[] NOT NULL DEFAULT '{}',
    doc_ids          text[] NOT NULL DEFAULT '{}',
    chunk_ids        text[] NOT NULL DEFAULT '{}',
    hash_prefixes    bytea NOT NULL DEFAULT '',
    user_ref         text
);
CREATE INDEX turn_archive_begun ON reground.turn_archive USING brin (begun_at);
CREATE INDEX turn_archive_conversation ON reground.turn_archive (tenant, conversation_ref);
CREATE INDEX turn_archive_user ON reground.turn_archive (tenant, user_ref) WHERE user_ref IS NOT NULL;
COMMENT ON TABLE reground.turn_archive IS 'Summary of each turn whose conversation or trace retention removed. It remains when the turn is deleted.';
COMMENT ON COLUMN reground.turn_archive.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.turn_archive.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.turn_archive.conversation_ref IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.turn_archive.turn_no IS 'Number of the turn within its conversation, from 1.';
COMMENT ON COLUMN reground.turn_archive.corpus IS 'Leading corpus of the turn.';
COMMENT ON COLUMN reground.turn_archive.model IS 'Model that wrote the current answer.';
COMMENT ON COLUMN reground.turn_archive.begun_at IS 'When the turn began.';
COMMENT ON COLUMN reground.turn_archive.candidate_count IS 'Number of candidates in the trace; 0 without a trace.';
COMMENT ON COLUMN reground.turn_archive.source_count IS 'Number of sources in the context.';
COMMENT ON COLUMN reground.turn_archive.citation_count IS 'Number of citations in the current answer; NULL without an answer.';
COMMENT ON COLUMN reground.turn_archive.holding_count IS 'Number of these that hold.';
COMMENT ON COLUMN reground.turn_archive.cfs IS 'Citation fidelity score of the answer, 0 to 1; NULL without citations.';
COMMENT ON COLUMN reground.turn_archive.decision IS 'accept or regenerate.';
COMMENT ON COLUMN reground.turn_archive.markers IS 'Markers cited by the answer, each once; parallel to the following arrays.';
COMMENT ON COLUMN reground.turn_archive.corpora IS 'Corpora of the cited sources.';
COMMENT ON COLUMN reground.turn_archive.doc_ids IS 'Documents of the cited sources.';
COMMENT ON COLUMN reground.turn_archive.chunk_ids IS 'Passages of the cited sources.';
COMMENT ON COLUMN reground.turn_archive.hash_prefixes IS 'First 8 bytes of the hash of each cited passage, concatenated; zeros if unknown.';
COMMENT ON COLUMN reground.turn_archive.user_ref IS 'The application''s id of the user who asked.';

-- The provenance graph of a citation: seven kinds of artifact and their derivations, as views over the traces, with the relations of W3C PROV.

CREATE FUNCTION reground._node(kind text, id text, item text DEFAULT NULL) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    -- Ids may contain the separator.
    RETURN kind || ':' || pg_catalog.replace(pg_catalog.replace(id, '%', '%25'), '/', '%2F') || coalesce('/' || item, '');
COMMENT ON FUNCTION reground._node(text, text, text) IS
'Internal: returns the name of a node of the provenance graph.';

CREATE VIEW reground._turn_passages WITH (security_invoker = true) AS
    SELECT p.tenant, p.turn_id, p.corpus, p.doc_id, p.chunk_id, coalesce(p.version, d.version) AS version, p.hash, p.title, p.uri, p.in_context
    FROM (
        SELECT p.tenant, p.turn_id, p.corpus, p.doc_id, p.chunk_id, pg_catalog.max(p.version) AS version, pg_catalog.max(p.hash) AS hash, pg_catalog.max(p.title) AS title, pg_catalog.max(p.uri) AS uri,
               pg_catalog.bool_or(p.in_context) AS in_context
        FROM (
            SELECT x.tenant, x.turn_id, x.corpus, x.doc_id, m.member AS chunk_id, NULL::integer AS version, NULL::text AS hash, NULL::text AS title, NULL::text AS uri, false AS in_context
            FROM reground.turn_candidates AS x, pg_catalog.unnest(x.member_chunk_ids) AS m(member)
            UNION ALL
            SELECT t.tenant, t.turn_id, e #>> '{passage,corpus}', e #>> '{passage,doc_id}', m.member, (e #>> '{passage,version}')::integer,
                   -- The hash of several passages together, or of a part, is not that of the passage.
                   coalesce(e #>> '{passage,window_of,content_hash}', CASE WHEN pg_catalog.jsonb_array_length(e -> 'member_chunk_ids') = 1 THEN e #>> '{passage,content_hash}' END),
                   reground._unsealed(t.tenant, 'title', e #>> '{passage,title}'), reground._unsealed(t.tenant, 'address', e #>> '{passage,uri}'), true
            FROM reground.turns AS t, pg_catalog.jsonb_array_elements(t.context) AS e, pg_catalog.jsonb_array_elements_text(e -> 'member_chunk_ids') AS m(member)
            UNION ALL
            SELECT c.tenant, c.turn_id, c.corpus, c.doc_id, c.chunk_id, c.source_version, NULL,
                   reground._unsealed(c.tenant, 'title', c.title), reground._unsealed(c.tenant, 'address', c.uri), false FROM reground.message_citations AS c WHERE c.doc_id IS NOT NULL) AS p
        GROUP BY p.tenant, p.turn_id, p.corpus, p.doc_id, p.chunk_id) AS p
    -- The version that a turn has searched, if its context does not have the document.
    LEFT JOIN LATERAL (
        SELECT d.version FROM reground.turns AS t, reground.corpora AS k, reground.documents AS d
        WHERE t.turn_id = p.turn_id AND k.corpus = p.corpus AND (k.tenant IS NULL OR k.tenant = p.tenant) AND d.corpus_id = k.corpus_id AND d.doc_id = p.doc_id
            AND d.indexed_at <= coalesce(t.as_of, t.begun_at)
        ORDER BY k.tenant IS NULL, d.version DESC LIMIT 1) AS d ON p.version IS NULL;
COMMENT ON VIEW reground._turn_passages IS 'Internal: passages of a turn, from its candidates, its context and its citations.';
COMMENT ON COLUMN reground._turn_passages.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground._turn_passages.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground._turn_passages.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground._turn_passages.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground._turn_passages.chunk_id IS 'Id of the passage; NULL if only a document is named.';
COMMENT ON COLUMN reground._turn_passages.version IS 'Version of the document in the context or the citation, otherwise the stored one at the time of the turn; NULL if it is unknown.';
COMMENT ON COLUMN reground._turn_passages.hash IS 'SHA-256 (hex) of the text of the passage; NULL if the context does not have it alone.';
COMMENT ON COLUMN reground._turn_passages.title IS 'Title of the document.';
COMMENT ON COLUMN reground._turn_passages.uri IS 'Address of the document.';
COMMENT ON COLUMN reground._turn_passages.in_context IS 'Whether the context has the passage.';

CREATE VIEW reground.provenance_nodes WITH (security_invoker = true) AS
    SELECT c.tenant, c.turn_id, reground._node('citation', c.citation_id::text) AS node, 6 AS stage_no, 'citation' AS kind, c.corpus, c.doc_id, c.chunk_id, c.marker,
           reground._unsealed(c.tenant, 'locator', c.locator) AS locator, c.source_version AS version, c.source_hash AS hash,
           pg_catalog.jsonb_build_object('raw', c.raw, 'status', c.status, 'holds', c.holds, 'score', c.score, 'support', c.support, 'lost_stage', c.lost_stage,
                                         'answer_start', c.answer_start, 'answer_end', c.answer_end) AS details
    FROM reground.message_citations AS c
    UNION ALL
    SELECT m.tenant, m.turn_id, reground._node('answer', m.message_id::text), 5, 'answer', NULL, NULL, NULL, NULL, NULL, NULL, m.answer_hash,
           pg_catalog.jsonb_build_object('message_ref', m.message_ref, 'model', m.model, 'citation_count', m.citation_count, 'cfs', m.cfs, 'superseded', m.superseded, 'repair_of', m.repair_of)
    FROM reground.messages AS m
    UNION ALL
    SELECT t.tenant, t.turn_id, reground._node('context', t.turn_id::text, e ->> 'marker'), 4, 'context', e #>> '{passage,corpus}', e #>> '{passage,doc_id}',
           e #>> '{passage,chunk_id}', e ->> 'marker', reground._unsealed(t.tenant, 'locator', k.locator), (e #>> '{passage,version}')::integer, e #>> '{passage,content_hash}',
           pg_catalog.jsonb_build_object('position', e -> 'position', 'origin', e -> 'origin', 'relevance', e -> 'relevance', 'title', reground._unsealed(t.tenant, 'title', e #>> '{passage,title}'),
                                         'page_start', p.pages -> 'start', 'page_end', p.pages -> 'end',
                                         'char_start', e #> '{passage,chars,start}', 'char_end', e #> '{passage,chars,end}', 'tokens', e #> '{passage,tokens}')
               || CASE WHEN t.query_similarities IS NULL THEN '{}' ELSE pg_catalog.jsonb_build_object('query_similarity', t.query_similarities[(e ->> 'position')::integer]) END
    FROM reground.turns AS t CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(t.context) AS e
        LEFT JOIN reground.conversation_markers AS k ON (k.conversation_id, k.marker) = (t.conversation_id, e ->> 'marker')
        CROSS JOIN LATERAL (SELECT reground._unsealed(t.tenant, 'pages', e #>> '{passage,pages}') OFFSET 0) AS u(pages)
        CROSS JOIN LATERAL (SELECT CASE WHEN u.pages LIKE '{%' THEN u.pages::jsonb END AS pages) AS p
    UNION ALL
    -- The context can have another text of a dropped candidate.
    SELECT x.tenant, x.turn_id, reground._node('reranked', x.turn_id::text, x.candidate_no::text), 3, 'reranked', x.corpus, x.doc_id, x.chunk_id, x.marker, NULL,
           CASE WHEN x.in_context OR NOT p.in_context THEN p.version END, coalesce(x.hash_prefix, CASE WHEN x.in_context OR NOT p.in_context THEN p.hash END),
           pg_catalog.jsonb_build_object('rerank_score', x.rerank_score, 'dropped_stage', x.dropped_stage, 'drop_reason', x.drop_reason)
    FROM reground.turn_candidates AS x
        LEFT JOIN reground._turn_passages AS p ON (p.turn_id, p.corpus, p.doc_id, p.chunk_id) = (x.turn_id, x.corpus, x.doc_id, x.chunk_id)
    WHERE x.rerank_score IS NOT NULL
    UNION ALL
    SELECT x.tenant, x.turn_id, reground._node('candidate', x.turn_id::text, x.candidate_no::text), 2, 'candidate', x.corpus, x.doc_id, x.chunk_id, x.marker, NULL,
           CASE WHEN x.in_context OR NOT p.in_context THEN p.version END, coalesce(x.hash_prefix, CASE WHEN x.in_context OR NOT p.in_context THEN p.hash END),
           pg_catalog.jsonb_build_object('origin', x.origin, 'lexical_rank', x.lexical_rank, 'vector_rank', x.vector_rank, 'graph_rank', x.graph_rank, 'fused_score', x.fused_score,
                                         'carry_score', x.carry_score, 'dropped_stage', x.dropped_stage, 'drop_reason', x.drop_reason)
    FROM reground.turn_candidates AS x
        LEFT JOIN reground._turn_passages AS p ON (p.turn_id, p.corpus, p.doc_id, p.chunk_id) = (x.turn_id, x.corpus, x.doc_id, x.chunk_id)
    UNION ALL
    SELECT p.tenant, p.turn_id, reground._node('chunk', p.corpus, p.chunk_id), 1, 'chunk', p.corpus, p.doc_id, p.chunk_id, NULL, NULL, p.version, p.hash,
           pg_catalog.jsonb_build_object('in_context', p.in_context, 'title', p.title)
    FROM reground._turn_passages AS p WHERE p.chunk_id IS NOT NULL
    UNION ALL
    -- A registered table has no stored documents.
    SELECT p.tenant, p.turn_id, reground._node('document', p.corpus, p.doc_id), 0, 'document', p.corpus, p.doc_id, NULL, NULL, NULL, p.version, d.content_hash,
           pg_catalog.jsonb_build_object('title', p.title, 'uri', p.uri, 'pages', d.page_count, 'characters', d.char_count, 'passages', d.chunk_count, 'indexed_at', d.indexed_at, 'modified_at', d.modified_at)
    FROM (SELECT p.tenant, p.turn_id, p.corpus, p.doc_id, pg_catalog.max(p.version) AS version, pg_catalog.max(p.title) AS title, pg_catalog.max(p.uri) AS uri
          FROM reground._turn_passages AS p GROUP BY p.tenant, p.turn_id, p.corpus, p.doc_id) AS p
        LEFT JOIN LATERAL (
            SELECT d.* FROM reground.corpora AS k JOIN reground.documents AS d ON d.corpus_id = k.corpus_id
            WHERE k.corpus = p.corpus AND (k.tenant IS NULL OR k.tenant = p.tenant) AND d.doc_id = p.doc_id AND d.version = p.version
            ORDER BY k.tenant IS NULL LIMIT 1) AS d ON true;
COMMENT ON VIEW reground.provenance_nodes IS 'Artifacts of each traced turn, by stage. Query one turn_id at a time.';
COMMENT ON COLUMN reground.provenance_nodes.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.provenance_nodes.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.provenance_nodes.node IS 'Name of the node within the graph: kind:ids.';
COMMENT ON COLUMN reground.provenance_nodes.stage_no IS 'Stage of the pipeline: document 0, chunk 1, candidate 2, reranked 3, context 4, answer 5, citation 6.';
COMMENT ON COLUMN reground.provenance_nodes.kind IS 'Kind of artifact: document, chunk, candidate, reranked, context, answer or citation.';
COMMENT ON COLUMN reground.provenance_nodes.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.provenance_nodes.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.provenance_nodes.chunk_id IS 'Id of the passage.';
COMMENT ON COLUMN reground.provenance_nodes.marker IS 'Marker of the source in its conversation, for example A1.';
COMMENT ON COLUMN reground.provenance_nodes.locator IS 'Place within the document, as shown to readers.';
COMMENT ON COLUMN reground.provenance_nodes.version IS 'Version of the document, as the context or the citation has it, otherwise the stored one at the time of the turn; NULL for answers, and if it is unknown.';
COMMENT ON COLUMN reground.provenance_nodes.hash IS 'SHA-256 (hex) of the text; its first 8 bytes for candidates with provenance hash or higher. NULL if it is unknown: for a passage that the context has only merged with others, and for a document of a registered table.';
COMMENT ON COLUMN reground.provenance_nodes.details IS 'Attributes of the artifact: position and verdict of a citation, coordinates in the context, ranks and scores of a candidate, title, address and size of a document.';

CREATE VIEW reground.provenance_edges WITH (security_invoker = true) AS
    -- A citation quotes its source: the source of the context, otherwise the last artifact of the passage, otherwise the chunk or document.
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
    -- A source of the context comes from the reranker or from the search. A source that was only carried, or has no trace, comes from its passages.
    SELECT x.tenant, x.turn_id, reground._node('context', x.turn_id::text, x.marker),
           reground._node(CASE WHEN x.rerank_score IS NULL THEN 'candidate' ELSE 'reranked' END, x.turn_id::text, x.candidate_no::text), 'wasDerivedFrom', 'selection'
    FROM reground.turn_candidates AS x WHERE x.in_context AND pg_catalog.num_nonnulls(x.rerank_score, x.lexical_rank, x.vector_rank, x.graph_rank) > 0
    UNION ALL
    SELECT t.tenant, t.turn_id, reground._node('context', t.turn_id::text, e ->> 'marker'), reground._node('chunk', e #>> '{passage,corpus}', m.member), 'wasDerivedFrom',
           CASE WHEN e ->> 'origin' IN ('carried', 'pinned', 'remembered') THEN 'carry' WHEN e ->> 'origin' = 'added' THEN 'handover' ELSE 'retrieval' END
    FROM reground.turns AS t, pg_catalog.jsonb_array_elements(t.context) AS e, pg_catalog.jsonb_array_elements_text(e -> 'member_chunk_ids') AS m(member)
    WHERE NOT EXISTS (SELECT FROM reground.turn_candidates AS x WHERE x.turn_id = t.turn_id AND x.marker = e ->> 'marker'
                          AND pg_catalog.num_nonnulls(x.rerank_score, x.lexical_rank, x.vector_rank, x.graph_rank) > 0)
    UNION ALL
    -- A carried source was influenced by the earlier turn, but not derived from it.
    SELECT t.tenant, t.turn_id, reground._node('context', t.turn_id::text, e ->> 'marker'), reground._node('context', f.turn_id::text, e ->> 'marker'), 'wasInfluencedBy', 'memory'
    FROM reground.turns AS t CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(t.context) AS e
    JOIN reground.conversation_markers AS k ON k.conversation_id = t.conversation_id AND k.marker = e ->> 'marker'
    JOIN reground.turns AS f ON f.conversation_id = t.conversation_id AND f.turn_no = k.first_turn_no
    WHERE e ->> 'origin' IN ('carried', 'remembered') AND f.turn_id <> t.turn_id
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
COMMENT ON VIEW reground.provenance_edges IS 'Derivations between the artifacts of each traced turn. Query one turn_id at a time.';
COMMENT ON COLUMN reground.provenance_edges.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.provenance_edges.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.provenance_edges.node IS 'The artifact, as in provenance_nodes.';
COMMENT ON COLUMN reground.provenance_edges.derived_from IS 'Node that the artifact was derived from.';
COMMENT ON COLUMN reground.provenance_edges.relation IS 'wasDerivedFrom, wasQuotedFrom, or wasInfluencedBy: the answer of a citation, or the earlier turn of a carried source (W3C PROV-O).';
COMMENT ON COLUMN reground.provenance_edges.activity IS 'Activity that derived it: extraction, generation, selection, rerank, retrieval, carry, handover, memory, chunking or citation.';

CREATE FUNCTION reground.trace_citation(citation_id bigint)
    RETURNS TABLE (hop integer, stage_no integer, kind text, node text, activity text, corpus text, doc_id text, chunk_id text, locator text, version integer, hash text, details jsonb)
    LANGUAGE sql STABLE PARALLEL RESTRICTED
    BEGIN ATOMIC
        -- The turn_id is computed first, so that the planner can push it into the views.
        WITH RECURSIVE cited_turn AS MATERIALIZED (SELECT c.turn_id FROM reground.message_citations AS c WHERE c.citation_id = trace_citation.citation_id),
        edges AS MATERIALIZED (
            SELECT e.node, e.derived_from, e.activity FROM reground.provenance_edges AS e WHERE e.turn_id = (SELECT o.turn_id FROM cited_turn AS o) AND e.relation <> 'wasInfluencedBy'),
        nodes AS MATERIALIZED (SELECT n.* FROM reground.provenance_nodes AS n WHERE n.turn_id = (SELECT o.turn_id FROM cited_turn AS o)),
        path AS (
            SELECT 0 AS hop, reground._node('citation', trace_citation.citation_id::text) AS node, NULL::text AS activity FROM cited_turn
            UNION
            SELECT p.hop + 1, e.derived_from, e.activity FROM path AS p JOIN edges AS e ON e.node = p.node WHERE p.hop < 6
        )
        SELECT p.hop, n.stage_no, n.kind, p.node, p.activity, n.corpus, n.doc_id, n.chunk_id, n.locator, n.version, n.hash, n.details
        FROM path AS p JOIN nodes AS n ON n.node = p.node
        ORDER BY p.hop, p.node;
    END;
COMMENT ON FUNCTION reground.trace_citation(bigint) IS
'Traces a citation back to its document, in at most 6 hops, one row per artifact; several passages if the source was merged. A citation that was not resolved has one row. Fewer rows if the trace of its turn was not kept. version, hash, details: as in provenance_nodes. For reground_auditor.';

CREATE FUNCTION reground.trace_document(corpus text, doc_id text, since timestamptz DEFAULT NULL)
    RETURNS TABLE (citation_id bigint, tenant text, conversation_ref text, turn_no integer, message_id bigint, model text, marker text, chunk_id text, source_version integer, source_state text,
                   status text, holds boolean, support double precision, superseded boolean, created_at timestamptz)
    LANGUAGE sql STABLE PARALLEL UNSAFE
    BEGIN ATOMIC
        SELECT a.citation_id, a.tenant, a.conversation_ref, a.turn_no, a.message_id, a.model, a.marker, a.chunk_id, a.source_version, a.source_state, a.status, a.holds, a.support,
               a.superseded, a.created_at
        FROM reground.citation_audit AS a
        WHERE a.corpus = trace_document.corpus AND a.doc_id = trace_document.doc_id AND (trace_document.since IS NULL OR a.created_at >= trace_document.since)
            AND (SELECT reground._notice_scope())
        ORDER BY a.citation_id;
    END;
COMMENT ON FUNCTION reground.trace_document(text, text, timestamptz) IS
'Returns the citations of a document, oldest first, with the cited version and its present state (source_state). Tenants see their own citations, reground_auditor all.';

CREATE VIEW reground.stale_citations WITH (security_invoker = true) AS
    SELECT a.citation_id, a.tenant, a.conversation_ref, a.turn_no, a.message_id, a.message_ref, a.model, a.tags, a.marker, a.corpus, a.doc_id, a.chunk_id, a.title, a.status, a.holds,
           a.source_state, a.source_version, coalesce(d.version, r.version) AS current_version, coalesce(d.modified_at, r.modified_at) AS modified_at,
           CASE WHEN s.since IS NOT NULL THEN greatest(interval '0', coalesce(d.modified_at, r.modified_at) - s.since) END AS staleness, a.created_at
    FROM reground.citation_audit AS a
    LEFT JOIN reground.corpora AS k ON k.corpus = a.corpus AND (k.tenant IS NULL OR k.tenant = a.tenant)
    LEFT JOIN reground.documents AS o ON o.corpus_id = k.corpus_id AND o.doc_id = a.doc_id AND o.version = a.source_version
    LEFT JOIN reground.documents AS d ON d.corpus_id = k.corpus_id AND d.doc_id = a.doc_id AND d.replaced_at IS NULL
    LEFT JOIN LATERAL (
        SELECT c.version, pg_catalog.to_timestamp(c.modified_seconds) AS modified_at FROM reground._cited_row(a.citation_id) AS c) AS r ON NOT k.managed
    CROSS JOIN LATERAL (SELECT CASE WHEN d.modified_at IS NOT NULL THEN o.indexed_at WHEN r.modified_at IS NOT NULL THEN a.created_at END AS since) AS s
    WHERE NOT a.superseded AND a.source_state IN ('changed', 'deleted');
COMMENT ON VIEW reground.stale_citations IS 'Citations of current answers whose document, or row of a registered table, has changed or was deleted since. Reads all current citations.';
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
COMMENT ON COLUMN reground.stale_citations.current_version IS 'Current version of the document, or mapped version of the row; NULL if it was deleted.';
COMMENT ON COLUMN reground.stale_citations.modified_at IS 'When the original of the current version, or the row, changed, as given by the application.';
COMMENT ON COLUMN reground.stale_citations.staleness IS 'Time from the indexing of the cited version to the change of the current original, at least 0; for a registered table, from the answer to the mapped time of change. NULL if the document was deleted or no time is mapped.';
COMMENT ON COLUMN reground.stale_citations.created_at IS 'When the answer was recorded.';

-- Verification of turns and chains, similarities, retention.

CREATE FUNCTION reground.verify_turn(turn_id bigint)
    RETURNS TABLE (corpus text, doc_id text, chunk_id text, marker text, stored_hash text, current_hash text, content_state text)
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 1 AS 'MODULE_PATHNAME', 'verify_turn_wrapper';
COMMENT ON FUNCTION reground.verify_turn(bigint) IS
'Compares the stored text hashes of a turn''s passages with their present texts, as the caller can read them: each source of the context, and each candidate with provenance hash or higher. content_state: unchanged, changed, gone (deleted or not visible) or unknown (the relation cannot be read). For reground_auditor. Errors: P0002 if the turn does not exist.';

CREATE FUNCTION reground._pair_index(position_a integer, position_b integer, source_count integer) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN position_a <> position_b THEN (least(position_a, position_b) - 1) * source_count - least(position_a, position_b) * (least(position_a, position_b) - 1) / 2
        + greatest(position_a, position_b) - least(position_a, position_b) END;
COMMENT ON FUNCTION reground._pair_index(integer, integer, integer) IS
'Internal: returns the index in turns.source_similarities of a pair of positions in the context; NULL for equal positions.';

CREATE VIEW reground.citation_similarities WITH (security_invoker = true) AS
    SELECT c.tenant, c.turn_id, c.message_id, c.citation_id, c.citation_no, k.marker, c.corpus, c.doc_id, c.chunk_id, t.query_similarities[k.position] AS query_similarity,
           n.marker AS nearest_marker, n.similarity AS nearest_similarity, c.best_other_marker,
           t.source_similarities[reground._pair_index(k.position, b.position, pg_catalog.jsonb_array_length(t.context))] AS best_other_similarity
    FROM reground.message_citations AS c
    JOIN reground.turns AS t ON t.turn_id = c.turn_id
    CROSS JOIN LATERAL (
        SELECT e.source ->> 'marker' AS marker, e.position::integer AS position FROM pg_catalog.jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, position)
        WHERE e.source #>> '{passage,corpus}' = c.corpus AND e.source #>> '{passage,doc_id}' = c.doc_id AND (e.source #>> '{passage,chunk_id}' = c.chunk_id OR e.source -> 'member_chunk_ids' ? c.chunk_id)
        ORDER BY e.source ->> 'marker' = c.marker DESC NULLS LAST, e.position LIMIT 1) AS k
    LEFT JOIN LATERAL (
        SELECT e.source ->> 'marker' AS marker, t.source_similarities[reground._pair_index(k.position, e.position::integer, pg_catalog.jsonb_array_length(t.context))] AS similarity
        FROM pg_catalog.jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, position)
        WHERE t.source_similarities[reground._pair_index(k.position, e.position::integer, pg_catalog.jsonb_array_length(t.context))] IS NOT NULL
        ORDER BY 2 DESC, e.position LIMIT 1) AS n ON true
    LEFT JOIN LATERAL (
        SELECT e.position::integer AS position FROM pg_catalog.jsonb_array_elements(t.context) WITH ORDINALITY AS e(source, position) WHERE e.source ->> 'marker' = c.best_other_marker LIMIT 1) AS b ON true
    WHERE t.query_similarities IS NOT NULL OR t.source_similarities IS NOT NULL;
COMMENT ON VIEW reground.citation_similarities IS 'Cosine similarities of the cited sources when the turn began, in [-1, 1], for turns with provenance semantic or higher. They do not say whether a source supports the claim.';
COMMENT ON COLUMN reground.citation_similarities.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.citation_similarities.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.citation_similarities.message_id IS 'Id of the answer.';
COMMENT ON COLUMN reground.citation_similarities.citation_id IS 'Id of the citation.';
COMMENT ON COLUMN reground.citation_similarities.citation_no IS 'Number of the citation within the answer, from 1.';
COMMENT ON COLUMN reground.citation_similarities.marker IS 'Marker of the cited source.';
COMMENT ON COLUMN reground.citation_similarities.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.citation_similarities.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.citation_similarities.chunk_id IS 'Id of the passage.';
COMMENT ON COLUMN reground.citation_similarities.query_similarity IS 'Similarity to the query; NULL without one of the embeddings.';
COMMENT ON COLUMN reground.citation_similarities.nearest_marker IS 'Marker of the most similar other source.';
COMMENT ON COLUMN reground.citation_similarities.nearest_similarity IS 'Similarity to that source.';
COMMENT ON COLUMN reground.citation_similarities.best_other_marker IS 'Marker of the other source that supports the claim best (message_citations).';
COMMENT ON COLUMN reground.citation_similarities.best_other_similarity IS 'Similarity to that source.';

CREATE FUNCTION reground.verify_chain(conversation_ref text)
    RETURNS TABLE (tenant text, link_no bigint, kind text, turn_no integer, turn_id bigint, message_id bigint, status text, detail text, linked_at timestamptz)
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 1 AS 'MODULE_PATHNAME', 'verify_chain_wrapper';
COMMENT ON FUNCTION reground.verify_chain(text) IS
'Verifies the hash chain of a conversation, one row per link. status: ok; content_changed (detail names the part); content_erased (erased together with its salt); missing (the link, its turn or its answer is gone; link_no NULL: it never had a link); chain_broken (the link was changed or does not follow the previous one). No rows without provenance merkle. For reground_auditor, who sees all tenants. Errors: P0002 if the conversation does not exist.';

CREATE FUNCTION reground.run_retention(as_of timestamptz DEFAULT pg_catalog.now())
    RETURNS TABLE (relation text, rows bigint, action text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 5 AS 'MODULE_PATHNAME', 'run_retention_wrapper';
COMMENT ON FUNCTION reground.run_retention(timestamptz) IS
'Archives and removes conversations whose last turn, answer or pin is older than reground.conversation_retention_days (0: none), traces and chain links older than reground.trace_retention_days, and archived turns older than reground.archive_retention_days. Call it daily, in its own transaction. Returns one row per changed relation; the action "kept: not whole" counts conversations whose chain is not valid. For reground_admin. Errors: 42501 for a time in the future, except for superusers.';
