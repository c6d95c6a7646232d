-- Conversations, their turns, remembered sources and markers.

CREATE TABLE reground.conversations (
    conversation_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant             text NOT NULL,
    conversation_ref   text NOT NULL CHECK (conversation_ref <> ''),
    corpus             text,
    settings           jsonb NOT NULL DEFAULT '{}',
    reranker_role      regrole,
    intent_role        regrole,
    turn_count         integer NOT NULL DEFAULT 0,
    history_tokens     bigint NOT NULL DEFAULT 0,
    last_ended_turn_id bigint,
    next_pin_order     bigint NOT NULL DEFAULT 1,
    created_at         timestamptz NOT NULL DEFAULT pg_catalog.now(),
    chain_length       bigint,
    chain_head         bytea,
    corpora            text[],
    UNIQUE (tenant, conversation_ref)
);
CREATE INDEX conversations_ref ON reground.conversations (conversation_ref);
COMMENT ON TABLE reground.conversations IS 'One row per conversation. Its row lock orders all calls on the conversation.';
COMMENT ON COLUMN reground.conversations.conversation_id IS 'Surrogate key; the functions take conversation_ref.';
COMMENT ON COLUMN reground.conversations.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.conversations.conversation_ref IS 'The application''s id of the conversation, unique within the tenant.';
COMMENT ON COLUMN reground.conversations.corpus IS 'Leading corpus of the latest turn, the default of the next turn.';
COMMENT ON COLUMN reground.conversations.settings IS 'Settings of the conversation (alter_conversation). They override those of the corpus.';
COMMENT ON COLUMN reground.conversations.reranker_role IS 'Role that set the reranker; the function is called as this role.';
COMMENT ON COLUMN reground.conversations.intent_role IS 'Role that set the intent function; the function is called as this role.';
COMMENT ON COLUMN reground.conversations.turn_count IS 'Number of turns begun.';
COMMENT ON COLUMN reground.conversations.history_tokens IS 'Tokens (o200k_base) of all answered questions on the current path, with their current answers.';
COMMENT ON COLUMN reground.conversations.last_ended_turn_id IS 'turn_id of the turn that ended last; only a regeneration of this turn changes the remembered sources.';
COMMENT ON COLUMN reground.conversations.next_pin_order IS 'Value of pin_order for the next pin.';
COMMENT ON COLUMN reground.conversations.created_at IS 'When the first turn or pin was made.';
COMMENT ON COLUMN reground.conversations.chain_length IS 'Number of links that the hash chain has had (provenance_chain), including removed links; NULL without a chain.';
COMMENT ON COLUMN reground.conversations.chain_head IS 'Digest of the last link.';
COMMENT ON COLUMN reground.conversations.corpora IS 'Corpora of the latest turn, the leading one first; NULL if there was only one.';

