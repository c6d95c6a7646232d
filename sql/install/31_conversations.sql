-- What a conversation remembers: its turns, its sources, its markers.

CREATE TABLE reground.conversations (
    conversation_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant          text NOT NULL,
    conversation_ref text NOT NULL CHECK (conversation_ref <> ''),
    corpus          text,
    settings        jsonb NOT NULL DEFAULT '{}',
    reranker_role   regrole,
    intent_role     regrole,
    turn_count      integer NOT NULL DEFAULT 0,
    history_tokens  bigint NOT NULL DEFAULT 0,
    last_ended_turn_id bigint,
    next_pin_order  bigint NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL DEFAULT pg_catalog.now(),
    chain_length    bigint,
    chain_head      bytea,
    corpora         text[],
    UNIQUE (tenant, conversation_ref)
);
CREATE INDEX conversations_ref ON reground.conversations (conversation_ref);
COMMENT ON TABLE  reground.conversations IS 'One row a conversation. Its row lock orders everything that happens in it.';
COMMENT ON COLUMN reground.conversations.conversation_id IS 'Surrogate key; the functions take conversation_ref.';
COMMENT ON COLUMN reground.conversations.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.conversations.conversation_ref IS 'The application''s id of the conversation, unique within the tenant.';
COMMENT ON COLUMN reground.conversations.corpus IS 'Corpus of its latest turn: the default of the next.';
COMMENT ON COLUMN reground.conversations.corpora IS 'Where that turn searched several, all of them, the leading one first.';
COMMENT ON COLUMN reground.conversations.settings IS 'Settings of the conversation (alter_conversation), stronger than the corpus''.';
COMMENT ON COLUMN reground.conversations.reranker_role IS 'The role that set the reranker: it is called as that role.';
COMMENT ON COLUMN reground.conversations.intent_role IS 'The role that set the intent function: it is called as that role.';
COMMENT ON COLUMN reground.conversations.turn_count IS 'Turns begun so far.';
COMMENT ON COLUMN reground.conversations.history_tokens IS 'o200k_base tokens of the questions on its path that were answered, with the answers that stand.';
COMMENT ON COLUMN reground.conversations.last_ended_turn IS 'turn_id of the turn that ended last: only its regeneration moves the sources.';
COMMENT ON COLUMN reground.conversations.next_pin IS 'Order number of the next pin.';
COMMENT ON COLUMN reground.conversations.created_at IS 'When its first turn or pin came.';
COMMENT ON COLUMN reground.conversations.chain_length IS 'Links that its chain has had (provenance_chain), those that retention removed counted; NULL without one.';
COMMENT ON COLUMN reground.conversations.chain_head IS 'Digest of the last of them.';