CREATE TABLE reground.turns (
    turn_id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant              text NOT NULL,
    conversation_id     bigint NOT NULL REFERENCES reground.conversations ON DELETE CASCADE,
    turn_no             integer NOT NULL,
    state               text NOT NULL CHECK (state IN ('deferred', 'open', 'ended', 'abandoned')),
    request_id          text,
    request_hash        text,
    query               text NOT NULL,
    embedding           real[],
    corpus              text NOT NULL,
    filter              jsonb,
    intent              text NOT NULL,
    intent_confidence   real NOT NULL,
    intent_signals      text[] NOT NULL,
    query_expansion     jsonb NOT NULL,
    settings            jsonb NOT NULL,
    pending_candidates  jsonb,
    rerank_results      jsonb,
    context             jsonb NOT NULL DEFAULT '[]',
    context_tokens      integer NOT NULL DEFAULT 0,
    query_tokens        integer NOT NULL,
    retrieved           boolean NOT NULL,
    context_turn_no     integer,
    history_tokens      bigint,
    full_history_tokens bigint,
    attribution_share   double precision,
    predicted_accuracy  double precision,
    accuracy_floor      double precision,
    search_us           integer,
    compress_us         integer,
    sources_before      jsonb,
    sources_after       jsonb,
    warnings            text[] NOT NULL DEFAULT '{}',
    tags                jsonb NOT NULL DEFAULT '{}',
    begun_at            timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    ended_at            timestamptz,
    query_similarities  real[],
    source_similarities real[],
    corpora             text[],
    parent_turn_id      bigint,
    superseded          boolean NOT NULL DEFAULT false,
    origin              text NOT NULL DEFAULT 'live' CHECK (origin IN ('live', 'imported')),
    call_settings       jsonb NOT NULL DEFAULT '{}',
    call_role           text,
    as_of               timestamptz,
    context_embedding   real[],
    answerability       double precision CHECK (answerability BETWEEN 0 AND 1),
    user_ref            text CHECK (user_ref <> ''),
    reranked_count      integer,
    rerank_lost_count   integer,
    UNIQUE (conversation_id, turn_no),
    UNIQUE (conversation_id, request_id)
);
-- Each turn checks for superseded turns. A conversation without branches has no entry.
CREATE INDEX turns_superseded ON reground.turns (conversation_id) WHERE superseded;
CREATE INDEX turns_begun ON reground.turns USING brin (begun_at);
CREATE INDEX turns_user ON reground.turns (tenant, user_ref) WHERE user_ref IS NOT NULL;
-- The documents in the contexts, for who_saw.
CREATE INDEX turns_documents ON reground.turns USING gin (pg_catalog.jsonb_path_query_array(context, '$[*].passage.doc_id') jsonb_path_ops);
-- The questions for reusable_answer.
CREATE INDEX turns_reusable ON reground.turns (tenant, corpus, pg_catalog.hashtextextended(pg_catalog.lower(pg_catalog.btrim(query)), 0), turn_id)
    WHERE settings ->> 'reuse_answers' = 'true' AND turn_no = 1;
COMMENT ON TABLE reground.turns IS 'One row per turn: the question, the settings, and the context given to the model.';
COMMENT ON COLUMN reground.turns.turn_id IS 'Key, as taken by the functions.';
COMMENT ON COLUMN reground.turns.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.turns.conversation_id IS 'Id of the conversation.';
COMMENT ON COLUMN reground.turns.turn_no IS 'Number of the turn within its conversation, from 1.';
COMMENT ON COLUMN reground.turns.state IS 'deferred (waits for apply_rerank), open, ended or abandoned.';
COMMENT ON COLUMN reground.turns.request_id IS 'The application''s id of the request; the same id returns the same turn.';
COMMENT ON COLUMN reground.turns.request_hash IS 'SHA-256 (hex) of the arguments, to distinguish a retry from another request with the same request_id; NULL without one.';
COMMENT ON COLUMN reground.turns.query IS 'The user''s question.';
COMMENT ON COLUMN reground.turns.embedding IS 'Embedding of the query; NULL without one.';
COMMENT ON COLUMN reground.turns.context_embedding IS 'Embedding of context_text; NULL without one.';
COMMENT ON COLUMN reground.turns.corpus IS 'Leading corpus.';
COMMENT ON COLUMN reground.turns.filter IS 'Filter on columns of the relation; NULL without one.';
COMMENT ON COLUMN reground.turns.intent IS 'new_topic, drill_down, compare or same_sources.';
COMMENT ON COLUMN reground.turns.intent_confidence IS 'Confidence in the intent, 0 to 1; 1 if the caller gave the intent.';
COMMENT ON COLUMN reground.turns.intent_signals IS 'Signals that decided the intent.';
COMMENT ON COLUMN reground.turns.query_expansion IS 'What was searched for besides the query: context_dependence (0 to 1), terms (added lexemes with weights; a word of the query has weight 1), entities (repeated entities, with the setting graph), rewrite (the application''s rewrite).';
COMMENT ON COLUMN reground.turns.settings IS 'All effective settings.';
COMMENT ON COLUMN reground.turns.pending_candidates IS 'Candidates of a deferred turn, until apply_rerank.';
COMMENT ON COLUMN reground.turns.rerank_results IS 'Scores of a model for these candidates, until apply_rerank.';
COMMENT ON COLUMN reground.turns.context IS 'Sources given to the model, in order, with text, marker, scores and facts. A fact that is a part of the text has only its range; source_facts has the facts.';
COMMENT ON COLUMN reground.turns.context_tokens IS 'Tokens (o200k_base) of the block of the sources, as prompt_context writes it with the default arguments.';
COMMENT ON COLUMN reground.turns.query_tokens IS 'Tokens (o200k_base) of the query.';
COMMENT ON COLUMN reground.turns.retrieved IS 'Whether the turn searched; otherwise it reused the sources of the turn context_turn_no.';
COMMENT ON COLUMN reground.turns.context_turn_no IS 'Number of the turn whose search found the sources of the context (pins excluded); NULL if none.';
COMMENT ON COLUMN reground.turns.history_tokens IS 'Tokens (o200k_base) of the history that goes with the turn: the compressed history with compress, otherwise all earlier answered questions with their answers. NULL until apply_rerank.';
COMMENT ON COLUMN reground.turns.full_history_tokens IS 'Tokens (o200k_base) of all earlier answered questions with their answers, also of those that the history shortens or leaves out. NULL until apply_rerank.';
COMMENT ON COLUMN reground.turns.attribution_share IS 'context_tokens / (context_tokens + history_tokens). NULL until apply_rerank.';
COMMENT ON COLUMN reground.turns.predicted_accuracy IS 'Predicted accuracy of citations: accuracy_baseline * attribution_share ^ domain_specificity, reduced by topic drift for reused sources.';
COMMENT ON COLUMN reground.turns.accuracy_floor IS 'Exponential envelope under the model, for evenly growing history.';
COMMENT ON COLUMN reground.turns.search_us IS 'Duration of the search in microseconds, from the plan to the gathered candidates; NULL if the turn reused sources.';
COMMENT ON COLUMN reground.turns.compress_us IS 'Microseconds for compressing and counting the history; NULL without compression or history.';
COMMENT ON COLUMN reground.turns.reranked_count IS 'Number of passages that the reranker received; NULL without a rerank.';
COMMENT ON COLUMN reground.turns.rerank_lost_count IS 'Number of these that it did not return.';
COMMENT ON COLUMN reground.turns.sources_before IS 'conversation_sources when the turn first ended, from which a regeneration starts; NULL if they were the sources_after of the turn that it follows.';
COMMENT ON COLUMN reground.turns.sources_after IS 'conversation_sources after the current answer; restored when a branch starts from this turn. NULL for imported turns.';
COMMENT ON COLUMN reground.turns.warnings IS 'Warnings of the turn, for example no_embedding or short_branch.';
COMMENT ON COLUMN reground.turns.tags IS 'Tags of the application.';
COMMENT ON COLUMN reground.turns.begun_at IS 'When the turn began.';
COMMENT ON COLUMN reground.turns.ended_at IS 'When the turn first ended, or was abandoned.';
COMMENT ON COLUMN reground.turns.query_similarities IS 'With provenance semantic or higher: cosine of each source to the query, by position in the context; NULL elements without an embedding, NULL without an embedding of the query.';
COMMENT ON COLUMN reground.turns.source_similarities IS 'With provenance semantic or higher: cosine of each pair of sources, (1,2), (1,3), … (2,3), …; see citation_similarities.';
COMMENT ON COLUMN reground.turns.corpora IS 'Names of the corpora that were searched, the leading one first; NULL if there was only one.';
COMMENT ON COLUMN reground.turns.parent_turn_id IS 'turn_id of the turn that this turn follows; NULL if it follows none.';
COMMENT ON COLUMN reground.turns.superseded IS 'Whether the conversation went back to a point before this turn (begin_turn with parent_turn_id). History and memory ignore such turns.';
COMMENT ON COLUMN reground.turns.origin IS 'live, or imported (record_turn).';
COMMENT ON COLUMN reground.turns.call_settings IS 'The settings given to begin_turn; retrieve applies them over those of another corpus.';
COMMENT ON COLUMN reground.turns.call_role IS 'Role that began the turn, if call_settings name functions; later calls on the turn call them as this role.';
COMMENT ON COLUMN reground.turns.as_of IS 'Time whose versions of the documents were searched; NULL for the current ones.';
COMMENT ON COLUMN reground.turns.user_ref IS 'The application''s id of the user who asked; NULL if it was not given.';
COMMENT ON COLUMN reground.turns.answerability IS 'Whether the corpus seems to have an answer to the question, 0 to 1; NULL if the turn reused sources, without an embedding, or without score fusion.';