CREATE TABLE reground.turns (
    turn_id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant            text NOT NULL,
    conversation_id   bigint NOT NULL REFERENCES reground.conversations ON DELETE CASCADE,
    turn_no           integer NOT NULL,
    state             text NOT NULL CHECK (state IN ('deferred', 'open', 'ended', 'abandoned')),
    request_id        text,
    request_hash      text NOT NULL,
    query             text NOT NULL,
    embedding   real[],
    corpus            text NOT NULL,
    filter            jsonb,
    intent            text NOT NULL,
    intent_confidence real NOT NULL,
    intent_signals    text[] NOT NULL,
    query_expansion   jsonb NOT NULL,
    settings          jsonb NOT NULL,
    pending_candidates jsonb,
    context           jsonb NOT NULL DEFAULT '[]',
    context_tokens    integer NOT NULL DEFAULT 0,
    query_tokens      integer NOT NULL,
    retrieved         boolean NOT NULL,
    context_turn_no      integer,
    history_tokens    bigint,
    attribution_share double precision,
    predicted_accuracy double precision,
    accuracy_floor    double precision,
    topic_drift       double precision,
    search_us        integer,
    compress_us       integer,
    sources_before    jsonb,
    sources_after     jsonb,
    warnings          text[] NOT NULL DEFAULT '{}',
    tags              jsonb NOT NULL DEFAULT '{}',
    begun_at          timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    ended_at          timestamptz,
    query_similarities real[],
    source_similarities real[],
    corpora           text[],
    parent_turn_id    bigint,
    superseded        boolean NOT NULL DEFAULT false,
    origin            text NOT NULL DEFAULT 'live' CHECK (origin IN ('live', 'imported')),
    call_settings     jsonb NOT NULL DEFAULT '{}',
    call_role         text,
    UNIQUE (conversation_id, turn_no),
    UNIQUE (conversation_id, request_id)
);
CREATE INDEX turns_begun ON reground.turns USING brin (begun_at);
COMMENT ON TABLE  reground.turns IS 'One row a turn: what was asked, under which settings, and the context that the model was given.';
COMMENT ON COLUMN reground.turns.turn_id IS 'Key, as the functions take it.';
COMMENT ON COLUMN reground.turns.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.turns.conversation_id IS 'Its conversation.';
COMMENT ON COLUMN reground.turns.number IS 'Position in the conversation, from 1.';
COMMENT ON COLUMN reground.turns.state IS 'deferred (waits for apply_rerank), open, ended or abandoned.';
COMMENT ON COLUMN reground.turns.request_id IS 'The application''s id of the request: the same id gives the same turn.';
COMMENT ON COLUMN reground.turns.request_hash IS 'SHA-256 (hex) of the arguments, to tell a retry from another request under the same id.';
COMMENT ON COLUMN reground.turns.query IS 'The user''s words.';
COMMENT ON COLUMN reground.turns.embedding IS 'The embedding that was given.';
COMMENT ON COLUMN reground.turns.corpus IS 'Where it searched.';
COMMENT ON COLUMN reground.turns.corpora IS 'Where it searched several, all of them, the leading one (corpus) first.';
COMMENT ON COLUMN reground.turns.parent IS 'turn_id of the turn that it follows; NULL: of none.';
COMMENT ON COLUMN reground.turns.superseded IS 'Whether the conversation has gone back behind it (begin_turn with parent): then it is off the path that history and memory go by.';
COMMENT ON COLUMN reground.turns.origin IS 'live, or imported for one that record_turn brought in finished.';
COMMENT ON COLUMN reground.turns.filter IS 'The filter that was given.';
COMMENT ON COLUMN reground.turns.intent IS 'new_topic, drill_down, compare or same_sources (C1).';
COMMENT ON COLUMN reground.turns.intent_confidence IS 'In [0, 1]; 1 where the caller decided.';
COMMENT ON COLUMN reground.turns.intent_signals IS 'What decided the intent.';
COMMENT ON COLUMN reground.turns.retrieval IS 'What was searched for beside the query: lean, how far it leaned on the conversation (0 to 1), and borrowed, the lexemes that it took from there with their weights (a word of the query has 1); where the graph was asked, nodes, the entities that repeat; where the application gave one, rewrite, its rewrite of the query.';
COMMENT ON COLUMN reground.turns.settings IS 'The effective settings, all of them.';
COMMENT ON COLUMN reground.turns.call_role IS 'Name of the role that began it, where call_settings name functions: later calls on the turn call these as that role.';
COMMENT ON COLUMN reground.turns.call_settings IS 'Of these, those that begin_turn was given: a further search in another corpus is under that corpus'' settings and these.';
COMMENT ON COLUMN reground.turns.pool IS 'Candidates of a deferred turn, until apply_rerank.';
COMMENT ON COLUMN reground.turns.context IS 'The sources given to the model, in order, with text, marker, scores and facts.';
COMMENT ON COLUMN reground.turns.context_tokens IS 'o200k_base tokens of the passages in the context.';
COMMENT ON COLUMN reground.turns.query_tokens IS 'o200k_base tokens of the query.';
COMMENT ON COLUMN reground.turns.retrieved IS 'Whether it searched; if not, it kept the sources of the turn context_turn_no (see the settings strategy and retrieve_at).';
COMMENT ON COLUMN reground.turns.context_turn_no IS 'Number of the turn whose search found the sources of the context, pins apart; NULL: none has found any yet.';
COMMENT ON COLUMN reground.turns.history_tokens IS 'o200k_base tokens of the history that goes with it: what history gives where compress is on, else all earlier questions that were answered, with their answers. NULL, as what follows, while it waits for apply_rerank.';
COMMENT ON COLUMN reground.turns.attribution_share IS 'Share of the sources, context_tokens / (context_tokens + history_tokens) (D1).';
COMMENT ON COLUMN reground.turns.predicted_accuracy IS 'Accuracy of citations that the model predicts: accuracy_baseline * attribution_share ^ domain_specificity (D2), for kept sources less what drift takes (D4).';
COMMENT ON COLUMN reground.turns.accuracy_floor IS 'The exponential envelope under the model (D3), had the history grown evenly.';
COMMENT ON COLUMN reground.turns.search_us IS 'Microseconds that its search took, from the plan to the gathered candidates; NULL where it kept sources.';
COMMENT ON COLUMN reground.turns.compress_us IS 'Microseconds that compressing and counting its history took; NULL where the history is not compressed, or there is none yet.';
COMMENT ON COLUMN reground.turns.topic_drift IS 'Distance in [0, 1] of its embedding from that of the first turn (D4): 1 less their cosine; NULL without either.';
COMMENT ON COLUMN reground.turns.sources_before IS 'conversation_sources as they stood when the turn first ended: a regeneration starts from here.';
COMMENT ON COLUMN reground.turns.sources_after IS 'conversation_sources as the turn leaves them by the answer that stands: where the conversation stands again that goes back to it. NULL of an imported turn.';
COMMENT ON COLUMN reground.turns.warnings IS 'What was degraded: no_embedding, no_lexical_index, short_branch, rerank_missing, …';
COMMENT ON COLUMN reground.turns.tags IS 'The application''s tags.';
COMMENT ON COLUMN reground.turns.begun_at IS 'When begin_turn was called.';
COMMENT ON COLUMN reground.turns.query_similarities IS 'Where provenance is semantic or more: cosine of each source of the context to the query, by position, by their embeddings (of a merged source that of its nearest passage); NULL for a source without one, NULL as a whole without an embedding of the query.';
COMMENT ON COLUMN reground.turns.source_similarities IS 'Likewise of each two sources: the first with each after it, then the second with each after it, and so on. See citation_similarities.';
COMMENT ON COLUMN reground.turns.ended_at IS 'When it was first ended, or abandoned.';