CREATE TABLE reground.turn_retrievals (
    turn_id      bigint NOT NULL REFERENCES reground.turns ON DELETE CASCADE,
    retrieval_no integer NOT NULL CHECK (retrieval_no > 0),
    tenant       text NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('search', 'passages')),
    query        text,
    embedding    real[],
    corpora      text[],
    filter       jsonb,
    max_results  integer,
    markers      text[] NOT NULL,
    added_count  integer NOT NULL,
    warnings     text[] NOT NULL,
    search_us    integer,
    turn_before  jsonb NOT NULL,
    retrieved_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (turn_id, retrieval_no)
);
COMMENT ON TABLE reground.turn_retrievals IS 'Further retrievals of a turn after its beginning: searches (retrieve) and added passages (add_passages).';
COMMENT ON COLUMN reground.turn_retrievals.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.turn_retrievals.retrieval_no IS 'Number within the turn, from 1.';
COMMENT ON COLUMN reground.turn_retrievals.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.turn_retrievals.kind IS 'search or passages.';
COMMENT ON COLUMN reground.turn_retrievals.query IS 'The query; NULL for added passages.';
COMMENT ON COLUMN reground.turn_retrievals.embedding IS 'Embedding of the query; NULL without one.';
COMMENT ON COLUMN reground.turn_retrievals.corpora IS 'Names of the corpora that were searched, the leading one first.';
COMMENT ON COLUMN reground.turn_retrievals.filter IS 'Filter on columns of the relation; NULL without one.';
COMMENT ON COLUMN reground.turn_retrievals.max_results IS 'Largest number of sources that was requested; NULL means the turn''s max_sources.';
COMMENT ON COLUMN reground.turn_retrievals.markers IS 'Markers of the returned sources, in order, including sources that the context already had.';
COMMENT ON COLUMN reground.turn_retrievals.added_count IS 'Number of sources added to the context.';
COMMENT ON COLUMN reground.turn_retrievals.warnings IS 'Warnings of this retrieval; turns.warnings includes them.';
COMMENT ON COLUMN reground.turn_retrievals.search_us IS 'Duration of the search in microseconds; NULL for added passages.';
COMMENT ON COLUMN reground.turn_retrievals.turn_before IS 'Columns of the turn''s row before this retrieval changed them.';
COMMENT ON COLUMN reground.turn_retrievals.retrieved_at IS 'When the retrieval was made.';

CREATE TABLE reground.conversation_sources (
    conversation_id bigint NOT NULL REFERENCES reground.conversations ON DELETE CASCADE,
    corpus          text NOT NULL,
    doc_id          text NOT NULL,
    chunk_id        text NOT NULL,
    tenant          text NOT NULL,
    carry_score     double precision NOT NULL CHECK (carry_score BETWEEN 0 AND 1),
    inactive_turns  integer NOT NULL,
    pinned          boolean NOT NULL DEFAULT false,
    pin_order       bigint,
    cited           boolean NOT NULL DEFAULT false,
    content_hash    text,
    last_used_at    timestamptz NOT NULL DEFAULT pg_catalog.now(),
    PRIMARY KEY (conversation_id, corpus, doc_id, chunk_id)
) WITH (fillfactor = 70);
COMMENT ON TABLE reground.conversation_sources IS 'Remembered sources of each conversation: candidates for carrying into the next turn, and pins.';
COMMENT ON COLUMN reground.conversation_sources.conversation_id IS 'Id of the conversation.';
COMMENT ON COLUMN reground.conversation_sources.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.conversation_sources.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.conversation_sources.chunk_id IS 'Id of the passage; empty for a pin of the whole document.';
COMMENT ON COLUMN reground.conversation_sources.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.conversation_sources.carry_score IS 'Carry score, 0 to 1: 1 when active, multiplied by carry_decay after each ended turn.';
COMMENT ON COLUMN reground.conversation_sources.inactive_turns IS 'Ended turns since the source was last active; it is removed at carry_ttl_turns.';
COMMENT ON COLUMN reground.conversation_sources.pinned IS 'Whether the source is pinned. Pinned sources do not decay or expire.';
COMMENT ON COLUMN reground.conversation_sources.pin_order IS 'Order of the pins, ascending.';
COMMENT ON COLUMN reground.conversation_sources.cited IS 'Whether an answer of the conversation cited the source.';
COMMENT ON COLUMN reground.conversation_sources.content_hash IS 'Hash of the passage when it was last in a context.';
COMMENT ON COLUMN reground.conversation_sources.last_used_at IS 'When the source was last active or pinned.';

CREATE TABLE reground.conversation_markers (
    conversation_id bigint NOT NULL REFERENCES reground.conversations ON DELETE CASCADE,
    marker          text NOT NULL,
    tenant          text NOT NULL,
    corpus          text NOT NULL,
    doc_id          text NOT NULL,
    chunk_id        text NOT NULL,
    version         integer,
    page_start      integer,
    page_end        integer,
    char_start      integer,
    char_end        integer,
    locator         text,
    content_hash    text NOT NULL,
    title           text,
    uri             text,
    first_turn_no   integer NOT NULL,
    cited           boolean NOT NULL DEFAULT false,
    binding_no      integer NOT NULL,
    pages           text,
    PRIMARY KEY (conversation_id, marker),
    UNIQUE (conversation_id, binding_no)
);
CREATE INDEX conversation_markers_document ON reground.conversation_markers (conversation_id, doc_id);
CREATE INDEX conversation_markers_version ON reground.conversation_markers (doc_id, version);
CREATE INDEX conversation_markers_letters ON reground.conversation_markers
    (conversation_id, pg_catalog.length(pg_catalog.rtrim(marker, '0123456789')), pg_catalog.rtrim(marker, '0123456789') COLLATE "C") WHERE marker ~ '^[A-Z]+[0-9]+$';