CREATE TABLE reground.turn_retrievals (
    turn_id         bigint NOT NULL REFERENCES reground.turns ON DELETE CASCADE,
    retrieval_no    integer NOT NULL CHECK (retrieval_no > 0),
    tenant          text NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('search', 'passages')),
    query           text,
    embedding real[],
    corpora         text[],
    filter          jsonb,
    max_results     integer,
    markers         text[] NOT NULL,
    added_count     integer NOT NULL,
    warnings        text[] NOT NULL,
    search_us       integer,
    turn_before     jsonb NOT NULL,
    retrieved_at    timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (turn_id, retrieval_no)
);
COMMENT ON TABLE  reground.turn_retrievals IS 'What came to a turn after it had begun: further searches (retrieve) and passages handed over (add_passages), in their order.';
COMMENT ON COLUMN reground.turn_retrievals.turn_id IS 'Its turn.';
COMMENT ON COLUMN reground.turn_retrievals.retrieval_no IS 'Position within the turn, from 1; sources of the context carry it as retrieval.';
COMMENT ON COLUMN reground.turn_retrievals.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.turn_retrievals.kind IS 'search or passages.';
COMMENT ON COLUMN reground.turn_retrievals.query IS 'What was searched for; NULL where passages were handed over.';
COMMENT ON COLUMN reground.turn_retrievals.embedding IS 'The embedding that was given.';
COMMENT ON COLUMN reground.turn_retrievals.corpora IS 'Where it searched, the leading corpus first.';
COMMENT ON COLUMN reground.turn_retrievals.filter IS 'The filter that was given.';
COMMENT ON COLUMN reground.turn_retrievals.max_results IS 'The most sources that were asked for; NULL: as many as the turn''s setting max_sources says.';
COMMENT ON COLUMN reground.turn_retrievals.markers IS 'Markers of what it returned, in its order, those included that the context had.';
COMMENT ON COLUMN reground.turn_retrievals.added IS 'How many of these it added to the context.';
COMMENT ON COLUMN reground.turn_retrievals.warnings IS 'What it did without; in turns.warnings too.';
COMMENT ON COLUMN reground.turn_retrievals.took_us IS 'Microseconds that the search took; NULL where passages were handed over.';
COMMENT ON COLUMN reground.turn_retrievals.before IS 'What it changed of the turn''s row, as it was before.';
COMMENT ON COLUMN reground.turn_retrievals.retrieved_at IS 'When.';