CREATE INDEX conversation_markers_numbers ON reground.conversation_markers (conversation_id, pg_catalog.length(marker), marker COLLATE "C") WHERE marker ~ '^[0-9]+$';
CREATE INDEX conversation_markers_cited ON reground.conversation_markers (conversation_id, binding_no) WHERE cited;
COMMENT ON TABLE reground.conversation_markers IS 'The passage that each marker of a conversation names. A marker always names the same passage; cited changes, forget_document removes title, uri and the structured locator, and seal_rows seals them.';
COMMENT ON COLUMN reground.conversation_markers.conversation_id IS 'Id of the conversation.';
COMMENT ON COLUMN reground.conversation_markers.marker IS 'Marker, for example A1: letters for the document in order of first use, a number for the passage.';
COMMENT ON COLUMN reground.conversation_markers.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.conversation_markers.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.conversation_markers.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.conversation_markers.chunk_id IS 'Id of the passage (after a merge, of the stronger passage).';
COMMENT ON COLUMN reground.conversation_markers.version IS 'Version of the document.';
COMMENT ON COLUMN reground.conversation_markers.page_start IS 'First page.';
COMMENT ON COLUMN reground.conversation_markers.page_end IS 'Last page.';
COMMENT ON COLUMN reground.conversation_markers.char_start IS 'First character of the passage in the document, from 0.';
COMMENT ON COLUMN reground.conversation_markers.char_end IS 'One past the last character of the passage in the document.';
COMMENT ON COLUMN reground.conversation_markers.locator IS 'Place within the document, as shown to readers.';
COMMENT ON COLUMN reground.conversation_markers.content_hash IS 'SHA-256 (hex) of the text of the passage, after normalisation.';
COMMENT ON COLUMN reground.conversation_markers.title IS 'Title of the document when the marker was assigned.';
COMMENT ON COLUMN reground.conversation_markers.uri IS 'Address of the document when the marker was assigned.';
COMMENT ON COLUMN reground.conversation_markers.first_turn_no IS 'Number of the turn that assigned the marker.';
COMMENT ON COLUMN reground.conversation_markers.cited IS 'Whether an answer has cited the marker; history keeps cited markers.';
COMMENT ON COLUMN reground.conversation_markers.pages IS 'First and last page, sealed; NULL if they are in page_start and page_end.';
COMMENT ON COLUMN reground.conversation_markers.binding_no IS 'Order of assignment within the conversation, from 1.';