CREATE TABLE reground.conversation_sources (
    conversation_id bigint NOT NULL REFERENCES reground.conversations ON DELETE CASCADE,
    corpus          text NOT NULL,
    doc_id          text NOT NULL,
    chunk_id         text NOT NULL,
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
COMMENT ON TABLE  reground.conversation_sources IS 'The live sources of each conversation: what may be carried into its next turn (C3), and what is pinned (C8).';
COMMENT ON COLUMN reground.conversation_sources.conversation_id IS 'Its conversation.';
COMMENT ON COLUMN reground.conversation_sources.corpus IS 'Its corpus.';
COMMENT ON COLUMN reground.conversation_sources.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.conversation_sources.passage IS 'The application''s id of the passage; empty for a pin on the whole document.';
COMMENT ON COLUMN reground.conversation_sources.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.conversation_sources.carry_score IS 'Memory in [0, 1], always current: 1 when active, × carry_decay after each ended turn.';
COMMENT ON COLUMN reground.conversation_sources.inactive_turns IS 'Ended turns since it was last active; it leaves at carry_ttl_turns.';
COMMENT ON COLUMN reground.conversation_sources.pinned IS 'Pinned sources neither fade nor expire.';
COMMENT ON COLUMN reground.conversation_sources.pin_order IS 'Order of the pins, ascending.';
COMMENT ON COLUMN reground.conversation_sources.cited IS 'Whether an answer of the conversation cited it.';
COMMENT ON COLUMN reground.conversation_sources.hash IS 'Content hash when it was last in a context.';
COMMENT ON COLUMN reground.conversation_sources.last_used_at IS 'When it was last active or pinned.';

CREATE TABLE reground.conversation_markers (
    conversation_id bigint NOT NULL REFERENCES reground.conversations ON DELETE CASCADE,
    marker          text NOT NULL,
    tenant          text NOT NULL,
    corpus          text NOT NULL,
    doc_id          text NOT NULL,
    chunk_id         text NOT NULL,
    version         integer,
    page_start      integer,
    page_end        integer,
    char_start      integer,
    char_end        integer,
    content_hash    text NOT NULL,
    title           text,
    uri             text,
    first_turn_no   integer NOT NULL,
    cited           boolean NOT NULL DEFAULT false,
    binding_no      integer NOT NULL,
    PRIMARY KEY (conversation_id, marker),
    UNIQUE (conversation_id, binding_no)
);
CREATE INDEX conversation_markers_document ON reground.conversation_markers (conversation_id, doc_id);
CREATE INDEX conversation_markers_letters ON reground.conversation_markers
    (conversation_id, pg_catalog.length(pg_catalog.rtrim(marker, '0123456789')), pg_catalog.rtrim(marker, '0123456789') COLLATE "C") WHERE marker ~ '^[A-Z]+[0-9]+$';
CREATE INDEX conversation_markers_numbers ON reground.conversation_markers (conversation_id, pg_catalog.length(marker), marker COLLATE "C") WHERE marker ~ '^[0-9]+$';
CREATE INDEX conversation_markers_cited ON reground.conversation_markers (conversation_id, binding_no) WHERE cited;
COMMENT ON TABLE  reground.conversation_markers IS 'What each marker of a conversation is bound to, forever: rows are added, and nothing in them changes but cited; forget_document takes title and uri.';
COMMENT ON COLUMN reground.conversation_markers.conversation_id IS 'Its conversation.';
COMMENT ON COLUMN reground.conversation_markers.marker IS 'A1: letters for the document in order of first use, number for the passage.';
COMMENT ON COLUMN reground.conversation_markers.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.conversation_markers.corpus IS 'Its corpus.';
COMMENT ON COLUMN reground.conversation_markers.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.conversation_markers.passage IS 'The application''s id of the passage (of the stronger one after a merge).';
COMMENT ON COLUMN reground.conversation_markers.version IS 'Version of the document.';
COMMENT ON COLUMN reground.conversation_markers.page_start IS 'First page.';
COMMENT ON COLUMN reground.conversation_markers.page_end IS 'Last page.';
COMMENT ON COLUMN reground.conversation_markers.char_start IS 'First character.';
COMMENT ON COLUMN reground.conversation_markers.char_end IS 'One past the last character.';
COMMENT ON COLUMN reground.conversation_markers.hash IS 'SHA-256 (hex) of the folded text.';
COMMENT ON COLUMN reground.conversation_markers.title IS 'Title of the document when the marker was allotted.';
COMMENT ON COLUMN reground.conversation_markers.uri IS 'Where a reader found it then.';
COMMENT ON COLUMN reground.conversation_markers.first_turn IS 'Number of the turn that allotted it.';
COMMENT ON COLUMN reground.conversation_markers.cited IS 'Whether an answer has cited it: then history keeps it.';
COMMENT ON COLUMN reground.conversation_markers.binding_no IS 'Order of allotment in the conversation, from 1.';

CREATE TABLE reground.source_facts (
    turn_id    bigint NOT NULL REFERENCES reground.turns ON DELETE CASCADE,
    marker     text NOT NULL,
    fact_no    integer NOT NULL,
    tenant     text NOT NULL,
    fact       text NOT NULL,
    fact_start integer NOT NULL,
    fact_end   integer NOT NULL,
    published  text,
    version    integer,
    content_hash text NOT NULL,
    PRIMARY KEY (turn_id, marker, fact_no)
);
COMMENT ON TABLE  reground.source_facts IS 'The fact sheet of each turn (C7): up to two sentences a source, verbatim, chosen for the query.';
COMMENT ON COLUMN reground.source_facts.turn_id IS 'Its turn.';
COMMENT ON COLUMN reground.source_facts.marker IS 'The source that says it.';
COMMENT ON COLUMN reground.source_facts.fact_no IS 'From 1, best first.';
COMMENT ON COLUMN reground.source_facts.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.source_facts.fact IS 'The sentence.';
COMMENT ON COLUMN reground.source_facts.char_start IS 'First character of the sentence within the passage.';
COMMENT ON COLUMN reground.source_facts.char_end IS 'One past its last character.';
COMMENT ON COLUMN reground.source_facts.published IS 'Publication date of the source.';
COMMENT ON COLUMN reground.source_facts.version IS 'Version of the document.';
COMMENT ON COLUMN reground.source_facts.hash IS 'Content hash of the passage.';