CREATE VIEW reground.source_facts WITH (security_invoker = true) AS
    -- A fact that is a part of the passage is stored by its range.
    SELECT t.turn_id, s.source ->> 'marker' AS marker, f.fact_no::integer, t.tenant,
           coalesce(reground._unsealed(t.tenant, 'text', f.fact ->> 'text'),
                    CASE WHEN p.is_open THEN pg_catalog.substr(p.content, r.first + 1, r.last - r.first) ELSE p.content END) AS fact, r.first + w.start AS fact_start, r.last + w.start AS fact_end,
           coalesce(pg_catalog.regexp_replace(s.source #>> '{passage,published}', 'T00:00:00\+00:00$', ''),
                    pg_catalog.split_part(s.source #>> '{passage,modified}', 'T', 1)) AS published,
           (s.source #>> '{passage,version}')::integer AS version, s.source #>> '{passage,content_hash}' AS content_hash
    FROM reground.turns AS t
    CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(t.context) AS s(source)
    CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(s.source -> 'facts') WITH ORDINALITY AS f(fact, fact_no)
    CROSS JOIN LATERAL (SELECT (f.fact #>> '{chars,start}')::integer, (f.fact #>> '{chars,end}')::integer) AS r(first, last)
    CROSS JOIN LATERAL (SELECT coalesce((s.source #>> '{passage,window_of,start}')::integer, 0)) AS w(start)
    -- Without its key, a passage reads as one word.
    CROSS JOIN LATERAL (SELECT reground._unsealed(t.tenant, 'text', s.source #>> '{passage,content}') OFFSET 0) AS c(content)
    CROSS JOIN LATERAL (SELECT c.content, s.source #>> '{passage,content}' NOT LIKE 'sealed:%' OR c.content NOT IN ('sealed', 'erased') AS is_open) AS p;
COMMENT ON VIEW reground.source_facts IS 'Fact sheet of each turn: the facts of each source, verbatim sentences selected for the query or facts that the application supplies.';
COMMENT ON COLUMN reground.source_facts.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.source_facts.marker IS 'Marker of the source in its conversation, for example A1.';
COMMENT ON COLUMN reground.source_facts.fact_no IS 'Number of the fact within its source, from 1.';
COMMENT ON COLUMN reground.source_facts.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.source_facts.fact IS 'The fact.';
COMMENT ON COLUMN reground.source_facts.fact_start IS 'First character of the fact in the passage, from 0; for a window, in the text of its row; NULL for a supplied fact that is not a part of the passage.';
COMMENT ON COLUMN reground.source_facts.fact_end IS 'One past its last character.';
COMMENT ON COLUMN reground.source_facts.published IS 'Date of the source, as stored by the application: of publication, otherwise of the last change.';
COMMENT ON COLUMN reground.source_facts.version IS 'Version of the document.';
COMMENT ON COLUMN reground.source_facts.content_hash IS 'SHA-256 (hex) of the text of the passage, after normalisation.';

-- Traces: all candidates of each turn. One row per turn with arrays takes a fifth of the space of one row per candidate.
-- The partitions are a fixed ring of sixteen weeks, because partitions created at run time are not dumped; retention truncates the
-- oldest. Partitions are read through the parent only, so that row-level security applies.

CREATE FUNCTION reground._trace_bucket(traced_at timestamptz) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (pg_catalog.floor(pg_catalog.date_part('epoch', traced_at) / 604800)::bigint % 16)::smallint;
COMMENT ON FUNCTION reground._trace_bucket(timestamptz) IS
'Internal: returns the partition of turn_traces for a time: weeks since 1970, modulo 16.';

CREATE TABLE reground.turn_traces (
    bucket           smallint NOT NULL,
    turn_id          bigint NOT NULL,
    tenant           text NOT NULL,
    traced_at        timestamptz NOT NULL DEFAULT pg_catalog.now(),
    chunk_ids        text[] NOT NULL,
    doc_ids          text[] NOT NULL,
    corpora          text[] NOT NULL,
    member_chunk_ids text[],
    origins          text[] NOT NULL,
    lexical_ranks    smallint[] NOT NULL,
    lexical_scores   real[] NOT NULL,
    vector_ranks     smallint[] NOT NULL,
    vector_distances real[] NOT NULL,
    graph_ranks      smallint[] NOT NULL,
    fused_scores     real[] NOT NULL,
    rerank_scores    real[] NOT NULL,
    relevances       real[] NOT NULL,
    carry_scores     real[] NOT NULL,
    dropped_stages   text[] NOT NULL,
    drop_reasons     text[] NOT NULL,
    replaced_by      text[] NOT NULL,
    markers          text[] NOT NULL,
    has_coordinates  boolean[] NOT NULL,
    hash_prefixes    bytea,
    retrieval_nos    integer[],
    recencies        real[] NOT NULL
) PARTITION BY LIST (bucket);
COMMENT ON TABLE reground.turn_traces IS 'All candidates of each turn, as parallel arrays. Read the view turn_candidates instead.';
COMMENT ON COLUMN reground.turn_traces.bucket IS 'Partition: weeks since 1970, modulo 16.';
COMMENT ON COLUMN reground.turn_traces.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.turn_traces.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.turn_traces.traced_at IS 'When the trace was written.';
COMMENT ON COLUMN reground.turn_traces.chunk_ids IS 'Ids of the passages.';
COMMENT ON COLUMN reground.turn_traces.doc_ids IS 'Ids of the documents.';
COMMENT ON COLUMN reground.turn_traces.corpora IS 'Names of the corpora.';
COMMENT ON COLUMN reground.turn_traces.member_chunk_ids IS 'Ids of all passages merged into each candidate, separated by U+001F; NULL if none was merged.';
COMMENT ON COLUMN reground.turn_traces.origins IS 'fresh, carried, pinned, added, or graph for candidates found only through the knowledge graph.';
COMMENT ON COLUMN reground.turn_traces.lexical_ranks IS 'Ranks in the lexical branch, from 1.';
COMMENT ON COLUMN reground.turn_traces.lexical_scores IS 'BM25 scores.';
COMMENT ON COLUMN reground.turn_traces.vector_ranks IS 'Ranks in the vector branch, from 1.';
COMMENT ON COLUMN reground.turn_traces.vector_distances IS 'Distances between the embeddings of passage and query.';
COMMENT ON COLUMN reground.turn_traces.graph_ranks IS 'Ranks among the passages of neighbours in the knowledge graph, from 1.';
COMMENT ON COLUMN reground.turn_traces.fused_scores IS 'Scores by which the candidates were ordered; see the setting fusion.';
COMMENT ON COLUMN reground.turn_traces.rerank_scores IS 'Scores of the reranker.';
COMMENT ON COLUMN reground.turn_traces.relevances IS 'Relevance to the query, 0 to 1.';
COMMENT ON COLUMN reground.turn_traces.carry_scores IS 'Carry scores when the turn began.';
COMMENT ON COLUMN reground.turn_traces.dropped_stages IS 'Stage that dropped each candidate; NULL for sources of the context.';
COMMENT ON COLUMN reground.turn_traces.drop_reasons IS 'Why each candidate was dropped.';
COMMENT ON COLUMN reground.turn_traces.replaced_by IS 'Passage that replaced each candidate: a twin, or the passage that it was merged into.';
COMMENT ON COLUMN reground.turn_traces.markers IS 'Markers of the sources of the context.';
COMMENT ON COLUMN reground.turn_traces.has_coordinates IS 'Whether the passage has a position in its document (pages, characters or ordinal).';
COMMENT ON COLUMN reground.turn_traces.hash_prefixes IS 'First 8 bytes of the hash of each candidate''s text (of a window: of its row), concatenated, with provenance hash or higher; zeros if unknown.';
COMMENT ON COLUMN reground.turn_traces.retrieval_nos IS 'Number of the retrieval that found each candidate: 0 for the beginning of the turn, otherwise that of turn_retrievals; NULL without additional retrievals.';
COMMENT ON COLUMN reground.turn_traces.recencies IS 'Factors on the fused scores for the age of the documents; NULL elements if recency_half_life is off.';

DO $$
DECLARE
    partition text;
BEGIN
    FOR bucket IN 0..15 LOOP
        partition := pg_catalog.format('turn_traces_%s', pg_catalog.lpad(bucket::text, 2, '0'));
        EXECUTE pg_catalog.format(
            'CREATE TABLE reground.%I PARTITION OF reground.turn_traces (PRIMARY KEY (turn_id)) FOR VALUES IN (%s)', partition, bucket);
        EXECUTE pg_catalog.format('COMMENT ON TABLE reground.%I IS %L', partition,
            pg_catalog.format('Partition %s of turn_traces; read the parent table.', bucket));
        EXECUTE pg_catalog.format('ALTER TABLE reground.%I ENABLE ROW LEVEL SECURITY', partition);
        PERFORM pg_catalog.pg_extension_config_dump(pg_catalog.format('reground.%I', partition)::regclass, '');
    END LOOP;
END
$$;

CREATE TABLE reground.drift_events (
    drift_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    turn_id       bigint NOT NULL REFERENCES reground.turns ON DELETE CASCADE,
    tenant        text NOT NULL,
    event         text NOT NULL,
    severity      text NOT NULL,
    corpus        text,
    chunk_id      text,
    original_hash text,
    returned_hash text,
    created_at    timestamptz NOT NULL DEFAULT pg_catalog.now()
);
CREATE INDEX drift_events_turn ON reground.drift_events (turn_id);
COMMENT ON TABLE reground.drift_events IS 'Results of a reranker that differ from its input: a changed text or a lost passage.';
COMMENT ON COLUMN reground.drift_events.drift_id IS 'Key.';
COMMENT ON COLUMN reground.drift_events.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.drift_events.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.drift_events.event IS 'reranker_text_mutation or reranker_lost_passage.';
COMMENT ON COLUMN reground.drift_events.severity IS 'minor, major or critical, by how much of the text changed; for a lost passage critical if all were lost, otherwise major.';
COMMENT ON COLUMN reground.drift_events.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.drift_events.chunk_id IS 'Passage that the result was mapped to; NULL if none fits.';
COMMENT ON COLUMN reground.drift_events.original_hash IS 'Hash of the text sent.';
COMMENT ON COLUMN reground.drift_events.returned_hash IS 'Hash of the text returned; NULL for a lost passage.';
COMMENT ON COLUMN reground.drift_events.created_at IS 'When the event was recorded.';
